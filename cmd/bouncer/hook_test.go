package main

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// panics is an input that the reader does not survive.
type panics struct{}

func (panics) Read([]byte) (int, error) { panic("no") }

// TestHookIsSilent gives a hook all that can go wrong. A word of it would reach the agent, and a code of 2 would keep the
// person's prompt from it.
func TestHookIsSilent(t *testing.T) {
	tests := []struct {
		name string
		args []string
		in   io.Reader
	}{
		{"nobody to tell", nil, strings.NewReader(`{"hook_event_name":"UserPromptSubmit","prompt":"hi"}`)},
		{"no input", nil, strings.NewReader("")},
		{"no JSON", nil, strings.NewReader("hi")},
		{"a name twice", nil, strings.NewReader(`{"hook_event_name":"UserPromptSubmit","prompt":"a","prompt":"b"}`)},
		{"deep", nil, strings.NewReader(strings.Repeat("[", 1<<20))},
		{"too much", nil, io.LimitReader(iotest.HalfReader(strings.NewReader(strings.Repeat("x", 3<<20))), 3<<20)},
		{"unreadable", nil, iotest.ErrReader(errors.New("no"))},
		{"a crash", nil, panics{}},
		{"an unknown flag", []string{"--loud"}, strings.NewReader("{}")},
		{"a flag without its value", []string{"--home"}, strings.NewReader("{}")},
		{"a word too many", []string{"now"}, strings.NewReader("{}")},
		{"a cry for help", []string{"--help"}, strings.NewReader("{}")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var out, errs bytes.Buffer
			home := t.TempDir()
			a := &app{in: tt.in, out: &out, err: &errs, goos: "linux", getenv: func(name string) string {
				if name == "BOUNCER_HOME" {
					return home
				}
				return ""
			}}
			if code := run(append([]string{"hook", "prompt"}, tt.args...), a); code != exitDone {
				t.Errorf("exit code %d", code)
			}
			if out.Len()+errs.Len() > 0 {
				t.Errorf("it says %q, %q", &out, &errs)
			}
		})
	}
}

// TestHookEnds gives a hook an input that does not end.
func TestHookEnds(t *testing.T) {
	end, ended := make(chan struct{}), make(chan struct{})
	endsWithin(time.Millisecond, func() {
		defer close(ended)
		<-end
	})
	select {
	case <-ended:
		t.Error("it was waited for")
	default:
	}
	close(end)
	<-ended
}

package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/internal/term"
)

func waitingCalls(start time.Time) []approve.Waiting {
	return []approve.Waiting{
		{ID: "a", Number: 1, Server: "mail", Tool: "send", Headline: "mail: send", Text: "mail: send\n\nto", Asked: start, Until: start.Add(time.Minute), Always: []string{"x@y.com"}, Diff: "+x@y.com\n"},
		{ID: "b", Number: 2, Server: "bank", Tool: "pay", Headline: "bank: pay", Text: "bank: pay\n\niban", Asked: start, Until: start.Add(time.Minute)},
	}
}

func TestBoardKeys(t *testing.T) {
	refuse := func(approve.Waiting) error { return approve.ErrCaller }
	for _, tt := range []struct {
		name, keys string
		check      func(approve.Waiting) error
		want       string // what the last key did
		said       string
	}{
		{name: "once", keys: "y", want: "once a"},
		{name: "session", keys: "s", want: "session a"},
		{name: "no", keys: "n", want: "no a"},
		{name: "always, confirmed", keys: "a y", want: "always a"},
		{name: "always, not confirmed", keys: "a n", want: "nothing"},
		{name: "always, then once", keys: "a n y", want: "once a"},
		{name: "always, and something else", keys: "a x y", want: "once a"},
		{name: "always, and another question", keys: "a j k y", want: "once a"},
		{name: "always where that can't be", keys: "2 a", want: "nothing", said: "this can't be allowed for good"},
		{name: "the second by its number", keys: "2 y", want: "once b"},
		{name: "the second by an arrow", keys: "\x1b[B y", want: "once b"},
		{name: "back", keys: "\x1b[B \x1b[A s", want: "session a"},
		{name: "not beyond the end", keys: "j j j y", want: "once b"},
		{name: "not beyond the beginning", keys: "k y", want: "once a"},
		{name: "a number that is none", keys: "7 y", want: "once a"},
		{name: "no key of ours", keys: "Y", want: "nothing"},
		{name: "enough", keys: "q", want: "leave"},
		{name: "interrupt", keys: "\x03", want: "leave"},
		{name: "the client's own terminal", keys: "y", check: refuse, want: "nothing", said: approve.ErrCaller.Error()},
		{name: "always from the client's own terminal", keys: "a y", check: refuse, want: "nothing", said: approve.ErrCaller.Error()},
		{name: "no from the client's own terminal", keys: "n", check: refuse, want: "no a"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := time.Now()
			b := board{check: tt.check}
			if b.check == nil {
				b.check = func(approve.Waiting) error { return nil }
			}
			b.update(waitingCalls(now), now)
			got := ""
			for key := range strings.SplitSeq(tt.keys, " ") {
				now = now.Add(takeIn)
				w, answer, what := b.press(key, now)
				got = map[did]string{nothing: "nothing", leave: "leave", reply: answer.String() + " " + w.ID}[what]
			}
			if got != tt.want || !strings.Contains(b.said, tt.said) {
				t.Errorf("got %q and %q", got, b.said)
			}
		})
	}
}

// TestBoardWaits has keys come that were typed before their question could be read.
func TestBoardWaits(t *testing.T) {
	now := time.Now()
	b := board{check: func(approve.Waiting) error { return nil }}
	list := waitingCalls(now)
	b.update(list, now)
	if _, _, what := b.press("y", now.Add(takeIn-1)); what != nothing {
		t.Error("a question was answered that had just come")
	}
	now = now.Add(time.Second)
	b.update(list[1:], now) // the first one was taken back
	if _, _, what := b.press("y", now.Add(takeIn-1)); what != nothing {
		t.Error("the answer to one question counts for the next")
	}
	if w, _, what := b.press("y", now.Add(takeIn)); what != reply || w.ID != "b" {
		t.Errorf("got %v for %q", what, w.ID)
	}
	b.update(list, now) // another one comes before it
	if w, _, what := b.press("n", now.Add(takeIn)); what != reply || w.ID != "b" {
		t.Errorf("got %v for %q, which was not chosen", what, w.ID)
	}
	b.update(nil, now)
	if _, _, what := b.press("y", now.Add(time.Hour)); what != nothing {
		t.Error("nothing was answered")
	}
}

func TestBoardLines(t *testing.T) {
	now := time.Now()
	b := board{check: func(approve.Waiting) error { return nil }}
	if got := b.lines(80, now); !slices.Equal(got, []string{"Nothing waits for you. q ends."}) {
		t.Errorf("%q", got)
	}
	list := waitingCalls(now)
	list[1].Client = "claude-code 2.1\x1b[2J"
	b.update(list, now)
	b.choose(1, now)
	since := ", since " + now.Format("15:04:05") + ")"
	want := []string{
		"  1  mail: send  (mail" + since, `> 2  bank: pay  (claude-code 2.1\x1b[2J` + since, "",
		"bank: pay", "", "iban", "", "y once, s for this session, n no; arrows or a number choose; q ends",
	}
	if got := b.lines(80, now.Add(2*time.Second)); !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	if later := b.lines(80, now.Add(40*time.Second)); !slices.Equal(later, want) {
		t.Errorf("time alone has changed it:\n%s", strings.Join(later, "\n"))
	}
	for _, line := range b.lines(20, now.Add(2*time.Minute)) {
		if term.Width(line) >= 20 {
			t.Errorf("%q is too wide", line)
		}
	}
	if got := strings.Join(b.lines(20, now.Add(2*time.Minute)), " "); !strings.Contains(got, "refused meanwhile") {
		t.Errorf("%q", got)
	}
	b.choose(0, now)
	b.press("a", now.Add(takeIn))
	got := b.lines(80, now)
	if last := got[len(got)-2:]; !slices.Equal(last, []string{"+x@y.com", "Write this, and allow the call? y yes, n no"}) {
		t.Errorf("%q", last)
	}
}

func TestFit(t *testing.T) {
	for line, want := range map[string]string{
		"short":                          "short",
		"":                               "",
		"two words more":                 "two words|more",
		"exactly 9":                      "exactly 9",
		"exactly10 and":                  "exactly10|and",
		"averylongwordindeed":            "averylong|wordindee|d",
		"an averylongword":               "an|averylong|word",
		"   indentedword":                "   indent|edword",
		"   in two":                      "   in two",
		"   in three":                    "   in|three",
		"many      spaces":               "many     |spaces",
		"Ж世界世界世界":                        "Ж世界世界|世界",
		"one two three four five sixsix": "one two|three|four five|sixsix",
	} {
		if got := strings.Join(fit([]string{line}, 10), "|"); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
	if got := fit([]string{"世世"}, 1); len(got) != 2 {
		t.Errorf("a screen of nothing: %q", got)
	}
}

// TestScreenShowsChanges has nothing written while nothing changes.
func TestScreenShowsChanges(t *testing.T) {
	now := time.Now()
	b := board{check: func(approve.Waiting) error { return nil }}
	b.update(waitingCalls(now), now)
	var out strings.Builder
	s := screen{out: &out}
	s.show(&b, now)
	before := out.Len()
	for after := range 30 {
		s.show(&b, now.Add(time.Duration(after)*time.Second))
	}
	if out.Len() != before || before == 0 {
		t.Errorf("%d bytes, then %d", before, out.Len())
	}
	b.choose(1, now)
	if s.show(&b, now); out.Len() == before {
		t.Error("a change is not shown")
	}
}

func TestReadKeys(t *testing.T) {
	keys := make(chan string, 10)
	readKeys(&chunks{"y", "yes\n", "\x1b[A", "\x1b[15~", "é", "n"}, keys)
	var got []string
	for key := range keys {
		got = append(got, key)
	}
	if want := []string{"y", "\x1b[A", "n"}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// chunks are what a terminal hands over, one a read.
type chunks []string

func (c *chunks) Read(p []byte) (int, error) {
	if len(*c) == 0 {
		return 0, errors.New("the terminal is gone")
	}
	n := copy(p, (*c)[0])
	*c = (*c)[1:]
	return n, nil
}

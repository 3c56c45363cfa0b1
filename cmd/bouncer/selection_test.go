package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/adrg/xdg"

	"github.com/bouncer-mcp/bouncer/wrap"
)

func TestParseNumbers(t *testing.T) {
	tests := []struct{ line, want string }{
		{"", "[1 2 3 4]"},
		{"all", "[1 2 3 4]"},
		{" ALL \r", "[1 2 3 4]"},
		{"none", "[]"},
		{"n", "[]"},
		{"No", "[]"},
		{"q", "[]"},
		{"2", "[2]"},
		{"4,1", "[1 4]"},
		{"1,3-4", "[1 3 4]"},
		{"1 3-3, 1", "[1 3]"},
		{"0", "error"},
		{"5", "error"},
		{"3-1", "error"},
		{"1-", "error"},
		{"-1", "error"},
		{"yes", "error"},
		{",", "error"},
		{"1-99999999999999999999", "error"},
		{"1,x", "error"},
	}
	for _, test := range tests {
		list, err := parseNumbers(test.line, 4)
		got := fmt.Sprint(list)
		if err != nil {
			got = "error"
		}
		if got != test.want {
			t.Errorf("%q: %s, want %s", test.line, got, test.want)
		}
	}
}

// TestChoose lets a person at a terminal pick servers out of a list, and then say yes to the diff of what they picked.
func TestChoose(t *testing.T) {
	const config = `{"mcpServers": {"files": {"command": "npx", "args": ["--token=s3cr3t"]}, "db": {"command": "npx"}, "mail": {"command": "npx"}}}`
	tests := []struct {
		name, answers string
		args          []string
		wrapped       string
		code          int
	}{
		{"all", "\ny\n", nil, "files db mail", exitDone},
		{"some", "1,3\ny\n", nil, "files mail", exitDone},
		{"after a slip", "9\n2\ny\n", nil, "db", exitDone},
		{"none", "none\n", nil, "", exitDone},
		{"n", "n\n", nil, "", exitDone},
		{"no to the diff", "1\nn\n", nil, "", exitDone},
		{"named already", "y\n", []string{"--server=db"}, "db", exitDone},
		{"one is left to choose from", "y\n", []string{"--skip=db", "--skip=mail"}, "files", exitDone},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPerson(t, config, test.answers)
			args := append([]string{"init", "--config=" + p.file, "--home=" + t.TempDir()}, test.args...)
			if code := run(args, p.app); code != test.code {
				t.Errorf("exit code %d\n%s%s", code, &p.out, &p.err)
			}
			entries, err := wrap.Entries(wrap.Discover(mustEnv(t, p.app), wrap.DiscoverOptions{Files: []string{p.file}}).Files[0])
			if err != nil {
				t.Fatal(err)
			}
			var wrapped []string
			for _, e := range entries {
				if e.State == wrap.Wrapped {
					wrapped = append(wrapped, e.Name)
				}
			}
			if got := strings.Join(wrapped, " "); got != test.wrapped {
				t.Errorf("wrapped %q, want %q", got, test.wrapped)
			}
			if strings.Contains(p.out.String()+p.err.String(), "s3cr3t") {
				t.Error("the list shows a secret")
			}
		})
	}
}

// TestProbeAsks shows what would be started before the question, and starts nothing on a no.
func TestProbeAsks(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("USERPROFILE", "")
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	p := newPerson(t, `{}`, "n\n")
	list := []probing{{server: wrap.Server{File: wrap.File{Client: "cursor"}}}}
	list[0].spec.Command = "no-such-server"
	e := newEntry("mail")
	list[0].entry = &e
	err := p.mayProbe(list)
	if err == nil || !strings.Contains(p.out.String(), "no-such-server") || !strings.Contains(p.err.String(), "Start them?") {
		t.Errorf("%v\n%s%s", err, &p.out, &p.err)
	}
}

func TestProgress(t *testing.T) {
	p := newPerson(t, "{}", "")
	p.progress("Asking %s", "a\x1b[2Jb")
	if p.err.Len() > 0 {
		t.Errorf("no terminal, and yet: %q", p.err.String())
	}
	p.live = true
	p.progress("Asking %s", "a\x1b[2Jb"+strings.Repeat("x", 200))
	p.progress("")
	for part := range strings.SplitSeq(p.err.String(), "\r") {
		if len(part) >= lineWidth || strings.Contains(part, "\x1b") {
			t.Errorf("%q", part)
		}
	}
	if !strings.HasSuffix(p.err.String(), " \r") {
		t.Errorf("the last line stays: %q", p.err.String())
	}
}

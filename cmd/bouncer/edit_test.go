package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/wrap"
)

// person is somebody at a terminal with one config file.
type person struct {
	*app
	file     string
	out, err strings.Builder
}

func newPerson(t *testing.T, config, answers string) *person {
	t.Helper()
	dir := t.TempDir()
	p := &person{file: filepath.Join(dir, "mcp.json")}
	p.write(t, config)
	p.app = &app{
		in: strings.NewReader(answers), out: &p.out, err: &p.err,
		getenv:      func(string) string { return "" },
		goos:        "linux",
		cwd:         func() (string, error) { return dir, nil },
		interactive: answers != "",
		launch:      "/usr/local/bin/bouncer",
	}
	return p
}

func (p *person) write(t *testing.T, config string) {
	t.Helper()
	if err := os.WriteFile(p.file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (p *person) read(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile(p.file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestWrittenMeanwhile lets another program write the file between plan and apply. What the person agreed to is done to the
// new bytes; what they never saw is not.
func TestWrittenMeanwhile(t *testing.T) {
	const (
		before  = `{"mcpServers": {"files": {"command": "npx"}}}`
		beside  = `{"theme": "dark", "mcpServers": {"files": {"command": "npx"}}}`
		another = `{"mcpServers": {"files": {"command": "npx"}, "shell": {"command": "sh"}}}`
		done    = `{"mcpServers": {"files": {"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=files", "--", "npx"], "x-bouncer-upstream": { "command": "npx" }}}}`
	)
	tests := []struct {
		name, meanwhile, holds string
		code                   int
	}{
		{"something else changed", beside, `"theme": "dark"`, exitDone},
		{"a server came that nobody agreed to", another, another, exitFailed},
		{"the same was done", done, done, exitDone},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := newPerson(t, before, "y\n")
			e, err := p.newEdit(wrap.Wrap, editOptions{selection: selection{configs: []string{p.file}}})
			if err != nil {
				t.Fatal(err)
			}
			e.store = wrap.NewStore(t.TempDir())
			options := e.options()
			options.Launcher = p.launch
			e.plan = func(f wrap.File) (wrap.Plan, error) {
				p.write(t, test.meanwhile)
				return wrap.PlanWrap(f, options)
			}
			code := p.report(e.run())
			got := p.read(t)
			if code != test.code || !strings.Contains(got, test.holds) {
				t.Errorf("exit code %d, file %s\nstdout: %s\nstderr: %s", code, got, &p.out, &p.err)
			}
			if wrapped := strings.Contains(got, wrap.Sentinel); wrapped != (test.code == exitDone) {
				t.Errorf("wrapped is %v: %s", wrapped, got)
			}
		})
	}
}

// TestAnswers shows that nothing but a yes is a yes.
func TestAnswers(t *testing.T) {
	for _, answer := range []string{"\n", "n\n", "no\n", "yeah\n", "yy\n", " \n", "yes please\n", "\x00y\n"} {
		p := newPerson(t, "{}", answer)
		if yes, err := p.ask("Sure?"); yes || err != nil {
			t.Errorf("%q: yes %v, error %v", answer, yes, err)
		}
	}
	for _, answer := range []string{"y\n", "Y\r\n", "yes\n", " YES ", "y"} {
		p := newPerson(t, "{}", answer)
		if yes, err := p.ask("Sure?"); !yes || err != nil {
			t.Errorf("%q: yes %v, error %v", answer, yes, err)
		}
	}
}

func TestSecondQuestionHasItsOwnAnswer(t *testing.T) {
	p := newPerson(t, "{}", "n\ny\n")
	first, _ := p.ask("One?")
	second, _ := p.ask("Two?")
	if first || !second {
		t.Errorf("answers are %v and %v", first, second)
	}
	if p.err.String() != "One? [y/N] Two? [y/N] " || p.out.Len() > 0 {
		t.Errorf("stderr %q, stdout %q", &p.err, &p.out)
	}
}

// TestColorOnlyRepeats compares a coloured diff with a plain one, and has an escape sequence in the text.
func TestColorOnlyRepeats(t *testing.T) {
	const diff = "--- a\n+++ a\n@@ -1 +1 @@\n-old \x1b[2J\n+new\n same\n"
	plain, coloured := newPerson(t, "{}", ""), newPerson(t, "{}", "")
	plain.printDiff(diff)
	coloured.color = true
	coloured.printDiff(diff)
	if strings.Contains(plain.out.String(), "\x1b") {
		t.Errorf("escape sequences in plain text: %q", plain.out.String())
	}
	stripped := coloured.out.String()
	for _, code := range []string{"0", "1", "31", "32"} {
		stripped = strings.ReplaceAll(stripped, "\x1b["+code+"m", "")
	}
	if stripped != plain.out.String() || stripped == coloured.out.String() {
		t.Errorf("got %q, want colours around %q", coloured.out.String(), plain.out.String())
	}
}

// TestHelpListsExitCodes holds for every command that does something.
func TestHelpListsExitCodes(t *testing.T) {
	root := newRootCmd(newPerson(t, "{}", "").app)
	for _, cmd := range root.Commands() {
		if cmd.Runnable() && !strings.Contains(cmd.Long, "Exit codes:") {
			t.Errorf("the help of %s lists no exit codes", cmd.Name())
		}
	}
}

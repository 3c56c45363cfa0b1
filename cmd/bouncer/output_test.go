package main

import (
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/internal/term"
	"github.com/bouncer-mcp/bouncer/wrap"
)

func mustEnv(t *testing.T, a *app) clients.Env {
	t.Helper()
	env, err := a.clientEnv()
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func newEntry(name string) doctor.Entry { return doctor.Entry{Entry: wrap.Entry{Name: name}} }

// TestTable keeps tables within a line as far as cells may be cut, and columns under one another, whatever stands in them.
func TestTable(t *testing.T) {
	long := strings.Repeat("abcdefghij", 9)
	rows := [][]string{
		{"CLIENT", "SCOPE", "SERVER"},
		{"claude-desktop", "user", "送金サーバー"},
		{"cursor", long, "a\nb\tc\x1b[2J"},
		{"x", "/home/ada/work", ""},
	}
	whole := newPerson(t, "{}", "")
	whole.wide = true
	whole.printTable("  ", rows, 1)
	if !strings.Contains(whole.out.String(), long) {
		t.Errorf("no terminal, and yet cut:\n%s", &whole.out)
	}
	p := newPerson(t, "{}", "")
	p.printTable("  ", rows, 1)
	lines := strings.Split(strings.TrimSuffix(p.out.String(), "\n"), "\n")
	if len(lines) != len(rows) {
		t.Fatalf("%d lines:\n%s", len(lines), &p.out)
	}
	for _, line := range lines {
		if term.Width(line) > lineWidth || strings.Contains(line, "\x1b") {
			t.Errorf("%d columns: %s", term.Width(line), line)
		}
	}
	if !strings.HasPrefix(lines[1], "  claude-desktop  user  ") || !strings.HasSuffix(lines[1], "  送金サーバー") || !strings.Contains(lines[2], "...") {
		t.Errorf("\n%s", &p.out)
	}
}

// TestTitlesStay: a column is never narrower than its title, and names are never cut.
func TestTitlesStay(t *testing.T) {
	name := strings.Repeat("n", 90)
	p := newPerson(t, "{}", "")
	p.printTable("", [][]string{{"CLIENT", "DESTINATIONS", "SERVER"}, {"x", strings.Repeat("d", 40), name}}, 1)
	if text := p.out.String(); !strings.HasPrefix(text, "CLIENT  DESTINATIONS  SERVER\n") || !strings.Contains(text, "  "+name) {
		t.Errorf("\n%s", text)
	}
}

// TestReasons breaks sentences over lines instead of cutting them.
func TestReasons(t *testing.T) {
	p := newPerson(t, "{}", "")
	p.printReasons("  ", [][]string{{"cursor", "user", strings.Repeat("n", 60), strings.Repeat("why ", 30)}, {"a", "b", "c", "d"}})
	text := p.out.String()
	if got := strings.Count(text, "why"); got != 30 {
		t.Errorf("%d words of 30:\n%s", got, text)
	}
	if !strings.Contains(text, strings.Repeat("n", 60)) {
		t.Errorf("a name is cut:\n%s", text)
	}
	for line := range strings.Lines(text) {
		if term.Width(strings.TrimSuffix(line, "\n")) > 2+6+2+4+2+60+2+32 {
			t.Errorf("%d columns: %s", term.Width(line), line)
		}
	}
}

// TestFindingsInColour: colours repeat what is written, and take no room.
func TestFindingsInColour(t *testing.T) {
	found := []doctor.Finding{
		{Code: "server-unwrapped", Severity: doctor.Warning, Client: "cursor", Scope: "user", Message: "starts a\x1b[2Jb"},
		{Code: "config-unreadable", Severity: doctor.Error, Message: strings.Repeat("long ", 40), File: "/a", Line: 2},
		{Code: "client-found", Severity: doctor.Info, Message: "ok"},
	}
	plain, coloured := newPerson(t, "{}", ""), newPerson(t, "{}", "")
	plain.printFindings(found)
	coloured.color = true
	coloured.printFindings(found)
	stripped := coloured.out.String()
	for _, code := range []string{"0", "31", "33"} {
		stripped = strings.ReplaceAll(stripped, "\x1b["+code+"m", "")
	}
	if stripped != plain.out.String() || stripped == coloured.out.String() {
		t.Errorf("got %q, want colours around %q", coloured.out.String(), plain.out.String())
	}
	if !strings.HasPrefix(stripped, "warning  server-unwrapped    cursor user \"\"\n  starts a\\x1b[2Jb\nerror    config-unreadable\n") {
		t.Errorf("%s", stripped)
	}
	for line := range strings.Lines(stripped) {
		if len(line) > lineWidth+1 {
			t.Errorf("%d columns: %s", len(line), line)
		}
	}
}

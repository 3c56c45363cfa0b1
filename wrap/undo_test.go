package wrap

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestUndo(t *testing.T) {
	const odd = "\xef\xbb\xbf[0,\r\n\t 1.0e2 , \"\\u003c\" ]"
	m := newMachine(t)
	m.write("a.json", odd)
	m.write("b.json", "[2]")
	m.apply("init", m.plan("a.json"), m.plan("b.json"))
	g, err := Undo(m.store, 0, ApplyOptions{Command: "undo"})
	if err != nil || g.Number != 2 || g.Undoes != 1 {
		t.Fatalf("%+v, %v", g, err)
	}
	m.holds("a.json", odd)
	m.holds("b.json", "[2]")

	// An undo is a change like others.
	if _, err := Undo(m.store, 2, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	m.holds("b.json", "[2,1]")
}

// TestUndoNewest: without a number, each undo goes one change further back.
func TestUndoNewest(t *testing.T) {
	m := newMachine(t)
	m.write("a.json", "[0]")
	for range 3 {
		m.apply("init", m.plan("a.json"))
	}
	for _, want := range []string{"[0,1,1]", "[0,1]", "[0]"} {
		if _, err := Undo(m.store, 0, ApplyOptions{}); err != nil {
			t.Fatal(err)
		}
		m.holds("a.json", want)
	}
	if _, err := Undo(m.store, 0, ApplyOptions{}); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("undo of nothing: %v", err)
	}
	if _, err := Undo(m.store, 77, ApplyOptions{}); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("undo of what never was: %v", err)
	}
}

func TestUndoRefuses(t *testing.T) {
	tests := []struct {
		name string
		harm func(m *machine, g Generation) error
		want string
	}{
		{"changed since", func(m *machine, _ Generation) error { return os.WriteFile(m.path("b.json"), []byte("[7]"), 0o600) }, "b.json"},
		{"gone", func(m *machine, _ Generation) error { return os.Remove(m.path("b.json")) }, "b.json"},
		{"damaged backup", func(m *machine, g Generation) error {
			return os.WriteFile(fmt.Sprintf("%s/%s", m.store.generation(g.Number), g.Files[1].Backup), []byte("[3]"), 0o600)
		}, "damaged"},
		{"backup gone", func(m *machine, g Generation) error {
			return os.Remove(fmt.Sprintf("%s/%s", m.store.generation(g.Number), g.Files[1].Backup))
		}, "b.json"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t)
			m.write("a.json", "[0]")
			m.write("b.json", "[2]")
			g := m.apply("init", m.plan("a.json"), m.plan("b.json"))
			if err := test.harm(m, g); err != nil {
				t.Fatal(err)
			}
			_, err := Undo(m.store, g.Number, ApplyOptions{})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
			m.holds("a.json", "[0,1]")
		})
	}
}

// TestUndoHalf: when bouncer was killed between two files, undo puts back the one that was written.
func TestUndoHalf(t *testing.T) {
	m := newMachine(t)
	m.write("a.json", "[0]")
	m.write("b.json", "[2]")
	g := m.apply("init", m.plan("a.json"), m.plan("b.json"))
	m.write("b.json", "[2]")
	if _, err := Undo(m.store, g.Number, ApplyOptions{}); err != nil {
		t.Fatal(err)
	}
	m.holds("a.json", "[0]")
	m.holds("b.json", "[2]")
}

// TestOriginals: the literals of wrapped entries outlive everything that a client may do to its file.
func TestOriginals(t *testing.T) {
	m := newMachine(t)
	const text = `{"mcpServers": {"a": {"command": "\u006epx", "args": ["-y" , "x"]}, "b": {"command": "b"}}}`
	path := m.write(".cursor/mcp.json", text)
	file := Discover(m.env(), DiscoverOptions{}).Files[0]
	plan, err := PlanWrap(file, Options{Launcher: "/usr/local/bin/bouncer"})
	if err != nil {
		t.Fatal(err)
	}
	if m.store.Originals(path) != nil {
		t.Error("something is remembered before anything was wrapped")
	}
	m.apply("init", plan)
	originals := m.store.Originals(path)
	want := map[string]Original{
		PointerKey([]string{"mcpServers", "a"}): {Command: `"\u006epx"`, Args: `["-y" , "x"]`},
		PointerKey([]string{"mcpServers", "b"}): {Command: `"b"`},
	}
	if !maps.Equal(originals, want) {
		t.Errorf("remembered %+v, want %+v", originals, want)
	}
	if got := m.store.Originals(m.path("other.json")); got != nil {
		t.Errorf("remembered of another file: %+v", got)
	}

	// The client writes its file anew and drops what it does not know.
	bare := regexp.MustCompile(`, "x-bouncer-upstream": \{[^}]*\}`).ReplaceAllString(m.read(".cursor/mcp.json"), "")
	m.write(".cursor/mcp.json", strings.ReplaceAll(bare, `"\u006epx"`, `"npx"`))
	file = Discover(m.env(), DiscoverOptions{}).Files[0]
	if plan, err = PlanUnwrap(file, Options{Originals: m.store.Originals(path)}); err != nil {
		t.Fatal(err)
	}
	if string(plan.After) != text {
		t.Errorf("restored\n%s\nfrom\n%s\nwant\n%s", plan.After, file.Data, text)
	}
}

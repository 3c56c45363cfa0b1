package wrap

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

// cursorFile reads the one config that these tests are about.
func (m *machine) cursorFile() File {
	m.t.Helper()
	found := Discover(m.env(), DiscoverOptions{Clients: []string{"cursor"}})
	if len(found.Files) != 1 {
		m.t.Fatalf("found %+v", found)
	}
	return found.Files[0]
}

func (m *machine) wrapAll(verb Action, servers ...string) {
	m.t.Helper()
	plan := PlanWrap
	if verb == Unwrap {
		plan = PlanUnwrap
	}
	p, err := plan(m.cursorFile(), Options{Launcher: "/usr/local/bin/bouncer", Servers: servers})
	if err != nil {
		m.t.Fatal(err)
	}
	m.apply(string(verb), p)
}

// TestPast replays what a store remembers.
func TestPast(t *testing.T) {
	const (
		config = `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}`
		more   = `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}, "c": {"command": "c"}}}`
	)
	m := newMachine(t)
	says := func(when, want string) {
		t.Helper()
		entries, err := Entries(m.cursorFile())
		if err != nil {
			t.Fatal(err)
		}
		past := m.store.History().Past(m.cursorFile())
		got := ""
		for _, e := range entries {
			if !past.Undone(e).IsZero() {
				got += " undone " + e.Name
			}
			if past.Came(e, entries) {
				got += " came " + e.Name
			}
		}
		if strings.TrimSpace(got) != want {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	m.write(".cursor/mcp.json", config)
	says("before anything was done", "")
	m.wrapAll(Wrap)
	says("wrapped", "")
	m.write(".cursor/mcp.json", more)
	says("the client has written from memory, and one came", "undone a undone b came c")
	m.wrapAll(FromPlan, "a", "b")
	says("a plan has left that one out", "")
	m.wrapAll(Wrap)
	m.write(".cursor/mcp.json", strings.Replace(m.read(".cursor/mcp.json"), `"b"`, `"d": {"command": "d"}, "b"`, 1))
	says("one came beside wrapped ones", "came d")
	m.wrapAll(Unwrap)
	says("unwrapped", "")
	if _, err := Undo(m.store, 0, ApplyOptions{Command: "undo"}); err != nil {
		t.Fatal(err)
	}
	says("the unwrapping undone", "came d")
}

// TestPastAfterUnwrap: once nothing of a file starts through bouncer any more, what others had taken out of it before is no loss.
func TestPastAfterUnwrap(t *testing.T) {
	m := newMachine(t)
	m.write(".cursor/mcp.json", `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}, "c": {"command": "c"}}}`)
	expects := func(when string, want ...string) {
		t.Helper()
		var got []string
		for key := range m.store.History().Past(m.cursorFile()).Wrapped {
			got = append(got, key[strings.LastIndexByte(key, 0)+1:])
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", when, got, want)
		}
	}
	m.wrapAll(Wrap)
	m.write(".cursor/mcp.json", strings.Replace(m.read(".cursor/mcp.json"), `"c":`, `"d":`, 1))
	expects("the person has renamed one", "a", "b", "c")
	m.wrapAll(Unwrap, "a")
	expects("another one unwrapped", "b", "c")
	m.wrapAll(Unwrap)
	expects("all unwrapped")
	m.wrapAll(Wrap, "a")
	expects("and one wrapped anew", "a")
}

// TestAsides: what is to be left alone is remembered, once, until it is taken back.
func TestAsides(t *testing.T) {
	m := newMachine(t)
	f := File{Client: "cursor", Path: m.path("c.json")}
	entry := func(name string) Aside {
		return AsideOf(f, Entry{Name: name, Scope: clients.User, Pointer: []string{"mcpServers", name}})
	}
	holds := func(want ...Aside) {
		t.Helper()
		got, err := m.store.Asides()
		if err != nil || !slices.EqualFunc(got, want, Aside.same) {
			t.Errorf("got %+v (%v), want %+v", got, err, want)
		}
	}
	holds()
	if err := m.store.ChangeAsides(nil, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(m.path("state")); err == nil {
		t.Error("nothing changed, and a file was written")
	}
	for range 2 {
		if err := m.store.ChangeAsides([]Aside{entry("a"), entry("")}, nil); err != nil {
			t.Fatal(err)
		}
		holds(entry("a"), entry(""))
	}
	if err := m.store.ChangeAsides([]Aside{entry("c")}, []Aside{entry("a"), entry("never")}); err != nil {
		t.Fatal(err)
	}
	holds(entry(""), entry("c"))
	info, err := os.Stat(m.store.asidePath())
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, text := range []string{"{", `{"version": 2, "servers": []}`} {
		if err := os.WriteFile(m.store.asidePath(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := m.store.Asides(); err == nil {
			t.Errorf("%s was read", text)
		}
		if err := m.store.ChangeAsides([]Aside{entry("a")}, nil); err == nil {
			t.Errorf("%s was written over", text)
		}
	}
}

// TestPlanLeavesAside: an entry that is set aside is skipped with the reason given; its neighbours are wrapped.
func TestPlanLeavesAside(t *testing.T) {
	m := newMachine(t)
	m.write(".cursor/mcp.json", `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "b"}}}`)
	p, err := PlanWrap(m.cursorFile(), Options{
		Launcher: "/usr/local/bin/bouncer",
		Aside:    map[string]string{PointerKey([]string{"mcpServers", "a"}): "because"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.Steps[0].Action != Skip || p.Steps[0].Reason != "because" || p.Steps[1].Action != Wrap {
		t.Errorf("%+v", p.Steps)
	}
}

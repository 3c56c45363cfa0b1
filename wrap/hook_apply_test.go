package wrap

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

// hookPlan plans the hook into settings of the machine, which need not exist.
func (m *machine) hookPlan(name string, plan func(File, Options) (Plan, error)) Plan {
	m.t.Helper()
	f := settingsFile("")
	f.Path = m.path(name)
	data, mode, err := readRegular(f.Path)
	if f.Hook.Absent = missing(err); err != nil && !f.Hook.Absent {
		m.t.Fatal(err)
	}
	f.Data, f.Mode = data, mode
	p, err := plan(f, hookOptions())
	if err != nil {
		m.t.Fatal(err)
	}
	return p
}

func (m *machine) isGone(name string) {
	m.t.Helper()
	if _, err := os.Lstat(m.path(name)); !errors.Is(err, fs.ErrNotExist) {
		m.t.Errorf("%s: %v", name, err)
	}
}

// TestApplyNewFile makes a file and takes it away, and undoes both.
func TestApplyNewFile(t *testing.T) {
	m := newMachine(t)
	m.write("c/other", "")
	wanted := m.hookPlan("c/settings.json", PlanWrap)
	m.apply("init", wanted)
	m.holds("c/settings.json", string(wanted.After))
	if info, err := os.Stat(m.path("c/settings.json")); err != nil || os.PathSeparator == '/' && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	m.apply("unwrap", m.hookPlan("c/settings.json", PlanUnwrap))
	m.isGone("c/settings.json")
	if _, err := Undo(m.store, 0, ApplyOptions{Command: "undo"}); err != nil {
		t.Fatal(err)
	}
	m.holds("c/settings.json", string(wanted.After))
	if _, err := Undo(m.store, 1, ApplyOptions{Command: "undo"}); err != nil {
		t.Fatal(err)
	}
	m.isGone("c/settings.json")
	list, err := m.store.Log()
	if err != nil {
		t.Fatal(err)
	}
	if first := list[0]; first.Standing != Undone || first.By != 4 || first.Files[0].Hook != "UserPromptSubmit" || len(first.Files[0].Entries) > 0 {
		t.Errorf("%+v", first)
	}
}

// TestApplyNewFileRivals has somebody make, change or remove the file between plan and apply.
func TestApplyNewFileRivals(t *testing.T) {
	replan := func(plan func(File, Options) (Plan, error)) func(File) (Plan, error) {
		return func(f File) (Plan, error) { return plan(f, hookOptions()) }
	}
	t.Run("made meanwhile", func(t *testing.T) {
		m := newMachine(t)
		p := m.hookPlan("settings.json", PlanWrap)
		m.write("settings.json", `{"model": "x"}`)
		_, err := Apply(m.store, []Plan{p}, ApplyOptions{})
		if !errors.Is(err, ErrChanged) {
			t.Errorf("without a new plan: %v", err)
		}
		m.holds("settings.json", `{"model": "x"}`)
		if _, err := Apply(m.store, []Plan{p}, ApplyOptions{Replan: replan(PlanWrap)}); err != nil {
			t.Fatal(err)
		}
		if text := m.read("settings.json"); !strings.HasPrefix(text, `{"model": "x", "hooks": {`) {
			t.Errorf("%s", text)
		}
	})
	t.Run("made empty meanwhile", func(t *testing.T) {
		m := newMachine(t)
		p := m.hookPlan("settings.json", PlanWrap)
		m.write("settings.json", "")
		if _, err := Apply(m.store, []Plan{p}, ApplyOptions{}); !errors.Is(err, ErrChanged) {
			t.Errorf("%v", err)
		}
		m.holds("settings.json", "")
	})
	t.Run("changed before it was to go", func(t *testing.T) {
		m := newMachine(t)
		m.apply("init", m.hookPlan("settings.json", PlanWrap))
		p := m.hookPlan("settings.json", PlanUnwrap)
		m.write("settings.json", strings.Replace(m.read("settings.json"), "{\n", "{\n  \"model\": \"x\",\n", 1))
		if _, err := Apply(m.store, []Plan{p}, ApplyOptions{}); !errors.Is(err, ErrChanged) {
			t.Errorf("without a new plan: %v", err)
		}
		if _, err := Apply(m.store, []Plan{p}, ApplyOptions{Replan: replan(PlanUnwrap)}); err != nil {
			t.Fatal(err)
		}
		m.holds("settings.json", "{\n  \"model\": \"x\"\n}\n")
	})
	t.Run("gone before it was to go", func(t *testing.T) {
		m := newMachine(t)
		m.apply("init", m.hookPlan("settings.json", PlanWrap))
		p := m.hookPlan("settings.json", PlanUnwrap)
		os.Remove(m.path("settings.json"))
		g, err := Apply(m.store, []Plan{p}, ApplyOptions{Replan: replan(PlanUnwrap)})
		if err != nil || g.Number != 0 {
			t.Errorf("generation %d, %v", g.Number, err)
		}
		m.isGone("settings.json")
	})
	t.Run("another file fails", func(t *testing.T) {
		m := newMachine(t)
		m.write("z.json", "[0]")
		p := m.hookPlan("settings.json", PlanWrap)
		other := m.plan("z.json")
		m.store.files.Step = func(what string) {
			if what == "gave it its name" {
				m.write("z.json", "[9]") // while the first one is being written
			}
		}
		if _, err := Apply(m.store, []Plan{p, other}, ApplyOptions{}); !errors.Is(err, ErrChanged) {
			t.Fatalf("%v", err)
		}
		m.isGone("settings.json")
		m.holds("z.json", "[9]")
	})
	t.Run("another file fails after one went", func(t *testing.T) {
		m := newMachine(t)
		m.apply("init", m.hookPlan("settings.json", PlanWrap))
		text := m.read("settings.json")
		m.write("z.json", "[0]")
		p, other := m.hookPlan("settings.json", PlanUnwrap), m.plan("z.json")
		m.store.files.Step = func(what string) {
			if what == "removed a file" {
				m.write("z.json", "[9]")
			}
		}
		if _, err := Apply(m.store, []Plan{p, other}, ApplyOptions{}); !errors.Is(err, ErrChanged) {
			t.Fatalf("%v", err)
		}
		m.holds("settings.json", text)
	})
}

func TestDiscoverHooks(t *testing.T) {
	tests := []struct {
		name    string
		prepare func(*machine)
		options DiscoverOptions
		want    string // what is known of the place, or nothing
	}{
		{"never started", func(*machine) {}, DiscoverOptions{}, ""},
		{"no settings yet", func(m *machine) { m.write(".claude/x", "") }, DiscoverOptions{}, "absent"},
		{"settings", func(m *machine) { m.write(".claude/settings.json", "{}") }, DiscoverOptions{}, "there"},
		{"a link into a folder of dotfiles", func(m *machine) {
			m.write("dotfiles/settings.json", "{}")
			m.write(".claude/x", "")
			m.link(m.path("dotfiles/settings.json"), ".claude/settings.json")
		}, DiscoverOptions{}, "there"},
		{"another client", func(m *machine) { m.write(".claude/settings.json", "{}") }, DiscoverOptions{Clients: []string{"cursor"}}, ""},
		{"another scope", func(m *machine) { m.write(".claude/settings.json", "{}") }, DiscoverOptions{Scopes: []clients.Scope{clients.Project}}, ""},
		{"another file", func(m *machine) { m.write(".claude/settings.json", "{}") }, DiscoverOptions{Files: []string{".mcp.json"}}, ""},
		{"this file", func(m *machine) { m.write(".claude/x", "") }, DiscoverOptions{Files: []string{"../../.claude/settings.json"}}, "absent"},
		{"switched off", func(m *machine) { m.write(".claude/settings.json", `{"disableAllHooks": true}`) }, DiscoverOptions{}, "disableAllHooks in "},
		{"switched on", func(m *machine) {
			m.write(".claude/settings.json", `{"disableAllHooks": false, "allowManagedHooksOnly": true, "strictPluginOnlyCustomization": true}`)
		}, DiscoverOptions{}, "there"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			tt.prepare(m)
			env := clients.Env{OS: "linux", Home: m.home, Project: m.path("work/app")}
			before := m.tree("")
			for i, file := range tt.options.Files {
				tt.options.Files[i] = filepath.Join(env.Project, file)
			}
			found := Discover(env, tt.options)
			if got := standingOf(found.Hooks); got != tt.want && (tt.want == "" || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("%q, want %q", got, tt.want)
			}
			if m.tree("") != before {
				t.Error("looking around changed something")
			}
		})
	}
}

// standingOf is what is known of the only place for a hook.
func standingOf(hooks []File) string {
	switch {
	case len(hooks) == 0:
		return ""
	case hooks[0].Hook.Barred != "":
		return hooks[0].Hook.Barred
	case hooks[0].Hook.Absent:
		return "absent"
	}
	return "there"
}

func TestBarred(t *testing.T) {
	tests := []struct {
		text    string
		managed bool
		key     string
	}{
		{`{"disableAllHooks": true}`, false, "disableAllHooks"},
		{`{"disableAllHooks": true}`, true, "disableAllHooks"},
		{`{"disableAllHooks": "true"}`, false, ""},
		{`{"allowManagedHooksOnly": true}`, true, "allowManagedHooksOnly"},
		{`{"allowManagedHooksOnly": true}`, false, ""},
		{`{"strictPluginOnlyCustomization": true}`, true, "strictPluginOnlyCustomization"},
		{`{"strictPluginOnlyCustomization": ["skills", "hooks"]}`, true, "strictPluginOnlyCustomization"},
		{`{"strictPluginOnlyCustomization": ["skills"]}`, true, ""},
		{`{"strictPluginOnlyCustomization": ["hooks"]}`, false, ""},
		{`[`, true, ""},
	}
	for _, tt := range tests {
		m := newMachine(t)
		file := m.write("rules.json", tt.text)
		want := ""
		if tt.key != "" {
			want = tt.key + " in " + file + " keeps its client from running it"
		}
		if got := barred([]clients.Rules{{Path: m.path("none.json")}, {Path: file, Managed: tt.managed}}); got != want {
			t.Errorf("%s: %q, want %q", tt.text, got, want)
		}
	}
}

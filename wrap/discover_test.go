package wrap

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// env is a home in which every client has the same place on every platform that the test may run on.
func (m *machine) env() clients.Env {
	env := clients.Env{OS: "linux", Home: m.home, Project: m.path("work/app")}
	if runtime.GOOS == "windows" {
		env.OS, env.Roaming = "windows", m.path(".config")
	}
	return env
}

func (m *machine) discover(o DiscoverOptions) []string {
	var got []string
	found := Discover(m.env(), o)
	for _, f := range found.Files {
		got = append(got, "file "+f.Client+" "+m.short(f.Path))
	}
	for _, f := range found.Managed {
		got = append(got, "managed "+f.Client+" "+m.short(f.Path))
	}
	for _, f := range found.Unreadable {
		got = append(got, "unreadable "+f.Client+" "+m.short(f.Path))
	}
	return got
}

func (m *machine) short(path string) string {
	return filepath.ToSlash(strings.TrimPrefix(path, m.home+string(filepath.Separator)))
}

func TestDiscover(t *testing.T) {
	everything := func(m *machine) {
		for _, name := range []string{
			".config/Claude/claude_desktop_config.json", ".claude.json", ".mcp.json", "work/app/.mcp.json",
			".cursor/mcp.json", "work/app/.cursor/mcp.json", "work/other/.mcp.json", "unrelated.json",
		} {
			m.write(name, `{"mcpServers": {}}`)
		}
	}
	tests := []struct {
		name    string
		prepare func(*machine)
		options DiscoverOptions
		want    []string
	}{
		{"nothing there", func(*machine) {}, DiscoverOptions{}, nil},
		{"everything", everything, DiscoverOptions{}, []string{
			"file claude-desktop .config/Claude/claude_desktop_config.json",
			"file claude-code .claude.json",
			"file claude-code work/app/.mcp.json",
			"file claude-code .mcp.json",
			"file cursor .cursor/mcp.json",
			"file cursor work/app/.cursor/mcp.json",
		}},
		{"one client", everything, DiscoverOptions{Clients: []string{"cursor"}}, []string{
			"file cursor .cursor/mcp.json",
			"file cursor work/app/.cursor/mcp.json",
		}},
		{"no such client", everything, DiscoverOptions{Clients: []string{"curser"}}, nil},
		{"legacy place wins", func(m *machine) {
			m.write(".claude.json", "{}")
			m.write(".claude/.config.json", "{}")
		}, DiscoverOptions{}, []string{"file claude-code .claude/.config.json"}},
		{"unreadable beside readable", func(m *machine) {
			m.write(".cursor/mcp.json/inside", "the config is a folder")
			m.write(".claude.json", "not even JSON")
		}, DiscoverOptions{}, []string{"file claude-code .claude.json", "unreadable cursor .cursor/mcp.json"}},
		{"a file where the folder should be", func(m *machine) { m.write(".cursor", "") }, DiscoverOptions{}, nil},
		{"broken link", func(m *machine) { m.link("nowhere", ".claude.json") }, DiscoverOptions{}, []string{"unreadable claude-code .claude.json"}},
		{"two names of one file", func(m *machine) {
			m.write(".cursor/mcp.json", "{}")
			m.write("work/app/.cursor/other", "")
			m.link(m.path(".cursor/mcp.json"), "work/app/.cursor/mcp.json")
		}, DiscoverOptions{}, []string{"file cursor .cursor/mcp.json"}},
		{"named files", everything, DiscoverOptions{Files: []string{"../other/.mcp.json", "../../unrelated.json", "missing.json"}}, []string{
			"file claude-code work/other/.mcp.json",
			"file  unrelated.json",
			"unreadable  work/app/missing.json",
		}},
		{"policy that doesn't parse", func(m *machine) {
			m.write(".claude.json", "{}")
			m.write("work/app/.claude/settings.local.json", "{")
		}, DiscoverOptions{}, []string{"file claude-code .claude.json", "unreadable claude-code work/app/.claude/settings.local.json"}},
		{"unreadable policy", func(m *machine) {
			m.write(".claude.json", "{}")
			m.write(".claude/settings.json/inside", "")
		}, DiscoverOptions{}, []string{"file claude-code .claude.json", "unreadable claude-code .claude/settings.json"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t)
			test.prepare(m)
			before := m.tree("")
			if got := m.discover(test.options); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			if m.tree("") != before {
				t.Error("looking around changed something")
			}
		})
	}
}

func (m *machine) link(to, name string) {
	m.t.Helper()
	if err := os.Symlink(to, m.path(name)); err != nil {
		m.t.Fatal(err)
	}
}

// TestDiscoverShape: a file that is named takes the shape of the client whose place it is, in this home or another.
func TestDiscoverShape(t *testing.T) {
	type shape struct {
		client       string
		format       jsonc.Format
		shared, lock bool
		maps         int
	}
	tests := []struct {
		file, text string
		want       shape
	}{
		{".claude.json", "{}", shape{"claude-code", jsonc.Strict, false, true, 2}},
		{"else/.claude.json", "{}", shape{"claude-code", jsonc.Strict, false, true, 2}},
		{"else/.claude/.config.json", "{}", shape{"claude-code", jsonc.Strict, false, true, 2}},
		{"else/repo/.mcp.json", "{}", shape{"claude-code", jsonc.Strict, true, false, 1}},
		{".config/Claude/claude_desktop_config.json", "{}", shape{"claude-desktop", jsonc.Strict, false, false, 1}},
		{".cursor/mcp.json", "{}", shape{"cursor", jsonc.Comments, false, false, 1}},
		{"else/repo/.cursor/mcp.json", "{}", shape{"cursor", jsonc.Comments, true, false, 1}},
		{"else/servers.json", "{}", shape{"", jsonc.Strict, false, false, 1}},
		{"else/servers.json", "{} // why", shape{"", jsonc.Comments, false, false, 1}},
		{"else/servers.json", "{", shape{"", jsonc.Strict, false, false, 1}},
	}
	for _, test := range tests {
		m := newMachine(t)
		file := m.write(test.file, test.text)
		found := Discover(m.env(), DiscoverOptions{Files: []string{file}})
		if len(found.Files) != 1 {
			t.Errorf("%s: found %+v", test.file, found)
			continue
		}
		f := found.Files[0]
		got := shape{f.Client, f.Format, f.Shared, f.Lock, len(f.Maps)}
		if got != test.want || f.Path != file || string(f.Data) != test.text || f.Mode == 0 {
			t.Errorf("%s: got %+v of %+v, want %+v", test.file, got, f, test.want)
		}
	}
}

// TestDiscoverLinked: a file that is reached in another way is the same file, with the same lock and the same readers.
func TestDiscoverLinked(t *testing.T) {
	m := newMachine(t)
	m.write("dot/c.json", "{}")
	m.link(m.path("dot/c.json"), ".claude.json")
	m.write(".cursor/x", "")
	m.link(m.path(".claude.json"), ".cursor/mcp.json")
	for name, o := range map[string]DiscoverOptions{
		"by its own name": {Files: []string{m.path("dot/c.json")}},
		"from a client":   {Files: []string{m.path(".claude.json")}},
		"from another":    {Files: []string{m.path(".cursor/mcp.json")}},
		"of one client":   {Clients: []string{"cursor"}},
		"of all":          {},
	} {
		found := Discover(m.env(), o)
		if len(found.Files) != 1 || !found.Files[0].Lock {
			t.Errorf("%s: %+v", name, found.Files)
			continue
		}
		f := found.Files[0]
		if readers := append(f.Also, f.Client); len(readers) != 2 || !slices.Contains(readers, "claude-code") || !slices.Contains(readers, "cursor") {
			t.Errorf("%s: read by %s", name, readers)
		}
	}
}

// TestDiscoverManaged: what an organisation owns is listed apart.
func TestDiscoverManaged(t *testing.T) {
	m := newMachine(t)
	file := m.write("managed-mcp.json", `{"mcpServers": {}}`)
	d := discovery{lists: map[string]settings{}}
	d.add(candidate{client: "claude-code", config: clients.Config{Managed: true}, path: file}, false)
	if len(d.found.Files) != 0 || len(d.found.Managed) != 1 || d.found.Managed[0].Path != file {
		t.Errorf("found %+v", d.found)
	}
}

// TestDiscoverLists joins the deny lists of the person, the project and the project's private settings.
func TestDiscoverLists(t *testing.T) {
	m := newMachine(t)
	m.write(".claude.json", "{}")
	m.write("work/app/.mcp.json", "{}")
	m.write(".cursor/mcp.json", "{}")
	m.write(".claude/settings.json", `{"deniedMcpServers": [{"serverName": "one"}]}`)
	m.write("work/app/.claude/settings.json", `{"deniedMcpServers": [{"serverName": "two"}]}`)
	m.write("work/app/.claude/settings.local.json", `{"deniedMcpServers": [{"serverCommand": ["npx", "three"]}]}`)
	found := Discover(m.env(), DiscoverOptions{})
	if len(found.Files) != 3 {
		t.Fatalf("found %+v", found)
	}
	for _, f := range found.Files {
		names, commands := f.Lists.DenyNames, f.Lists.DenyCommands
		if f.Client == "cursor" {
			if len(names)+len(commands) > 0 {
				t.Errorf("Cursor got Claude Code's lists: %+v", f.Lists)
			}
			continue
		}
		if !slices.Equal(names, []string{"one", "two"}) || len(commands) != 1 || !slices.Equal(commands[0], []string{"npx", "three"}) {
			t.Errorf("%s: %+v", f.Path, f.Lists)
		}
	}
}

package clients_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

// The three machines that every table is tested for, wherever the test runs.
func linux() clients.Env {
	return clients.Env{OS: "linux", Home: "/home/ada", Project: "/home/ada/src/app"}
}

func darwin() clients.Env {
	return clients.Env{OS: "darwin", Home: "/Users/ada", Project: "/Users/ada/app"}
}

func windows() clients.Env {
	return clients.Env{
		OS: "windows", Home: `C:\Users\ada`, Project: `C:\src\app`,
		Roaming: `C:\Users\ada\AppData\Roaming`, Local: `C:\Users\ada\AppData\Local`,
	}
}

func with(e clients.Env, change func(*clients.Env)) clients.Env {
	change(&e)
	return e
}

func variables(pairs ...string) func(string) string {
	return func(name string) string {
		if i := slices.Index(pairs, name); i >= 0 {
			return pairs[i+1]
		}
		return ""
	}
}

// desktops are the two places that Claude Desktop has below a folder.
func desktops(below string) []string {
	return []string{below + "/Claude/claude_desktop_config.json", below + "/Claude-3p/claude_desktop_config.json"}
}

// TestPaths checks each client's places: all of a client's configs, in the order in which they are read.
func TestPaths(t *testing.T) {
	tests := []struct {
		name, client string
		env          clients.Env
		want         []string
	}{
		{"desktop", "claude-desktop", linux(), desktops("/home/ada/.config")},
		{
			"desktop xdg", "claude-desktop", with(linux(), func(e *clients.Env) { e.Config = "/cfg" }),
			desktops("/cfg"),
		},
		{
			"desktop relative xdg", "claude-desktop", with(linux(), func(e *clients.Env) { e.Config = "cfg" }),
			desktops("/home/ada/.config"),
		},
		{
			"desktop", "claude-desktop", darwin(),
			desktops("/Users/ada/Library/Application Support"),
		},
		{
			"desktop", "claude-desktop", windows(),
			[]string{
				`C:\Users\ada\AppData\Roaming\Claude\claude_desktop_config.json`,
				`C:\Users\ada\AppData\Local\Claude-3p\claude_desktop_config.json`,
			},
		},
		{
			"desktop store package", "claude-desktop", with(windows(), func(e *clients.Env) {
				e.Glob = func(pattern string) []string {
					return []string{strings.Replace(pattern, "Claude_*", "Claude_pzs8sxrjxfjjc", 1)}
				}
			}),
			[]string{
				`C:\Users\ada\AppData\Roaming\Claude\claude_desktop_config.json`,
				`C:\Users\ada\AppData\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Roaming\Claude\claude_desktop_config.json`,
				`C:\Users\ada\AppData\Local\Claude-3p\claude_desktop_config.json`,
				`C:\Users\ada\AppData\Local\Packages\Claude_pzs8sxrjxfjjc\LocalCache\Local\Claude-3p\claude_desktop_config.json`,
			},
		},
		{
			"desktop in a sandbox", "claude-desktop", with(linux(), func(e *clients.Env) {
				e.Glob = func(pattern string) []string {
					return []string{strings.Replace(pattern, "*", "ai.claude.Desktop", 1)}
				}
			}),
			append(desktops("/home/ada/.config"), "/home/ada/.var/app/ai.claude.Desktop/config/Claude/claude_desktop_config.json"),
		},
		{"desktop without a home", "claude-desktop", clients.Env{OS: "linux"}, nil},
		{"code", "claude-code", linux(), []string{
			"/home/ada/.claude.json",
			"/home/ada/src/app/.mcp.json", "/home/ada/src/.mcp.json", "/home/ada/.mcp.json", "/home/.mcp.json", "/.mcp.json",
			"/etc/claude-code/managed-mcp.json",
		}},
		{"code moved", "claude-code", with(darwin(), func(e *clients.Env) {
			e.Getenv = variables("CLAUDE_CONFIG_DIR", "/opt/cc")
		}), []string{
			"/opt/cc/.claude.json",
			"/Users/ada/app/.mcp.json", "/Users/ada/.mcp.json", "/Users/.mcp.json", "/.mcp.json",
			"/Library/Application Support/ClaudeCode/managed-mcp.json",
		}},
		{"code moved to a tilde", "claude-code", with(linux(), func(e *clients.Env) {
			e.Getenv, e.Project = variables("CLAUDE_CONFIG_DIR", "~/cc"), "/w"
		}), []string{"/w/~/cc/.claude.json", "/w/.mcp.json", "/.mcp.json", "/etc/claude-code/managed-mcp.json"}},
		{"code legacy wins", "claude-code", with(linux(), func(e *clients.Env) {
			e.Project = ""
			e.Exists = func(file string) bool { return file == "/home/ada/.claude/.config.json" }
		}), []string{"/home/ada/.claude/.config.json", "/etc/claude-code/managed-mcp.json"}},
		{"code legacy elsewhere", "claude-code", with(linux(), func(e *clients.Env) {
			e.Project, e.Getenv = "", variables("CLAUDE_CONFIG_DIR", "/opt/cc")
			e.Exists = func(file string) bool { return strings.HasSuffix(file, "/.config.json") }
		}), []string{"/opt/cc/.config.json", "/etc/claude-code/managed-mcp.json"}},
		{"code", "claude-code", windows(), []string{
			`C:\Users\ada\.claude.json`,
			`C:\src\app\.mcp.json`, `C:\src\.mcp.json`, `C:\.mcp.json`,
			`C:\Program Files\ClaudeCode\managed-mcp.json`,
		}},
		{"code on a share", "claude-code", with(windows(), func(e *clients.Env) {
			e.Project, e.Getenv = `\\host\share\app`, variables("ProgramFiles", `D:\Programs`)
		}), []string{
			`C:\Users\ada\.claude.json`,
			`\\host\share\app\.mcp.json`, `\\host\share\.mcp.json`,
			`D:\Programs\ClaudeCode\managed-mcp.json`,
		}},
		{"cursor", "cursor", linux(), []string{"/home/ada/.cursor/mcp.json", "/home/ada/src/app/.cursor/mcp.json"}},
		{"cursor", "cursor", darwin(), []string{"/Users/ada/.cursor/mcp.json", "/Users/ada/app/.cursor/mcp.json"}},
		{"cursor", "cursor", windows(), []string{`C:\Users\ada\.cursor\mcp.json`, `C:\src\app\.cursor\mcp.json`}},
		{"cursor without a project", "cursor", clients.Env{OS: "linux", Home: "/h"}, []string{"/h/.cursor/mcp.json"}},
	}
	for _, test := range tests {
		t.Run(test.env.OS+" "+test.name, func(t *testing.T) {
			client, ok := clients.ByID(test.client)
			if !ok {
				t.Fatalf("no client %s", test.client)
			}
			var got []string
			for _, config := range client.Configs {
				got = append(got, config.Paths(test.env)...)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

func TestClaudeCodePolicies(t *testing.T) {
	drop := func(pattern string) []string { return []string{strings.Replace(pattern, "*", "10-mcp", 1)} }
	tests := []struct {
		env  clients.Env
		want []string
	}{
		{with(linux(), func(e *clients.Env) { e.Glob = drop }), []string{
			"/etc/claude-code/managed-settings.json",
			"/home/ada/.claude/settings.json",
			"/home/ada/src/app/.claude/settings.json",
			"/home/ada/src/app/.claude/settings.local.json",
			"/etc/claude-code/managed-settings.d/10-mcp.json",
		}},
		{with(darwin(), func(e *clients.Env) { e.Getenv = variables("CLAUDE_CONFIG_DIR", "/opt/cc") }), []string{
			"/Library/Application Support/ClaudeCode/managed-settings.json",
			"/opt/cc/settings.json",
			"/Users/ada/app/.claude/settings.json",
			"/Users/ada/app/.claude/settings.local.json",
		}},
		{windows(), []string{
			`C:\Program Files\ClaudeCode\managed-settings.json`,
			`C:\Users\ada\.claude\settings.json`,
			`C:\src\app\.claude\settings.json`,
			`C:\src\app\.claude\settings.local.json`,
		}},
	}
	client, _ := clients.ByID("claude-code")
	for _, test := range tests {
		for _, config := range client.Configs {
			if config.Managed {
				continue
			}
			if got := config.Policies(test.env); !slices.Equal(got, test.want) {
				t.Errorf("%s: got  %q\nwant %q", test.env.OS, got, test.want)
			}
		}
	}
}

// TestAll holds what every client must say, so that a new literal can't leave it out.
func TestAll(t *testing.T) {
	seen := map[string]bool{}
	for _, client := range clients.All() {
		if client.ID == "" || seen[client.ID] || client.ID != strings.ToLower(client.ID) {
			t.Errorf("id %q is empty, taken or not in lower case", client.ID)
		}
		seen[client.ID] = true
		if client.Name == "" || !strings.HasSuffix(client.Reload, ".") || len(client.Configs) == 0 {
			t.Errorf("%s: name, reload sentence or configs are missing", client.ID)
		}
		for _, config := range client.Configs {
			checkConfig(t, client.ID, config)
		}
	}
	if _, ok := clients.ByID("none"); ok {
		t.Error("a client that nobody knows was found")
	}
}

func checkConfig(t *testing.T, id string, config clients.Config) {
	t.Helper()
	if len(config.Maps) == 0 {
		t.Errorf("%s: a config without a server map", id)
	}
	for _, m := range config.Maps {
		if m.Scope == "" || len(m.Pointer) == 0 {
			t.Errorf("%s: a map without scope or pointer: %+v", id, m)
		}
		if config.Shared != (m.Scope == clients.Project) {
			t.Errorf("%s: scope %s and shared %v don't fit", id, m.Scope, config.Shared)
		}
	}
	for _, env := range []clients.Env{linux(), darwin(), windows()} {
		paths := config.Paths(env)
		if len(paths) == 0 {
			t.Errorf("%s: no place on %s", id, env.OS)
		}
		for _, p := range paths {
			if !env.Abs(p) || (env.OS == "windows") == strings.Contains(p, "/") {
				t.Errorf("%s: %q is no absolute path on %s", id, p, env.OS)
			}
		}
	}
}

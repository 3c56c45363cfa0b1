package clients_test

import (
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

// disk is an environment's view of some files.
func disk(e clients.Env, files map[string]string) clients.Env {
	slash := func(file string) string { return strings.ReplaceAll(file, `\`, "/") }
	e.Read = func(file string) []byte {
		for name, text := range files {
			if slash(name) == slash(file) {
				return []byte(text)
			}
		}
		return nil
	}
	e.Exists = func(file string) bool {
		return slices.ContainsFunc(keys(files), func(name string) bool { return name == file || strings.HasPrefix(name, file+"/") })
	}
	e.Glob = func(pattern string) []string {
		var found []string
		for _, name := range keys(files) {
			for at := slash(name); at != "/" && at != "."; at = path.Dir(at) {
				if ok, _ := path.Match(slash(pattern), at); ok && !slices.Contains(found, at) {
					found = append(found, at)
				}
			}
		}
		if e.OS == "windows" {
			for i := range found {
				found[i] = strings.ReplaceAll(found[i], "/", `\`)
			}
		}
		return found
	}
	return e
}

func keys(m map[string]string) []string {
	var list []string
	for key := range m {
		list = append(list, key)
	}
	slices.Sort(list)
	return list
}

func sources(id string, e clients.Env) []string {
	client, _ := clients.ByID(id)
	var got []string
	for _, source := range client.Sources {
		for _, place := range source.Places(e) {
			got = append(got, string(source.Kind)+" "+place.Owner+" "+place.Path)
		}
	}
	return got
}

// TestSources lists the places that no config names: plugins, agents, extensions, an organisation's settings.
func TestSources(t *testing.T) {
	const plugins = "/home/ada/.claude/plugins"
	tests := []struct {
		name, client string
		env          clients.Env
		files        map[string]string
		want         []string // of the kinds that the case is about
	}{
		{"a plugin", "claude-code", linux(), map[string]string{
			plugins + "/installed_plugins.json": `{"version": 2, "plugins": {"acme@market": [{"scope": "user", "installPath": "/p/acme/1.0"}]}}`,
		}, []string{"plugin acme /p/acme/1.0/.mcp.json", "plugin acme /p/acme/1.0/.claude-plugin/plugin.json"}},
		{"a plugin, as version 1 wrote it", "claude-code", linux(), map[string]string{
			plugins + "/installed_plugins.json": `{"version": 1, "plugins": {"acme@market": {"installPath": "/p/acme"}}}`,
		}, []string{"plugin acme /p/acme/.mcp.json", "plugin acme /p/acme/.claude-plugin/plugin.json"}},
		{"switched off, and on again by the project", "claude-code", linux(), map[string]string{
			plugins + "/installed_plugins.json":             `{"plugins": {"off@m": [{"installPath": "/p/off"}], "on@m": [{"installPath": "/p/on"}]}}`,
			"/home/ada/.claude/settings.json":               `{"enabledPlugins": {"off@m": false, "on@m": false}}`,
			"/home/ada/src/app/.claude/settings.local.json": `{"enabledPlugins": {"on@m": true}}`,
		}, []string{"plugin on /p/on/.mcp.json", "plugin on /p/on/.claude-plugin/plugin.json"}},
		{"for another project", "claude-code", linux(), map[string]string{
			plugins + "/installed_plugins.json": `{"plugins": {"a@m": [{"projectPath": "/else", "installPath": "/p/a"}, {"projectPath": "/home/ada/src", "installPath": "/p/b"}]}}`,
		}, []string{"plugin a /p/b/.mcp.json", "plugin a /p/b/.claude-plugin/plugin.json"}},
		{"from a folder that is a marketplace", "claude-code", linux(), map[string]string{
			plugins + "/installed_plugins.json":      `{"plugins": {"a@m": []}}`,
			plugins + "/known_marketplaces.json":     `{"m": {"installLocation": "/src/m"}}`,
			"/src/m/.claude-plugin/marketplace.json": `{"plugins": [{"name": "a", "source": "./plugins/a"}, {"name": "b", "source": "../../etc"}]}`,
		}, []string{"plugin a /src/m/plugins/a/.mcp.json", "plugin a /src/m/plugins/a/.claude-plugin/plugin.json"}},
		{"a list that can't be read", "claude-code", linux(), map[string]string{plugins + "/installed_plugins.json": `{"plugins": `}, nil},
		{"agents", "claude-code", linux(), map[string]string{
			"/home/ada/.claude/agents/tester.md": "", "/home/ada/src/app/.claude/agents/team/x.md": "", "/home/ada/.claude/agents/notes.txt": "",
		}, []string{"agent tester /home/ada/.claude/agents/tester.md", "agent x /home/ada/src/app/.claude/agents/team/x.md"}},
		{"agents elsewhere", "claude-code", with(windows(), func(e *clients.Env) {
			e.Getenv = variables("CLAUDE_CONFIG_DIR", `D:\cc`)
		}), map[string]string{"D:/cc/agents/tester.md": ""}, []string{`agent tester D:\cc\agents\tester.md`}},
		{"an extension, and one that is off", "claude-desktop", darwin(), map[string]string{
			"/Users/ada/Library/Application Support/Claude/Claude Extensions/ant.fs/manifest.json":   "{}",
			"/Users/ada/Library/Application Support/Claude/Claude Extensions/ant.off/manifest.json":  "{}",
			"/Users/ada/Library/Application Support/Claude/Claude Extensions Settings/ant.off.json":  `{"isEnabled": false}`,
			"/Users/ada/Library/Application Support/Claude-3p/Claude Extensions/other/manifest.json": "{}",
			"/Users/ada/Library/Application Support/Claude/Claude Extensions Settings/ant.fs.json":   `{"isEnabled": true}`,
		}, []string{
			"extension ant.fs /Users/ada/Library/Application Support/Claude/Claude Extensions/ant.fs/manifest.json",
			"extension other /Users/ada/Library/Application Support/Claude-3p/Claude Extensions/other/manifest.json",
		}},
		{"an extension of the store package", "claude-desktop", windows(), map[string]string{
			`C:/Users/ada/AppData/Local/Packages/Claude_pzs/LocalCache/Roaming/Claude/Claude Extensions/fs/manifest.json`: "{}",
		}, []string{`extension fs C:\Users\ada\AppData\Local\Packages\Claude_pzs\LocalCache\Roaming\Claude\Claude Extensions\fs\manifest.json`}},
		{"cursor's plugins", "cursor", linux(), map[string]string{
			"/home/ada/.cursor/plugins/local/mine/mcp.json":                         "{}",
			"/home/ada/.cursor/plugins/cache/public/linear/3d9d/.mcp.json":          "{}",
			"/home/ada/.cursor/plugins/cache/public/x/1/.cursor-plugin/plugin.json": "{}",
		}, []string{
			"plugin mine /home/ada/.cursor/plugins/local/mine/mcp.json",
			"plugin linear /home/ada/.cursor/plugins/cache/public/linear/3d9d/.mcp.json",
			"plugin x /home/ada/.cursor/plugins/cache/public/x/1/.cursor-plugin/plugin.json",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := sources(test.client, disk(test.env, test.files))
			got = slices.DeleteFunc(got, func(place string) bool { return strings.HasPrefix(place, "organisation ") })
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
	for _, e := range []clients.Env{linux(), darwin(), windows()} {
		got := sources("claude-code", e)
		if len(got) != 1 || !strings.HasPrefix(got[0], "organisation  ") || !strings.HasSuffix(got[0], "managed-settings.json") {
			t.Errorf("%s: with nothing installed got %q", e.OS, got)
		}
	}
}

// TestHere finds the key that Claude Code keeps a working directory's own servers under.
func TestHere(t *testing.T) {
	tests := []struct {
		name  string
		env   clients.Env
		files map[string]string
		want  string
	}{
		{"no repository", linux(), nil, "/home/ada/src/app"},
		{"a repository above", linux(), map[string]string{"/home/ada/src/.git/HEAD": ""}, "/home/ada/src"},
		{"a linked working tree", linux(), map[string]string{"/home/ada/src/app/.git": "gitdir: /src/main/.git/worktrees/app\n"}, "/src/main"},
		{"a submodule", linux(), map[string]string{"/home/ada/src/app/.git": "gitdir: ../.git/modules/app\n"}, "/home/ada/src/app"},
		{"Windows writes slashes", windows(), nil, "C:/src/app"},
		{"no working directory", clients.Env{OS: "linux"}, nil, ""},
	}
	client, _ := clients.ByID("claude-code")
	for _, test := range tests {
		if got := client.Configs[0].Maps[1].Here(disk(test.env, test.files)); got != test.want {
			t.Errorf("%s: got %q, want %q", test.name, got, test.want)
		}
	}
}

// TestReads tells the two Claude Desktops of Windows apart by the configs that they read.
func TestReads(t *testing.T) {
	const packaged = `C:\Users\ada\AppData\Local\Packages\Claude_pzs\LocalCache\Roaming\Claude`
	env := disk(windows(), map[string]string{packaged + `\x`: ""})
	env.Glob = func(pattern string) []string { return []string{strings.Replace(pattern, "Claude_*", "Claude_pzs", 1)} }
	client, _ := clients.ByID("claude-desktop")
	want := []string{packaged + `\claude_desktop_config.json`, `C:\Users\ada\AppData\Roaming\Claude\claude_desktop_config.json`}
	for i, program := range client.Process.Programs["windows"] {
		if got := program.Reads(env); !slices.Equal(got, want[i:i+1]) {
			t.Errorf("%s: %q", program.Folder, got)
		}
	}
}

// TestStart: only where the desktop's PATH is known is it said to be.
func TestStart(t *testing.T) {
	tests := []struct {
		start clients.Start
		env   clients.Env
		want  string
	}{
		{clients.Desktop, darwin(), "/usr/bin:/bin:/usr/sbin:/sbin"},
		{clients.Desktop, linux(), ""},
		{clients.Desktop, windows(), ""},
		{clients.DesktopShell, darwin(), ""},
		{clients.Terminal, darwin(), ""},
	}
	for _, test := range tests {
		if got, ok := test.start.Path(test.env); got != test.want || ok != (test.want != "") {
			t.Errorf("%d on %s: %q, %v", test.start, test.env.OS, got, ok)
		}
	}
}

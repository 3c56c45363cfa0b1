package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/adrg/xdg"
)

// household is a home with everything in it that a server can hide in, on every platform.
func household(t *testing.T) (home, work string) {
	t.Helper()
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	work = filepath.Join(home, "work", "app")
	const servers = `{"mcpServers": {"db": {"command": "sh"}, "web": {"url": "https://x"}, "old": {"command": "sh", "x-bouncer-upstream": {"command": "sh"}}}}`
	for name, text := range map[string]string{
		".claude.json":                                      servers,
		".claude/settings.json":                             `{"deniedMcpServers": []}`,
		".claude/plugins/installed_plugins.json":            fmt.Sprintf(`{"plugins": {"acme@m": [{"installPath": %q}]}}`, filepath.Join(home, "acme")),
		".claude/agents/tester.md":                          "---\nmcpServers:\n  - a:\n      command: sh\n---\n",
		"acme/.mcp.json":                                    servers,
		"acme/.claude-plugin/plugin.json":                   `{"mcpServers": "./more.json"}`,
		"acme/more.json":                                    servers,
		".config/Claude/claude_desktop_config.json":         servers,
		".config/Claude/Claude Extensions/fs/manifest.json": `{"server": {"mcp_config": {"command": "node"}}}`,
		".cursor/mcp.json":                                  servers,
		".cursor/plugins/local/mine/mcp.json":               servers,
		".config/bouncer/policy.yaml":                       "send_email:\n  max_calls: 1\n",
		"work/.mcp.json":                                    servers,
		"work/app/.mcp.json":                                "{broken",
		"work/app/.cursor/mcp.json":                         servers,
		"unrelated.json":                                    servers,
	} {
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"HOME": home, "USERPROFILE": home, "APPDATA": filepath.Join(home, ".config"), "LOCALAPPDATA": filepath.Join(home, "local"),
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"), "XDG_STATE_HOME": filepath.Join(home, "state"), "BOUNCER_HOME": "", "CLAUDE_CONFIG_DIR": "",
	} {
		t.Setenv(name, value)
	}
	xdg.Reload()
	t.Cleanup(xdg.Reload)
	return home, work
}

// visitor is bouncer at work in a household.
func visitor(work string) *app {
	return &app{
		in: strings.NewReader(""), out: io.Discard, err: io.Discard, getenv: os.Getenv, goos: runtime.GOOS,
		cwd:    func() (string, error) { return work, nil },
		launch: filepath.Join(filepath.Dir(work), "bin", "bouncer"),
	}
}

// inventory describes every file and folder of a tree: its mode, when it was written, and what is in it. A file that came and
// went again shows in its folder's time.
func inventory(t *testing.T, root string) map[string]string {
	t.Helper()
	things := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		var data []byte
		if !d.IsDir() {
			if data, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		things[path] = fmt.Sprint(info.Mode(), info.ModTime().UnixNano(), string(data))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return things
}

// looking are the command lines that only look.
func looking() [][]string {
	return [][]string{
		{"status"},
		{"status", "--json"},
		{"doctor"},
		{"doctor", "--json"},
		{"doctor", "--sarif"},
		{"init", "--dry-run"},
		{"init", "--dry-run", "--client=claude-code", "--skip=db"},
		{"unwrap", "--dry-run"},
		{"init", "--yes", "--server=no-such-server"},
	}
}

// TestLookingChangesNothing: the commands that only look leave no trace, not even in a folder's time.
func TestLookingChangesNothing(t *testing.T) {
	home, work := household(t)
	before := inventory(t, home)
	for _, args := range looking() {
		run(args, visitor(work))
		compare(t, strings.Join(args, " "), before, inventory(t, home), nil)
	}
}

// TestOnlyWhatIsAskedFor: a command for one client writes that client's file and bouncer's own state.
func TestOnlyWhatIsAskedFor(t *testing.T) {
	home, work := household(t)
	before := inventory(t, home)
	if code := run([]string{"init", "--yes", "--client=cursor", "--scope=user"}, visitor(work)); code != exitDone {
		t.Fatalf("exit code %d", code)
	}
	after := inventory(t, home)
	compare(t, "init", before, after, func(path string) bool {
		return path == filepath.Join(home, ".cursor") || path == filepath.Join(home, ".cursor", "mcp.json") ||
			path == home || strings.HasPrefix(path, filepath.Join(home, "state"))
	})
	if before[filepath.Join(home, ".cursor", "mcp.json")] == after[filepath.Join(home, ".cursor", "mcp.json")] {
		t.Error("the one file that was meant has not changed")
	}
}

func compare(t *testing.T, what string, before, after map[string]string, may func(string) bool) {
	t.Helper()
	for path := range after {
		if before[path] != after[path] && (may == nil || !may(path)) {
			t.Errorf("%s: touched %s", what, path)
		}
	}
	for path := range before {
		if _, there := after[path]; !there {
			t.Errorf("%s: removed %s", what, path)
		}
	}
}

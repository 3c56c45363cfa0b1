// Package peers tests bouncer against the real programs of package.json and requirements.txt. It is not part of ./...:
// .ci/run installs the programs and runs it. A program that is missing is a failure.
package peers

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// world is a throwaway home with bouncer installed in it.
type world struct {
	t       *testing.T
	home    string
	bouncer string
	env     []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	// Not below the system's folder for temporary files, wherever this checkout lies: bouncer refuses to write such a path
	// into a config.
	parent, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp(parent, "bouncer-peers-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	bin := filepath.Join(home, ".local", "bin")
	w := &world{t: t, home: home, bouncer: filepath.Join(bin, "bouncer")}
	w.env = append(os.Environ(),
		"HOME="+home, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"XDG_CONFIG_HOME=", "XDG_STATE_HOME=", "XDG_DATA_HOME=", "CLAUDE_CONFIG_DIR=", "BOUNCER_HOME=",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "NO_COLOR=1")
	out, err := exec.Command("go", "build", "-o", w.bouncer, "../../cmd/bouncer").CombinedOutput()
	if err != nil {
		t.Fatalf("building bouncer: %v\n%s", err, out)
	}
	return w
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// bin is one of the installed programs.
func (w *world) bin(name string) string {
	w.t.Helper()
	path := mustAbs(w.t, filepath.Join("node_modules", ".bin", name))
	if _, err := os.Stat(path); err != nil {
		w.t.Fatalf("%s is not installed: run npm ci in testdata/peers", name)
	}
	return path
}

// in is the same world for a subtest.
func (w *world) in(t *testing.T) *world {
	inner := *w
	inner.t = t
	return &inner
}

// run runs a program in the world and returns its standard output.
func (w *world) run(dir, name string, args ...string) string {
	w.t.Helper()
	cmd := w.command(dir, name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("%s %s: %v\n%s%s", filepath.Base(name), strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}

func (w *world) command(dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, w.env
	return cmd
}

func (w *world) mkdir(name string) string {
	w.t.Helper()
	dir := filepath.Join(w.home, name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	return dir
}

func (w *world) write(path, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) read(path string) string {
	w.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		w.t.Fatal(err)
	}
	return string(data)
}

// TestFilesystemServer confines the real filesystem server to one folder and two writes. A refused attempt counts.
func TestFilesystemServer(t *testing.T) {
	w := newWorld(t)
	root := w.mkdir("files")
	allowed := w.mkdir("files/out")
	policy := filepath.Join(w.home, "fs.yaml")
	w.write(policy, "write_file:\n  allowed_path_prefixes: ["+allowed+"]\n  max_calls: 2\n")

	cmd := exec.Command(w.bouncer, "run", "--upstream-name=fs", "--policy="+policy, "--", w.bin("mcp-server-filesystem"), root)
	cmd.Env, cmd.Stderr = w.env, os.Stderr
	ctx := context.Background()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	steps := []struct {
		path     string
		contract string // empty: allowed
	}{
		{filepath.Join(root, "outside.txt"), "constraint"},
		{filepath.Join(allowed, "first.txt"), ""},
		{filepath.Join(allowed, "second.txt"), "budget"},
		{filepath.Join(allowed, "third.txt"), "budget"},
	}
	for _, s := range steps {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "write_file", Arguments: map[string]any{"path": s.path, "content": "x"}})
		if err != nil {
			t.Fatal(err)
		}
		text := result.Content[0].(*mcp.TextContent).Text
		if refused := s.contract != ""; result.IsError != refused || strings.HasPrefix(text, "[bouncer blocked] ") != refused {
			t.Errorf("%s: error %v: %s", filepath.Base(s.path), result.IsError, text)
		}
		_, err = os.Stat(s.path)
		if exists := err == nil; exists != (s.contract == "") {
			t.Errorf("%s: exists: %v", filepath.Base(s.path), exists)
		}
	}
	session.Close()
	var contracts []string
	for line := range strings.Lines(w.run(root, w.bouncer, "audit", "export")) {
		var r struct{ Kind, Contract string }
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Kind == "verdict" {
			contracts = append(contracts, r.Contract)
		}
	}
	if got := strings.Join(contracts, " "); got != "constraint default budget budget" {
		t.Errorf("contracts in the audit log: %s", got)
	}
	w.run(root, w.bouncer, "audit", "verify")
}

// TestClaudeCode lets the real CLI add servers in its three scopes, wraps them, and looks whether it still starts them
// all, whether it leaves them alone when it adds another, and whether everything comes back.
func TestClaudeCode(t *testing.T) {
	w := newWorld(t)
	claude, server := w.bin("claude"), w.bin("mcp-server-everything")
	project := w.mkdir("project")
	user, shared := filepath.Join(w.home, ".claude.json"), filepath.Join(project, ".mcp.json")

	for _, scope := range []string{"user", "local", "project"} {
		w.run(project, claude, "mcp", "add", "--scope", scope, "on-"+scope, "--", server, "stdio")
	}
	w.trust(user, project)
	before := map[string]string{user: w.read(user), shared: w.read(shared)}

	w.run(project, w.bouncer, "init", "--client", "claude-code", "--yes")
	for file, text := range before {
		if w.read(file) == text {
			t.Errorf("%s was not wrapped", file)
		}
	}
	w.connected(project, claude, "on-user", "on-local", "on-project")

	wrapped := entries(t, w.read(user))
	w.run(project, claude, "mcp", "add", "--scope", "user", "fourth", "--", server, "stdio")
	now := entries(t, w.read(user))
	if now["on-user"] != wrapped["on-user"] || !strings.Contains(now["on-user"], "x-bouncer-upstream") {
		t.Errorf("on-user after the client's own edit: %s", now["on-user"])
	}
	w.connected(project, claude, "on-user", "on-local", "on-project", "fourth")

	w.run(project, w.bouncer, "unwrap", "--client", "claude-code", "--yes")
	if w.read(shared) != before[shared] {
		t.Errorf(".mcp.json is not as it was:\n%s", w.read(shared))
	}
	if got, want := entries(t, w.read(user))["on-user"], entries(t, before[user])["on-user"]; got != want {
		t.Errorf("on-user is %s, was %s", got, want)
	}
	w.connected(project, claude, "on-user", "on-local", "on-project", "fourth")
}

// trust answers Claude Code's two questions about a project, which only its dialog can: is the folder trusted, and are
// the servers of its .mcp.json.
func (w *world) trust(user, project string) {
	w.t.Helper()
	var config map[string]any
	if err := json.Unmarshal([]byte(w.read(user)), &config); err != nil {
		w.t.Fatal(err)
	}
	projects, _ := config["projects"].(map[string]any)
	if len(projects) != 1 {
		w.t.Fatalf("projects in %s: %v", user, projects)
	}
	for _, p := range projects {
		p.(map[string]any)["hasTrustDialogAccepted"] = true
	}
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(user, string(text))
	w.write(filepath.Join(project, ".claude", "settings.local.json"), `{"enableAllProjectMcpServers": true}`)
}

// connected fails unless the client has started every server.
func (w *world) connected(project, claude string, names ...string) {
	w.t.Helper()
	list := w.run(project, claude, "mcp", "list")
	for _, name := range names {
		if !regexp.MustCompile(`(?m)^` + name + `:.*Connected`).MatchString(list) {
			w.t.Errorf("%s is not connected:\n%s", name, list)
		}
	}
}

// entries returns the literals of the user scope's servers.
func entries(t *testing.T, config string) map[string]string {
	t.Helper()
	var c struct{ McpServers map[string]json.RawMessage }
	if err := json.Unmarshal([]byte(config), &c); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name, raw := range c.McpServers {
		out[name] = string(raw)
	}
	return out
}

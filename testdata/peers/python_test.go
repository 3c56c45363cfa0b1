package peers

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// step is one thing that a client wants of a server.
type step struct {
	tool, prompt string
	args         map[string]any
}

// TestPythonServers drives servers of the Python SDK as people start them, with uvx.
func TestPythonServers(t *testing.T) {
	w := newWorld(t)
	w.env = append(w.env, uvEnv(t)...)
	repo := filepath.Join(w.home, "repo")
	site := httptest.NewServer(http.HandlerFunc(page))
	t.Cleanup(site.Close)
	for _, server := range []struct {
		version string
		argv    []string
		before  func(*world)
		steps   []step
		asked   int // questions of bouncer's own: a deliberate difference
		mask    []*regexp.Regexp
	}{
		{
			version: "2026-07-28",
			argv:    []string{"mcp-server-git", "--repository", repo},
			before:  func(w *world) { w.makeRepo(repo) },
			steps: []step{
				{tool: "git_status", args: map[string]any{"repo_path": repo}},
				{tool: "git_diff_unstaged", args: map[string]any{"repo_path": repo, "context_lines": 1}},
				{tool: "git_add", args: map[string]any{"repo_path": repo, "files": []string{"Größe.txt"}}},
				{tool: "git_diff_staged", args: map[string]any{"repo_path": repo}},
				{tool: "git_log", args: map[string]any{"repo_path": repo, "max_count": 5}},
				{tool: "git_show", args: map[string]any{"repo_path": repo, "revision": "HEAD"}},
				{tool: "git_show", args: map[string]any{"repo_path": repo, "revision": "no such thing"}},
				{tool: "git_branch", args: map[string]any{"repo_path": repo, "branch_type": "local"}},
			},
		},
		{
			version: "2026-07-28",
			argv:    []string{"mcp-server-time", "--local-timezone", "Europe/Vienna"},
			steps: []step{
				{tool: "get_current_time", args: map[string]any{"timezone": "Asia/Kathmandu"}},
				{tool: "convert_time", args: map[string]any{"source_timezone": "Europe/Vienna", "time": "16:30", "target_timezone": "Asia/Kathmandu"}},
				{tool: "convert_time", args: map[string]any{"source_timezone": "Nowhere/Town", "time": "16:30", "target_timezone": "Asia/Kathmandu"}},
			},
			mask: []*regexp.Regexp{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d`)},
		},
		{
			version: "2025-11-25",
			argv:    []string{"mcp-server-fetch", "--ignore-robots-txt", "--allow-private-ips"},
			steps: []step{
				{tool: "fetch", args: map[string]any{"url": site.URL + "/index.html", "raw": true}},
				{tool: "fetch", args: map[string]any{"url": site.URL + "/linked.txt", "max_length": 20, "start_index": 2}}, // the page named it
				{prompt: "fetch", args: map[string]any{"url": site.URL + "/linked.txt"}},
			},
			asked: 1,
		},
	} {
		t.Run(server.argv[0], func(t *testing.T) {
			t.Parallel()
			w := w.in(t)
			direct, through := w.ways(server.argv[0], append([]string{uvx(t)}, server.argv...)...)
			for _, way := range []way{direct, through} {
				if server.before != nil {
					server.before(w)
				}
				w.walk(way, server.version, server.steps)
			}
			outer := recorded(t, through.client)
			questions := slices.DeleteFunc(slices.Clone(outer.fromServer), func(line string) bool { return !ownElicitation(line) })
			if len(questions) != server.asked {
				t.Errorf("bouncer asked %d questions, want %d: %s", len(questions), server.asked, questions)
			}
			identical(t, direct, through, server.mask...)
		})
	}
}

// walk drives a server through the steps. Whatever bouncer asks is agreed to; a server that asks fails.
func (w *world) walk(to way, version string, steps []step) {
	w.t.Helper()
	client := mcp.NewClient(&mcp.Implementation{Name: "walker", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "allow once"}}, nil
		},
	})
	cmd := w.command(w.home, to.argv[0], to.argv[1:]...)
	var notices strings.Builder
	cmd.Stderr = &notices
	ctx := context.Background()
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		w.t.Fatalf("%v\n%s", err, &notices)
	}
	if got := session.InitializeResult().ProtocolVersion; got != version {
		w.t.Errorf("the two agreed on %s", got)
	}
	if _, err := session.ListTools(ctx, nil); err != nil {
		w.t.Error(err)
	}
	for _, s := range steps {
		if s.prompt != "" {
			args := map[string]string{}
			for name, value := range s.args {
				args[name] = value.(string)
			}
			if _, err := session.GetPrompt(ctx, &mcp.GetPromptParams{Name: s.prompt, Arguments: args}); err != nil {
				w.t.Errorf("%s: %v", s.prompt, err)
			}
			continue
		}
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: s.tool, Arguments: s.args})
		if err != nil {
			w.t.Errorf("%s: %v", s.tool, err)
			continue
		}
		if text := show(result); strings.Contains(text, "[bouncer blocked]") {
			w.t.Errorf("%s: %s", s.tool, text)
		}
	}
	if err := session.Close(); err != nil {
		w.t.Errorf("closing: %v\n%s", err, &notices)
	}
}

// page is a small site: a page, and a text that it links to.
func page(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/index.html":
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<!doctype html><title>Grüße</title><p>See http://"+r.Host+"/linked.txt &amp; more.")
	case "/linked.txt":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "Text with 😀 and \"quotes\" and\ttabs,\r\nlong enough to be cut.")
	default:
		http.NotFound(w, r)
	}
}

// makeRepo makes a repository that is the same each time, down to its hashes.
func (w *world) makeRepo(dir string) {
	w.t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		w.t.Fatal(err)
	}
	at := w.in(w.t)
	at.env = append(slices.Clone(w.env),
		"GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.com", "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z",
		"GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.com", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	at.write(filepath.Join(dir, "Größe.txt"), "one\ntwo\n")
	for _, args := range []string{"init -q -b main", "add .", "commit -q -m first", "branch other"} {
		at.run(dir, "git", strings.Fields(args)...)
	}
	at.write(filepath.Join(dir, "Größe.txt"), "one\nthree\n")
}

// uvx is the installed program.
func uvx(t *testing.T) string {
	t.Helper()
	path := mustAbs(t, filepath.Join(".venv", "bin", "uvx"))
	if _, err := os.Stat(path); err != nil {
		t.Fatal("uvx is not installed: see peers in .ci/run")
	}
	return path
}

// uvEnv holds uvx to the versions of requirements.txt, to this machine's Python, and to a cache that outlives a run.
func uvEnv(t *testing.T) []string {
	t.Helper()
	return []string{
		"UV_CONSTRAINT=" + mustAbs(t, "requirements.txt"),
		"UV_PYTHON=" + mustAbs(t, filepath.Join(".venv", "bin", "python")),
		"UV_PYTHON_DOWNLOADS=never",
		"UV_CACHE_DIR=" + mustAbs(t, ".uv"),
		"NO_PROXY=127.0.0.1",
	}
}

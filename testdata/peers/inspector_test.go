package peers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inspector is one release of MCP Inspector's command line.
type inspector struct {
	name  string
	argv  []string
	calls [][]string
}

// TestInspector compares what two releases of MCP Inspector print of server-everything, and what passes between the
// two, directly and through bouncer: every method that each of them knows and the server has.
func TestInspector(t *testing.T) {
	w := newWorld(t)
	methods := [][]string{
		{"tools/list"},
		{"tools/call", "--tool-name", "echo", "--tool-arg", "message=Grüße 👋"},
		{"prompts/list"},
		{"prompts/get", "--prompt-name", "args-prompt", "--prompt-args", "city=Paris", "state=Texas"},
		{"resources/list"},
		{"resources/read", "--uri", "demo://resource/static/document/features.md"},
		{"resources/templates/list"},
		{"logging/setLevel", "--log-level", "debug"},
	}
	for _, release := range []inspector{
		{"0.15", []string{"node", w.script("inspector-0-15", "mcp-inspector")}, methods},
		{"2.12", []string{w.bin("node"), w.script("@modelcontextprotocol/inspector", "mcp-inspector")}, append(methods[:len(methods):len(methods)], [][]string{
			{"initialize"},
			{"tools/list", "--protocol-era", "auto"},
			{"tools/call", "--tool-name", "get-structured-content", "--tool-arg", "location=Chicago"},
			{"tools/call", "--tool-name", "trigger-long-running-operation", "--tool-arg", "duration=1", "--tool-arg", "steps=3"},
			{"tools/call", "--tool-name", task, "--tool-arg", "topic=relays"},
		}...)},
	} {
		for _, call := range release.calls {
			t.Run(release.name+" "+strings.Join(call, " "), func(t *testing.T) {
				t.Parallel()
				release.compare(w.in(t), call)
			})
		}
	}
}

// task is a tool that runs as a task of 2025-11-25 only. Inspector polls it, and how often and what it learns on the way
// depends on the time.
const task = "simulate-research-query"

func (i inspector) compare(w *world, call []string) {
	w.t.Helper()
	direct, through := w.ways("everything", w.bin("mcp-server-everything"))
	straight := masked([]string{i.print(w, direct, call)}, everythingVaries)[0]
	relayed := masked([]string{i.print(w, through, call)}, everythingVaries)[0]
	if straight != relayed {
		w.t.Errorf("directly:\n%s\nthrough bouncer:\n%s", clip(straight), clip(relayed))
	}
	if strings.TrimSpace(straight) == "" {
		w.t.Error("Inspector printed nothing")
	}
	if slices.Contains(call, task) {
		covers(w.t, through, "tasks/get", "tasks/result")
		untouched(w.t, recorded(w.t, through.client), recorded(w.t, through.inner))
		return
	}
	identical(w.t, direct, through, everythingVaries...)
}

// print is what Inspector says of one method of a server.
func (i inspector) print(w *world, to way, call []string) string {
	w.t.Helper()
	// A script, because Inspector 0.15 takes the -- of a server's arguments for its own, and a config, so that the two
	// can't be confused otherwise.
	config := filepath.Join(to.client, "config.json")
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{
		"server": map[string]any{"command": w.launcher(to), "args": []string{}},
	}})
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(config, string(text))
	args := append(i.argv[1:len(i.argv):len(i.argv)], "--cli", "--config", config, "--server", "server", "--method")
	return w.run(to.client, i.argv[0], append(args, call...)...)
}

// everythingVaries matches what server-everything says differently each time.
var everythingVaries = []*regexp.Regexp{
	regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z`),
	regexp.MustCompile(`[0-9a-f]{32}`), // ids of tasks
}

// script is an executable of an installed package, by its path: two packages have one of the same name.
func (w *world) script(pkg, bin string) string {
	w.t.Helper()
	dir := mustAbs(w.t, filepath.Join("node_modules", filepath.FromSlash(pkg)))
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	if err != nil {
		w.t.Fatalf("%s is not installed: run npm ci in testdata/peers", pkg)
	}
	var p struct{ Bin map[string]string }
	if err := json.Unmarshal(text, &p); err != nil {
		w.t.Fatal(err)
	}
	if p.Bin[bin] == "" {
		w.t.Fatalf("%s has no executable %s", pkg, bin)
	}
	return filepath.Join(dir, filepath.FromSlash(p.Bin[bin]))
}

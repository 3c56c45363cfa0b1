package wrap

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

// bigConfig is a ~/.claude.json of a person who has used Claude Code in 2,000 projects: about 10 MB.
func bigConfig() []byte {
	history := make([]any, 16)
	for i := range history {
		history[i] = map[string]any{"display": strings.Repeat(fmt.Sprintf("why does test %d fail? ", i), 8), "pastedContents": map[string]any{}}
	}
	projects := map[string]any{}
	for i := range 2000 {
		servers := map[string]any{}
		for _, name := range []string{"postgres", "browser", "files"} {
			servers[name] = map[string]any{
				"type": "stdio", "command": "npx", "args": []string{"-y", "@example/" + name, "${HOME}/work"}, "env": map[string]string{"TOKEN": "${TOKEN}"},
			}
		}
		projects[fmt.Sprintf("/home/ada/work/project-%04d", i)] = map[string]any{
			"allowedTools": []string{}, "history": history, "mcpServers": servers, "hasTrustDialogAccepted": true, "lastCost": 0.25,
		}
	}
	data, err := json.MarshalIndent(map[string]any{"numStartups": 214, "mcpServers": map[string]any{}, "projects": projects}, "", "  ")
	if err != nil {
		panic(err)
	}
	return data
}

// BenchmarkPlanApply10MB wraps all 6,000 servers of a big config, from reading it to the last fsync, and for comparison
// only decodes and encodes the same bytes.
func BenchmarkPlanApply10MB(b *testing.B) {
	data := bigConfig()
	home := b.TempDir()
	path := filepath.Join(home, ".claude.json")
	env := clients.Env{OS: "linux", Home: home}
	options := Options{Launcher: "/usr/local/bin/bouncer"}
	b.Run("wrap", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			b.StopTimer()
			if err := os.WriteFile(path, data, 0o600); err != nil {
				b.Fatal(err)
			}
			store := NewStore(filepath.Join(b.TempDir(), "state"))
			b.StartTimer()
			file := Discover(env, DiscoverOptions{Files: []string{path}}).Files[0]
			plan, err := PlanWrap(file, options)
			if err != nil {
				b.Fatal(err)
			}
			if g, err := Apply(store, []Plan{plan}, ApplyOptions{}); err != nil || len(g.Files[0].Entries) != 6000 {
				b.Fatalf("%d entries, %v", len(g.Files[0].Entries), err)
			}
		}
	})
	b.Run("unmarshal and marshal", func(b *testing.B) {
		b.SetBytes(int64(len(data)))
		for b.Loop() {
			var config any
			if err := json.Unmarshal(data, &config); err != nil {
				b.Fatal(err)
			}
			if _, err := json.MarshalIndent(config, "", "  "); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package packs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// The table in the documentation is the one that the packs make.
func TestDocumentedPacks(t *testing.T) {
	var table strings.Builder
	table.WriteString("| pack | guards | checked against |\n|---|---|---|\n")
	for _, name := range packs.Names() {
		var servers []string
		h := parsed(t, name).Header()
		for _, s := range h.Servers {
			server := strings.TrimSpace("`" + s.Package + "` " + s.Version)
			if s.Tools == 0 {
				server += ", read"
			}
			servers = append(servers, server)
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", name, h.Summary, strings.Join(servers, "<br>"))
	}
	if !strings.Contains(read(t, "..", "docs", "packs.md"), "\n\n"+table.String()+"\n") {
		t.Errorf("docs/packs.md does not have the table\n%s", &table)
	}
}

// The examples are a pack that parses, cases that are played, and an output that a script shows.
func TestDocumentedExamples(t *testing.T) {
	blocks := strings.Split(read(t, "..", "docs", "packs.md"), "```")
	examples := 0
	for _, block := range blocks {
		yaml, isYAML := strings.CutPrefix(block, "yaml\n")
		shown, isOutput := strings.CutPrefix(block, "text\n$ ")
		yaml = strings.TrimRight(strings.ReplaceAll(yaml, "\n   ", "\n"), " ")
		yaml = strings.TrimPrefix(yaml, "   ")
		switch {
		case isYAML && strings.Contains(yaml, "cases:"):
			if !strings.HasPrefix(read(t, "testdata", "slack", "cases.yaml"), yaml) {
				t.Errorf("these are not the first cases of slack:\n%s", yaml)
			}
		case isYAML:
			if _, err := policy.ParsePack("docs", []byte(yaml)); err != nil {
				t.Error(err)
			}
		case isOutput:
			command, output, _ := strings.Cut(shown, "\n")
			script := read(t, "..", "testdata", "script", "packs.txtar")
			if !strings.Contains(script, command+"\n") || !strings.Contains(script, "--\n"+output+"--") {
				t.Errorf("no script shows\n%s", shown)
			}
		default:
			continue
		}
		examples++
	}
	if examples != 3 {
		t.Errorf("%d examples", examples)
	}
}

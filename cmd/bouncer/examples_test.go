package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/policy"
)

// TestExamplesConfine: a policy that is shown to people names every tool of the file server that changes files. One that was
// left out would go anywhere.
func TestExamplesConfine(t *testing.T) {
	params := map[string][]string{
		"write_file": {"path"}, "edit_file": {"path"}, "create_directory": {"path"}, "move_file": {"source", "destination"},
	}
	for name, text := range map[string]string{
		"examples/bouncer.yaml": read(t, "../../examples/bouncer.yaml"),
		"docs/quickstart.md":    shownPolicy(t, "../../docs/quickstart.md"),
		"docs/policy.md":        shownPolicy(t, "../../docs/policy.md"),
	} {
		file := filepath.Join(t.TempDir(), "policy.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		set, err := loadPolicies(nil, file)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for tool, paths := range params {
			schema := `{"type":"object","properties":{"` + strings.Join(paths, `":{"type":"string"},"`) + `":{"type":"string"}}}`
			rule := set.Resolve(policy.Tool{Name: tool, InputSchema: []byte(schema)})
			if len(rule.AllowedPathPrefixes) != 1 || !slices.Equal(rule.WriteParams, paths) {
				t.Errorf("%s: %s may write to %q by %q", name, tool, rule.AllowedPathPrefixes, rule.WriteParams)
			}
		}
	}
}

// shownPolicy is the first YAML in a text for people.
func shownPolicy(t *testing.T, file string) string {
	t.Helper()
	_, rest, found := strings.Cut(read(t, file), "```yaml\n")
	text, _, closed := strings.Cut(rest, "```")
	if !found || !closed {
		t.Fatalf("%s shows no policy", file)
	}
	return text
}

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What docs/policy-tools.md shows as output is what the scripts state, and its cases are those that a script plays.
func TestPolicyToolsDocumented(t *testing.T) {
	read := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(path...))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(text), "\r\n", "\n")
	}
	var scripts string
	for _, name := range []string{"check", "explain", "test", "replay"} {
		scripts += read("..", "..", "testdata", "script", "policy_"+name+".txtar") + "-- end --\n"
	}
	shown := 0
	for i, block := range strings.Split(read("..", "..", "docs", "policy-tools.md"), "\n```") {
		if i%2 == 0 {
			continue // prose
		}
		kind, text, _ := strings.Cut(block, "\n")
		command, output, isOutput := strings.Cut(strings.TrimPrefix(text, "$ "), "\n")
		switch {
		case kind == "text" && isOutput && strings.HasPrefix(text, "$ "):
			if !strings.Contains(scripts, " "+command+"\n") || !strings.Contains(scripts, "--\n"+output+"\n--") {
				t.Errorf("no script shows\n%s", text)
			}
		case kind == "yaml" && strings.Contains(text, "cases:"):
			if !strings.Contains(scripts, "--\n"+text+"\n--") {
				t.Errorf("no script plays\n%s", text)
			}
		default:
			continue
		}
		shown++
	}
	if shown != 5 {
		t.Errorf("%d examples", shown)
	}
}

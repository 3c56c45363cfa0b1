package policy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

func TestExamplesParse(t *testing.T) {
	layer(t, "bouncer.yaml", read(t, "..", "examples", "bouncer.yaml"))
	docs := strings.Split(read(t, "..", "docs", "policy.md"), "```")
	shown := 0
	for _, block := range docs {
		if text, ok := strings.CutPrefix(block, "yaml\n"); ok {
			layer(t, "policy.md", text)
			shown++
		}
	}
	if shown < 2 {
		t.Errorf("%d policies in the documentation", shown)
	}
}

func TestDocumentedErrors(t *testing.T) {
	_, err := Parse("policy.yaml", []byte("send_email:\n  exfiltratin: true\n  sink_params: to\n"))
	if docs := read(t, "..", "docs", "policy.md"); err == nil || !strings.Contains(docs, "```text\n"+err.Error()+"\n```") {
		t.Errorf("the documentation does not show\n%v", err)
	}
}

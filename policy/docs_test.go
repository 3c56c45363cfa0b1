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
			if got := Check(layer(t, "policy.md", text)); len(got) > 0 {
				t.Errorf("%v", got)
			}
			shown++
		}
	}
	if shown < 3 {
		t.Errorf("%d policies in the documentation", shown)
	}
}

// documented reports output that the documentation does not show.
func documented(t *testing.T, output string) {
	t.Helper()
	if !strings.Contains(read(t, "..", "docs", "policy.md"), "```text\n"+strings.TrimSuffix(output, "\n")+"\n```") {
		t.Errorf("the documentation does not show\n%s", output)
	}
}

func TestDocumentedOutput(t *testing.T) {
	if _, err := Parse("policy.yaml", []byte("send_email:\n  exfiltratin: true\n  sink_params: to\n")); err == nil {
		t.Error("no fault")
	} else {
		documented(t, err.Error())
	}

	var warnings strings.Builder
	for _, w := range Check(layer(t, "policy.yaml", "# mail\nsend_email:\n  exfiltrating: false\nreply:\n  trusted_destinations: ['@gmail.com']\n")) {
		warnings.WriteString(w.String() + "\n")
	}
	documented(t, warnings.String())

	set := NewSet(layer(t, "policy.yaml", "cancel_order: {max_calls: 3}\n"))
	documented(t, Explain(set, signature(t, "cancel_order(order_id* reason)")).String())
}

// The larger example of the documentation does what its comments and the text around it say.
func TestDocumentedExample(t *testing.T) {
	_, rest, _ := strings.Cut(read(t, "..", "docs", "policy.md"), "```yaml\nversion: 1\n")
	text, _, _ := strings.Cut(rest, "```")
	set := NewSet(layer(t, "policy.md", "version: 1\n"+text))
	bank, files := set.For(Server{Name: "bank"}), set.For(Server{Name: "files"})
	if bank.Profile() != ProfileStrict || files.Profile() != "balanced" || !set.Linked("mail", "contacts") {
		t.Errorf("profiles %q and %q", bank.Profile(), files.Profile())
	}
	if r := bank.Resolve(tool("transfer", "iban")); r.MaxCalls != 20 || !Trusts(r.TrustedDestinations, "DE89370400440532013000") {
		t.Errorf("%+v", r)
	}
	if r := bank.Resolve(tool("delete_payee", "id")); r.MaxCalls != 20 {
		t.Errorf("the section counts before a pattern: %+v", r)
	}
	if r := files.Resolve(tool("delete_file", "path")); r.MaxCalls != 5 {
		t.Errorf("%+v", r)
	}
	if len(files.Resolve(tool("write_file", "path")).AllowedPathPrefixes) != 1 || len(bank.Resolve(tool("write_file", "path")).AllowedPathPrefixes) != 0 {
		t.Error("files/write_file holds for other servers, or not for this one")
	}
}

func TestDocumentedObserving(t *testing.T) {
	_, rest, _ := strings.Cut(read(t, "..", "docs", "policy.md"), "```yaml\nversion: 1\nprofile: strict\n")
	text, _, _ := strings.Cut(rest, "```")
	set := NewSet(layer(t, "policy.md", "version: 1\nprofile: strict\n"+text))
	for _, tt := range []struct {
		server, tool string
		observed     bool
	}{{"files", "move_file", true}, {"files", "delete_file", false}, {"files", "send_report", true}, {"mail", "send_report", true}, {"mail", "move_file", false}} {
		if r := set.For(Server{Name: tt.server}).Resolve(tool(tt.tool)); r.Observed != tt.observed || r.Profile != ProfileStrict {
			t.Errorf("%s of %s: observed %t under %q", tt.tool, tt.server, r.Observed, r.Profile)
		}
	}
}

package approve

import (
	"os"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/taint"
)

func TestDocumentedQuestion(t *testing.T) {
	text, err := os.ReadFile("../docs/approvals.md")
	if err != nil {
		t.Fatal(err)
	}
	q := Question{
		Server: "mail", Tool: "send_email",
		Args: parse(t, `{"to":["sam@partner.example"],"cc":"bob@partner.example","body":"The report is attached."}`),
		Verdict: gate(engine.Finding{
			Pair: engine.Pair{Param: "cc", Value: "bob@partner.example"}, Class: taint.Text,
			Origin: taint.Origin{
				Source: taint.Source{Server: "mail", Tool: "read_inbox"}, Path: "content[0].text",
				Snippet: "please copy bob@partner.example, he needs it today",
			},
		}, unseen("to", "sam@partner.example")),
		Always: []string{"bob@partner.example", "sam@partner.example"}, Policy: "/home/dana/.config/bouncer/policy.yaml",
	}
	if page := strings.ReplaceAll(string(text), "\r\n", "\n"); !strings.Contains(page, "```text\n"+q.Text()+"\n```") {
		t.Errorf("the page does not show\n%s", q.Text())
	}
}

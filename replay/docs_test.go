package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/replay"
)

// The policy that docs/policy-tools.md shows is learned from these sessions.
func TestDocumentedLesson(t *testing.T) {
	r := record(t, layers(t, ""), nil)
	send := func(to ...string) {
		for _, a := range to {
			r.call("send_email", fmt.Sprintf(`{"to":[%q]}`, a), "once", "ok")
		}
	}
	write := func(names ...string) {
		for i, n := range names {
			r.call("write_file", fmt.Sprintf(`{"path":"/home/dana/notes/%s","mode":%q}`, n, []string{"new", "append"}[i%2]), "", "ok")
		}
	}
	send("a@corp.com", "b@corp.com", "c@corp.com", "sam@y.example")
	r.call("send_email", `{"to":["evil@x.example"]}`, "no: declined", "ok")
	write("a", "a", "b", "b")
	r.begin()
	send("d@corp.com", "e@corp.com", "a@corp.com")
	write("a", "c", "c", "a")
	r.begin()
	send("sam@y.example")
	write("d", "d", "a", "a")
	log := r.read()
	from, to := log.Span()
	text := replay.Policy(replay.Head(len(log.Calls), from, to, true), replay.Learn(log, r.before, map[string][]replay.Server{"shop": {r.server}}))
	docs, err := os.ReadFile(filepath.Join("..", "docs", "policy-tools.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(strings.ReplaceAll(string(docs), "\r\n", "\n"), "```yaml\n"+string(text)+"```\n") {
		t.Errorf("docs/policy-tools.md does not show\n%s", text)
	}
}

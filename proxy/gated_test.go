package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
)

// BenchmarkGated is a whole call and its result without pipes, processes and files: what bouncer itself computes.
func BenchmarkGated(b *testing.B) {
	home := "/home/nobody/"
	for _, tool := range []struct{ name, schema, args string }{
		{"echo", `{"type":"object","properties":{"size":{"type":"integer"}}}`, `{"size":1024}`},
		{"read_file", `{"type":"object","properties":{"path":{"type":"string"}}}`, `{"path":"/usr/share/doc/readme.txt"}`},
		{"send_email", `{"type":"object","properties":{"to":{"type":"string"},"subject":{"type":"string"},"body":{"type":"string"}}}`, `{"to":"ann@corp.example","subject":"Minutes","body":"As agreed, see below."}`},
	} {
		b.Run(tool.name, func(b *testing.B) {
			rules, err := policy.Parse("bench", []byte("send_email: {trusted_destinations: ['*@corp.example']}\n"))
			if err != nil {
				b.Fatal(err)
			}
			r, err := newRelay(Options{
				Server: "echo", Session: "s", Client: End{Out: nowhere{}}, Upstream: End{Out: nowhere{}}, Audit: nowhere{},
				Engine: engine.New(engine.Config{
					Server: "echo", Policy: policy.NewSet(append([]*policy.Layer{rules}, packs.All()...)...), Paths: NewPaths("/", home),
					Protected: []string{home + ".cursor/mcp.json", home + ".claude.json", home + ".config/bouncer", home + ".local/state/bouncer"},
				}),
			})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(r.close)
			text := strings.Repeat(`The report was read by everyone. Write to dana@example.com or see https://example.com/r/42.\n`, 11)
			server := func(id, result string) {
				if err := r.fromServer([]byte(`{"jsonrpc":"2.0","id":` + id + `,"result":` + result + `}`)); err != nil {
					b.Fatal(err)
				}
			}
			request := func(n int) []byte {
				return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, n, tool.name, tool.args)
			}
			if err := r.fromClient(request(0)); err != nil {
				b.Fatal(err)
			}
			server(`"`+r.prefix+`1"`, `{"tools":[{"name":"`+tool.name+`","inputSchema":`+tool.schema+`}]}`)
			server("0", `{"content":[]}`)
			if r.calls != 1 || len(r.pending) != 0 {
				b.Fatalf("%d calls, %d pending", r.calls, len(r.pending))
			}
			line := request(1)
			answer := []byte(`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"` + text + `"}]}}`)
			b.ReportAllocs()
			for b.Loop() {
				if err := r.fromClient(line); err != nil {
					b.Fatal(err)
				}
				if err := r.fromServer(answer); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// nowhere is a peer that takes everything, and a log.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Close() error                { return nil }
func (nowhere) Verdict(audit.Verdict) error { return nil }
func (nowhere) Result(audit.Result) error   { return nil }

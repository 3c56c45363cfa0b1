package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/proxy"
)

// BenchmarkAsked measures from the call that a client writes to its question, where a person would see it: ms/question. In the
// rest of each round the question is answered and the call returns.
func BenchmarkAsked(b *testing.B) {
	for _, way := range policy.Channels() {
		b.Run(way, func(b *testing.B) {
			state := b.TempDir()
			store, err1 := approve.OpenStore(state)
			log, err2 := audit.Open(state)
			w := &window{asked: make(chan string, 1), gone: make(chan bool, 1), says: make(chan string, 1)}
			if err1 != nil || err2 != nil {
				b.Fatal(err1, err2)
			}
			clientIn, toRelay := io.Pipe()
			clientOut, fromRelay := io.Pipe()
			serverIn, toServer := io.Pipe()
			serverOut, fromServer := io.Pipe()
			go func() {
				_ = proxy.Run(context.Background(), proxy.Options{ // it ends as its pipes are closed
					Server: "mail", Session: "s", Client: proxy.End{In: clientIn, Out: fromRelay}, Upstream: proxy.End{In: serverOut, Out: toServer},
					Engine: engine.New(engine.Config{Server: "mail", Profile: engine.Balanced, Policy: policy.NewSet(packs.All()...), Paths: proxy.NewPaths("/", "/")}),
					Audit:  log, Questions: store, Channels: []approve.Channel{w}, Human: -1,
					Asking: func(string) proxy.Asking { return proxy.Asking{Channels: []string{way}, Stay: true} },
				})
			}()
			go serveMail(serverIn, fromServer)
			lines := bufio.NewReader(clientOut)
			say := func(format string, args ...any) { fmt.Fprintf(toRelay, format+"\n", args...) }
			hear := func() string {
				line, err := lines.ReadString('\n')
				if err != nil {
					b.Error(err)
				}
				return line
			}
			say(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"bench","version":"1"}}}`)
			hear()
			say(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
			var shown time.Duration
			for n := 0; b.Loop(); n++ {
				began := time.Now()
				say(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"send_email","arguments":{"to":"sam%d@partner.example"}}}`, n, n)
				switch way {
				case policy.ChannelElicitation:
					_, rest, _ := strings.Cut(hear(), `"id":"`)
					id, _, _ := strings.Cut(rest, `"`)
					shown += time.Since(began)
					say(`{"jsonrpc":"2.0","id":%q,"result":{"action":"accept","content":{"decision":"allow once"}}}`, id)
				case policy.ChannelDialog:
					<-w.asked
					shown += time.Since(began)
					w.says <- "once"
				default:
					var list []approve.Waiting
					for len(list) == 0 {
						list, _ = store.List() // none if it can't be read
					}
					shown += time.Since(began)
					if err := store.Answer(list[0].ID, approve.Once, "terminal"); err != nil {
						b.Fatal(err)
					}
				}
				if line := hear(); !strings.Contains(line, `"content"`) {
					b.Fatal(line)
				}
			}
			b.ReportMetric(float64(shown)/float64(b.N)/float64(time.Millisecond), "ms/question")
			_ = toRelay.Close()
		})
	}
}

// serveMail answers as a server with one tool.
func serveMail(in io.Reader, out io.WriteCloser) {
	defer out.Close()
	for lines := bufio.NewScanner(in); lines.Scan(); {
		id, result := "", `{"content":[]}`
		if _, rest, ok := strings.Cut(lines.Text(), `"id":`); ok {
			id, _, _ = strings.Cut(rest, ",")
		}
		switch {
		case strings.Contains(lines.Text(), `"initialize"`):
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"mail","version":"1"}}`
		case strings.Contains(lines.Text(), `"tools/list"`):
			result = `{"tools":[{"name":"send_email","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}]}`
		}
		if id != "" {
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", id, result)
		}
	}
}

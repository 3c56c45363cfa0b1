package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/proxy"
)

// BenchmarkCall relays, judges, records and logs whole calls over pipes, with both peers in this process: compare it
// with BenchmarkCopy, which moves the same bytes over the same pipes.
func BenchmarkCall(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			log, err := audit.Open(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			calls(b, size, func(client, upstream proxy.End) {
				_ = proxy.Run(context.Background(), proxy.Options{ // it ends as its pipes are closed
					Server: "echo", Session: "s", Client: client, Upstream: upstream,
					Engine: engine.New(engine.Config{Server: "echo", Policy: policy.NewSet(packs.All()...), Paths: proxy.NewPaths("/", "/")}),
					Audit:  log,
				})
			})
		})
	}
}

func BenchmarkCopy(b *testing.B) {
	for _, size := range []int{1 << 10, 100 << 10} {
		b.Run(fmt.Sprintf("%dKB", size>>10), func(b *testing.B) {
			calls(b, size, func(client, upstream proxy.End) {
				go copyLines(upstream, client)
				copyLines(client, upstream)
			})
		})
	}
}

func copyLines(from, to proxy.End) {
	lines := bufio.NewReaderSize(from.In, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if _, werr := to.Out.Write(line); werr != nil || err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

// calls makes b.N calls, one after the other, of an echo server behind relay.
func calls(b *testing.B, size int, relay func(client, upstream proxy.End)) {
	clientIn, toRelay := pipe(b)
	clientOut, fromRelay := pipe(b)
	serverIn, toServer := pipe(b)
	serverOut, fromServer := pipe(b)
	go relay(proxy.End{In: clientIn, Out: fromRelay}, proxy.End{In: serverOut, Out: toServer})
	text := strings.Repeat(`The report was read by everyone. Write to dana@example.com or see https://example.com/r/42.\n`, size/90+1)[:size-1]
	go func() {
		lines := bufio.NewReaderSize(serverIn, 64<<10)
		for {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			_, rest, _ := strings.Cut(line, `"id":`)
			id := rest[:strings.IndexAny(rest, ",}")]
			switch {
			case strings.Contains(line, `"tools/list"`):
				fmt.Fprintf(fromServer, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"size":{"type":"integer"}}}}]}}`+"\n", id)
			default:
				fmt.Fprintf(fromServer, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`+"\n", id, strings.TrimRight(text, `\`))
			}
		}
	}()
	answers := bufio.NewReaderSize(clientOut, 1<<20)
	b.SetBytes(int64(size))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		fmt.Fprintf(toRelay, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"size":%d}}}`+"\n", n, size)
		if _, err := answers.ReadSlice('\n'); err != nil {
			b.Fatal(err)
		}
	}
	_ = toRelay.Close() // a pipe
}

func pipe(b *testing.B) (r, w *os.File) {
	b.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

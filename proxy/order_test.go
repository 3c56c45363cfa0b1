package proxy_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/proxy"
)

// A cancellation must not reach the server before the call it cancels, nor a later call before an earlier one, also when
// calls have waited for the listing.
func TestOrderAfterWaiting(t *testing.T) {
	for range 20 {
		cancelBehindWaiting(t)
	}
}

func cancelBehindWaiting(t *testing.T) {
	t.Helper()
	clientIn, toRelay := io.Pipe()
	clientOut, fromRelay := io.Pipe()
	serverIn, toServer := io.Pipe()
	serverOut, fromServer := io.Pipe()
	go io.Copy(io.Discard, clientOut)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- proxy.Run(ctx, proxy.Options{
			Server: "s", Client: proxy.End{In: clientIn, Out: fromRelay}, Upstream: proxy.End{In: serverOut, Out: toServer},
			Engine: engine.New(engine.Config{Server: "s", Policy: policy.NewSet(), Paths: proxy.NewPaths("/", "/")}), Audit: &ledger{},
		})
	}()
	r := bufio.NewReader(serverIn)
	next := func() string { line, _ := r.ReadString('\n'); return strings.TrimSpace(line) }
	send := func(s string) { io.WriteString(toRelay, s+"\n") }
	go send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	next()
	own := next()
	id := own[strings.Index(own, `"id":`)+5 : strings.Index(own, `,"method"`)]
	for i := 1; i <= 3; i++ {
		send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"look"}}`, i))
	}
	io.WriteString(fromServer, `{"jsonrpc":"2.0","id":`+id+`,"result":{"tools":[{"name":"look","inputSchema":{}}]}}`+"\n")
	go func() {
		send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`)
		send(`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"look"}}`)
	}()
	var got []string
	for len(got) == 0 || !strings.Contains(got[len(got)-1], `"id":4`) {
		got = append(got, next())
	}
	call := slices.IndexFunc(got, func(line string) bool { return strings.Contains(line, `"id":3,`) })
	cancellation := slices.IndexFunc(got, func(line string) bool { return strings.Contains(line, "cancelled") })
	if cancellation >= 0 && (call < 0 || cancellation < call) {
		t.Errorf("the server got\n%s", strings.Join(got, "\n"))
	}
	cancel()
	<-done
}

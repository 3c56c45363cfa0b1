package proxy_test

import (
	"bufio"
	"context"
	"io"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/proxy"
)

// TestServerDeaf has a server close its input, as a dying process does a moment before its output is seen to end: whoever
// asks it then gets an answer that says so, like everybody who asks a server that is gone.
func TestServerDeaf(t *testing.T) {
	clientIn, toRelay := io.Pipe()
	clientOut, fromRelay := io.Pipe()
	serverIn, toServer := io.Pipe()
	serverOut, fromServer := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- proxy.Run(context.Background(), proxy.Options{
			Server: "srv", Client: proxy.End{In: clientIn, Out: fromRelay}, Upstream: proxy.End{In: serverOut, Out: toServer},
			Engine: engine.New(engine.Config{Server: "srv"}), Audit: &ledger{},
		})
		_ = fromRelay.Close()
	}()
	_ = serverIn.Close()
	if _, err := io.WriteString(toRelay, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(clientOut).ReadString('\n')
	if !strings.Contains(line, `"id":1,"error"`) {
		t.Errorf("the client got %q, %v", line, err)
	}
	_ = toRelay.Close()
	_ = fromServer.Close()
	<-done // with the error of the write, which says no more
}

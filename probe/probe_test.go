package probe_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/link"
	"github.com/bouncer-mcp/bouncer/probe"
)

// TestMain lets the test binary be the servers that are probed.
func TestMain(m *testing.M) {
	if kind := os.Getenv("PROBE_SERVER"); kind != "" {
		serve(kind)
		os.Exit(3) //nolint:forbidigo // this is a server's main
	}
	m.Run()
}

// serve answers as a server of some kind.
func serve(kind string) {
	in := bufio.NewScanner(os.Stdin)
	say := func(format string, args ...any) { fmt.Fprintf(os.Stdout, format+"\n", args...) }
	fmt.Fprintln(os.Stderr, "server of the kind "+kind)
	if kind == "ends" {
		return
	}
	for in.Scan() {
		line := in.Text()
		switch {
		case kind == "silent":
		case strings.Contains(line, `"initialize"`) && kind == "modern":
			say(`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}`)
		case strings.Contains(line, `"initialize"`) && kind == "toolless":
			say(`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"prompts":{}}}}`)
		case strings.Contains(line, `"initialize"`):
			say("starting up")
			say(`{"jsonrpc":"2.0","id":"q","method":"roots/list"}`)
			say(`{"jsonrpc":"2.0","method":"notifications/message","params":{}}`)
			say(`{"jsonrpc":"2.0","id":1,"result":{"capabilities":{"tools":{}}}}`)
		case strings.Contains(line, `"cursor":"more"`):
			say(`{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"b","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}]}}`)
		case strings.Contains(line, `"tools/list"`) && kind == "refusing":
			say(`{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"out of order"}}`)
		case strings.Contains(line, `"tools/list"`) && kind == "modern":
			if !strings.Contains(line, "2026-07-28") {
				return
			}
			say(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"m"}]}}`)
		case strings.Contains(line, `"tools/list"`):
			say(`{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"a"}],"nextCursor":"more"}}`)
		}
	}
}

func TestTools(t *testing.T) {
	tests := []struct{ kind, want, fault string }{
		{"plain", "a b", ""},
		{"modern", "m", ""},
		{"toolless", "", ""},
		{"refusing", "", "refuses tools/list: out of order"},
		{"ends", "", "exit status 3; it said: server of the kind ends"},
		{"silent", "", "no answer in time"},
	}
	for _, test := range tests {
		t.Run(test.kind, func(t *testing.T) {
			limit := 20 * time.Second
			if test.kind == "silent" {
				limit = 300 * time.Millisecond
			}
			ctx, cancel := context.WithTimeout(t.Context(), limit)
			defer cancel()
			tools, err := probe.Tools(ctx, link.Spec{Command: os.Args[0], Env: append(os.Environ(), "PROBE_SERVER="+test.kind)})
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("tools %q, want %q", got, test.want)
			}
			if test.fault == "" && err != nil || test.fault != "" && (err == nil || !strings.Contains(err.Error(), test.fault)) {
				t.Errorf("error %v, want %q", err, test.fault)
			}
			if test.kind == "silent" && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v does not wrap the time-out", err)
			}
			if test.kind == "plain" && len(tools) == 2 && tools[1].InputSchema.At("properties", "to") == nil {
				t.Errorf("the schema of b got lost: %s", tools[1].InputSchema)
			}
		})
	}
}

func TestNoSuchProgram(t *testing.T) {
	_, err := probe.Tools(t.Context(), link.Spec{Command: "no-such-program-at-all"})
	if e, ok := errors.AsType[*link.StartError](err); !ok || !e.NotFound {
		t.Errorf("error %v", err)
	}
}

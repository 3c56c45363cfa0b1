// Package probe starts a server for a moment and asks it for its tools, as a client does when it connects.
package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/link"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// Bounds on what a server may send.
const (
	maxPages = 100
	maxTools = 2000
	maxLine  = 16 << 20
)

// grace is how long a server may take to end by itself when it has answered. Nothing was asked of it that would be lost.
const grace = 500 * time.Millisecond

// The words that open a session: up to 2025-11-25, and in each request since 2026-07-28.
const (
	greeting = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bouncer-doctor","version":"1"}}`
	meta     = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"bouncer-doctor","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
)

// Tools starts a server, lists its tools, and ends it with everything it started. No tool is called. When ctx ends first,
// the error wraps ctx's.
func Tools(ctx context.Context, spec link.Spec) ([]policy.Tool, error) {
	child, err := link.Start(spec)
	if err != nil {
		return nil, err
	}
	s := session{lines: wire.NewReader(child.Out, maxLine), in: child.In}
	type listing struct {
		tools []policy.Tool
		err   error
	}
	done := make(chan listing, 1)
	go func() {
		tools, err := s.list()
		done <- listing{tools, err}
	}()
	var l listing
	select {
	case l = <-done:
		child.Stop(grace)
	case <-ctx.Done():
		child.Stop(0) // which ends the goroutine, too: its pipes are closed
		<-done
		l.err = fmt.Errorf("no answer in time: %w", context.Cause(ctx))
	}
	if errors.Is(l.err, io.EOF) || errors.Is(l.err, errBroken) {
		l.err = ended(child)
	}
	return l.tools, l.err
}

// ended says how a server ended before it had answered.
func ended(child *link.Child) error {
	how := "it ended: " + child.Exit()
	if last := child.Tail(); len(last) > 0 {
		how += "; it said: " + strings.Join(last[max(0, len(last)-3):], " | ")
	}
	return errors.New(how)
}

var errBroken = errors.New("the server's input is closed")

// session is a conversation with one server.
type session struct {
	in     io.Writer
	lines  *wire.Reader
	next   int64
	modern bool
}

// list greets the server and reads all pages of its tools.
func (s *session) list() ([]policy.Tool, error) {
	greeted, err := s.request("initialize", greeting)
	switch {
	case errors.Is(err, errRefused):
		s.modern = true // it may know only the protocol that has no greeting
	case err != nil:
		return nil, err
	default:
		if err := s.send(wire.AppendNotification(nil, "notifications/initialized", nil)); err != nil {
			return nil, err
		}
		if c := greeted.Get("capabilities"); c.Kind() == '{' && c.Get("tools") == nil {
			return nil, nil
		}
	}
	var tools []policy.Tool
	cursor := ""
	for range maxPages {
		page, err := s.request("tools/list", s.page(cursor))
		if err != nil {
			return nil, err
		}
		for raw := range page.Get("tools").Elems() {
			if len(tools) == maxTools {
				return nil, fmt.Errorf("more than %d tools", maxTools)
			}
			tools = append(tools, toolOf(raw))
		}
		next, ok := page.Get("nextCursor").Text()
		if !ok || next == "" {
			return tools, nil
		}
		cursor = next
	}
	return nil, fmt.Errorf("more than %d pages of tools", maxPages)
}

func (s *session) page(cursor string) string {
	var members []string
	if s.modern {
		members = append(members, meta)
	}
	if cursor != "" {
		members = append(members, `"cursor":`+string(wire.AppendQuoted(nil, cursor)))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func toolOf(raw wire.Value) policy.Tool {
	raw = append(wire.Value(nil), raw...) // the line it stands in is read over
	name, _ := raw.Get("name").Text()
	description, _ := raw.Get("description").Text()
	return policy.Tool{
		Name: name, Description: description,
		InputSchema: raw.Get("inputSchema"), Annotations: raw.Get("annotations"),
	}
}

// errRefused says that a server answered with an error.
var errRefused = errors.New("the server refuses")

// request sends a request and reads until its answer. What the server asks meanwhile it does not get.
func (s *session) request(method, params string) (wire.Value, error) {
	s.next++
	id := wire.NumberID(s.next)
	if err := s.send(wire.AppendRequest(nil, id, method, []byte(params))); err != nil {
		return nil, err
	}
	for {
		line, err := s.lines.Next()
		if _, tooLong := errors.AsType[*wire.TooLongError](err); err != nil {
			if tooLong {
				return nil, fmt.Errorf("%s: %w", method, err)
			}
			return nil, io.EOF
		}
		f, err := wire.Parse(line)
		switch {
		case err != nil: // a word to the terminal, or no protocol at all
			continue
		case f.Kind == wire.Request:
			if err := s.send(wire.AppendError(nil, f.ID, -32601, "not available")); err != nil {
				return nil, err
			}
		case f.ID != id:
			continue
		case f.Kind == wire.Result:
			return append(wire.Value(nil), f.Result...), nil
		case f.Kind == wire.Error:
			message, _ := f.Err.Get("message").Text()
			return nil, fmt.Errorf("%w %s: %s", errRefused, method, message)
		}
	}
}

func (s *session) send(frame []byte) error {
	if _, err := s.in.Write(append(frame, '\n')); err != nil {
		return errBroken
	}
	return nil
}

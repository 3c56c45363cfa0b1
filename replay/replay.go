// Package replay judges again: examples that a person has written down, and the calls of an audit log under another policy. From
// such a log it also learns a policy.
package replay

import (
	"slices"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// Server is what is known of a server that calls went to.
type Server struct {
	Package string // what it is started from; empty when unknown
	Tools   []policy.Tool
}

func (s Server) tool(name string) (policy.Tool, bool) {
	i := slices.IndexFunc(s.Tools, func(t policy.Tool) bool { return t.Name == name })
	if i < 0 {
		return policy.Tool{Name: name}, false
	}
	return s.Tools[i], true
}

// textResult is what a server sends for a text.
func textResult(text string) wire.Value {
	v, err := wire.ParseValue(append(wire.AppendQuoted([]byte(`{"content":[{"type":"text","text":`), text), `}]}`...))
	if err != nil {
		return wire.Value(`{}`) // a quoted text parses
	}
	return v
}

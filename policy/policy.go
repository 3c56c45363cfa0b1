// Package policy holds what may be done with which tool: it parses policy files, layers them, and infers rules from names and schemas.
package policy

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Tool is what the policy looks at: one tool as its server defined it when it was pinned.
type Tool struct {
	Name        string
	Description string
	InputSchema wire.Value // nil when unknown

	// Annotations is nil when absent. No rule follows from it: a server would only have to claim readOnlyHint to
	// be let off, and some server libraries set readOnlyHint: false and destructiveHint: true on every tool, so
	// that the stricter values say nothing either.
	Annotations wire.Value
}

// Rule is the resolved rule of one tool. The zero Rule restricts nothing.
//
// Parameters are named by dotted paths: message.to is the member to of the argument message. Arrays are
// transparent, so recipients.address is the address of each element of recipients. Select follows such a path.
type Rule struct {
	Exfiltrating        bool
	Open                bool     // somebody said that the gate is off; otherwise arguments that are destinations by name are judged all the same
	SinkParams          []string // paths of the arguments that carry destinations; none of them present: every argument does
	Fetch               bool     // the sinks are URLs that the tool only reads from: one that was seen whole may be fetched, in a call whose arguments the schema lists
	TrustedDestinations []string // as written; Trusts matches them
	WriteParams         []string // paths of the arguments that hold file paths
	AllowedPathPrefixes []string // none: no confinement
	ArgPatterns         []Pattern
	MaxCalls            int // attempts per session, valid when Limited
	Limited             bool
	Layers              []string // where the fields came from, highest first, for the audit log ("policy /path", "pack gmail", "inferred")
}

// Pattern is a full-match constraint on one argument (RE2).
type Pattern struct {
	Param  string
	Source string
	Regexp *regexp.Regexp // anchored
}

// Layer is one policy file or pack: partial rules by tool name.
type Layer struct {
	Name    string
	Profile string // empty when the file names none
	Pack    bool   // entries count only for tools whose schema has a parameter that they name

	source  []byte    // of a pack that is not parsed yet
	parse   sync.Once // guards entries of a pack
	entries map[string]entry
}

// NewPack returns a layer for a policy that comes with the program. It is parsed when a tool that stands in it is
// resolved for the first time, since most servers need no pack and start-up counts. Its source must parse, and must
// not quote the names of tools; one that does not parse says nothing.
func NewPack(name string, source []byte) *Layer {
	return &Layer{Name: "pack " + name, Pack: true, source: source}
}

// Tools returns the names of the tools that the layer has entries for, sorted.
func (l *Layer) Tools() []string {
	return slices.Sorted(maps.Keys(l.parsed()))
}

func (l *Layer) entry(tool string) (e entry, ok bool) {
	if l.source != nil && !bytes.Contains(l.source, []byte("\n"+tool+":")) {
		return entry{}, false
	}
	e, ok = l.parsed()[tool]
	return e, ok
}

func (l *Layer) parsed() map[string]entry {
	l.parse.Do(func() {
		if l.source == nil {
			return
		}
		if p, err := Parse(l.Name, l.source); err == nil {
			l.entries = p.entries
		}
	})
	return l.entries
}

// entry is what one layer says of one tool. Each field tells "not named" (nil) from "named, and empty", which
// switches off what lower layers say.
type entry struct {
	line, col    int
	exfiltrating *bool
	sinks        []string
	trusted      []string
	writes       []string
	prefixes     []string
	patterns     []Pattern
	maxCalls     *int
}

// label is how the layer is named in Rule.Layers.
func (l *Layer) label() string {
	if l.Pack {
		return l.Name
	}
	return "policy " + l.Name
}

// Error is a fault in a policy file. It prints as `name: line L, column C: what`.
type Error struct {
	File      string
	Line, Col int // from 1; 0 when the fault has no place
	Msg       string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return fmt.Sprintf("%s: %s", e.File, e.Msg)
	case e.Col == 0:
		return fmt.Sprintf("%s: line %d: %s", e.File, e.Line, e.Msg)
	}
	return fmt.Sprintf("%s: line %d, column %d: %s", e.File, e.Line, e.Col, e.Msg)
}

// Package policy holds what may be done with which tool: it parses policy files, layers them, and infers rules from names and schemas.
package policy

import (
	"fmt"
	"regexp"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Tool is what the policy looks at: one tool as its server defined it when it was pinned.
type Tool struct {
	Name        string
	Description string
	InputSchema wire.Value // nil when unknown

	// Annotations is nil when absent. They make a rule stricter or do nothing: a server would only have to claim
	// readOnlyHint to be let off, and some server libraries set destructiveHint: true on every tool, so that even this
	// counts only where the name leaves it open.
	Annotations wire.Value
}

// Server is the server that a Set speaks of.
type Server struct {
	Name    string // in the client's config
	Package string // what its command line starts, such as npm:@modelcontextprotocol/server-slack; empty when unknown
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
	ObjectParams        []string // paths of the arguments that name what a changing tool changes
	Irreversible        bool     // can't be taken back: a delete, a booking, a password
	Changing            bool     // does something, so that what it takes along matters, too
	Directory           bool     // looks up who or where somebody is: whole cells of its results vouch
	Identity            bool     // tells of the person's own account
	Sensitive           bool     // its results are secrets or private
	TrustedOutputs      []string // paths in its result whose whole scalars vouch
	UntrustedOutputs    []string // paths in its result that are free text, whatever they look like
	Profile             string   // that calls are judged under; empty when none is named
	Observed            bool     // calls pass, whatever is found
	Layers              []string // where the fields came from, highest first, for the audit log ("policy /path", "pack gmail", "inferred")
}

// Pattern is a full-match constraint on one argument (RE2).
type Pattern struct {
	Param  string
	Source string
	Regexp *regexp.Regexp // anchored
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

package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/session"
)

// pins hold each tool as the server defined it when the session began. A call is judged by that definition, and
// that definition is what the client goes on seeing.
type pins struct {
	phase   phase
	meta    []byte // params._meta of bouncer's own requests (2026-07-28), else nil
	tools   map[string]*pinned
	waiting []*request    // calls that came before the listing, in order
	held    []heldListing // answers to the client's own tools/list that did
	timer   *time.Timer
	again   bool // a change was announced while a listing was under way

	instructions *string             // the server's, nil when it has not greeted
	reworded     *session.Difference // they differ from what was accepted in an earlier session
}

type phase uint8

const (
	unlisted phase = iota
	listing1       // the first listing is under way
	settled        // it is there, or it is not to be had
	relisting
)

// pinned is one tool as it was listed first in this session.
type pinned struct {
	raw    []byte
	digest [sha256.Size]byte
	tool   policy.Tool

	state engine.Pin // how raw stands against what was accepted before; PinUnknown for a tool that appeared
	was   []byte     // what was accepted before, if raw is something else
	how   string     // what became of it, if not in this session

	swapped []byte // the newest listing's definition, if that is not raw
	doubt   string // why nobody knows what is called by this name
}

// standing is what a call needs to know of its tool.
type standing struct {
	tool     policy.Tool
	pin      engine.Pin
	was, now []byte // what a person knows and what is in force, when the pin does not hold
	how      string // what became of the pin, if not in this session
	reworded *session.Difference
}

func (p *pins) settled() bool { return p.phase >= settled }

// standing returns the definition a call is judged by and how it holds.
func (p *pins) standing(name string) standing {
	t := p.tools[name]
	switch {
	case t == nil:
		return standing{tool: policy.Tool{Name: name}}
	case t.doubt != "":
		return standing{tool: t.tool, pin: engine.PinChanged, how: t.doubt}
	case t.swapped != nil:
		s := standing{tool: t.tool, pin: min(t.state, engine.PinChanged), was: t.raw, now: t.swapped}
		if t.was != nil {
			s.was = t.was
		}
		return s
	case t.state != engine.PinHeld:
		return standing{tool: t.tool, pin: t.state, was: t.was, now: t.raw, how: t.how}
	case p.reworded != nil:
		return standing{
			tool: t.tool, pin: engine.PinChanged, reworded: p.reworded,
			how: "belongs to a server whose instructions changed since they were accepted",
		}
	}
	return standing{tool: t.tool, pin: engine.PinHeld}
}

// version tells the definition in force from others of the same tool.
func (s standing) version() string {
	switch {
	case s.reworded != nil:
		return "instructions " + fingerprint(s.reworded.New)
	case s.now != nil:
		return fingerprint(wire.Canonical(s.now))
	}
	return ""
}

func fingerprint(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// detail says what differs between what a person knows and what is in force.
func (s standing) detail() []string {
	var lines []session.Line
	switch {
	case s.reworded != nil:
		lines = s.reworded.Explain()
	case s.now != nil:
		lines = session.Explain(s.was, s.now)
	}
	if len(lines) == 0 {
		return nil
	}
	return strings.Split(session.Text(lines, maxDetail), "\n")
}

// maxDetail bounds, in characters, what a question says about a changed tool.
const maxDetail = 600

// pin copies one tool of a listing.
func pin(raw wire.Value) (*pinned, error) {
	name, ok := raw.Get("name").Text()
	if !ok {
		return nil, errNameless
	}
	own := slices.Clone(raw)
	description, _ := own.Get("description").Text()
	return &pinned{
		raw:    own,
		digest: sha256.Sum256(wire.Canonical(own)),
		state:  engine.PinHeld,
		tool: policy.Tool{
			Name: name, Description: description,
			InputSchema: own.Get("inputSchema"), Annotations: own.Get("annotations"),
		},
	}, nil
}

// meet compares a definition that the server lists now with the pinned one, and pins it as unknown if there is none.
func (p *pins) meet(raw wire.Value) (old *pinned, same bool) {
	t, err := pin(raw)
	if err != nil {
		return nil, true // nobody can call it
	}
	old = p.tools[t.tool.Name]
	switch {
	case old == nil:
		if len(p.tools) < maxTools && p.tools != nil {
			t.state = engine.PinUnknown
			p.tools[t.tool.Name] = t
		}
		return nil, true
	case t.digest == old.digest:
		old.swapped = nil
		return old, true
	}
	old.swapped = t.raw
	return old, false
}

// checked returns a tools/list answer in which every tool that changed stands as it was pinned.
func (r *relay) checked(f wire.Frame) ([]byte, error) {
	var edits []wire.Edit
	r.mu.Lock()
	defer r.mu.Unlock()
	for raw := range f.Result.Get("tools").Elems() {
		old, same := r.pins.meet(raw)
		if same {
			continue
		}
		start, end := raw.Span(f.Raw)
		edits = append(edits, wire.Edit{Start: start, End: end, Text: old.raw})
	}
	if len(edits) == 0 {
		return f.Raw, nil
	}
	return wire.Splice(f.Raw, edits...)
}

// greeted takes from the server's greeting whether it has tools at all, and what it tells agents to do.
func (r *relay) greeted(_ *request, f wire.Frame) {
	capabilities := f.Result.Get("capabilities")
	if capabilities.Kind() != '{' {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	text, _ := f.Get("instructions").Text()
	r.pins.instructions = &text
	if capabilities.Get("tools") == nil && r.pins.phase == unlisted {
		r.pins.phase = settled
	}
}

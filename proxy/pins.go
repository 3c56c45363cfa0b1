package proxy

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// Bounds on what a server may list.
const (
	maxPages = 1000
	maxTools = 20_000
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
}

type phase uint8

const (
	unlisted phase = iota
	listing1       // the first listing is under way
	settled        // it is there, or it is not to be had
	relisting
)

// pinned is one tool of the first listing.
type pinned struct {
	raw     []byte
	digest  [sha256.Size]byte
	tool    policy.Tool
	changed bool // the newest listing defines it otherwise, or twice
}

// listing is one walk through the pages of the server's tools.
type listing struct {
	first bool
	pages int
	tools map[string]*pinned
}

type heldListing struct {
	q   *request
	raw []byte
}

func (p *pins) settled() bool { return p.phase >= settled }

// tool returns the definition a call is judged by.
func (p *pins) tool(name string) (policy.Tool, engine.Pin) {
	switch t := p.tools[name]; {
	case t == nil:
		return policy.Tool{Name: name}, engine.PinUnknown
	case t.changed:
		return t.tool, engine.PinChanged
	default:
		return t.tool, engine.PinHeld
	}
}

// listingDue starts the first listing when a client's message shows that the server may be asked, and returns the
// request to send. r.mu is held.
func (r *relay) listingDue(method string, m meta) []byte {
	if r.pins.phase != unlisted {
		return nil
	}
	switch {
	case method == "notifications/initialized", method == "tools/call", method == "tools/list":
	case m.modern && method != "server/discover" && method != "initialize":
	default:
		return nil
	}
	r.pins.meta = m.own()
	r.pins.phase = listing1
	r.pins.timer = time.AfterFunc(r.o.PinFor, r.listingLate)
	return r.nextPage(&listing{first: true, tools: map[string]*pinned{}}, nil)
}

// relist starts another listing after a change. r.mu is held.
func (r *relay) relist() []byte {
	switch r.pins.phase {
	case settled:
		r.pins.phase = relisting
		return r.nextPage(&listing{tools: map[string]*pinned{}}, nil)
	case listing1, relisting:
		r.pins.again = true
	}
	return nil
}

// nextPage makes the request for one page. r.mu is held.
func (r *relay) nextPage(l *listing, cursor wire.Value) []byte {
	params := []byte{'{'}
	if r.pins.meta != nil {
		params = append(append(params, `"_meta":`...), r.pins.meta...)
	}
	if cursor != nil {
		if len(params) > 1 {
			params = append(params, ',')
		}
		params = append(append(params, `"cursor":`...), cursor...)
	}
	id := r.newID()
	r.own[id] = &ownRequest{listing: l}
	l.pages++
	return wire.AppendRequest(nil, id, "tools/list", append(params, '}'))
}

// listed takes one page of bouncer's own listing.
func (r *relay) listed(l *listing, f wire.Frame) error {
	err := l.add(f)
	r.mu.Lock()
	if cursor := f.Result.Get("nextCursor"); err == nil && cursor.Kind() == '"' && l.pages < maxPages {
		next := r.nextPage(l, cursor)
		r.mu.Unlock()
		r.toServer.inject(next)
		return nil
	}
	if l.first {
		r.pins.timer.Stop()
		r.pins.tools = l.tools
	} else {
		r.compare(l, err)
	}
	r.mu.Unlock()
	if err != nil {
		r.note("the server's tools can't be listed: %v", err)
	}
	return r.settle()
}

// add takes the tools of one page.
func (l *listing) add(f wire.Frame) error {
	if f.Kind == wire.Error {
		message, _ := f.Err.Get("message").Text()
		return errors.New(message)
	}
	for raw := range f.Result.Get("tools").Elems() {
		t, err := pin(raw)
		if err != nil {
			return err
		}
		if old := l.tools[t.tool.Name]; old != nil {
			old.changed = true // two tools of one name: nobody knows which one is called
			continue
		}
		if len(l.tools) == maxTools {
			return fmt.Errorf("more than %d tools", maxTools)
		}
		l.tools[t.tool.Name] = t
	}
	return nil
}

// pin copies one tool of a listing.
func pin(raw wire.Value) (*pinned, error) {
	name, ok := raw.Get("name").Text()
	if !ok {
		return nil, errors.New("a tool without a name")
	}
	own := slices.Clone(raw)
	description, _ := own.Get("description").Text()
	return &pinned{
		raw:    own,
		digest: sha256.Sum256(wire.Canonical(own)),
		tool: policy.Tool{
			Name: name, Description: description,
			InputSchema: own.Get("inputSchema"), Annotations: own.Get("annotations"),
		},
	}, nil
}

// compare marks what a later listing defines otherwise. A listing that failed says nothing good about anything. r.mu is held.
func (r *relay) compare(l *listing, err error) {
	for name, t := range r.pins.tools {
		now := l.tools[name]
		t.changed = err != nil || now != nil && (now.changed || now.digest != t.digest)
	}
}

// listingLate goes on without the server's tools: calls are judged as calls of unknown tools until they are listed.
func (r *relay) listingLate() {
	r.mu.Lock()
	late := r.pins.phase == listing1 && !r.done
	r.mu.Unlock()
	if late {
		r.note("the server did not list its tools in time")
		_ = r.settle() // a broken end is met by its pump, too
	}
}

// settle lets go what waited for a listing. New calls go on waiting until the earlier ones are through, so that their
// order holds.
func (r *relay) settle() error {
	for {
		r.mu.Lock()
		held, waiting := r.pins.held, r.pins.waiting
		r.pins.held, r.pins.waiting = nil, nil
		if len(held)+len(waiting) == 0 {
			r.pins.phase = settled
			var list []byte
			if r.pins.again {
				r.pins.again = false
				list = r.relist()
			}
			r.mu.Unlock()
			if list != nil {
				r.toServer.inject(list)
			}
			return nil
		}
		r.mu.Unlock()
		for _, h := range held {
			f, err := wire.Parse(h.raw)
			if err != nil {
				return err
			}
			if err := r.respond(h.q, f); err != nil {
				return err
			}
		}
		for _, q := range waiting {
			if err := r.resume(q); err != nil {
				return err
			}
		}
	}
}

// resume judges a call that waited for the listing.
func (r *relay) resume(q *request) error {
	r.mu.Lock()
	gone := q.state != waiting
	if !gone {
		q.state = judging
	}
	r.mu.Unlock()
	if gone {
		return nil
	}
	f, err := wire.Parse(q.call.frame)
	if err != nil {
		return err
	}
	return r.judgeCall(q, f, func(frame []byte) error {
		r.toServer.inject(frame)
		return nil
	})
}

// holdListing keeps an answer to the client's tools/list back while there is nothing to check it against. r.mu is held.
func (r *relay) holdListing(q *request, f wire.Frame) bool {
	if r.pins.phase != listing1 {
		return false
	}
	delete(r.pending, q.id)
	r.pins.held = append(r.pins.held, heldListing{q, slices.Clone(f.Raw)})
	return true
}

// checked returns a tools/list answer in which every tool that changed stands as it was pinned.
func (r *relay) checked(f wire.Frame) ([]byte, error) {
	var edits []wire.Edit
	r.mu.Lock()
	defer r.mu.Unlock()
	for raw := range f.Result.Get("tools").Elems() {
		name, ok := raw.Get("name").Text()
		old := r.pins.tools[name]
		if !ok || old == nil {
			continue
		}
		if sha256.Sum256(wire.Canonical(raw)) == old.digest {
			continue
		}
		old.changed = true
		start, end := raw.Span(f.Raw)
		edits = append(edits, wire.Edit{Start: start, End: end, Text: old.raw})
	}
	if len(edits) == 0 {
		return f.Raw, nil
	}
	return wire.Splice(f.Raw, edits...)
}

// greeted takes from the server's greeting whether it has tools at all.
func (r *relay) greeted(_ *request, f wire.Frame) {
	capabilities := f.Result.Get("capabilities")
	if capabilities.Kind() != '{' || capabilities.Get("tools") != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pins.phase == unlisted {
		r.pins.phase = settled
	}
}

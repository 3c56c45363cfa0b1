package proxy

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/session"
)

// Bounds on what a server may list.
const (
	maxPages = 1000
	maxTools = 20_000
	maxBytes = 64 << 20 // of all definitions together
)

var errNameless = errors.New("a tool without a name")

// listing is one walk through the pages of the server's tools.
type listing struct {
	first bool
	pages int
	bytes int
	tools map[string]*pinned
}

type heldListing struct {
	q   *request
	raw []byte
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
	} else {
		r.recall(l)
	}
	return r.settle()
}

// recall compares a whole listing with what was accepted in earlier sessions. What can't be compared counts as changed.
func (r *relay) recall(l *listing) {
	if r.o.Memory == nil {
		return
	}
	r.mu.Lock()
	now := session.Listing{Instructions: r.pins.instructions, Tools: make(map[string][]byte, len(l.tools))}
	r.mu.Unlock()
	for name, t := range l.tools {
		now.Tools[name] = t.raw
	}
	found, err := r.o.Memory.Compare(r.o.Now(), now)
	if err != nil {
		r.note("the tools can't be compared with those accepted before: %v", err)
	}
	if !l.first {
		return // what changed within the session is known; the memory has it for the next one
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		for _, t := range l.tools {
			t.state, t.how = engine.PinChanged, "can't be compared with what was accepted before"
		}
		return
	}
	for _, d := range found.Changed {
		t := l.tools[d.Tool]
		t.state, t.was, t.how = engine.PinChanged, d.Old, "changed since it was accepted on "+d.Accepted.Format(time.DateOnly)
	}
	for _, d := range found.New {
		l.tools[d.Tool].state, l.tools[d.Tool].how = engine.PinUnknown, "is new since the server's tools were accepted"
	}
	r.pins.reworded = found.Instructions
}

// accepted remembers for later sessions that a person agreed to a tool as it is now, if it still is what was asked about.
func (r *relay) accepted(name, version string) {
	r.mu.Lock()
	s := r.pins.standing(name)
	same := s.pin != engine.PinHeld && s.version() == version
	if same && s.reworded != nil {
		r.pins.reworded = nil
	}
	r.mu.Unlock()
	if !same || r.o.Memory == nil {
		return
	}
	var err error
	if s.reworded != nil {
		err = r.o.Memory.AcceptInstructions(r.o.Now())
	} else {
		err = r.o.Memory.Accept(r.o.Now(), name)
	}
	if err != nil {
		r.note("that the tool was accepted can't be kept for later sessions: %v", err)
	}
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
			old.doubt = "is listed twice"
			continue
		}
		if l.bytes += len(raw); len(l.tools) == maxTools || l.bytes > maxBytes {
			return fmt.Errorf("more than %d tools or %d bytes of them", maxTools, maxBytes)
		}
		l.tools[t.tool.Name] = t
	}
	return nil
}

// compare notes what a later listing defines otherwise. A listing that failed says nothing good about anything. r.mu is held.
func (r *relay) compare(l *listing, err error) {
	if err != nil {
		for _, t := range r.pins.tools {
			t.doubt = "can't be listed any more"
		}
		return
	}
	for name, t := range l.tools {
		if old, _ := r.pins.meet(t.raw); old != nil {
			old.doubt = l.tools[name].doubt
		}
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
			r.listedOnce.Do(func() { close(r.listed1) })
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
			r.mu.Lock()
			gone := h.q.state == cancelled
			r.drop(h.q)
			r.mu.Unlock()
			if gone {
				continue
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
	return r.judgeCall(q, f, true)
}

// holdListing keeps an answer to the client's tools/list back while there is nothing to check it against. r.mu is held.
func (r *relay) holdListing(q *request, f wire.Frame) bool {
	if r.pins.phase != listing1 || !r.keep(q, len(f.Raw)) {
		return false
	}
	q.state = waiting
	r.pins.held = append(r.pins.held, heldListing{q, slices.Clone(f.Raw)})
	return true
}

package proxy

import (
	"bytes"
	"errors"
	"strconv"
	"time"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// JSON-RPC error codes that bouncer itself answers with.
const (
	codeInvalid  = -32600
	codeInternal = -32603
	codeNoMethod = -32601
)

// maxCancelled bounds how many cancelled requests are remembered while their answers may still come.
const maxCancelled = 1024

// Bounds on what one side can make bouncer hold for it.
const (
	maxKept  = 256 << 20 // bytes of calls and answers that wait, and of the arguments of calls under way
	maxAsked = 1024      // requests of the server's that the client has not answered
	maxID    = 256       // characters of their ids
)

// request is one request of the client's that has no answer yet.
type request struct {
	id     wire.ID
	method string
	state  state
	call   *call // of a tools/call
	kept   int   // bytes held for it

	questions int // how often a person has been asked about it
}

// state says where a request stands.
type state uint8

const (
	forwarded state = iota
	judging         // a tools/call that has not been decided
	waiting         // for the server's listing
	asking          // for a person
	cancelled       // by the client; an answer may still come
)

// call is what is kept of a tools/call. It owns its bytes.
type call struct {
	number   uint64
	started  time.Time // when it was sent on, or until then when it came: what a person takes to answer is not the server's time
	tool     string
	args     wire.Value
	frame    []byte // the whole line, while it can't be forwarded yet
	modern   bool   // the request followed 2026-07-28
	elicits  bool   // and declared form elicitation
	verdict  engine.Verdict
	standing standing
	inquiry  *inquiry // while asking
	by       string   // the channel that brought the person's answer
	vouched  []engine.Pair
	resumed  bool // the retry of a call that the server interrupted
	relayed  bool // vouched: the server's own questions must come back with proof of that
}

// ownRequest is one request of bouncer's own.
type ownRequest struct {
	listing *listing // a page of the server's tools
	asks    *request // a question about this call
	late    *late    // a question that was taken back
}

// fromClient handles one line of the client's.
func (r *relay) fromClient(line []byte) error {
	f, err := wire.Parse(line)
	if refusal, ok := errors.AsType[*wire.FrameError](err); ok {
		return r.refuseClient(line, refusal)
	}
	switch f.Kind {
	case wire.Request:
		return r.clientRequest(f)
	case wire.Notification:
		return r.clientNotification(f)
	default:
		return r.clientResponse(f)
	}
}

// refuseClient drops a line of the client's. What was meant as a request gets an error; what was meant as an answer
// must not leave whoever asked waiting; and an error without an id tells of a line that could not be read at all.
func (r *relay) refuseClient(line []byte, refusal *wire.FrameError) error {
	r.note("refused a line from the client: %s", refusal.Reason)
	reason := "bouncer: " + refusal.Reason
	switch refusal.Kind {
	case wire.Notification:
		return nil
	case wire.Result, wire.Error:
		return r.refuseAnswer(refusal.ID, refusal.Reason)
	case wire.Invalid:
		if !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("{")) {
			break // a batch, or no message at all: whatever is in it was not said to anybody
		}
		for _, id := range wire.SniffIDs(line) {
			if r.awaits(id) {
				return r.refuseAnswer(id, refusal.Reason)
			}
		}
	}
	r.toClient.inject(wire.AppendError(nil, refusal.ID, refusal.Code, reason))
	return nil
}

// refuseAnswer gives whoever waits for an answer of the client's an error in its place.
func (r *relay) refuseAnswer(id wire.ID, reason string) error {
	return r.clientResponse(wire.Frame{
		Kind: wire.Error, ID: id,
		Raw: wire.AppendError(nil, id, codeInternal, "the client's answer was refused: "+reason),
	})
}

// awaits reports whether the server or bouncer waits for an answer of the client's under this id.
func (r *relay) awaits(id wire.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	_, asked := r.asked[id]
	own := r.own[id]
	return asked || own != nil && own.asks != nil
}

func (r *relay) clientTooLong(long *wire.TooLongError) error {
	kind, id := long.Sniff()
	return r.refuseClient(nil, &wire.FrameError{Code: codeInvalid, Kind: kind, ID: id, Reason: long.Error()})
}

func (r *relay) clientRequest(f wire.Frame) error {
	if r.isOwn(f.ID) {
		return r.refuseClient(nil, &wire.FrameError{Code: codeInvalid, Kind: wire.Request, ID: f.ID, Reason: "this id is reserved"})
	}
	if member, ok := r.shadowedAnswers(f); ok {
		return r.refuseClient(nil, &wire.FrameError{Code: codeInvalid, Kind: wire.Request, ID: f.ID, Reason: "member " + strconv.Quote(member) + " only differs in case from one the protocol knows"})
	}
	q := &request{id: f.ID, method: f.Method}
	m := readMeta(f.Get("_meta"))
	r.mu.Lock()
	if r.dead != "" {
		r.mu.Unlock()
		r.toClient.inject(wire.AppendError(nil, f.ID, codeInternal, r.dead))
		r.refusedOnce.Do(func() { close(r.refused) })
		return nil
	}
	if old := r.pending[f.ID]; old != nil && old.state != cancelled {
		r.mu.Unlock()
		// The answer must not carry the id: it would pass for the answer to the first request.
		return r.refuseClient(nil, &wire.FrameError{Code: codeInvalid, Kind: wire.Request, Reason: "this id is still in use by an earlier request"})
	}
	r.learn(f, m)
	r.pending[f.ID] = q
	if f.Method == "tools/call" {
		r.calls++
		q.state = judging
		q.call = &call{number: r.calls, started: r.o.Now(), modern: m.modern, elicits: m.elicits}
	}
	list := r.listingDue(f.Method, m)
	r.mu.Unlock()
	if list != nil {
		if err := r.toServer.write(list); err != nil {
			return err
		}
	}
	if q.call != nil {
		return r.gate(q, f)
	}
	return r.toServer.write(f.Raw)
}

// learn takes from a request what the client says about itself.
func (r *relay) learn(f wire.Frame, m meta) {
	if f.Method == "initialize" {
		r.peer.name = clientName(f.Get("clientInfo"))
		r.peer.elicits = elicitsForm(f.Params.At("capabilities", "elicitation"))
	} else if m.client != "" {
		r.peer.name = m.client
	}
}

func (r *relay) clientNotification(f wire.Frame) error {
	if f.Method == "notifications/cancelled" {
		if r.cancelled(requestID(f.Params)) {
			return nil
		}
	}
	if err := r.toServer.write(f.Raw); err != nil {
		return err
	}
	if f.Method == "notifications/initialized" {
		r.mu.Lock()
		list := r.listingDue(f.Method, meta{})
		r.mu.Unlock()
		if list != nil {
			return r.toServer.write(list)
		}
	}
	return nil
}

// cancelled takes back a call that the server has not been told of, and reports whether there was one.
func (r *relay) cancelled(id wire.ID) bool {
	r.mu.Lock()
	q := r.pending[id]
	if q == nil {
		r.mu.Unlock()
		return false
	}
	held := q.state == waiting || q.state == asking || q.state == judging
	if held {
		r.withdraw(q)
		r.drop(q)
	}
	q.state = cancelled
	r.forget()
	r.mu.Unlock()
	if held {
		r.result(q, "cancelled", 0)
	}
	return held
}

// keep accounts for bytes that are held for a request until it is dropped, and reports whether there is room. r.mu is held.
func (r *relay) keep(q *request, n int) bool {
	if r.kept+n > maxKept {
		return false
	}
	r.kept += n
	q.kept += n
	return true
}

// drop forgets a request, unless a later one has its id by now. r.mu is held.
func (r *relay) drop(q *request) {
	if r.pending[q.id] == q {
		delete(r.pending, q.id)
	}
	r.kept -= q.kept
	q.kept = 0
}

// forget drops cancelled requests when there are too many: their answers, should they still come, are then dropped too.
func (r *relay) forget() {
	if len(r.pending) <= maxCancelled {
		return
	}
	for _, q := range r.pending {
		if q.state == cancelled {
			r.drop(q)
		}
	}
}

func (r *relay) clientResponse(f wire.Frame) error {
	r.mu.Lock()
	own := r.own[f.ID]
	if own != nil && (own.asks != nil || own.late != nil) {
		delete(r.own, f.ID)
	}
	_, asked := r.asked[f.ID]
	delete(r.asked, f.ID)
	r.mu.Unlock()
	switch {
	case own != nil && own.asks != nil:
		return r.answered(own.asks, f)
	case own != nil && own.late != nil:
		r.answeredLate(own.late, f)
		return nil
	case !asked:
		r.note("dropped a response from the client that answers no open request")
		return nil
	}
	if member, ok := wire.Shadow(f.Result, "action", "content", "_meta"); ok {
		r.note("refused an answer from the client: member %q only differs in case from one the protocol knows", member)
		return r.toServer.write(wire.AppendError(nil, f.ID, codeInternal, "the client's answer was refused"))
	}
	return r.toServer.write(f.Raw)
}

package proxy

import (
	"bytes"
	"errors"
	"slices"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/taint"
)

// fromServer handles one line of the server's.
func (r *relay) fromServer(line []byte) error {
	f, err := wire.Parse(line)
	if refusal, ok := errors.AsType[*wire.FrameError](err); ok {
		r.refuseServer(line, refusal)
		return nil
	}
	switch f.Kind {
	case wire.Request:
		return r.serverRequest(f)
	case wire.Notification:
		return r.serverNotification(f)
	default:
		return r.serverResponse(f)
	}
}

// refuseServer diverts what the server should not have printed. If it was meant as an answer, the client gets one.
func (r *relay) refuseServer(line []byte, refusal *wire.FrameError) {
	if text := bytes.TrimLeft(bytes.TrimPrefix(line, []byte("\ufeff")), " \t"); len(text) == 0 || text[0] != '{' && text[0] != '[' {
		_, _ = r.o.Log.Write(append(slices.Clip(line), '\n')) // noise: as good as standard error
		return
	}
	r.note("refused a line from the server: %s", refusal.Reason)
	id := refusal.ID
	if refusal.Kind == wire.Request {
		r.toServer.inject(wire.AppendError(nil, id, refusal.Code, refusal.Reason))
		return
	}
	ids := []wire.ID{id}
	if id.IsZero() {
		ids = wire.SniffIDs(line)
	}
	for _, id := range ids {
		r.failed(id, "the server's answer was refused: "+refusal.Reason)
	}
}

func (r *relay) serverTooLong(long *wire.TooLongError) error {
	r.note("refused a line from the server: %v", long)
	_, id := long.Sniff()
	r.failed(id, "the server's answer was refused: "+long.Error())
	return nil
}

// failed answers the client's request with an error, if it is open.
func (r *relay) failed(id wire.ID, why string) {
	r.mu.Lock()
	q := r.pending[id]
	if q == nil || q.state != forwarded && q.state != cancelled {
		r.mu.Unlock()
		return
	}
	r.drop(q)
	r.mu.Unlock()
	if q.state != cancelled {
		r.toClient.inject(wire.AppendError(nil, id, codeInternal, why))
	}
	r.result(q, "rpc_error", 0)
}

func (r *relay) serverRequest(f wire.Frame) error {
	if r.isOwn(f.ID) || f.Method == "tools/call" {
		r.note("refused a request from the server: %s", f.Method)
		r.toServer.inject(wire.AppendError(nil, f.ID, codeNoMethod, "not a request a server may send"))
		return nil
	}
	r.mu.Lock()
	_, used := r.asked[f.ID]
	full := len(r.asked) >= maxAsked || len(f.ID.String()) > maxID
	if !used && !full {
		r.asked[f.ID] = struct{}{}
	}
	r.mu.Unlock()
	if full && !used {
		r.note("refused a request from the server: too many are open, or its id is too long")
		r.toServer.inject(wire.AppendError(nil, f.ID, codeInternal, "too many open requests, or too long an id"))
		return nil
	}
	if used {
		r.note("refused a request from the server: its id is still in use")
		return nil
	}
	return r.forward(f.Raw, r.said(f.Method, f.Params))
}

func (r *relay) serverNotification(f wire.Frame) error {
	if f.Method == "notifications/cancelled" {
		id := requestID(f.Params)
		if r.isOwn(id) {
			r.note("dropped a cancellation by the server of a question it did not ask")
			return nil
		}
		r.mu.Lock()
		delete(r.asked, id)
		r.mu.Unlock()
	}
	if err := r.forward(f.Raw, r.said(f.Method, f.Params)); err != nil {
		return err
	}
	if f.Method == "notifications/tools/list_changed" {
		r.mu.Lock()
		list := r.relist()
		r.mu.Unlock()
		if list != nil {
			r.toServer.inject(list)
		}
	}
	return nil
}

func (r *relay) serverResponse(f wire.Frame) error {
	r.mu.Lock()
	if own := r.own[f.ID]; own != nil && own.listing != nil {
		delete(r.own, f.ID)
		r.mu.Unlock()
		return r.listed(own.listing, f)
	}
	q := r.pending[f.ID]
	if q == nil || q.state != forwarded && q.state != cancelled {
		r.mu.Unlock()
		r.note("dropped a response from the server that answers no open request")
		if other, ok := twin(f.ID); ok {
			r.failed(other, "the server answered under an id of another type")
		}
		return nil
	}
	if q.method == "tools/list" && r.holdListing(q, f) {
		r.mu.Unlock()
		return nil
	}
	r.drop(q)
	r.mu.Unlock()
	return r.respond(q, f)
}

// respond passes the answer to one of the client's requests on.
func (r *relay) respond(q *request, f wire.Frame) error {
	from := taint.Source{Server: r.o.Server, Tool: q.method}
	output := f.Result
	if f.Kind == wire.Result {
		r.mu.Lock()
		r.heard = true
		r.mu.Unlock()
	}
	if f.Kind == wire.Error {
		output = f.Err
	}
	switch q.method {
	case "initialize", "server/discover":
		r.greeted(q, f)
		return r.forwardDefinition(f.Raw, from, output)
	case "tools/list":
		raw, err := r.checked(f)
		if err != nil {
			r.note("refused a listing from the server: %v", err)
			raw = wire.AppendError(nil, f.ID, codeInternal, "the server's listing was refused: "+err.Error())
		}
		return r.forwardDefinition(raw, from, output)
	case "prompts/list", "resources/templates/list":
		return r.forwardDefinition(f.Raw, from, output)
	case "tools/call":
		return r.returned(q, f, output)
	}
	if err := r.questionable(f); err != nil {
		r.note("refused an answer from the server: %v", err)
		return r.forward(wire.AppendError(nil, f.ID, codeInternal, "the server's answer was refused: "+err.Error()), r.said(q.method, output))
	}
	return r.forward(f.Raw, r.said(q.method, output))
}

// forward passes what the server said on and records it.
func (r *relay) forward(raw []byte, o engine.Output) error {
	return r.deliver(raw, func(number uint64) {
		o.Call = number
		r.o.Engine.Observe(o)
	})
}

// said is an output that answers no tool call, named for the method that it belongs to.
func (r *relay) said(method string, output wire.Value) engine.Output {
	return engine.Output{Source: taint.Source{Server: r.o.Server, Tool: method}, Output: output}
}

// forwardDefinition is forward for what a server says about itself: its words are no data, only the addresses in them are remembered.
func (r *relay) forwardDefinition(raw []byte, from taint.Source, output wire.Value) error {
	return r.deliver(raw, func(number uint64) {
		from.Call = number
		r.o.Engine.ObserveDefinition(from, output)
	})
}

// maxAtOnce is the length up to which an output is recorded before the client gets it, where neighbours are to know of it:
// then it counts even if this process is killed the moment after. Of a longer one the client would feel it.
const maxAtOnce = 16 << 10

// deliver writes to the client and records. The next decision waits for the lock that is held around both, so nothing the
// client does in answer is judged before the output is recorded, while the client need not wait for that: this is the
// exception to the rule that no lock is held while writing, and a client that stops reading only delays its own calls.
// Neighbours are told before and after, and wait likewise.
func (r *relay) deliver(raw []byte, record func(number uint64)) error {
	r.judge.Lock()
	defer r.judge.Unlock()
	r.outputs++
	if r.o.Ledger != nil && len(raw) <= maxAtOnce {
		record(r.outputs)
		r.publish()
		return r.toClient.write(raw)
	}
	r.announce()
	defer r.publish()
	if err := r.toClient.write(raw); err != nil {
		return err
	}
	record(r.outputs)
	return nil
}

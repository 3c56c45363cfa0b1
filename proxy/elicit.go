package proxy

import (
	"context"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// elicit has the client ask its person with a request of bouncer's own. r.mu is held.
func (r *relay) elicit(q *request, i *inquiry) {
	i.elicit, i.since = r.newID(), time.Now()
	r.own[i.elicit] = &ownRequest{asks: q}
	r.toClient.inject(wire.AppendRequest(nil, i.elicit, "elicitation/create", i.Params()))
}

// tryClient waits for what the client says, whose form is open unless open says to open it. An answer of the person's settles
// the question elsewhere.
func (r *relay) tryClient(ctx context.Context, q *request, i *inquiry, open bool) (fall, error) {
	if open && q.call.modern {
		if _, ok := r.claim(q); ok {
			return fall{}, r.requireInput(q, i.Question, "")
		}
		return fall{}, nil
	}
	if open {
		r.mu.Lock()
		if q.state == asking {
			r.elicit(q, i)
		}
		r.mu.Unlock()
	}
	select {
	case <-ctx.Done():
		return fall{}, nil
	case gone := <-i.fell:
		return gone, nil
	}
}

// answered goes on with a call when the client has answered its question. It runs on the client's pump, so that what the client
// says next comes behind the call.
func (r *relay) answered(q *request, reply wire.Frame) error {
	r.mu.Lock()
	if q.state != asking {
		r.mu.Unlock()
		return nil
	}
	i := q.call.inquiry
	i.elicit = wire.ID{}
	quick := time.Since(i.since) < r.o.Human
	r.mu.Unlock()

	a, note := approve.No, "the client could not ask"
	asked := reply.Kind == wire.Result
	if asked {
		a, note = i.ReadAnswer(reply.Result)
	}
	by := policy.ChannelElicitation
	switch {
	case a == approve.No && (quick || !asked) && i.elsewhere(by):
		i.fell <- fall{note, quick && asked}
		return nil
	case a != approve.No && quick:
		by = viaHook
	}
	return r.conclude(q, a, note, by, false)
}

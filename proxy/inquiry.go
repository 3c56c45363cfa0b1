package proxy

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// inquiry is the question about one call while it is open. Whoever answers first takes the call out of the state asking, which
// takes the question away from all others.
type inquiry struct {
	approve.Question
	how    Asking
	ways   []string           // the channels that are tried one after the other
	posted *approve.Posted    // where everybody can see it meanwhile; nil: nowhere
	cancel context.CancelFunc // takes it away

	elicit wire.ID   // the client's form, while it is open; guarded by the relay's mu
	since  time.Time // when it was opened
	fell   chan fall // closed forms that nobody has answered

	watched chan struct{}  // closed when nobody looks for an answer to posted any more
	unheard *approve.Reply // the one that was found when the question was already taken away; set before watched is closed
}

// fall says why a channel has no answer of a person's.
type fall struct {
	note  string
	quick bool // no person answers that soon
}

// post puts the question where everybody can see it.
func (r *relay) post(i *inquiry) {
	posted, err := r.o.Questions.Post(i.Question, approve.Posting{Client: r.clientName(), Process: r.o.Process, For: i.how.For})
	if err != nil {
		r.note("nobody else can see what is asked: %v", err)
		return
	}
	i.Question, i.posted = posted.Question, posted
}

func (i *inquiry) close() {
	if i.posted != nil {
		i.posted.Close() // an answer that is there by now has come too late
	}
}

// attended reports whether somebody may see the question where everybody can.
func (r *relay) attended(i *inquiry) bool {
	return i.posted != nil && (i.how.Stay || r.o.Questions.Watched())
}

// elsewhere reports whether there is another way than this one.
func (i *inquiry) elsewhere(way string) bool {
	return i.posted != nil || slices.Index(i.ways, way) < len(i.ways)-1
}

// pose shows a question until it is answered, taken back, or time is up.
func (r *relay) pose(ctx context.Context, q *request, i *inquiry, token wire.Value) {
	defer i.cancel()
	var beside sync.WaitGroup
	defer beside.Wait()
	if i.posted != nil {
		i.watched = make(chan struct{})
		beside.Go(func() {
			defer close(i.watched)
			reply, ok := i.posted.Wait(ctx)
			if !ok {
				return
			}
			if _, first := r.claim(q); first {
				_ = r.heed(q, i, reply.Answer, "declined", reply.By, true) // only writing to the server fails, and this queues
			} else {
				i.unheard = &reply
			}
		})
	}
	if token != nil {
		beside.Go(func() { r.keepAlive(ctx, q, token) })
	}
	why := r.tryAll(ctx, q, i)
	if ctx.Err() == nil && r.attended(i) {
		<-ctx.Done()
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		why = "no answer in time"
	}
	if errors.Is(ctx.Err(), context.Canceled) || !r.lapse(q, i, why) {
		i.close()
	}
}

// tryAll asks through one channel after the other until the question is settled or ctx is done. Otherwise it returns what became
// of the last one.
func (r *relay) tryAll(ctx context.Context, q *request, i *inquiry) string {
	why := "no way to ask"
	if i.posted != nil {
		why = "nobody was there to ask"
	}
	for n, way := range i.ways {
		if n > 0 && r.recordAs(q.call, i.Verdict, engine.Ask, "", way) != nil {
			return "the audit log can't be written"
		}
		var gone fall
		var err error
		if way == policy.ChannelElicitation {
			gone, err = r.tryClient(ctx, q, i, n > 0)
		} else {
			gone, err = r.try(ctx, q, i, r.channel(way))
		}
		switch {
		case ctx.Err() != nil:
			return why
		case err != nil:
			gone.note = err.Error()
		case gone.quick:
			r.mu.Lock()
			r.muted[way] = true
			r.mu.Unlock()
		}
		why = gone.note
		if gone.quick {
			gone.note += ", sooner than a person can"
		}
		_ = r.recordAs(q.call, i.Verdict, engine.Ask, "no: "+gone.note, way) // the record that refuses or allows the call is the one that must be written
	}
	return why
}

// try asks through one channel. It returns when nobody was asked, or the question is settled.
func (r *relay) try(ctx context.Context, q *request, i *inquiry, ch approve.Channel) (fall, error) {
	began := time.Now()
	a, note, err := ch.Ask(ctx, i.Question)
	if err != nil || ctx.Err() != nil {
		return fall{}, err
	}
	if a == approve.No && time.Since(began) < r.o.Human && i.elsewhere(ch.Name()) {
		return fall{note, true}, nil
	}
	return fall{}, r.conclude(q, a, note, ch.Name(), true)
}

// conclude goes on with a call when its question has been answered; all answers but the first are lost. queue is as in decide.
func (r *relay) conclude(q *request, a approve.Answer, note, by string, queue bool) error {
	i, ok := r.claim(q)
	if !ok {
		return nil
	}
	return r.heed(q, i, a, note, by, queue)
}

// heed goes on with a call whose question was claimed.
func (r *relay) heed(q *request, i *inquiry, a approve.Answer, note, by string, queue bool) error {
	q.call.by = by
	if a == approve.No {
		return r.denyAsked(q, note)
	}
	word := r.agree(q.call, i.Question, a)
	f, err := wire.Parse(q.call.frame)
	if err != nil {
		return err
	}
	return r.decide(q, f, word, queue)
}

// claim takes the question about a call away from everybody, unless somebody else has.
func (r *relay) claim(q *request) (*inquiry, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if q.state != asking || r.done {
		return nil, false
	}
	r.withdraw(q)
	q.state = judging
	return q.call.inquiry, true
}

// withdraw takes a question back. r.mu is held.
func (r *relay) withdraw(q *request) {
	if q.call == nil || q.state != asking { // an answer that is held back, or a call that is not asked about
		return
	}
	i := q.call.inquiry
	i.cancel()
	if i.elicit.IsZero() {
		return
	}
	delete(r.own, i.elicit)
	params := append(i.elicit.AppendJSON([]byte(`{"requestId":`)), '}')
	r.toClient.inject(wire.AppendNotification(nil, "notifications/cancelled", params))
}

// withdrawAll takes every question back and returns the calls that were waiting. r.mu is held.
func (r *relay) withdrawAll() []*request {
	var held []*request
	for _, q := range r.pending {
		if q.state == waiting || q.state == asking {
			r.withdraw(q)
			q.state = cancelled
			held = append(held, q)
		}
	}
	return held
}

// keepAlive tells a client that asked for progress that there is some, so that it goes on waiting. What the server reports later
// is more than any of it.
func (r *relay) keepAlive(ctx context.Context, q *request, token wire.Value) {
	tick := time.NewTicker(r.o.KeepAlive)
	defer tick.Stop()
	for n := 1.0; ; n++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		params := append([]byte(`{"progressToken":`), token...)
		params = strconv.AppendFloat(append(params, `,"progress":`...), n/1e6, 'f', -1, 64)
		params = append(params, `,"message":"waiting for a person to allow this call"}`...)
		r.mu.Lock()
		if q.state == asking { // so that none comes behind the server's own
			r.toClient.inject(wire.AppendNotification(nil, "notifications/progress", params))
		}
		r.mu.Unlock()
	}
}

// progressToken is what a call's progress goes by, nil if its client wants none.
func progressToken(f wire.Frame) wire.Value {
	token := f.Get("_meta").Get("progressToken")
	_, isNumber := token.Number()
	if len(token) > maxID || token.Kind() != '"' && !isNumber {
		return nil
	}
	return slices.Clone(token)
}

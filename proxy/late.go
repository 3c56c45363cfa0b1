package proxy

import (
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// maxLate bounds the questions that may be answered after their calls have been refused.
const maxLate = 64

// late is a question that nobody has answered in time. What is said to it counts when the same call comes again.
type late struct {
	approve.Question
	posted *approve.Posted // nil: nobody can see it any more
	elicit wire.ID         // of the form that the client was told to close
	expire *time.Timer

	answer approve.Answer // the client's, which was under way; guarded by the relay's mu
	by     string         // empty: it has not answered
}

// lapse refuses a call whose question nobody has answered, and reports whether the question stays.
func (r *relay) lapse(q *request, i *inquiry, why string) bool {
	r.mu.Lock()
	form := i.elicit
	r.mu.Unlock()
	if _, ok := r.claim(q); !ok {
		return false
	}
	if i.posted != nil {
		<-i.watched // who looks for an answer may have found one at this moment, which then is the only copy
		if i.unheard != nil {
			_ = r.heed(q, i, i.unheard.Answer, "declined", i.unheard.By, true) // it queues, so it can't fail
			return false
		}
	}
	stays := r.keepLate(q.call, &late{Question: i.Question, posted: i.posted, elicit: form})
	reason := refusal(q.call.verdict.Reason, why)
	q.call.verdict.Reason = reason
	if err := r.record(q, engine.Deny, "no: "+why); err != nil {
		_ = r.unrecorded(q, err) // it answers the client, and that can't fail
		return stays
	}
	if stays && i.posted != nil && r.o.Hint != "" {
		reason += "; " + r.o.Hint
	}
	r.reply(q, r.blockedResult(q, reason))
	return stays
}

func (r *relay) keepLate(c *call, l *late) bool {
	if l.posted == nil && l.elicit.IsZero() {
		return false
	}
	digest := approve.Digest(c.tool, c.args)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done || r.late[digest] != nil || len(r.late) >= maxLate {
		return false
	}
	r.late[digest] = l
	if !l.elicit.IsZero() {
		r.own[l.elicit] = &ownRequest{late: l}
	}
	l.expire = time.AfterFunc(approve.LateFor, func() {
		r.mu.Lock()
		if r.late[digest] == l {
			r.forgetLate(digest, l)
		}
		r.mu.Unlock()
		l.close()
	})
	return true
}

// forgetLate is called with r.mu held.
func (r *relay) forgetLate(digest [32]byte, l *late) {
	delete(r.late, digest)
	delete(r.own, l.elicit)
	l.expire.Stop()
}

func (l *late) close() (approve.Reply, bool) {
	if l.posted == nil {
		return approve.Reply{}, false
	}
	return l.posted.Close()
}

// takeLate returns what has been said to a call since it was refused. From then on it can only be asked about anew.
func (r *relay) takeLate(c *call) (*late, approve.Reply, bool) {
	digest := approve.Digest(c.tool, c.args)
	r.mu.Lock()
	l := r.late[digest]
	if l == nil {
		r.mu.Unlock()
		return nil, approve.Reply{}, false
	}
	r.forgetLate(digest, l)
	said := approve.Reply{Answer: l.answer, By: l.by}
	r.mu.Unlock()
	reply, ok := l.close()
	if said.By != "" {
		return l, said, true
	}
	return l, reply, ok
}

// answeredLate takes in what the client says to a question that it was told to close.
func (r *relay) answeredLate(l *late, reply wire.Frame) {
	if reply.Kind != wire.Result {
		return
	}
	a, note := l.ReadAnswer(reply.Result)
	if a == approve.No && note == "cancelled" {
		return // it has done what it was told
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l.answer, l.by = a, policy.ChannelElicitation
}

// catchUp goes on with a call that comes again after it was refused, since the person has answered meanwhile.
func (r *relay) catchUp(q *request, f wire.Frame, l *late, reply approve.Reply, queue bool) error {
	q.call.by = reply.By
	if reply.Answer == approve.No {
		return r.denyAsked(q, "declined")
	}
	return r.decide(q, f, r.agree(q.call, l.Question, reply.Answer), queue)
}

// closeLate takes back all questions that are still open, when the relay ends.
func (r *relay) closeLate() {
	r.mu.Lock()
	var all []*late
	for digest, l := range r.late {
		r.forgetLate(digest, l)
		all = append(all, l)
	}
	r.mu.Unlock()
	for _, l := range all {
		l.close()
	}
}

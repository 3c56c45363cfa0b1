package proxy

import (
	"bytes"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// ask puts a call before the person, in the way this client can: as an elicitation request (up to 2025-11-25) or as an
// input_required result (2026-07-28). Without either, an ask is a deny.
func (r *relay) ask(q *request, f wire.Frame, answer string) error {
	c := q.call
	question := approve.Question{Server: r.o.Server, Tool: c.tool, Args: c.args, Verdict: c.verdict}
	if c.verdict.Contract == "pinning" {
		question.Detail = c.standing.detail()
	}
	r.mu.Lock()
	legacy, leaving := !c.modern && r.peer.elicits, r.leaving
	r.mu.Unlock()
	switch {
	case legacy && leaving:
		return r.denyAsked(q, "the client has gone")
	case q.questions >= maxQuestions:
		return r.denyAsked(q, "asked too often")
	case legacy:
		return r.elicit(q, f, question, answer)
	case c.elicits && f.Get("requestState") == nil:
		return r.requireInput(q, question, answer)
	}
	return r.denyAsked(q, "no way to ask")
}

// denyAsked refuses a call that nobody agreed to.
func (r *relay) denyAsked(q *request, note string) error {
	q.call.verdict.Reason = refusal(q.call.verdict.Reason, note)
	return r.deny(q, "no: "+note)
}

// refusal is the reason a client reads when nobody agreed.
func refusal(reason, note string) string {
	if reason == "" {
		return "the person did not agree (" + note + ")"
	}
	return reason + "; nobody agreed (" + note + ")"
}

// elicit asks with a request of bouncer's own and leaves the call waiting.
func (r *relay) elicit(q *request, f wire.Frame, question approve.Question, answer string) error {
	if err := r.record(q, engine.Ask, answer); err != nil {
		return r.unrecorded(q, err)
	}
	params := question.Params()
	r.mu.Lock()
	if q.state == cancelled || r.done {
		r.drop(q)
		r.mu.Unlock()
		return nil
	}
	c := q.call
	if c.frame == nil {
		if !r.keep(q, len(f.Raw)) {
			r.mu.Unlock()
			return r.denyAsked(q, "too much waits for an answer")
		}
		c.frame = bytes.Clone(f.Raw)
	}
	c.ask = r.newID()
	c.timer = time.AfterFunc(r.o.AskFor, func() { r.expired(q) })
	q.state = asking
	q.questions++
	r.own[c.ask] = &ownRequest{asks: q}
	r.mu.Unlock()
	r.toClient.inject(wire.AppendRequest(nil, c.ask, "elicitation/create", params))
	return nil
}

// answered goes on with a call when its question has been answered.
func (r *relay) answered(q *request, reply wire.Frame) error {
	r.mu.Lock()
	if q.state != asking {
		r.mu.Unlock()
		return nil
	}
	q.state = judging
	q.call.timer.Stop()
	r.mu.Unlock()

	answer, note := approve.No, "the client could not ask"
	if reply.Kind == wire.Result {
		answer, note = approve.ReadAnswer(reply.Result)
	}
	if answer == approve.No {
		return r.denyAsked(q, note)
	}
	c := q.call
	word := "once"
	if answer == approve.Session {
		word = "session"
		r.approved(c.tool, c.verdict.Pairs)
	}
	c.vouched = append(c.vouched, c.verdict.Pairs...)
	c.relayed = true
	f, err := wire.Parse(c.frame)
	if err != nil {
		return err
	}
	return r.decide(q, f, word, false)
}

// approved remembers a yes for the session, and of a yes to a tool itself tells the memory between sessions.
func (r *relay) approved(tool string, pairs []engine.Pair) {
	r.judge.Lock()
	r.o.Engine.Approve(tool, pairs)
	r.judge.Unlock()
	for _, p := range pairs {
		if p.Tool {
			r.accepted(p.Param, p.Value)
		}
	}
}

// expired refuses a call whose question nobody has answered.
func (r *relay) expired(q *request) {
	r.mu.Lock()
	if q.state != asking || r.done {
		r.mu.Unlock()
		return
	}
	r.withdraw(q)
	q.state = judging
	r.mu.Unlock()
	_ = r.denyAsked(q, "no answer in time") // only writing to a server fails, and a refusal writes to none
}

// withdraw takes a question back. r.mu is held.
func (r *relay) withdraw(q *request) {
	c := q.call
	if c == nil { // an answer that is held back
		return
	}
	if c.timer != nil {
		c.timer.Stop()
	}
	if q.state != asking {
		return
	}
	delete(r.own, c.ask)
	params := append(c.ask.AppendJSON([]byte(`{"requestId":`)), '}')
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

// requireInput asks by answering: the client puts the question to its person and calls again with the answer.
func (r *relay) requireInput(q *request, question approve.Question, answer string) error {
	if err := r.record(q, engine.Ask, answer); err != nil {
		return r.unrecorded(q, err)
	}
	c := q.call
	r.mu.Lock()
	key, _ := r.newID().Text()
	r.mu.Unlock()
	sealed, err := r.sealer.Seal(approve.State{
		Tool: c.tool, Digest: approve.Digest(c.tool, c.args), Pairs: append(c.vouched, c.verdict.Pairs...),
		Expires: r.o.Now().Add(stateFor), Key: key,
	})
	if err != nil {
		return r.denyAsked(q, "no way to ask")
	}
	result := []byte(`{"resultType":"input_required","inputRequests":{`)
	result = append(wire.AppendQuoted(result, key), `:{"method":"elicitation/create","params":`...)
	result = append(append(result, question.Params()...), `}},"requestState":`...)
	result = append(wire.AppendQuoted(result, sealed), '}')
	r.reply(q, wire.AppendResult(nil, q.id, result))
	return nil
}

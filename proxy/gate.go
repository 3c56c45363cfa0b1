package proxy

import (
	"bytes"
	"fmt"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

// blocked heads every refusal that a client sees, so that people and agents know whose it is.
const blocked = "[bouncer blocked] "

// maxQuestions bounds how often one call is asked about: once for each contract that can ask, and one to spare.
const maxQuestions = 4

// gate stops one tools/call until it is judged.
func (r *relay) gate(q *request, f wire.Frame) error {
	c := q.call
	c.tool, _ = f.Get("name").Text()
	c.args = bytes.Clone(f.Get("arguments"))
	r.mu.Lock()
	wait := !r.pins.settled()
	size := len(c.args)
	if wait {
		size += len(f.Raw)
	}
	if !r.keep(q, size) {
		r.mu.Unlock()
		c.verdict = engine.Verdict{Contract: "budget", Reason: "too many calls are waiting for an answer"}
		return r.deny(q, "")
	}
	if wait {
		q.state = waiting
		c.frame = bytes.Clone(f.Raw)
		r.pins.waiting = append(r.pins.waiting, q)
	}
	r.mu.Unlock()
	if wait {
		return nil
	}
	return r.judgeCall(q, f, false)
}

// judgeCall decides a call for the first time and sends it on if it may pass. Only the pump that reads the client writes to
// the server; everybody else queues.
func (r *relay) judgeCall(q *request, f wire.Frame, queue bool) error {
	p, err := r.proof(q.call, f)
	if err != nil {
		q.call.verdict = engine.Verdict{Contract: "approval", Reason: err.Error()}
		return r.deny(q, "no: "+err.Error())
	}
	if p.declined != "" {
		q.call.verdict = p.verdict
		return r.deny(q, "no: "+p.declined)
	}
	if p.session {
		r.approved(q.call.tool, p.pairs)
		r.allowForGood(q.call, p.always)
	}
	if q.call.relayed = p.answer != ""; q.call.relayed {
		q.call.by = policy.ChannelElicitation
	}
	q.call.vouched = p.pairs
	q.call.resumed = r.resumes(q.call, f)
	return r.decide(q, p.frame, p.answer, queue)
}

// decide judges a call with what has been vouched for so far. answer is the person's, when one was asked.
func (r *relay) decide(q *request, f wire.Frame, answer string, queue bool) error {
	c := q.call
	r.mu.Lock()
	s := r.pins.standing(c.tool)
	r.mu.Unlock()
	c.standing = s
	attempt := c.attempt()
	attempt.Counted = answer != "" || c.resumed
	r.judge.Lock()
	r.o.Engine.Attempt(attempt)
	r.publish() // before the others are asked: of two that attempt at once, one sees both
	attempt.Doubtful = r.listen()
	c.verdict = r.o.Engine.Decide(attempt)
	r.publish()
	r.judge.Unlock()
	switch {
	case c.verdict.Action == engine.Allow:
		c.vouched = append(c.vouched, c.verdict.Pairs...)
		return r.pass(q, f, answer, queue)
	case c.verdict.Observed:
		return r.pass(q, f, answer, queue)
	case c.verdict.Action == engine.Ask:
		return r.ask(q, f, answer, queue)
	}
	return r.deny(q, answer)
}

// attempt is the call as the engine knows it.
func (c *call) attempt() engine.Call {
	s := c.standing
	return engine.Call{Tool: s.tool, Pin: s.pin, Version: s.version(), Change: s.how, Args: c.args, Approved: c.vouched}
}

// pass records an allowed call and sends it on, unless the client has cancelled it meanwhile.
func (r *relay) pass(q *request, f wire.Frame, answer string, queue bool) error {
	if err := r.record(q, engine.Allow, answer); err != nil {
		if !q.call.verdict.Observed {
			return r.unrecorded(q, err)
		}
		r.note("the audit log can't be written, so a call of %q passes unrecorded: %v", q.call.tool, err)
	}
	r.mu.Lock()
	gone := q.state == cancelled || r.done
	if gone {
		r.drop(q)
	} else {
		q.state = forwarded
		q.call.started = r.o.Now()
		r.kept -= len(q.call.frame)
		q.kept -= len(q.call.frame)
		q.call.frame = nil
	}
	if !gone && queue { // under the lock, so that no cancellation is sent before it
		r.toServer.inject(f.Raw)
	}
	r.mu.Unlock()
	if gone || queue {
		return nil
	}
	return r.toServer.write(f.Raw)
}

// deny records a refused call and answers it. It never reaches the server.
func (r *relay) deny(q *request, answer string) error {
	if err := r.record(q, engine.Deny, answer); err != nil {
		return r.unrecorded(q, err)
	}
	r.reply(q, r.blockedResult(q, q.call.verdict.Reason))
	return nil
}

// unrecorded refuses a call whose verdict could not be written down.
func (r *relay) unrecorded(q *request, err error) error {
	r.note("the audit log can't be written, so calls are refused: %v", err)
	r.reply(q, r.blockedResult(q, "the audit log can't be written"))
	return nil
}

// reply answers a call in the server's place, if it still wants an answer.
func (r *relay) reply(q *request, frame []byte) {
	r.mu.Lock()
	gone := q.state == cancelled
	r.drop(q)
	r.mu.Unlock()
	if !gone {
		r.toClient.inject(frame)
	}
}

// blockedResult is a tool result, never a protocol error: agents read those, and clients survive them.
func (r *relay) blockedResult(q *request, reason string) []byte {
	result := []byte(`{"content":[{"type":"text","text":`)
	result = wire.AppendQuoted(result, blocked+reason)
	result = append(result, `}],"isError":true`...)
	if q.call.modern {
		result = append(result, `,"resultType":"complete"`...)
	}
	return wire.AppendResult(nil, q.id, append(result, '}'))
}

// returned passes the result of a call on.
func (r *relay) returned(q *request, f wire.Frame, output wire.Value) error {
	raw := f.Raw
	if err := r.questionable(f); err != nil {
		r.note("refused an answer from the server: %v", err)
		raw = wire.AppendError(nil, f.ID, codeInternal, "the server's answer was refused: "+err.Error())
	} else if kind, _ := f.Get("resultType").Text(); f.Kind == wire.Result && kind == "input_required" {
		sealed, err := r.sealInput(q.call, f)
		if err != nil {
			r.note("refused an answer from the server: %v", err)
			sealed = wire.AppendError(nil, f.ID, codeInternal, "the server's answer was refused: "+err.Error())
		}
		raw = sealed
	}
	size, how := len(raw), outcome(f)
	if how != "ok" && len(q.call.vouched) > 0 { // before the client can try again
		r.judge.Lock()
		r.o.Engine.Failed(q.call.attempt())
		r.judge.Unlock()
	}
	err := r.forward(raw, engine.Output{
		Source:    taint.Source{Server: r.o.Server, Tool: q.call.tool},
		Tool:      q.call.standing.tool,
		Unvouched: q.call.standing.pin != engine.PinHeld || how != "ok",
		Output:    output, Args: q.call.args,
	})
	if err != nil {
		return err
	}
	r.result(q, how, size)
	return nil
}

func outcome(f wire.Frame) string {
	switch {
	case f.Kind == wire.Error:
		return "rpc_error"
	case string(f.Get("isError")) == "true":
		return "tool_error"
	}
	return "ok"
}

// record writes the verdict on a call to the audit log.
func (r *relay) record(q *request, a engine.Action, answer string) error {
	return r.recordAs(q.call, q.call.verdict, a, answer, q.call.by)
}

// recordAs is record for a verdict that others may be about to replace.
func (r *relay) recordAs(c *call, verdict engine.Verdict, a engine.Action, answer, channel string) error {
	v := audit.Verdict{
		Time: r.o.Now(), Session: r.o.Session, Client: r.clientName(), Server: r.o.Server,
		Call: c.number, Tool: c.tool, Args: c.args,
		Verdict: a.String(), Reason: verdict.Reason, Contract: verdict.Contract, Layers: verdict.Layers,
		Answer: answer, Channel: channel,
	}
	if a == engine.Allow && verdict.Action != engine.Allow && verdict.Observed {
		v.Observed = verdict.Action.String()
	}
	for _, f := range verdict.Findings {
		e := audit.Evidence{
			Param: f.Param, Value: f.Value, Class: f.Class.String(),
			Server: f.Origin.Server, Tool: f.Origin.Tool, Path: f.Origin.Path, Snippet: f.Origin.Snippet,
		}
		if verdict.Contract == "sink_gate" || verdict.Contract == "toxic_flow" { // the others look at values as they are
			e.Role = f.Role.String()
		}
		v.Evidence = append(v.Evidence, e)
	}
	return r.o.Audit.Verdict(v)
}

// result writes how a call ended. Nothing depends on it any more, so a failure is only noted.
func (r *relay) result(q *request, outcome string, size int) {
	if q.call == nil {
		return
	}
	now := r.o.Now()
	err := r.o.Audit.Result(audit.Result{
		Time: now, Session: r.o.Session, Server: r.o.Server, Call: q.call.number, Tool: q.call.tool,
		Outcome: outcome, Duration: now.Sub(q.call.started), Bytes: size,
	})
	if err != nil {
		r.note("the audit log lacks the result of call %d: %v", q.call.number, err)
	}
}

func (r *relay) clientName() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.peer.name
}

// proof is what a retry shows for itself (2026-07-28: a client answers a question by calling again).
type proof struct {
	frame    wire.Frame // the call as the server is to see it
	answer   string     // empty when the call is no retry
	session  bool
	pairs    []engine.Pair
	always   []string // to be allowed for good
	declined string   // why the person did not agree
	verdict  engine.Verdict
}

// proof opens the requestState of a call if it is bouncer's, and takes bouncer's members out of the frame.
func (r *relay) proof(c *call, f wire.Frame) (proof, error) {
	p := proof{frame: f}
	sealed, ok := f.Get("requestState").Text()
	if !ok || !approve.Sealed(sealed) {
		return p, nil
	}
	st, err := r.sealer.Open(sealed, r.o.Now())
	if err != nil {
		return p, fmt.Errorf("the approval can't be used (%w), call the tool again", err)
	}
	if st.Tool != c.tool || st.Digest != approve.Digest(c.tool, c.args) {
		return p, fmt.Errorf("the approval was given for another call")
	}
	p.answer, p.pairs = "once", st.Pairs
	members := map[string][]byte{"requestState": nil}
	if st.Approved {
		if st.HasUp {
			members["requestState"] = wire.AppendQuoted(nil, st.Upstream)
		}
	} else {
		members["inputResponses"] = nil
		answer, note := approve.Question{Always: st.Always}.ReadAnswer(f.Params.At("inputResponses", st.Key))
		switch answer {
		case approve.No:
			p.declined = note
			p.verdict = engine.Verdict{Contract: "approval", Reason: refusal("", note)}
			return p, nil
		case approve.Session:
			p.answer, p.session = "session", true
		case approve.Always:
			p.answer, p.session, p.always = "always", true, st.Always
		}
	}
	p.frame, err = replaceMembers(f, f.Params, members)
	return p, err
}

// sealInput prepares a server's own questions for the client: if the call passed because a person agreed, the retry
// that brings the answers must not be asked about again, so it carries proof.
func (r *relay) sealInput(c *call, f wire.Frame) ([]byte, error) {
	if !c.relayed {
		r.interrupt(c)
		return f.Raw, nil
	}
	st := approve.State{
		Tool: c.tool, Digest: approve.Digest(c.tool, c.args), Pairs: c.vouched,
		Expires: r.o.Now().Add(stateFor), Approved: true,
	}
	st.Upstream, st.HasUp = f.Get("requestState").Text()
	sealed, err := r.sealer.Seal(st)
	if err != nil {
		return nil, err
	}
	g, err := replaceMembers(f, f.Result, map[string][]byte{"requestState": wire.AppendQuoted(nil, sealed)})
	return g.Raw, err
}

// maxInterrupted bounds how many calls are remembered that wait for input the server has asked for.
const maxInterrupted = 64

// interrupt notes that a server has put a call off until it has an answer, so that the retry is no attempt of its own.
func (r *relay) interrupt(c *call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.interrupted) < maxInterrupted {
		r.interrupted[approve.Digest(c.tool, c.args)] = true
	}
}

// resumes reports whether a call is the retry of one that the server interrupted.
func (r *relay) resumes(c *call, f wire.Frame) bool {
	if f.Get("inputResponses") == nil && f.Get("requestState") == nil {
		return false
	}
	digest := approve.Digest(c.tool, c.args)
	r.mu.Lock()
	defer r.mu.Unlock()
	waiting := r.interrupted[digest]
	delete(r.interrupted, digest)
	return waiting
}

// stateFor is how long a retry may take to come back.
const stateFor = 15 * time.Minute

// replaceMembers rewrites members of one object of a frame: nil drops a member, an absent one is added behind the others.
// All other members keep their bytes.
func replaceMembers(f wire.Frame, object wire.Value, members map[string][]byte) (wire.Frame, error) {
	out := []byte{'{'}
	put := func(key string, value []byte) {
		if value == nil {
			return
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(wire.AppendQuoted(out, key), ':')
		out = append(out, value...)
	}
	seen := map[string]bool{}
	for key, value := range object.Members() {
		if text, ok := members[key]; ok {
			seen[key] = true
			put(key, text)
			continue
		}
		put(key, value)
	}
	for key, text := range members {
		if !seen[key] {
			put(key, text)
		}
	}
	start, end := object.Span(f.Raw)
	raw, err := wire.Splice(f.Raw, wire.Edit{Start: start, End: end, Text: append(out, '}')})
	if err != nil {
		return wire.Frame{}, err
	}
	return wire.Parse(raw)
}

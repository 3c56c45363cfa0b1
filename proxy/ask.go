package proxy

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

// Asking says how the person is asked who uses one client.
type Asking struct {
	Channels []string      // by their names, in the order in which they are tried
	For      time.Duration // how long a call waits for an answer; 0: Options.AskFor
	Stay     bool          // also where it can be answered by nobody but those who look at the open questions, and nobody does
}

// Lasting changes the person's policy for a yes that holds for good.
type Lasting interface {
	// Preview returns the file that Allow would change, and the change as a diff; an error if it can't be done.
	Preview(tool policy.Tool, destinations []string) (file, diff string, err error)
	// Allow has the tool trust these destinations.
	Allow(tool policy.Tool, destinations []string) error
	// Trusts reports whether the tool may use a destination already.
	Trusts(tool policy.Tool, destination string) bool
}

// viaHook is what the audit log calls the client's own program that has said yes in the person's place.
const viaHook = "hook"

// maxOpen bounds the questions that one client has open: nobody answers more, and each costs files and processes.
const maxOpen = 100

// What one answer can allow for good: the person must see each destination, and the whole of it.
const (
	maxForGood   = 4
	maxSeenWhole = 256 // bytes
)

// ask puts a call before the person, in one of the ways in which this client's person can be asked. Without any, an ask is
// a deny.
func (r *relay) ask(q *request, f wire.Frame, answer string, queue bool) error {
	c := q.call
	if l, reply, ok := r.takeLate(c); ok {
		return r.catchUp(q, f, l, reply, queue)
	}
	r.mu.Lock()
	leaving, open := !c.modern && r.leaving, r.openQuestions()
	r.mu.Unlock()
	how := r.asking()
	ways := r.ways(c, f, how.Channels) // only those that can ask: each leaves a record that it has
	switch {
	case leaving:
		return r.denyAsked(q, "the client has gone")
	case q.questions >= maxQuestions:
		return r.denyAsked(q, "asked too often")
	case open >= maxOpen:
		return r.denyAsked(q, "too many questions wait for an answer")
	case len(ways) == 0:
		return r.denyAsked(q, "no way to ask")
	case c.modern && ways[0] == policy.ChannelElicitation:
		return r.requireInput(q, r.question(c), answer)
	}
	return r.hold(q, f, how, ways, answer)
}

// openQuestions is how many calls wait for a person. r.mu is held.
func (r *relay) openQuestions() int {
	n := 0
	for _, q := range r.pending {
		if q.state == asking {
			n++
		}
	}
	return n
}

func (r *relay) asking() Asking {
	if r.o.Asking == nil {
		return Asking{Channels: []string{policy.ChannelElicitation}, For: r.o.AskFor}
	}
	how := r.o.Asking(r.clientName())
	if how.For == 0 {
		how.For = r.o.AskFor
	}
	return how
}

// ways are those of the named channels that can ask at the moment, and through which no program has answered for the person.
func (r *relay) ways(c *call, f wire.Frame, named []string) []string {
	r.mu.Lock()
	muted, elicits := maps.Clone(r.muted), r.peer.elicits
	r.mu.Unlock()
	if c.modern {
		elicits = c.elicits && f.Get("requestState") == nil
	}
	return slices.DeleteFunc(slices.Clone(named), func(name string) bool {
		switch {
		case muted[name]:
			return true
		case name == policy.ChannelTerminal:
			return r.o.Questions == nil
		case name == policy.ChannelElicitation:
			return !elicits
		}
		ch := r.channel(name)
		return ch == nil || !ch.Available()
	})
}

func (r *relay) channel(name string) approve.Channel {
	for _, ch := range r.o.Channels {
		if ch.Name() == name {
			return ch
		}
	}
	return nil
}

// question words what is asked about a call.
func (r *relay) question(c *call) approve.Question {
	question := approve.Question{Server: r.o.Server, Tool: c.tool, Args: c.args, Verdict: c.verdict}
	if c.verdict.Contract == "pinning" {
		question.Detail = c.standing.detail()
	}
	if r.o.Lasting != nil {
		question.Trusted = r.otherSpellings(c)
	}
	if to := forGood(c.verdict); to != nil && r.o.Lasting != nil {
		file, diff, err := r.o.Lasting.Preview(c.standing.tool, to)
		if err == nil { // or else it is no possible answer
			question.Always, question.Policy, question.Diff = to, file, diff
		}
	}
	return question
}

// otherSpellings finds the destinations that are asked about for no more than how they are written: the policy trusts each address
// in them, and an allowlist takes no other spelling of it.
func (r *relay) otherSpellings(c *call) map[string][]string {
	found := map[string][]string{}
	for _, f := range c.verdict.Findings[:min(len(c.verdict.Findings), maxForGood)] {
		if f.Role != engine.Destination || f.Value == "" {
			continue
		}
		addresses := approve.Addresses(f.Value)
		if len(addresses) > maxForGood || slices.ContainsFunc(addresses, func(a string) bool { return a == f.Value || !r.o.Lasting.Trusts(c.standing.tool, a) }) {
			continue
		}
		if len(addresses) > 0 {
			found[f.Value] = addresses
		}
	}
	return found
}

// forGood are the destinations that the person can allow for good, nil where that is no answer to the question: it is about
// something else, or somebody's text has brought one of them up.
func forGood(v engine.Verdict) []string {
	var to []string
	for _, f := range v.Findings {
		if v.Contract != "sink_gate" || f.Role != engine.Destination || f.Pair == (engine.Pair{}) || f.Class == taint.Aimed || len(f.Value) > maxSeenWhole || len(to) == maxForGood {
			return nil
		}
		to = append(to, f.Value)
	}
	return to
}

// hold keeps a call until its question is answered.
func (r *relay) hold(q *request, f wire.Frame, how Asking, ways []string, answer string) error {
	c := q.call
	i := &inquiry{Question: r.question(c), how: how, fell: make(chan fall, 1)}
	open := slices.Contains(ways, policy.ChannelTerminal)
	i.ways = slices.DeleteFunc(ways, func(name string) bool { return name == policy.ChannelTerminal })
	first := policy.ChannelTerminal
	if len(i.ways) > 0 {
		first = i.ways[0]
	}
	if len(i.ways) > 0 || how.Stay || r.o.Questions.Watched() {
		if err := r.recordAs(c, c.verdict, engine.Ask, answer, first); err != nil {
			return r.unrecorded(q, err)
		}
	}
	if open {
		r.post(i)
	}
	r.mu.Lock()
	if q.state == cancelled || r.done {
		r.drop(q)
		r.mu.Unlock()
		i.close()
		return nil
	}
	if c.frame == nil {
		if !r.keep(q, len(f.Raw)) {
			r.mu.Unlock()
			i.close()
			return r.denyAsked(q, "too much waits for an answer")
		}
		c.frame = bytes.Clone(f.Raw)
	}
	ctx, cancel := context.WithTimeout(context.Background(), how.For)
	c.inquiry, i.cancel = i, cancel
	q.state = asking
	q.questions++
	if first == policy.ChannelElicitation {
		r.elicit(q, i)
	}
	r.asks.Go(func() { r.pose(ctx, q, i, progressToken(f)) })
	r.mu.Unlock()
	return nil
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

// agree takes in a yes, and returns it in a word.
func (r *relay) agree(c *call, question approve.Question, a approve.Answer) string {
	if a == approve.Session || a == approve.Always {
		r.approved(c.tool, question.Verdict.Pairs)
	}
	if a == approve.Always {
		r.allowForGood(c, question.Always)
	}
	c.vouched = append(c.vouched, question.Verdict.Pairs...)
	c.relayed = true
	return a.String()
}

// allowForGood changes the policy. Where it can't be changed the yes holds for the session.
func (r *relay) allowForGood(c *call, to []string) {
	if r.o.Lasting == nil || len(to) == 0 {
		return
	}
	r.mu.Lock()
	tool := r.pins.standing(c.tool).tool
	r.mu.Unlock()
	if err := r.o.Lasting.Allow(tool, to); err != nil {
		r.note("allowed for this session only, since the policy can't be changed: %v", err)
		return
	}
	r.note("the person's policy now lets %q use %q", c.tool, to)
}

// approved remembers a yes for the session, and of a yes to a tool itself tells the memory between sessions.
func (r *relay) approved(tool string, pairs []engine.Pair) {
	r.judge.Lock()
	r.o.Engine.Approve(tool, pairs)
	r.publish()
	r.judge.Unlock()
	for _, p := range pairs {
		if p.Tool {
			r.accepted(p.Param, p.Value)
		}
	}
}

// requireInput asks by answering: the client puts the question to its person and calls again with the answer.
func (r *relay) requireInput(q *request, question approve.Question, answer string) error {
	c := q.call
	if err := r.recordAs(c, question.Verdict, engine.Ask, answer, policy.ChannelElicitation); err != nil {
		return r.unrecorded(q, err)
	}
	r.mu.Lock()
	key, _ := r.newID().Text()
	r.mu.Unlock()
	sealed, err := r.sealer.Seal(approve.State{
		Tool: c.tool, Digest: approve.Digest(c.tool, c.args), Pairs: append(c.vouched, question.Verdict.Pairs...),
		Expires: r.o.Now().Add(stateFor), Key: key, Always: question.Always,
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

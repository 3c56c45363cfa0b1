package replay

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Call is one tools/call of an audit log, with everything that was recorded of it.
type Call struct {
	Verdicts []audit.Record // at least one; the first was written before anybody was asked
	Outcome  string         // how it ended: ok, tool_error, ...; empty when nothing tells
}

// Log is what an audit log holds, in the order in which the calls came.
type Log struct {
	Calls   []*Call
	Skipped int // lines that are no records
}

// Read takes the records of a log apart into calls. A call that comes again with the answer to a question is part of the one
// that was asked about: a client may ask its person by being called again (2026-07-28), and a person may answer late.
func Read(records iter.Seq2[[]byte, error]) (*Log, error) {
	r := reading{log: &Log{}, calls: map[place]*Call{}, asked: map[string]*Call{}}
	for line, err := range records {
		if err != nil {
			return nil, err
		}
		rec, err := audit.ParseRecord(line)
		if err != nil {
			r.log.Skipped++
			continue
		}
		rec.Args = slices.Clone(rec.Args) // the line is good until the next
		r.add(rec)
	}
	if len(r.log.Calls) == 0 && r.log.Skipped > 0 {
		return nil, errors.New("no audit log: none of its lines is a record")
	}
	return r.log, nil
}

// place tells calls apart: the run that they were made in, and their number there.
type place struct {
	session, server string
	call            uint64
}

type reading struct {
	log   *Log
	calls map[place]*Call
	asked map[string]*Call // by what a retry has in common with the call that was asked about
}

func (r *reading) add(rec audit.Record) {
	at := place{rec.Session, rec.Server, rec.Call}
	c := r.calls[at]
	switch rec.Kind {
	case "result":
		if c != nil {
			c.Outcome = rec.Outcome
		}
		return
	case "verdict":
	default:
		return
	}
	key := fmt.Sprintf("%q %q %q %s", rec.Session, rec.Server, rec.Tool, rec.Args)
	if c == nil && rec.Answer != "" {
		c = r.asked[key]
		delete(r.asked, key)
	}
	if c == nil {
		c = &Call{}
		r.log.Calls = append(r.log.Calls, c)
	}
	r.calls[at] = c
	c.Verdicts = append(c.Verdicts, rec)
	if rec.Verdict == "ask" || rec.Verdict == "deny" && unasked(rec.Answer) { // an answer that comes late counts for the retry
		r.asked[key] = c
	} else {
		delete(r.asked, key)
	}
}

// first is the record that says what was called.
func (c *Call) first() *audit.Record { return &c.Verdicts[0] }

// Judged returns the record of the verdict that follows from the policy: what came before it was a question about the tool
// itself. ok is false when there is none, or when what it answers is not in the log.
func (c *Call) Judged() (rec *audit.Record, ok bool) {
	for i := range c.Verdicts {
		rec := &c.Verdicts[i]
		if rec.Contract == "pinning" || rec.Contract == "approval" {
			continue
		}
		return rec, i > 0 || rec.Answer == "" || unanswered(rec)
	}
	return nil, false
}

// unanswered reports whether a call was refused because nobody agreed to it.
func unanswered(rec *audit.Record) bool {
	return rec.Verdict == "deny" && strings.HasPrefix(rec.Answer, "no: ")
}

// verdict returns what the engine said, whatever a person answered then.
func verdict(rec *audit.Record) string {
	if unanswered(rec) && (rec.Contract == "sink_gate" || rec.Contract == "toxic_flow") {
		return "ask"
	}
	return rec.Judged()
}

// Answer is what a person said to a question.
type Answer int

// The answers. Unasked also stands for a question that reached nobody.
const (
	Unasked Answer = iota
	Once
	Session
	Declined
)

// Answered returns what became of the question that the judged record is about.
func (c *Call) Answered() Answer {
	judged, ok := c.Judged()
	if !ok || verdict(judged) != "ask" {
		return Unasked
	}
	for i := range c.Verdicts {
		rec := &c.Verdicts[i]
		if rec.Seq < judged.Seq || rec == judged && !unanswered(rec) {
			continue
		}
		switch {
		case rec.Answer == "once":
			return Once
		case rec.Answer == "session", rec.Answer == "always":
			return Session
		case rec.Verdict == "deny" && rec.Answer != "" && !unasked(rec.Answer): // an ask with a no has gone on to ask elsewhere
			return Declined
		}
	}
	return Unasked
}

// unasked reports whether a recorded answer means that nobody was asked. Any other no is taken for a person's.
func unasked(answer string) bool {
	return slices.Contains([]string{
		"no: no way to ask", "no: the client could not ask", "no: no answer in time", "no: the client has gone", "no: asked too often",
		"no: too much waits for an answer", "no: nobody was there to ask",
	}, answer)
}

// Passed reports whether the call reached its server.
func (c *Call) Passed() bool { return c.Verdicts[len(c.Verdicts)-1].Verdict == "allow" }

// altered returns the paths of the arguments that the log does not have as they were: masked, or cut.
func altered(args wire.Value) []string {
	if is, _ := args.Get("cut").Bool(); is && args.Get("sha256") != nil && args.Get("bytes") != nil {
		return []string{""}
	}
	var all []string
	for leaf := range args.Leaves() {
		text, ok := leaf.Value.Text()
		if ok && (strings.Contains(text, "[masked]") || wasCut(text)) {
			all = append(all, leaf.Path.String())
		}
	}
	return all
}

// wasCut recognises what the log puts in the place of the rest of a long text.
func wasCut(text string) bool {
	const tail = len(", sha256:0123456789abcdef)")
	return strings.Contains(text, "… (") && strings.HasSuffix(text, ")") && len(text) > tail &&
		strings.HasPrefix(text[len(text)-tail:], ", sha256:")
}

package engine

import "github.com/bouncer-mcp/bouncer/taint"

// History is what a session had seen before a call of the past, as far as it is known or supposed. The zero History is nothing.
type History struct {
	Seen      *taint.Index  // what its outputs said; nil for nothing
	Said      []string      // by the person
	Untrusted *taint.Source // the first output that others may have written; nil when there was none
	Sensitive *taint.Source // the first output that held private data
}

// Rejudge judges a call by another history than the engine's own, and leaves both as they are. Budgets and approvals are the
// engine's; an attempt is counted by Attempt alone, so that a call may be rejudged under several histories.
func (e *Engine) Rejudge(c Call, h History) Verdict {
	past := *e
	past.seen, past.untrusted, past.sensitive = h.Seen, h.Untrusted, h.Sensitive
	if past.seen == nil {
		past.seen = taint.New(e.config.Key)
	}
	for _, text := range h.Said {
		past.Say(text)
	}
	e.counted = false
	c.Counted = true
	j := past.judge(c)
	if j.fault != "" {
		return j.refusal()
	}
	v := j.run()
	if v.Action == Allow && j.used > 0 {
		v.Pairs = j.again
	}
	return v
}

// Settle uses up what let a rejudged call pass: an earlier yes whose call had failed.
func (e *Engine) Settle(c Call, v Verdict) {
	if v.Action != Allow || len(v.Pairs) == 0 {
		return
	}
	if i := e.secondTry(c, v.Pairs); i >= 0 {
		e.second[i].open = false
	}
}

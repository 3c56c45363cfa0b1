package engine

import "slices"

// approval is one set of pairs that a person vouched for together.
type approval struct {
	pairs  map[Pair]bool
	params map[string]bool
}

func newApproval(pairs []Pair) approval {
	a := approval{make(map[Pair]bool, len(pairs)), make(map[string]bool)}
	for _, p := range pairs {
		a.pairs[p], a.params[p.Param] = true, true
	}
	return a
}

// vouches reports whether the pairs of a call were approved together: the same parameters, each with values from this
// set. Fewer values of a list are fine; a missing parameter is not, since what then happens is the server's choice.
func (a approval) vouches(call []Pair) bool {
	params := make(map[string]bool)
	for _, p := range call {
		if !a.pairs[p] {
			return false
		}
		params[p.Param] = true
	}
	return len(call) > 0 && len(params) == len(a.params)
}

// Approve remembers for the session that a person vouched for these pairs of this tool. They count together: parts of
// different approvals never combine.
func (e *Engine) Approve(tool string, pairs []Pair) {
	if len(pairs) > 0 {
		e.approvals[tool] = append(e.approvals[tool], newApproval(pairs))
	}
}

// vouched reports whether a person has vouched for these pairs of the call's tool, now or earlier in the session.
func (j *judgement) vouched(pairs []Pair) bool {
	now := j.call.Approved
	if j.call.Pin != PinHeld { // the yes to the tool itself is no yes to a value
		now = slices.DeleteFunc(slices.Clone(now), func(p Pair) bool { return p.Tool })
	}
	return newApproval(now).vouches(pairs) || j.remembered(pairs)
}

func (j *judgement) remembered(pairs []Pair) bool {
	return slices.ContainsFunc(j.approvals[j.call.Tool.Name], func(a approval) bool { return a.vouches(pairs) })
}

// approvedOnce reports whether a person has vouched for this pair, in whatever company.
func (j *judgement) approvedOnce(p Pair) bool {
	return slices.ContainsFunc(j.approvals[j.call.Tool.Name], func(a approval) bool { return a.pairs[p] })
}

// pinPair stands for the tool itself, as it is defined now: a yes to one definition is no yes to the next.
func (j *judgement) pinPair() Pair {
	return Pair{Param: j.call.Tool.Name, Value: j.call.Version, Tool: true}
}

func (j *judgement) approvedPin(pin Pair) bool {
	return slices.Contains(j.call.Approved, pin) || j.remembered([]Pair{pin})
}

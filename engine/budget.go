package engine

// Attempt counts a call against its tool's budget, before the facts of the neighbours are read: of two processes that
// each count first and read then, at least one sees both. Decide does not count that call again.
func (e *Engine) Attempt(c Call) {
	if e.resolve(c.Tool).rule.Limited {
		e.judge(c).attempt()
	}
	e.counted = true
}

// attempt counts the call once, however often it is evaluated. What is refused before the budget is looked at costs
// nothing, and a tool without a budget is not counted.
func (j *judgement) attempt() {
	if j.counted || j.call.Counted && !j.afterPin() || !j.rule.Limited || j.fault != "" {
		return
	}
	for _, before := range contracts() {
		if before.name == "budget" {
			break
		}
		if _, spoke := before.judge(j); spoke {
			return
		}
	}
	j.attempts[j.call.Tool.Name]++
	j.facts.attempt(j.call.Tool.Name)
}

// spendBudget counts the attempt and denies what goes beyond the limit.
func (j *judgement) spendBudget() (Verdict, bool) {
	if !j.rule.Limited {
		return Verdict{}, false
	}
	j.attempt()
	name := j.call.Tool.Name
	if j.attempts[name] <= j.rule.MaxCalls {
		return Verdict{}, false
	}
	return Verdict{Reason: "the session's budget of " + plural(max(0, j.rule.MaxCalls), "call") + " to " + quote(name) + " is used up"}, true
}

// afterPin reports whether this is the first evaluation after a yes to the tool itself. That question came before the
// budget, so the attempt has not been counted yet.
func (j *judgement) afterPin() bool {
	return j.call.Pin != PinHeld && len(j.call.Approved) == 1 && j.call.Approved[0] == j.pinPair()
}

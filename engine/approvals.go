package engine

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"
)

// What one session remembers of a person's answers. Beyond that it asks again.
const (
	maxApprovals = 256  // of one tool
	maxApproved  = 1024 // tools
	maxVouched   = 1024 // pairs in one of them
	maxSecond    = 64
)

// digest stands for a pair of one tool among the processes of a session, whose key goes into it: what a person agreed
// to is nobody else's business, and nobody else can make one up.
type digest [16]byte

func (e *Engine) digest(tool string, p Pair) digest {
	h := sha256.New()
	h.Write(e.config.Key[:])
	for _, s := range []string{tool, p.Param, p.Value} {
		h.Write(binary.AppendUvarint(nil, uint64(len(s))))
		h.Write([]byte(s))
	}
	if p.Tool {
		h.Write([]byte{1})
	}
	return digest(h.Sum(nil)[:len(digest{})])
}

// approval is one set of pairs that a person vouched for together.
type approval struct {
	pairs  map[digest]bool
	params int // how many different parameters they have
}

func (e *Engine) newApproval(tool string, pairs []Pair) approval {
	a := approval{pairs: make(map[digest]bool, len(pairs)), params: countParams(pairs)}
	for _, p := range pairs {
		a.pairs[e.digest(tool, p)] = true
		for _, item := range addresses(p.Value) {
			a.pairs[e.digest(tool, Pair{Param: p.Param, Value: item})] = true
		}
	}
	return a
}

// addresses returns the plain addresses that a string lists, nil if it holds anything else: who agrees to "a@x.com, b@x.com"
// agrees to a list of both.
func addresses(s string) []string {
	if !strings.ContainsAny(s, ",;") || strings.ContainsAny(s, "<>\"'()\\") || len(s) > 4096 {
		return nil
	}
	items := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' })
	for i, item := range items {
		items[i] = strings.TrimSpace(item)
		if strings.Count(items[i], "@") != 1 || strings.ContainsAny(items[i], " \t\n") {
			return nil
		}
	}
	return items
}

func countParams(pairs []Pair) int {
	params := make(map[string]bool)
	for _, p := range pairs {
		params[p.Param] = true
	}
	return len(params)
}

// vouches reports whether the pairs of a call were approved together: the same parameters, each with values from this
// set. Fewer values of a list are fine; a missing parameter is not, since what then happens is the server's choice.
func (e *Engine) vouches(a approval, tool string, pairs []Pair) bool {
	if len(pairs) == 0 || countParams(pairs) != a.params {
		return false
	}
	return !slices.ContainsFunc(pairs, func(p Pair) bool { return !a.pairs[e.digest(tool, p)] })
}

// Approve remembers for the session that a person vouched for these pairs of this tool. They count together: parts of
// different approvals never combine.
func (e *Engine) Approve(tool string, pairs []Pair) {
	if len(pairs) == 0 {
		return
	}
	a := e.newApproval(tool, pairs)
	e.approve(tool, a)
	e.facts.approval(tool, a)
}

func (e *Engine) approve(tool string, a approval) {
	known := len(e.approvals[tool])
	if known > 0 && known < maxApprovals || known == 0 && len(e.approvals) < maxApproved {
		e.approvals[tool] = append(e.approvals[tool], a)
	}
}

// secondTry lets what a person agreed to once pass again, since it failed.
type secondTry struct {
	tool, version string
	args          [sha256.Size]byte // the same call, and not only the same destinations
	approval
	failures int
	open     bool // not used up
}

// maxFailures is how often a call may come back as an error before a person is asked again.
const maxFailures = 4

// Failed says that a call which passed because a person agreed to c.Approved has ended in an error. What was agreed to
// has not happened, so the same call to the same definition may pass once more without a new question.
func (e *Engine) Failed(c Call) {
	pairs := slices.DeleteFunc(slices.Clone(c.Approved), func(p Pair) bool { return p.Tool })
	if len(pairs) == 0 {
		return
	}
	if i := e.secondTry(c, pairs); i >= 0 {
		s := &e.second[i]
		s.failures++
		s.open = s.failures < maxFailures
	} else if len(e.second) < maxSecond {
		e.second = append(e.second, secondTry{c.Tool.Name, c.Version, digestArgs(c.Args), e.newApproval(c.Tool.Name, pairs), 1, true})
	}
}

// secondTry returns the index of the second try that these pairs of a call fall under, -1 for none.
func (e *Engine) secondTry(c Call, pairs []Pair) int {
	if len(e.second) == 0 {
		return -1
	}
	args := digestArgs(c.Args)
	return slices.IndexFunc(e.second, func(s secondTry) bool {
		return s.tool == c.Tool.Name && s.version == c.Version && s.args == args && e.vouches(s.approval, c.Tool.Name, pairs)
	})
}

// vouched reports whether a person has vouched for these pairs of the call's tool, now or earlier in the session.
func (j *judgement) vouched(pairs []Pair) bool {
	tool := j.call.Tool.Name
	now := j.call.Approved
	if j.call.Pin != PinHeld { // the yes to the tool itself is no yes to a value
		now = slices.DeleteFunc(slices.Clone(now), func(p Pair) bool { return p.Tool })
	}
	if len(now) > 0 && j.vouches(j.newApproval(tool, now), tool, pairs) || j.remembered(pairs) {
		return true
	}
	if i := j.secondTry(j.call, pairs); i >= 0 && j.second[i].open {
		j.used, j.again = i+1, pairs
	}
	return j.used > 0
}

func (j *judgement) remembered(pairs []Pair) bool {
	tool := j.call.Tool.Name
	return slices.ContainsFunc(j.approvals[tool], func(a approval) bool { return j.vouches(a, tool, pairs) })
}

// approvedOnce reports whether a person has vouched for this pair, in whatever company.
func (j *judgement) approvedOnce(p Pair) bool {
	known := j.approvals[j.call.Tool.Name]
	if len(known) == 0 {
		return false
	}
	d := j.digest(j.call.Tool.Name, p)
	return slices.ContainsFunc(known, func(a approval) bool { return a.pairs[d] })
}

// pinPair stands for the tool itself, as it is defined now: a yes to one definition is no yes to the next.
func (j *judgement) pinPair() Pair {
	return Pair{Param: j.call.Tool.Name, Value: j.call.Version, Tool: true}
}

func (j *judgement) approvedPin(pin Pair) bool {
	return slices.Contains(j.call.Approved, pin) || j.remembered([]Pair{pin})
}

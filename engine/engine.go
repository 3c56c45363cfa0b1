// Package engine decides one tool call, deterministically, from policy and session history.
package engine

import (
	"bytes"
	"slices"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

// Action is what happens to a call. The zero Action denies.
type Action uint8

// The three actions, in order of permission.
const (
	Deny Action = iota
	Ask
	Allow
)

// String returns deny, ask or allow, as the audit log and the original write it.
func (a Action) String() string {
	switch a {
	case Allow:
		return "allow"
	case Ask:
		return "ask"
	}
	return "deny"
}

// Pin says how a tool stands against the definitions taken when the session began. The zero Pin is unknown.
type Pin uint8

// The states of a pin.
const (
	PinUnknown Pin = iota // not in the listing taken at the start
	PinChanged            // the definition changed since
	PinHeld
)

// Call is one tools/call to judge.
type Call struct {
	Tool     policy.Tool // the pinned definition; for an unknown tool only the name
	Pin      Pin
	Version  string     // of the definition that is in force now, when the pin does not hold
	Change   string     // what became of the pin, for the reason; empty: it changed, or appeared, in this session
	Args     wire.Value // an object, or nil
	Counted  bool       // this attempt was counted before (a retry after an approval)
	Approved []Pair     // what a person has just vouched for, for this one evaluation
}

// Pair is one judged value: which parameter carries it and what it is.
type Pair struct {
	Param, Value string
	Tool         bool // stands for the tool itself in one definition, not for an argument
}

// Finding is one judged destination and where it comes from.
type Finding struct {
	Pair
	Class  taint.Class
	Origin taint.Origin // zero when Unseen
}

// Verdict is the decision about one call. The zero Verdict denies.
type Verdict struct {
	Action   Action
	Contract string    // self_protection, pinning, budget, constraint, sink_gate or default
	Reason   string    // one sentence without a full stop; empty for default
	Findings []Finding // what the contract judged, worst first
	Pairs    []Pair    // of an Ask: everything the person vouches for by a yes
	Layers   []string  // which policy layers spoke
}

// Config is what an Engine is built from.
type Config struct {
	Server    string      // name of the wrapped server
	Policy    *policy.Set // nil infers everything
	Paths     Paths
	Protected []string // absolute paths of bouncer's own directories and of known client configs
}

// Paths resolves what the engine, which does no I/O, can't know.
type Paths interface {
	// Resolve returns the absolute places a path may lead to, with symlinks followed as far as it exists: usually one,
	// and more where servers differ in how they read it. It returns an error for a path it can't judge.
	Resolve(path string) ([]string, error)
	// Within reports whether path lies at or below one of dirs, all of them as Resolve returns them.
	Within(path string, dirs []string) bool
}

// Engine holds one session's history. It is not safe for concurrent use: the proxy serialises calls.
type Engine struct {
	config    Config
	seen      taint.Index
	attempts  map[string]int
	approvals map[string][]approval
	rules     map[string]*resolved
	protected []string // paths
	names     []string // that end them
}

// resolved is a rule with the definition it was made from.
type resolved struct {
	tool  policy.Tool
	rule  policy.Rule
	plain map[string]bool // sets of argument names: whether none of them can be a destination
}

// New returns an engine with an empty history.
func New(c Config) *Engine {
	e := &Engine{
		config:    c,
		attempts:  make(map[string]int),
		approvals: make(map[string][]approval),
		rules:     make(map[string]*resolved),
	}
	e.protected = e.protectedPaths()
	for _, p := range e.protected {
		if name := base(p); !slices.Contains(e.names, name) {
			e.names = append(e.names, name)
		}
	}
	return e
}

// A contract looks at one thing and either speaks, which ends the judgement, or lets the next one look.
type contract struct {
	name  string
	judge func(*judgement) (Verdict, bool)
}

// contracts returns all of them. The order is part of the product: what protects bouncer itself comes first; a tool
// nobody has pinned consumes no budget; the budget counts whatever the contracts behind it say.
func contracts() []contract {
	return []contract{
		{"self_protection", (*judgement).protectSelf},
		{"pinning", (*judgement).checkPin},
		{"budget", (*judgement).spendBudget},
		{"constraint", (*judgement).checkConstraints},
		{"sink_gate", (*judgement).gateSinks},
	}
}

// judgement is one call on its way through the contracts.
type judgement struct {
	*Engine
	*resolved
	call Call
}

// Decide judges one call and counts the attempt.
func (e *Engine) Decide(c Call) Verdict {
	if k := c.Args.Kind(); k == 0 || k == 'n' {
		c.Args = wire.Value("{}")
	} else if k != '{' {
		return Verdict{Contract: "constraint", Reason: "the arguments are not an object"}
	}
	j := &judgement{Engine: e, call: c, resolved: e.resolve(c.Tool)}
	v := j.run()
	v.Layers = j.rule.Layers
	// Only now: what this call brings is the agent's own from here on.
	e.seen.Author(c.Args)
	return v
}

func (j *judgement) run() Verdict {
	for _, c := range contracts() {
		if v, spoke := c.judge(j); spoke {
			v.Contract = c.name
			return v
		}
	}
	return Verdict{Action: Allow, Contract: "default"}
}

// resolve remembers the rule of each tool, since making one reads the tool's whole schema.
func (e *Engine) resolve(t policy.Tool) *resolved {
	r, ok := e.rules[t.Name]
	if !ok || r.tool.Description != t.Description || !bytes.Equal(r.tool.InputSchema, t.InputSchema) || !bytes.Equal(r.tool.Annotations, t.Annotations) {
		r = &resolved{t, e.config.Policy.Resolve(t), map[string]bool{}}
		e.rules[t.Name] = r
	}
	return r
}

// Observe records an untrusted output. It must happen before the client can act on it.
func (e *Engine) Observe(from taint.Source, output, args wire.Value) {
	e.seen.Record(from, output, args)
}

// ObserveDefinition records only addresses, URLs and the like, of what a server says about itself: the words of tool
// definitions and instructions are too many and too common to hold against a call.
func (e *Engine) ObserveDefinition(from taint.Source, output wire.Value) {
	e.seen.RecordTyped(from, output)
}

// checkPin asks about a tool that is not what the session began with.
func (j *judgement) checkPin() (Verdict, bool) {
	pair := j.pinPair()
	if j.call.Pin == PinHeld || j.approvedPin(pair) {
		return Verdict{}, false
	}
	how := j.call.Change
	switch {
	case how != "":
	case j.call.Pin == PinChanged:
		how = "changed its definition after the session began"
	default:
		how = "appeared after the session began"
	}
	return Verdict{
		Action:   Ask,
		Reason:   "the tool " + quote(j.call.Tool.Name) + " " + how,
		Findings: []Finding{{Pair: pair}},
		Pairs:    []Pair{pair},
	}, true
}

// spendBudget counts the attempt, once however often it is evaluated, and denies what goes beyond the limit.
func (j *judgement) spendBudget() (Verdict, bool) {
	name := j.call.Tool.Name
	if !j.call.Counted || j.afterPin() {
		j.attempts[name]++
	}
	if !j.rule.Limited || j.attempts[name] <= j.rule.MaxCalls {
		return Verdict{}, false
	}
	return Verdict{Reason: "the session's budget of " + plural(max(0, j.rule.MaxCalls), "call") + " to " + quote(name) + " is used up"}, true
}

// afterPin reports whether this is the first evaluation after a yes to the tool itself. That question came before the
// budget, so the attempt has not been counted yet.
func (j *judgement) afterPin() bool {
	return j.call.Pin != PinHeld && len(j.call.Approved) == 1 && j.call.Approved[0] == j.pinPair()
}

// Package engine decides one tool call, deterministically, from policy and session history.
package engine

import (
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
	Args     wire.Value // an object, or nil; the verdict shares its bytes
	Counted  bool       // this attempt was counted before (a retry after an approval)
	Approved []Pair     // what a person has just vouched for, for this one evaluation
	Doubtful bool       // an output of a neighbour is not known yet: for this one evaluation, no history vouches for anything
}

// Pair is one judged value: which parameter carries it and what it is.
type Pair struct {
	Param, Value string
	Tool         bool // stands for the tool itself in one definition, not for an argument
}

// Role says what a judged value is to its call. The zero Role is a destination.
type Role uint8

// The roles.
const (
	Destination Role = iota // whom or what the call reaches
	Object                  // what the call changes or deletes
	Content                 // what the call takes along
	Deed                    // the call as a whole, which can't be taken back
)

// String names the role in a word.
func (r Role) String() string {
	switch r {
	case Object:
		return "object"
	case Content:
		return "content"
	case Deed:
		return "action"
	}
	return "destination"
}

// Finding is one judged value and where it comes from.
type Finding struct {
	Pair
	Role   Role
	Class  taint.Class
	Origin taint.Origin // zero when nowhere; of a Deed, the untrusted output that came before it
}

// Verdict is the decision about one call. The zero Verdict denies.
type Verdict struct {
	Action   Action
	Contract string    // self_protection, pinning, budget, constraint, sink_gate, toxic_flow or default
	Reason   string    // one sentence without a full stop; empty for default
	Findings []Finding // what the contract judged, worst first
	Pairs    []Pair    // of an Ask: everything the person vouches for by a yes; of an Allow: what an earlier yes still covers, see Failed
	Layers   []string  // which policy layers spoke
	Observed bool      // the call passes all the same: its tool is only watched, and the rest says what would become of it
}

// Config is what an Engine is built from.
type Config struct {
	Server    string      // name of the wrapped server
	Identity  string      // what the server is started from: processes of one identity share budgets and approvals
	Policy    *policy.Set // nil infers everything
	Profile   Profile     // of the tools for which the policy names none
	Paths     Paths
	Protected []string // absolute paths of bouncer's own directories and of known client configs

	Key    [16]byte // of the hashes that the processes of a session exchange
	Shared bool     // somebody collects Facts; without it none are kept
}

// Profile chooses the verdicts that follow from where a value comes from. The zero Profile is Strict.
type Profile uint8

// The profiles.
const (
	Strict   Profile = iota // what any output brought up is denied
	Balanced                // only what text that addresses the agent brought up is denied; lookups vouch; the rest asks
)

// String returns the profile's name.
func (p Profile) String() string {
	if p == Balanced {
		return policy.ProfileBalanced
	}
	return policy.ProfileStrict
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
	seen      *taint.Index
	untrusted *taint.Source // the first output that others may have written; nil until there is one
	sensitive *taint.Source // the first output that holds secrets or private data
	attempts  map[string]int
	doubts    bool // lookups vouch for nothing any more: see Doubt
	counted   bool // Attempt has counted the call that Decide gets next
	approvals map[string][]approval
	second    []secondTry
	rules     map[string]*resolved
	senses    map[string]sense
	protected []string // paths
	names     []string // that end them
	facts     journal

	now    judgement // of the call at hand; this memory is used again for the next, and so is what follows
	tree   wire.Tree
	buffer []byte
}

// New returns an engine with an empty history.
func New(c Config) *Engine {
	e := &Engine{
		config:    c,
		seen:      taint.New(c.Key),
		attempts:  make(map[string]int),
		approvals: make(map[string][]approval),
		rules:     make(map[string]*resolved),
		senses:    make(map[string]sense),
	}
	e.protected = e.protectedPaths()
	for _, p := range e.protected {
		if name := base(p); !slices.Contains(e.names, name) {
			e.names = append(e.names, name)
		}
	}
	if e.facts.kept = c.Shared; c.Shared {
		e.seen.Notes(e.facts.note)
	}
	return e
}

// A contract looks at one thing and either speaks, which ends the judgement, or lets the next one look.
type contract struct {
	name  string
	judge func(*judgement) (Verdict, bool)
}

const selfProtection = "self_protection"

// contracts returns all of them. The order is part of the product: what protects bouncer itself comes first; a tool
// nobody has pinned consumes no budget; the budget counts whatever the contracts behind it say.
func contracts() []contract {
	return []contract{
		{selfProtection, (*judgement).protectSelf},
		{"pinning", (*judgement).checkPin},
		{"budget", (*judgement).spendBudget},
		{"constraint", (*judgement).checkConstraints},
		{"sink_gate", (*judgement).gateValues},
		{"toxic_flow", (*judgement).checkFlow},
	}
}

// judgement is one call on its way through the contracts.
type judgement struct {
	*Engine
	*resolved
	rule  *policy.Rule // the tool's, or its own where the arguments say more
	call  Call
	args  arguments
	fault string // why the arguments can't be judged at all

	weighings []weighing // what the call's values are worth, worked out once
	weighed   bool

	untrusted, sensitive *taint.Source // of the session, as far as this call knows
	used                 int           // index into second of the second try that let the call pass, from 1
	again                []Pair        // that it vouched for
}

func (e *Engine) judge(c Call) *judgement {
	if k := c.Args.Kind(); k == 0 || k == 'n' {
		c.Args = wire.Value("{}")
	}
	r := e.resolve(c.Tool)
	j := &e.now
	*j = judgement{Engine: e, resolved: r, rule: &r.rule, call: c, untrusted: e.untrusted, sensitive: e.sensitive}
	if c.Doubtful { // what it doesn't know may be anything
		j.untrusted, j.sensitive = known(e.untrusted), known(e.sensitive)
	}
	if c.Args.Kind() != '{' {
		j.fault = "the arguments are not an object"
		return j
	}
	tree, ok := c.Args.Tree(e.tree, maxValues)
	if !ok {
		j.fault = "the arguments are made of more than " + plural(maxValues, "value")
		return j
	}
	if j.args.Tree = tree; cap(tree) <= maxKept {
		e.tree = tree
	}
	j.heed()
	return j
}

// known returns the output that set a flag, or one without a name for a flag that may have been set.
func known(first *taint.Source) *taint.Source {
	if first == nil {
		return &taint.Source{}
	}
	return first
}

// Decide judges one call, and counts the attempt unless Attempt has just done so.
func (e *Engine) Decide(c Call) Verdict {
	j := e.judge(c)
	defer func() { e.counted, e.now = false, judgement{} }()
	if j.fault != "" {
		return j.refusal()
	}
	v := j.run()
	if v.Action == Allow && j.used > 0 {
		e.second[j.used-1].open = false
		v.Pairs = j.again
	}
	// Only now: what this call brings is the agent's own from here on.
	e.seen.Author(j.call.Args)
	return v
}

// refusal is the verdict on arguments that can't be judged.
func (j *judgement) refusal() Verdict {
	return Verdict{Contract: "constraint", Reason: j.fault}
}

func (j *judgement) run() Verdict {
	v := Verdict{Action: Allow, Contract: "default"}
	for _, c := range contracts() {
		if spoken, spoke := c.judge(j); spoke {
			v, v.Contract = spoken, c.name
			break
		}
	}
	v.Layers = j.rule.Layers
	v.Observed = j.rule.Observed && v.Contract != selfProtection // what would do lasting harm is not let through to watch it
	return v
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

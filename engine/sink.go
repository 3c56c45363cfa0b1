package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

// gateSinks asks of every destination who vouched for it and where it came from. One verdict speaks of all of them:
// what came from an untrusted output denies, what nobody has mentioned asks.
func (j *judgement) gateSinks() (Verdict, bool) {
	var judged []Pair
	switch {
	case j.rule.Open:
		return Verdict{}, false
	case j.rule.Exfiltrating:
		if judged = j.judged(); len(judged) == 0 {
			return j.nowhere()
		}
	default:
		// Nothing in the definition is a destination. What a call brings along beside it may still be one.
		judged = j.undeclared()
	}
	pending := slices.DeleteFunc(judged, j.harmless)
	if len(pending) == 0 || j.vouched(pending) {
		return Verdict{}, false
	}
	found := make([]Finding, len(pending))
	for i, p := range pending {
		class, origin := j.seen.Trace(p.Value)
		found[i] = Finding{p, class, origin}
	}
	// What a person has vouched for in another company is asked about again, but it is not what is wrong.
	approved := func(f Finding) bool { return j.approvedOnce(f.Pair) }
	slices.SortStableFunc(found, func(a, b Finding) int {
		switch x, y := approved(a), approved(b); {
		case x != y && y:
			return -1
		case x != y:
			return 1
		}
		switch {
		case a.Class.Worse(b.Class):
			return -1
		case b.Class.Worse(a.Class):
			return 1
		}
		return 0
	})
	blamed := slices.DeleteFunc(slices.Clone(found), approved)
	if len(blamed) == 0 {
		blamed = found
	}
	v := Verdict{Reason: gateReason(blamed), Findings: found}
	if found[0].Class == taint.Unseen || approved(found[0]) {
		v.Action, v.Pairs = Ask, pending
	}
	return v, true
}

// nowhere judges a call that names no destination, so that the server chooses one.
func (j *judgement) nowhere() (Verdict, bool) {
	pair := Pair{}
	if j.vouched([]Pair{pair}) {
		return Verdict{}, false
	}
	return Verdict{
		Action:   Ask,
		Reason:   "the call names no destination, so the server would choose one",
		Findings: []Finding{{Pair: pair}},
		Pairs:    []Pair{pair},
	}, true
}

// harmless reports whether nobody needs to vouch for a pair: its value stands on the allowlist, or it is a page to
// read that an output named in full.
func (j *judgement) harmless(p Pair) bool {
	return policy.Trusts(j.rule.TrustedDestinations, p.Value) ||
		j.rule.Fetch && j.declared() && j.seen.SeenWhole(p.Value)
}

// declared reports whether the schema lists every argument of the call, without which a fetch may carry data along.
func (j *judgement) declared() bool {
	properties := j.call.Tool.InputSchema.Get("properties")
	for name := range j.call.Args.Members() {
		if properties.Get(name) == nil {
			return false
		}
	}
	return true
}

// judged returns the values that are destinations: those of the declared sinks and of what is one by its name. If no
// declared sink holds a value, whatever does may be the destination, and every argument is judged.
func (j *judgement) judged() []Pair {
	f := flattener{schema: j.call.Tool.InputSchema}
	for _, path := range j.rule.SinkParams {
		f.follow("", j.call.Args, path)
	}
	named := policy.Destinations(j.call.Tool, j.call.Args)
	if len(f.pairs) == 0 || len(named) > maxNamed {
		f.flatten("", j.call.Args)
		return f.pairs
	}
	for _, path := range named {
		f.follow("", j.call.Args, path)
	}
	return f.pairs
}

// undeclared returns the arguments of a call that are destinations by their names, of a tool that declares none.
func (j *judgement) undeclared() []Pair {
	if j.plainNames() {
		return nil
	}
	f := flattener{schema: j.call.Tool.InputSchema}
	for _, path := range policy.Destinations(j.call.Tool, j.call.Args) {
		f.follow("", j.call.Args, path)
	}
	return f.pairs
}

// maxPlain bounds how many sets of argument names are remembered for a tool.
const maxPlain = 64

// plainNames reports whether arguments of these names, all of them scalars, can't be destinations, which spares most
// calls the look at their schema.
func (j *judgement) plainNames() bool {
	var names []byte
	for name, val := range j.call.Args.Members() {
		if k := val.Kind(); k == '{' || k == '[' {
			return false
		}
		names = append(wire.AppendQuoted(names, name), ',')
	}
	known, ok := j.plain[string(names)]
	if ok || len(names) == 0 {
		return known || len(names) == 0
	}
	known = len(policy.Destinations(j.call.Tool, sampleCall(j.call.Args))) == 0
	if len(j.plain) < maxPlain {
		j.plain[string(names)] = known
	}
	return known
}

// sampleCall returns arguments of the same names, each with a value that no schema lists.
func sampleCall(args wire.Value) wire.Value {
	out := []byte{'{'}
	for name := range args.Members() {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(wire.AppendQuoted(out, name), `:"\u0001"`...)
	}
	return append(out, '}')
}

// maxNamed bounds how many arguments of one call are looked up by name. A call with more is judged as a whole.
const maxNamed = 256

// A flattener collects the scalars of arguments as pairs. The parameter of a pair is the path to it; lists of scalars
// are transparent, so that a part of a list can be approved, while objects in a list are numbered, so that fields of
// different objects never count as one.
type flattener struct {
	schema   wire.Value
	names    map[string]bool // the property names that the schema declares anywhere
	pairs    []Pair
	followed map[Pair]bool
}

// follow flattens what a dotted path leads to; lists on the way are transparent, each reading of a name that holds a
// dot counts, and so does a name that differs only in case, which a lenient server takes for the one that is meant.
func (f *flattener) follow(at string, v wire.Value, path string) {
	i := 0
	for elem := range v.Elems() {
		f.follow(indexed(at, elem, i), elem, path)
		i++
	}
	for name, val := range v.Members() {
		if strings.EqualFold(name, path) {
			f.flatten(below(at, name), val)
		}
		for dot := range len(path) {
			if path[dot] == '.' && strings.EqualFold(name, path[:dot]) {
				f.follow(below(at, name), val, path[dot+1:])
			}
		}
	}
}

func (f *flattener) flatten(at string, v wire.Value) {
	switch v.Kind() {
	case '"':
		s, _ := v.Text()
		f.add(at, s)
	case '0', 't', 'f':
		f.add(at, string(v))
	case '[':
		i := 0
		for elem := range v.Elems() {
			f.flatten(indexed(at, elem, i), elem)
			i++
		}
	case '{':
		for name, val := range v.Members() {
			if at != "" && !f.isProperty(name) { // then it is a value, not the name of a field
				f.add(at, name)
			}
			f.flatten(below(at, name), val)
		}
	}
}

// add collects a value once. The empty string is no destination, as little as null.
func (f *flattener) add(at, value string) {
	p := Pair{Param: at, Value: value}
	if strings.TrimSpace(value) == "" || f.followed[p] {
		return
	}
	if f.followed == nil {
		f.followed = make(map[Pair]bool)
	}
	f.followed[p] = true
	f.pairs = append(f.pairs, p)
}

// isProperty reports whether the tool's schema knows the name of a member. The definition was pinned before any
// output, so no output can have put a destination there.
func (f *flattener) isProperty(name string) bool {
	if f.names == nil {
		f.names = make(map[string]bool)
		for leaf := range f.schema.Leaves() {
			if n := len(leaf.Path); leaf.IsKey && n >= 2 {
				if parent, _ := leaf.Path[n-2].Key(); parent == "properties" {
					key, _ := leaf.Value.Text()
					f.names[key] = true
				}
			}
		}
	}
	return f.names[name]
}

func below(at, name string) string {
	if at == "" {
		return name
	}
	return at + "." + name
}

func indexed(at string, elem wire.Value, i int) string {
	if elem.Kind() != '{' {
		return at
	}
	return at + "[" + strconv.Itoa(i) + "]"
}

package engine

import (
	"slices"
	"strconv"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// destinations returns what a call reaches; nowhere, that it names nothing though its tool sends.
func (j *judgement) destinations() (pairs []Pair, nowhere bool) {
	switch {
	case j.rule.Open:
		return nil, false
	case j.rule.Exfiltrating:
		values := j.byValue()
		pairs = j.judged(len(values) > 0)
		return join(pairs, values), len(pairs) == 0 && len(values) == 0 && !j.staysHome()
	}
	// Nothing in the definition is a destination. What a call brings along beside it may still be one.
	return join(j.undeclared(), j.byValue()), false
}

// join appends the pairs that are not there yet.
func join(pairs, others []Pair) []Pair {
	known := set(pairs)
	for _, p := range others {
		if !known[p] {
			pairs = append(pairs, p)
		}
	}
	return pairs
}

func set(pairs []Pair) map[Pair]bool {
	known := make(map[Pair]bool, len(pairs))
	for _, p := range pairs {
		known[p] = true
	}
	return known
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
// declared sink holds a value, whatever does may be the destination, and every argument is judged. Where only the tool's name
// says that it sends, prose is left out, since that is what it sends, and so is all else once a value told by itself that
// it is one.
func (j *judgement) judged(told bool) []Pair {
	f := flattener{schema: j.call.Tool.InputSchema}
	for _, path := range j.rule.SinkParams {
		f.follow("", j.call.Args, path)
	}
	named := policy.Destinations(j.call.Tool, j.call.Args)
	if len(f.pairs) == 0 && len(named) == 0 && j.staysHome() {
		return nil
	}
	if len(j.rule.SinkParams) == 0 && inferred(j.rule) && j.call.Tool.InputSchema.Get("properties") != nil {
		if len(named) == 0 && !told {
			named = policy.Plain(j.call.Tool, j.call.Args)
		}
	} else if len(f.pairs) == 0 || len(named) > maxNamed {
		f.flatten("", j.call.Args)
		return f.pairs
	}
	for _, path := range named {
		f.follow("", j.call.Args, path)
	}
	return f.pairs
}

// staysHome reports whether a call that names no destination reaches nobody: an appointment without guests. That is
// so if the schema leaves every destination out at will, knows all there is in the call, and the tool is not there to
// send. Of what a policy declares, somebody has said that it matters.
func (j *judgement) staysHome() bool {
	return j.profile() == Balanced && j.optional() && j.declared()
}

// inferred reports whether nobody has said anything of a tool: its rule follows from its definition.
func inferred(r policy.Rule) bool {
	return !slices.ContainsFunc(r.Layers, func(l string) bool { return l != "inferred" })
}

// optionalSinks reports whether a tool may be called without a destination, and does something else then.
func optionalSinks(t policy.Tool, r policy.Rule) bool {
	if r.Fetch || !inferred(r) {
		return false
	}
	if bare := policy.Infer(policy.Tool{Name: t.Name}); bare.Exfiltrating || bare.Irreversible {
		return false // its name alone says that it sends, or pays
	}
	required := t.InputSchema.Get("required")
	var named []string
	for name := range required.Elems() {
		s, _ := name.Text()
		named = append(named, s)
	}
	if len(named) == 0 {
		return false // whoever wrote the schema does not say what may be left out
	}
	return !slices.ContainsFunc(r.SinkParams, func(path string) bool {
		top, _, _ := strings.Cut(path, ".")
		return slices.Contains(named, top) || slices.Contains(named, path) || t.InputSchema.At("properties", top) == nil
	})
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

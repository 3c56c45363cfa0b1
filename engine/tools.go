package engine

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// resolved is the rule of a tool, with the definition that it was made from and what else follows from that.
type resolved struct {
	tool  policy.Tool
	rule  policy.Rule
	fixed bool // a person's policy speaks of the tool, or it has none to follow: what the arguments say changes nothing

	properties map[string]bool     // the names that its schema declares anywhere
	listed     map[string]bool     // the fixed words that its schema lists anywhere
	byShape    map[string][]string // the arguments that are destinations by their names, in calls of a shape
	optional   func() bool         // whether it may do its work without a destination
}

// maxRules bounds how many tools are remembered with their rules; a client may call what no server has.
const maxRules = 4096

// resolve remembers the rule of each tool, since making one reads the tool's whole schema.
func (e *Engine) resolve(t policy.Tool) *resolved {
	r, ok := e.rules[t.Name]
	if !ok || r.tool.Description != t.Description || !bytes.Equal(r.tool.InputSchema, t.InputSchema) || !bytes.Equal(r.tool.Annotations, t.Annotations) {
		r = newResolved(t, e.config.Policy.Resolve(t))
		if len(e.rules) >= maxRules {
			clear(e.rules)
		}
		e.rules[t.Name] = r
	}
	return r
}

func newResolved(t policy.Tool, rule policy.Rule) *resolved {
	r := &resolved{tool: t, rule: rule, properties: map[string]bool{}, listed: map[string]bool{}, byShape: map[string][]string{}}
	r.fixed = rule.Open || slices.ContainsFunc(rule.Layers, func(l string) bool { return l != "inferred" && !strings.HasPrefix(l, "pack ") })
	r.optional = sync.OnceValue(func() bool { return optionalSinks(t, &r.rule) })
	for leaf := range t.InputSchema.Leaves() {
		text, _ := leaf.Value.Text()
		key, above := "", ""
		if n := len(leaf.Path); n > 0 {
			key, _ = leaf.Path[n-1].Key()
		}
		if n := len(leaf.Path); n > 1 {
			above, _ = leaf.Path[n-2].Key()
		}
		switch {
		case leaf.IsKey && above == "properties":
			r.properties[text] = true
		case !leaf.IsKey && (key == "const" || above == "enum"):
			r.listed[text] = true
		}
	}
	return r
}

// How many shapes of calls are remembered for a tool, and how long one may be.
const (
	maxShapes = 256
	maxShape  = 1 << 10
)

// sample stands for every string of a call that the schema does not list. It is hardly ever listed itself.
const sample = "\x01"

// named returns the paths of those arguments that are destinations by their names. That hangs on nothing but the shape of a
// call, and most calls of a tool have the same.
func (j *judgement) named() []string {
	shape := j.appendShape(j.buffer[:0], 0)
	j.buffer = shape
	if len(shape) > maxShape || j.listed[sample] {
		return policy.Destinations(j.tool, j.call.Args)
	}
	known, ok := j.byShape[string(shape)]
	if !ok {
		known = policy.Destinations(j.tool, shape)
		if len(j.byShape) < maxShapes {
			j.byShape[string(shape)] = known
		}
	}
	return known
}

// appendShape appends a value of a call with all scalars of a kind made equal, but for the words that the schema lists, and a
// run of equal elements made one. What is longer than a shape may be is cut off somewhere.
func (j *judgement) appendShape(b []byte, at int32) []byte {
	n := &j.args.Tree[at]
	switch n.Kind {
	case '{', '[':
		b = append(b, n.Kind)
		last := len(b)
		for i := at + 1; i < n.End && len(b) <= maxShape; i = j.args.Tree[i].End {
			start := len(b)
			if child := &j.args.Tree[i]; child.Member {
				b = append(wire.AppendQuoted(b, child.Name), ':')
			}
			b = append(j.appendShape(b, i), ',')
			if n.Kind == '[' && bytes.Equal(b[last:start], b[start:]) {
				b = b[:start]
			} else {
				last = start
			}
		}
		return append(bytes.TrimSuffix(b, []byte{','}), n.Kind+2) // the bracket that closes it
	case '"':
		if j.listed[n.Text] {
			return wire.AppendQuoted(b, n.Text)
		}
		return wire.AppendQuoted(b, sample)
	case '0':
		return append(b, '0')
	}
	return append(b, n.Text...)
}

// sense is what the name of an argument says of it.
type sense struct {
	prose   bool // it holds text for people
	own     bool // it tells whose account the call is made from
	path    bool // it holds a place in a file system
	deletes bool // as the name of an operation
}

// maxSenses bounds how many names are remembered. There are hardly more than the schemas of a session list.
const maxSenses = 4096

// sense looks a name up. Names come back with every call, and to take one apart is dear.
func (e *Engine) sense(name string) sense {
	s, ok := e.senses[name]
	if !ok {
		s = sense{prose: policy.Prose(name), own: policy.Own(name), path: policy.HoldsPath(name), deletes: policy.Deletes(name)}
		if len(e.senses) < maxSenses && len(name) <= maxNameLen {
			e.senses[strings.Clone(name)] = s
		}
	}
	return s
}

package policy

import (
	"slices"
	"strings"
)

// Set is an ordered list of layers, highest first, above inference. The nil Set infers everything.
type Set struct{ layers []*Layer }

// NewSet layers them, highest first.
func NewSet(layers ...*Layer) *Set {
	return &Set{slices.DeleteFunc(slices.Clone(layers), func(l *Layer) bool { return l == nil })}
}

const inferred = "inferred"

// Resolve merges what the layers say of a tool over what its name and schema imply. It is deterministic and safe for concurrent use.
// The work is in the tool's schema, so a caller that resolves for each call does well to remember the Rule.
func (s *Set) Resolve(t Tool) Rule {
	r := resolving{Rule: Infer(t)}
	r.begin()
	var labels []string
	if s != nil {
		for _, l := range slices.Backward(s.layers) {
			if e, ok := l.entry(t.Name); ok && (!l.Pack || e.fits(t)) {
				r.apply(e, l.label())
				labels = append(labels, l.label())
			}
		}
	}
	r.finish(t)
	slices.Reverse(labels)
	r.Layers = slices.DeleteFunc(append(labels, inferred), func(label string) bool { return !slices.Contains(r.from[:], label) })
	r.Layers = slices.Compact(r.Layers)
	return r.Rule
}

// resolving is a Rule with a note on each field of which layer said it; a field of no effect has no note.
type resolving struct {
	Rule
	from [7]string
}

const (
	gateField = iota
	sinkField
	trustedField
	writeField
	prefixField
	patternField
	callsField
)

func (r *resolving) begin() {
	if r.Exfiltrating {
		r.from[gateField], r.from[sinkField] = inferred, inferred
	}
	if len(r.WriteParams) > 0 {
		r.from[writeField] = inferred
	}
	if r.Limited {
		r.from[callsField] = inferred
	}
}

// apply lays the fields that an entry names over those of the layers below.
func (r *resolving) apply(e entry, label string) {
	switch {
	case e.exfiltrating != nil:
		r.Exfiltrating, r.from[gateField] = *e.exfiltrating, label
	case len(e.sinks) > 0:
		r.Exfiltrating, r.from[gateField] = true, label
	}
	if e.exfiltrating != nil || e.sinks != nil {
		r.Fetch = false // somebody declared a gate, and meant it
		r.Open = !r.Exfiltrating
	}
	over(&r.SinkParams, e.sinks, &r.from[sinkField], label)
	over(&r.TrustedDestinations, e.trusted, &r.from[trustedField], label)
	over(&r.WriteParams, e.writes, &r.from[writeField], label)
	over(&r.AllowedPathPrefixes, e.prefixes, &r.from[prefixField], label)
	over(&r.ArgPatterns, e.patterns, &r.from[patternField], label)
	if e.maxCalls != nil {
		r.MaxCalls, r.Limited, r.from[callsField] = *e.maxCalls, true, label
	}
}

func over[T any](field *[]T, named []T, from *string, label string) {
	if named != nil {
		*field, *from = slices.Clip(named), label
	}
}

func (r *resolving) finish(t Tool) {
	if len(r.AllowedPathPrefixes) == 0 {
		if r.from[writeField] == inferred {
			r.from[writeField] = "" // confines nothing
		}
		return
	}
	if len(r.WriteParams) == 0 && r.from[writeField] == "" {
		// A confinement that finds nothing to confine would be a silent allow: take every argument for a path.
		r.WriteParams, r.from[writeField] = openParams(t), inferred
	}
}

// fits reports whether the tool may be the one that a pack means: another server's tool of the same name has other
// parameters. A tool without a schema gets the benefit of the stricter doubt.
func (e entry) fits(t Tool) bool {
	named := slices.Concat(e.sinks, e.writes)
	for _, p := range e.patterns {
		named = append(named, p.Param)
	}
	if t.InputSchema == nil || len(named) == 0 {
		return true
	}
	params := topParams(t)
	return slices.ContainsFunc(named, func(path string) bool {
		top, _, _ := strings.Cut(path, ".")
		return params[path] || params[top]
	})
}

// NearMisses returns a fault for each entry of a policy file that names no tool among these, but nearly does:
// such an entry guards nothing. An entry that resembles no tool belongs to another server.
func (s *Set) NearMisses(tools []Tool) []*Error {
	if s == nil {
		return nil
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	var all []*Error
	for _, l := range s.layers {
		if l.Pack {
			continue
		}
		for _, name := range l.Tools() {
			like := nearest(name, names)
			if like == "" {
				continue
			}
			e := l.entries[name]
			all = append(all, &Error{l.Name, e.line, e.col, "no tool is named " + quote(name) + "; did you mean " + quote(like) + "?"})
		}
	}
	return all
}

// nearest returns the name that differs from the given one by no more than a slip; nothing when one is equal.
func nearest(name string, names []string) string {
	if slices.Contains(names, name) {
		return ""
	}
	for _, n := range names {
		if d := distance(plain(name), plain(n)); d == 0 || d == 1 && len(n) > 5 {
			return n
		}
	}
	return ""
}

package policy

import "slices"

// Set is an ordered list of layers, highest first, above inference. The nil Set infers everything.
type Set struct {
	layers  []*Layer
	server  Server
	profile string // the caller's, over what the layers name
}

// NewSet layers them, highest first.
func NewSet(layers ...*Layer) *Set {
	return &Set{layers: slices.DeleteFunc(slices.Clone(layers), func(l *Layer) bool { return l == nil })}
}

// For returns the set as it holds for one server: with its own sections, and with the packs that are about it.
func (s *Set) For(of Server) *Set {
	c := s.clone()
	c.server = of
	return c
}

// Under returns the set as it holds under a profile, whatever the layers name; an empty one leaves that to them.
func (s *Set) Under(profile string) *Set {
	c := s.clone()
	c.profile = profile
	return c
}

func (s *Set) clone() *Set {
	if s == nil {
		return &Set{}
	}
	c := *s
	return &c
}

// Linked reports whether what one server's lookup tools say vouches for the destinations of another (taint.links). A link
// holds in both directions. No server is linked to itself by its name: who means the same server compares identities.
func (s *Set) Linked(from, to string) bool {
	if s == nil || from == "" || to == "" {
		return false
	}
	for _, l := range s.layers {
		if l.Pack {
			continue // does not know the names that servers have here
		}
		for _, k := range l.parsed().links {
			if glob(k.a, from) && glob(k.b, to) || glob(k.b, from) && glob(k.a, to) {
				return true
			}
		}
	}
	return false
}

const inferred = "inferred"

// Resolve merges what the layers say of a tool over what its definition implies. It is deterministic and safe for concurrent use.
// The work is in the tool's schema, so a caller that resolves for each call does well to remember the Rule.
func (s *Set) Resolve(t Tool) Rule { return s.resolve(t).Rule }

func (s *Set) resolve(t Tool) *resolving {
	r := &resolving{classification: classify(t)}
	r.Rule = r.rule
	r.Profile, r.Observed, r.from[profileField] = s.profileOf(&t)
	r.begin(r.Profile == ProfileStrict)
	if s != nil {
		packs, files := s.split()
		r.applyPacks(packs, s.server, t)
		for _, l := range files {
			r.applyAll(l, l.entries(s.server, t.Name))
		}
	}
	r.finish(t)
	return r
}

// split returns the packs and the other layers, each with the lowest first. Packs lie below all others.
func (s *Set) split() (packs, files []*Layer) {
	for _, l := range slices.Backward(s.layers) {
		if l.Pack {
			packs = append(packs, l)
		} else {
			files = append(files, l)
		}
	}
	return packs, files
}

// resolving is a Rule with a note on each field of which layer said it; a field of no effect has no note.
type resolving struct {
	Rule
	classification
	from    [fields]source
	applied []applied
}

// source is where a field came from. The zero source is nowhere.
type source struct {
	label   string
	pattern string // of the entry
	line    int
	adds    bool // it is of a pack for other servers, and takes nothing away
}

// place is where an entry of the layer stands.
func (l *Layer) place(e scoped) source {
	return source{label: l.label(), pattern: e.tool, line: e.line}
}

// applied is an entry that had its say.
type applied struct {
	source
	entry
}

const (
	gateField = iota
	sinkField
	trustedField
	writeField
	prefixField
	patternField
	callsField
	objectField
	lastingField
	trustedOutField
	untrustedOutField
	profileField
	fields
)

func (r *resolving) begin(strict bool) {
	by := source{label: inferred}
	if r.Exfiltrating {
		r.from[gateField], r.from[sinkField] = by, by
	}
	if len(r.WriteParams) > 0 {
		r.from[writeField] = by
	}
	if len(r.ObjectParams) > 0 {
		r.from[objectField] = by
	}
	if r.Irreversible {
		r.from[lastingField] = by
	}
	if strict && r.deletes {
		r.MaxCalls, r.Limited, r.from[callsField] = inferredCalls, true, by
	}
}

func (r *resolving) applyAll(l *Layer, entries []scoped) {
	for _, e := range entries {
		r.applyOne(e.entry, l.place(e))
	}
}

func (r *resolving) applyOne(e entry, by source) {
	r.apply(e, by)
	r.applied = append(r.applied, applied{by, e})
}

// apply lays the fields that an entry names over those of the layers below.
func (r *resolving) apply(e entry, by source) {
	switch {
	case e.exfiltrating != nil:
		r.Exfiltrating, r.from[gateField] = *e.exfiltrating, by
	case len(e.sinks) > 0:
		r.Exfiltrating, r.from[gateField] = true, by
	}
	if e.exfiltrating != nil || e.sinks != nil {
		r.Fetch = false // somebody declared a gate, and meant it
		r.Open = !r.Exfiltrating
	}
	if e.irreversible != nil {
		r.Irreversible, r.from[lastingField] = *e.irreversible, by
	}
	if e.exfiltrating != nil && *e.exfiltrating || e.irreversible != nil && *e.irreversible || len(e.sinks) > 0 || len(e.objects) > 0 {
		r.Changing = true // or nothing could be sent, lost or changed
	}
	over(&r.SinkParams, e.sinks, &r.from[sinkField], by)
	over(&r.TrustedDestinations, e.trusted, &r.from[trustedField], by)
	over(&r.WriteParams, e.writes, &r.from[writeField], by)
	over(&r.AllowedPathPrefixes, e.prefixes, &r.from[prefixField], by)
	over(&r.ArgPatterns, e.patterns, &r.from[patternField], by)
	over(&r.ObjectParams, e.objects, &r.from[objectField], by)
	over(&r.TrustedOutputs, e.trustedOut, &r.from[trustedOutField], by)
	over(&r.UntrustedOutputs, e.untrustedOut, &r.from[untrustedOutField], by)
	if e.maxCalls != nil {
		r.MaxCalls, r.Limited, r.from[callsField] = *e.maxCalls, true, by
	}
}

func over[T any](field *[]T, named []T, from *source, by source) {
	if named != nil {
		*field, *from = slices.Clip(named), by
	}
}

func (r *resolving) finish(t Tool) {
	switch {
	case len(r.AllowedPathPrefixes) == 0 && r.from[writeField].label == inferred:
		r.from[writeField] = source{} // confines nothing
	case len(r.AllowedPathPrefixes) > 0 && len(r.WriteParams) == 0 && r.from[writeField].label == "":
		// A confinement that finds nothing to confine would be a silent allow: take every argument for a path.
		r.WriteParams, r.from[writeField] = openParams(t), source{label: inferred}
	}
	if slices.Contains(r.UntrustedOutputs, "*") {
		r.Directory, r.Identity = false, false // whatever it is called
	}
	speaks := func(label string) bool {
		return slices.ContainsFunc(r.from[:], func(s source) bool { return s.label == label })
	}
	for _, by := range slices.Backward(r.applied) {
		if speaks(by.label) && !slices.Contains(r.Layers, by.label) {
			r.Layers = append(r.Layers, by.label)
		}
	}
	if speaks(inferred) {
		r.Layers = append(r.Layers, inferred)
	}
}

package policy

import "slices"

// applyPacks lays the packs over what is inferred. A pack that was written for the server is believed. Where none that
// knows the tool was, the others count for tools of their names and parameters, too, but only to make a rule stricter:
// any server may call a tool what it likes.
func (r *resolving) applyPacks(packs []*Layer, of Server, t Tool) {
	known := false
	for _, l := range packs {
		if entries := l.entries(of, t.Name); len(entries) > 0 && l.about(of) {
			r.applyAll(l, entries)
			known = true
		}
	}
	if known {
		return
	}
	for _, l := range packs {
		for _, e := range l.entries(of, t.Name) {
			if e.fits(t) {
				by := l.place(e)
				by.adds = true
				r.applyOne(r.stricter(e.entry), by)
			}
		}
	}
}

// fits reports whether the tool may be the one that an entry means: another server's tool of the same name has other
// parameters. A tool without a schema gets the benefit of the stricter doubt.
func (e entry) fits(t Tool) bool {
	named := slices.Concat(e.sinks, e.writes, e.objects)
	for _, p := range e.patterns {
		named = append(named, p.Param)
	}
	if t.InputSchema == nil || len(named) == 0 {
		return true
	}
	params := topParams(t)
	return slices.ContainsFunc(named, func(path string) bool { return leads(path, params) })
}

// stricter returns what an entry adds to the rule: no field of it replaces, empties or relaxes anything. Its patterns are
// left out: they know what one program's argument may look like, and would refuse every call of another program's.
func (r *resolving) stricter(e entry) entry {
	s := entry{
		line: e.line, col: e.col,
		sinks:        more(r.SinkParams, e.sinks),
		writes:       more(r.WriteParams, e.writes),
		objects:      more(r.ObjectParams, e.objects),
		untrustedOut: more(r.UntrustedOutputs, e.untrustedOut),
	}
	if e.exfiltrating != nil && *e.exfiltrating {
		s.exfiltrating = e.exfiltrating
	}
	if e.exfiltrating != nil && !*e.exfiltrating {
		s.sinks = nil
	}
	if e.irreversible != nil && *e.irreversible {
		s.irreversible = e.irreversible
	}
	if len(r.AllowedPathPrefixes) == 0 && len(e.prefixes) > 0 {
		s.prefixes = e.prefixes
	}
	if e.maxCalls != nil && (!r.Limited || *e.maxCalls < r.MaxCalls) {
		s.maxCalls = e.maxCalls
	}
	return s
}

// more returns both lists in one, and nothing where the second one adds nothing.
func more(have, named []string) []string {
	all := slices.Clone(have)
	for _, s := range named {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	if len(all) == len(have) {
		return nil
	}
	return all
}

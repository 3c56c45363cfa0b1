package taint

import "strings"

// Trace returns what is known of a value and of every value that can be read out of it (addresses in a list, the host
// of a URL, ...). It costs what the value's length asks, however much the index holds.
func (x *Index) Trace(value string) Found {
	var found Found
	var worst *entry
	for _, s := range x.lens.read(x, value) {
		e := x.table.find(s.key)
		if e == nil || s.strict {
			continue
		}
		found.Marks |= e.marks
		if worst == nil || e.marks.rank() > worst.marks.rank() {
			worst = e
		}
	}
	if found.Marks == 0 && x.grams.mangled(value) {
		found.Marks = MarkMangled
	}
	if worst != nil {
		if found.Origin = x.places.origin(worst.place, worst.pos, len(value)); worst.place != 0 && found.Origin.Snippet == "" {
			found.Origin.Snippet = Visible(value, 2*snippetSide)
		}
	}
	found.Grants = x.grants(value)
	return found
}

// grants returns what vouches for exactly this value. Everything that could accuse it must be known for that, so that an
// index that lost something can only trust less.
func (x *Index) grants(value string) Marks {
	if x.blind {
		return 0
	}
	kind, canon, ok := strictValue(x.strict[:0], value)
	x.strict = canon[:0]
	if !ok {
		return 0
	}
	e := x.table.find(x.hash.key(strict, kind, canon))
	if e == nil || e.marks&vouching == 0 {
		return 0
	}
	grants := e.marks & vouching
	for _, s := range x.lens.read(x, string(canon)) {
		e := x.table.find(s.key)
		switch {
		case s.strict:
		case e == nil:
			return 0
		case s.whole:
			grants &= e.marks
		}
	}
	return grants
}

// An exact value is one that stands by itself, in a spelling that everybody reads alike.
type exact struct {
	kind   byte
	canon  []byte
	sights []sight // what can be read out of it
}

// exact reads a value as one. It is good until the next value is read.
func (x *Index) exact(value string) (v exact, ok bool) {
	kind, canon, ok := strictValue(x.strict[:0], value)
	x.strict = canon[:0]
	if !ok {
		return exact{}, false
	}
	return exact{kind, canon, x.lens.read(x, view(canon))}, true
}

// vouch marks exactly this value. It reports whether that could be kept.
func (x *Index) vouch(v exact, marks Marks, where sighting) bool {
	known := true
	for _, s := range v.sights {
		switch {
		case s.strict:
		case s.whole:
			known = x.mark(s.key, false, marks, where) && known
		default:
			known = x.mark(s.key, false, 0, nil) && known // so that a loss of what accuses it later can be told
		}
	}
	return known && x.mark(x.hash.key(strict, v.kind, v.canon), true, marks, nil)
}

// SeenWhole reports whether an output said exactly this URL before the agent ever did. It is what lets a page be
// fetched: nothing may be added, no user, no fragment, and a URL the index had to forget was not seen.
func (x *Index) SeenWhole(url string) bool {
	if x.lost || !plain(url) || strings.ContainsAny(url, " \\\"<>`") {
		return false
	}
	kind, canon, ok := strictValue(x.strict[:0], url)
	x.strict = canon[:0]
	if !ok || kind != kindURL {
		return false
	}
	e := x.table.find(x.hash.key(strict, kind, canon))
	return e != nil && e.marks&MarkField != 0
}

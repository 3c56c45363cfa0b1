package taint

import (
	"strings"
	"unicode/utf8"
)

// wholeValue records a part of the scanned line as a value of its own.
func (r *recorder) wholeValue(start, end int, marks Marks) {
	r.whole = fold(r.whole[:0], r.base[r.offset+start:r.offset+end])
	if isValue(r.whole) {
		r.put(kindValue, r.whole, marks, start, end)
	}
}

// isValue reports whether folded text can be a value: any number, and what has two characters or more.
func isValue(folded []byte) bool {
	return len(folded) > 0 && (isDigit(folded[0]) || utf8.RuneCount(folded[:min(len(folded), 2*utf8.UTFMax)]) > 1)
}

// typed receives what the scanner found.
func (r *recorder) typed(kind byte, canon []byte, start, end int) {
	marks := MarkText
	switch lo, hi := trimSpan(r.text, r.cell.start, r.cell.end); {
	case r.cellIs == 0:
	case start == lo && end == hi:
		marks = r.cellIs
		r.filled = r.cell == span{0, len(r.base)} && (kind != kindValue || lo == 0 && hi == len(r.base))
		r.link = r.filled && kind == kindURL
	case r.link && kind == kindHost:
		marks = r.cellIs
		r.link = false
	}
	r.put(kind, canon, marks, start, end)
	// A host that is named to the agent without a page stands for all its pages.
	if kind == kindHost && isAlone(r.text, start) && r.aimed(r.offset+start) {
		r.put(kindURL, bareHost(canon), marks, start, end)
	}
	if kind == kindURL && !r.repeats(r.x.hash.key(folded, kind, canon)) {
		r.exactURLs(r.text[start:end])
	}
}

// exactURLs takes in the exact spellings of a URL.
func (r *recorder) exactURLs(url string) {
	r.unlessKnown(&r.x.cells, memoCells, url, roleURL, func() {
		exactURLs(url, func(exact []byte) {
			if !r.x.mark(r.x.hash.key(strict, kindURL, exact), true, MarkField, nil) {
				r.missed++
			}
		})
	})
}

// isAlone reports whether the host at start is no part of a URL or an address.
func isAlone(text string, start int) bool {
	return start == 0 || strings.IndexByte("/@", text[start-1]) < 0
}

// put marks a value that stands in the scanned line, unless it is an echo or known as well or better.
func (r *recorder) put(kind byte, canon []byte, marks Marks, start, end int) {
	if start += r.offset; r.aimed(start) {
		marks |= MarkText | MarkAimed
	}
	key := r.x.hash.key(folded, kind, canon)
	e := r.x.table.find(key)
	if e != nil && e.fresh(false, marks) == 0 {
		return
	}
	if r.args.Kind() != 0 {
		if r.repeats(key) {
			r.missed++
			return
		}
		e = r.x.table.find(key) // again: reading the arguments may have moved it
	}
	r.value = span{start, end + r.offset}
	if !r.x.markAt(e, key, false, marks, r) {
		r.missed++
	}
}

// locate returns the place of the value that is being marked.
func (r *recorder) locate() (uint32, uint16) {
	if (r.value == span{0, len(r.base)}) {
		return r.cellAt() // the value itself is all there is to show
	}
	return r.textAt(r.base, r.value.start, r.value.end)
}

func (r *recorder) length() int { return r.value.end - r.value.start }

// isAnswer reports whether the leaf at hand is what a tool answers: the text of a content block, or a lone result.
func (r *recorder) isAnswer() bool {
	n := len(r.steps)
	if n == 0 || r.nested > 0 {
		return false
	}
	switch string(r.steps[n-1].name) {
	case `"text"`:
		return r.docStart < 0
	case `"result"`:
		return r.docStart == 1 && n == 2
	}
	return false
}

// cellMarks returns the marks of a scalar that is a value by itself. Outside of documents that is only a single word.
func (r *recorder) cellMarks(s string) Marks {
	switch {
	case r.docStart < 0 && strings.ContainsAny(s, " \t\n"):
		return MarkText
	case len(r.belief.untrusted) > 0 && leadsAbove(r.belief.untrusted, r.names()):
		return MarkText
	}
	return MarkField
}

// names returns the names of the members on the way from the document to the leaf. They are good as long as the output is.
func (r *recorder) names() []string {
	r.namesBuf = r.namesBuf[:0]
	for _, s := range r.steps[max(0, min(r.docStart, len(r.steps))):] {
		if r.docStart < 0 || s.name == nil {
			continue
		}
		name := view(r.plainName(s.name))
		if len(name) != len(s.name)-2 {
			name = strings.Clone(name) // out of the buffer for what is escaped
		}
		r.namesBuf = append(r.namesBuf, name)
	}
	return r.namesBuf
}

// vouchCell lets a scalar vouch for its value, if the reading of the output says so.
func (r *recorder) vouchCell(s string) {
	if !r.belief.any || len(s) > maxWhole {
		return
	}
	names := r.names()
	b := &r.belief
	if !r.vouches && !r.answers() || leadsAbove(b.untrusted, names) || r.docStart < 0 && !r.isEntry(s) {
		return
	}
	var marks Marks
	if b.Directory {
		marks |= MarkDirectory
	}
	if b.Identity {
		marks |= MarkIdentity
	}
	trusted := leadsTo(b.trusted, names)
	switch {
	case trusted && marks == 0:
		marks = MarkDirectory
	case !trusted && (marks == 0 || !identifies(names)):
		return
	}
	v, ok := r.x.exact(s)
	if !ok || !trusted && !speaksFor(v.kind, s, names) || r.docStart < 0 && !isTyped(v.kind) && strings.ContainsAny(s, " \t\n") {
		return
	}
	for _, sight := range v.sights {
		if sight.whole && r.repeats(sight.key) {
			r.missed++
			return
		}
	}
	r.value = span{0, len(r.base)}
	if r.versions.two {
		r.hold(s, v, marks)
		return
	}
	if !r.x.vouch(v, marks, r) {
		r.missed++
	}
}

// answers reports whether the leaf at hand is all of a text in which the tool itself answers, not one of something that it hands on.
func (r *recorder) answers() bool {
	return r.isAnswer() && (r.docStart >= 0 || len(r.steps) == 3 && string(r.steps[0].name) == `"content"`)
}

// isEntry reports whether a text that is no document is the answer by itself, or one of a list of which each entry is a text of
// its own. Behind a text of another sort it is a remark.
func (r *recorder) isEntry(s string) bool {
	word := !strings.ContainsAny(s, " \t\n")
	if len(r.steps) > 1 && r.steps[1].index > 0 {
		return word && r.entries
	}
	r.entries = word
	return true
}

// identifies reports whether a cell of a lookup tool at a path says who or what somebody is. An element of a list is what the
// list is named for. What stands alone needs no name.
func identifies(names []string) bool {
	last := roleIdentifies
	for i, name := range names {
		if i == 0 && len(names) == 1 && isWrapped(names) {
			break
		}
		if last = memberRole(name); last == roleSpeaks || last == roleApart {
			return false
		}
	}
	return last == roleIdentifies || last == roleNames
}

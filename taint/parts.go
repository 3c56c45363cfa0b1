package taint

import (
	"strings"

	"github.com/bouncer-mcp/bouncer/inspect"
)

// A part of a long text is some lines that are known together, with everything around them that could make a difference: then
// there is nothing new in them, neither a value nor a word, and no words in them address the agent.
type part struct {
	lo, hi int
	digest uint64 // of the part between its neighbours
	known  bool
}

const (
	partSize = 8 << 10      // bytes of a part, more or less
	minParts = 3 * partSize // bytes of a text for which it is worth while
)

// parts cuts a text of ASCII into parts, nil if it is not one to remember. Where a part ends depends on the text there, not on
// where that stands, so that behind a change the parts are soon the same as before. NULs may part the words that address the agent
// by any distance, so that a text with one has no parts.
func (r *recorder) parts(s string) []part {
	m := &r.x.texts
	if len(s) < minParts || strings.IndexByte(s, 0) >= 0 || !r.remembersRows() || !m.ready(memoTexts, r.x.pay) {
		return nil
	}
	all := make([]part, 0, len(s)/partSize+1)
	role := r.role(rolePart + uint64(separatorOf(s)))
	for lo := 0; lo < len(s); {
		p := part{lo: lo, hi: m.partEnd(s, lo)}
		first, last := max(0, lo-inspect.Reach), min(len(s), p.hi+inspect.Reach)
		p.digest = m.digest(s[first:last], role|uint64(lo-first)<<24|uint64(p.hi-lo)<<40)
		p.known = m.knows(p.digest) && (last == len(s) || hasGram(s[p.hi:last]))
		all = append(all, p)
		lo = p.hi
	}
	return all
}

// partEnd returns the index behind the part that starts at lo: some line's, about one in partSize bytes.
func (m *memo) partEnd(s string, lo int) int {
	i := lo
	if least := lo + partSize/4; least < len(s) {
		i += strings.LastIndexByte(s[lo:least], '\n') + 1
	}
	for i < len(s) {
		n := strings.IndexByte(s[i:], '\n')
		if n < 0 {
			break
		}
		line := s[i : i+n]
		i += n + 1
		switch {
		case i-lo > 4*partSize:
			return i
		case i-lo > partSize/4 && m.digest(line, 0)>>32 < uint64(n)<<32/partSize:
			return i
		}
	}
	return len(s)
}

// hasGram reports whether a word before the text is followed by as many letters as one gram can have.
func hasGram(text string) bool {
	n := 0
	for i := 0; i < len(text) && n < gramLength; i++ {
		if isAlnum(text[i]) {
			n++
		}
	}
	return n == gramLength
}

// newParts takes in the parts that are not known. It returns false, having done nothing, if that is better done with the whole text.
func (r *recorder) newParts(s string, parts []part) bool {
	unknown := 0
	for _, p := range parts {
		if !p.known {
			unknown += p.hi - p.lo
		}
	}
	if parts == nil || unknown > len(s)/2 {
		return false
	}
	for _, p := range parts {
		if !p.known && addresses(s[max(0, p.lo-inspect.Reach):min(len(s), p.hi+inspect.Reach)]) {
			return false
		}
	}
	separator := separatorOf(s)
	for _, p := range parts {
		if !p.known {
			r.x.grams.add(s[p.lo:min(len(s), p.hi+inspect.Reach)], r.x.pay)
			r.linesOf(s, p.lo, p.hi, separator)
		}
	}
	return true
}

func addresses(text string) (found bool) {
	inspect.Addresses(text, func(int) bool {
		found = true
		return false
	})
	return found
}

// learn remembers parts of a text that was taken in, in which nothing addresses the agent, unless more was missed than before.
func (r *recorder) learn(parts []part, missed int) {
	if r.missed != missed {
		return
	}
	for _, p := range parts {
		if !p.known {
			r.x.texts.learn(p.digest)
		}
	}
}

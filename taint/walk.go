package taint

import (
	"bytes"
	"unicode/utf8"
	"unsafe"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// A step is one step of the walk: to a member or to an element.
type step struct {
	name  []byte // of a member, as the JSON string it is; nil for an element
	index int
	place uint32 // of what the step leads to, 0 while nobody has asked
}

// walk visits every scalar and every member name inside the value at i, which was parsed before, and returns the index behind
// it. It reads each byte once or, where a row is looked up, twice.
func (r *recorder) walk(doc []byte, i int) int {
	if i >= len(doc) {
		return len(doc)
	}
	switch doc[i] {
	case '{':
		return r.object(doc, i)
	case '[':
		return r.array(doc, i)
	case '"':
		near := doc[:min(len(doc), i+maxLiteral)]
		end := stringEnd(near, i)
		if end == len(near) && end < len(doc) {
			return r.longText(doc, i)
		}
		r.literal(doc[i:end:end])
		return end
	}
	end := scalarEnd(doc, i)
	if c := doc[i]; c == '-' || isDigit(c) {
		r.number(view(doc[i:end]))
	}
	return max(end, i+1)
}

func (r *recorder) object(doc []byte, i int) int {
	depth := len(r.steps)
	for i = gap(doc, i+1); i < len(doc) && doc[i] == '"'; i = gap(doc, i) {
		end := stringEnd(doc, i)
		r.steps = append(r.steps[:depth], step{name: doc[i:end:end]})
		if depth == 0 && r.nested == 0 {
			r.docStart, r.vouches = -1, string(doc[i:end]) == `"structuredContent"`
			if r.vouches {
				r.docStart = 1
			}
		}
		said := r.said
		r.said = r.name(doc[i:end:end]) || said
		i = gap(doc, gap(doc, end)+1)
		i = gap(doc, r.walk(doc, i))
		if r.said = said; i < len(doc) && doc[i] == ',' {
			i++
		}
	}
	r.steps = r.steps[:depth]
	return min(i+1, len(doc))
}

func (r *recorder) array(doc []byte, i int) int {
	depth := len(r.steps)
	r.steps = append(r.steps, step{})
	n := 0
	for i = gap(doc, i+1); i < len(doc) && doc[i] != ']'; i = gap(doc, i) {
		r.steps = append(r.steps[:depth], step{index: n})
		switch {
		case doc[i] == '{' && i+1 < len(doc) && doc[i+1] == '}':
			i += 2
		case doc[i] == '{' && r.docStart >= 0 && r.remembersRows(): // not what is around a text, which is remembered by itself
			i = r.rowAt(doc, i)
		default:
			i = r.walk(doc, i)
		}
		if i = gap(doc, i); i < len(doc) && doc[i] == ',' {
			i++
		}
		n++
	}
	r.steps = r.steps[:depth]
	return min(i+1, len(doc))
}

// scalarEnd returns the index behind the scalar at i that is no string.
func scalarEnd(doc []byte, i int) int {
	for i < len(doc) && !in(doc[i], 1<<','|1<<':'|1<<'"'|1<<' '|1<<'\t'|1<<'\r'|1<<'\n', 1<<(']'-64)|1<<('}'-64)) {
		i++
	}
	return i
}

func gap(doc []byte, i int) int {
	for i < len(doc) && isBlank(doc[i]) {
		i++
	}
	return i
}

func nestedEnd(doc []byte, i int) int {
	for depth := 0; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			i = stringEnd(doc, i) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(doc)
}

// around returns the place of the container that the walk is in, 0 if there is no memory for it.
func (r *recorder) around(depth int) uint32 {
	if depth == 0 {
		if r.root == 0 {
			r.root = r.x.places.source(r.from, r.x.pay)
		}
		return r.root
	}
	s := &r.steps[depth-1]
	if s.place == 0 {
		if up := r.around(depth - 1); up != 0 {
			s.place = r.x.places.add(place{up: up, step: r.number32(s)}, r.x.pay)
		}
	}
	return s.place
}

// number32 spells a step as a place has it.
func (r *recorder) number32(s *step) uint32 {
	if s.name == nil {
		return stepIndex | uint32(s.index)
	}
	return r.x.places.name(r.plainName(s.name), r.x.pay)
}

// plainName returns a member's name without quotes and escapes. It is good until the next call.
func (r *recorder) plainName(name []byte) []byte {
	if bytes.IndexByte(name, '\\') < 0 {
		return name[1 : len(name)-1]
	}
	r.unquoted, _ = wire.Value(name).AppendText(r.unquoted[:0])
	return r.unquoted
}

// cellAt returns the place of a scalar: its container's, and the last step as the position there.
func (r *recorder) cellAt() (uint32, uint16) {
	depth := len(r.steps)
	if depth == 0 {
		return r.around(0), 0
	}
	switch last := &r.steps[depth-1]; {
	case last.name != nil:
		if n := r.number32(last); n != 0 {
			return r.around(depth - 1), uint16(n)
		}
	case last.index < posIndex:
		return r.around(depth - 1), posIndex | uint16(last.index)
	}
	return r.around(depth), 0
}

// textAt returns the place of text[start:end] of a leaf, and keeps what stands around it.
func (r *recorder) textAt(text string, start, end int) (uint32, uint16) {
	lo, hi := sides(text, start, end)
	c := &r.stretch
	if c.place != 0 && c.lo <= lo && lo <= c.hi && start-c.lo < 1<<16 {
		what := r.x.places.get(c.place)
		if hi <= c.hi || r.x.places.extend(what, text[c.hi:hi]) {
			c.hi = max(c.hi, hi)
			return c.place, uint16(start - c.lo)
		}
	}
	hi = min(hi, runeStart(text, min(len(text), lo+maxChunk)))
	leaf := r.around(len(r.steps))
	if leaf == 0 {
		return 0, 0
	}
	what := *r.x.places.get(leaf)
	if what.text = r.x.places.chunk(text[lo:hi], r.x.pay); what.text != 0 {
		what.size = uint32(hi - lo)
	}
	*c = stretch{r.x.places.add(what, r.x.pay), lo, hi}
	if what.text == 0 {
		c.hi = c.lo - 1 // so that the next value tries again
	}
	return c.place, uint16(min(start-lo, 1<<16-1))
}

// sides widens text[start:end] by the context that a snippet shows.
func sides(text string, start, end int) (lo, hi int) {
	if lo, hi = max(0, start-snippetSide), min(len(text), end+snippetSide); isASCII(text[lo:start]) && isASCII(text[end:hi]) {
		return lo, hi
	}
	lo, hi = start, end
	for range snippetSide {
		_, size := utf8.DecodeLastRuneInString(text[:lo])
		lo -= size
	}
	for range snippetSide {
		_, size := utf8.DecodeRuneInString(text[hi:])
		hi += size
	}
	return lo, hi
}

// stretch is the part of the leaf at hand that was kept last.
type stretch struct {
	place  uint32
	lo, hi int
}

// view returns b as a string without copying it, which for a large output would cost as much as searching it. What is kept
// of a text is copied; the text itself is not looked at any more when b changes.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

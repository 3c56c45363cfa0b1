package taint

import (
	"bytes"
	"strings"
	"unsafe"
)

// The rows of a listing are what outputs repeat most. A known row need not be read: an object says itself where it ends, so
// that what begins like one that was taken in is that one, and a guess at its end is enough. After a wrong guess, it is unknown.

const (
	maxRow    = 4 << 10 // bytes of a row that is remembered as a whole
	maxGuess  = 1 << 10 // bytes of one whose end is guessed,
	maxBraces = 8       // and closing braces in it
	maxMisses = 32      // unknown rows at the beginning of a document, behind which none is looked for beforehand
	maxEnds   = 8       // rows of one document whose ends are looked for beforehand
	maxAround = 64      // brackets around and in a known row that is left out: with more, it might be what makes a text no document
)

// rowAt takes in the object at i, an element of an array, and returns the index behind it.
func (r *recorder) rowAt(doc []byte, i int) int {
	if end := r.knownRow(doc, i, r.role(roleRow)); end > 0 {
		return end
	}
	end := r.rowEnd(doc, i)
	if end == 0 {
		return r.walk(doc, i)
	}
	r.once(view(doc[i:end]), roleRow, func() { r.walk(doc[:end], i) })
	return end
}

// rowEnd returns the index behind the object at i, 0 if it is a long one.
func (r *recorder) rowEnd(doc []byte, i int) int {
	doc = doc[:min(len(doc), i+maxRow+1)]
	end := nestedEnd(doc, i)
	if end-i > maxRow {
		return 0
	}
	r.braces = strings.Count(view(doc[i:end]), "}")
	return end
}

// knownRow returns the index behind a known row that begins at i, 0 for any other. It has as many braces as the last unknown one.
func (r *recorder) knownRow(doc []byte, i int, role uint64) int {
	if r.braces > maxBraces {
		return 0
	}
	guess := doc[i:min(len(doc), i+maxGuess)]
	end := 0
	r.looked = len(guess)
	for range max(1, r.braces) {
		n := bytes.IndexByte(guess[end:], '}')
		if n < 0 {
			return 0
		}
		end += n + 1
	}
	m := &r.x.texts
	if end < minOnce || m.slots == nil || !m.knows(m.digest(view(guess[:end]), role)) {
		return 0
	}
	return i + end
}

// news returns a text that may be a document without the rows that are known, each of which is as good as an empty one: with
// them and without, the text is a document or none.
func (r *recorder) news(text string) string {
	if len(text) < minOnce || !r.remembersRows() || r.x.texts.slots == nil {
		return text
	}
	doc := unsafe.Slice(unsafe.StringData(text), len(text)) // which is only read
	buf := r.docs[r.nested][:0]
	role := roleRow | uint64(r.nested+1)<<8 | roleInDoc
	misses := 0              // without a known row
	ends, looked := 0, 0     // rows whose ends were looked for, and bytes looked at for rows that turned out to be unknown
	nested := 0              // brackets that are open
	done, last := 0, byte(0) // up to where the text is in buf, and the sign before i
	for i := 0; i < len(doc); {
		c := doc[i]
		if c == '"' {
			i, last = stringEnd(doc, i), c
			continue
		}
		if c == '{' && (last == '[' || last == ',') {
			end := r.knownRow(doc, i, role)
			if misses++; end == 0 && misses < 4 && ends < maxEnds { // rows may be longer than the last ones were
				ends++
				if before := r.braces; r.rowEnd(doc, i) > 0 && r.braces != before {
					end = r.knownRow(doc, i, role)
				}
			}
			if end == 0 && misses == maxMisses && done == 0 {
				return text
			}
			if end == 0 {
				looked += r.looked
			}
			if looked > 3*len(doc) {
				break // no listing is like that
			}
			if end > 0 && nested+bytes.Count(doc[i:end], []byte{'}'})+bytes.Count(doc[i:end], []byte{']'}) <= maxAround {
				misses = 0
				buf = append(append(buf, doc[done:i]...), "{}"...)
				i, done, last = end, end, '}'
				continue
			}
		}
		switch c {
		case '{', '[':
			nested++
		case '}', ']':
			nested--
		}
		if i++; !isBlank(c) {
			last = c
		}
	}
	if done == 0 {
		return text
	}
	buf = append(buf, doc[done:]...)
	r.docs[r.nested] = buf
	return view(buf)
}

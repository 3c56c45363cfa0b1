// Package inspect finds the places where a text stops being content and begins to address the agent that reads it.
//
// It prefers silence: what a person might write to a person is no cue, even if an agent might obey it. So a text with a
// cue is not content, while a text without one is not thereby harmless.
package inspect

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"
)

// Addresses yields the end of each phrase with which text addresses an agent, in ascending order, until yield returns
// false: being spoken to as a machine, the markup of prompts, orders to ignore other orders or to call a tool, the user
// as somebody to keep in the dark, and characters that only a machine can read.
//
// It sees through case, white space and line breaks, markup, invisible characters, wide and decorated letters, and
// letters of other scripts that look like Latin ones.
func Addresses(text string, yield func(end int) bool) {
	t := reader{s: text, yield: yield}
	if at := asciiLength(text); at < len(text) {
		t.fold(at)
	}
	t.read()
}

// AddressesAt is Addresses for a text of ASCII whose words somebody else has looked at: of each stretch of 64 bytes, words has
// the first bytes of those that MayBegin.
func AddressesAt(text string, words []uint64, yield func(end int) bool) {
	t := reader{s: text, words: words, yield: yield}
	t.read()
}

// A reader goes over a text once. It reads ASCII; anything else has been folded to it, where that makes sense.
type reader struct {
	s     string
	words []uint64 // at which cues may begin, unless they have to be found
	yield func(end int) bool
	other []int // ends of cues that were found while folding, ascending
	last  int   // the end that was yielded last
	done  bool
	signs [len(signs)]int // the next one of each
	sign  int             // the next one of all
}

// read finds the cues. Words are looked at by their first letters; everything else is done at the few that match.
func (t *reader) read() {
	t.sign, t.signs = 0, [len(signs)]int{-1, -1, -1, -1}
	if t.words != nil {
		t.readAt()
		return
	}
	before := uint64(0) // 1 if a letter came before
	for i := 0; i < len(t.s); i += partOf {
		letters, opening := t.letters(i), uint64(0)
		if t.sign < i+partOf {
			opening = t.openings(i)
		}
		starts := letters &^ (letters<<1 | before)
		before = letters >> (partOf - 1)
		for places := starts | opening; places != 0; places &= places - 1 {
			n := bits.TrailingZeros64(places)
			if !MayBegin(uint32(eight(t.s, i+n))) && opening>>(n&63)&1 == 0 {
				continue
			}
			if t.visit(i + n); t.done {
				return
			}
		}
	}
	t.flush(len(t.s), true)
}

// readAt is read where it is known at which words cues may begin.
func (t *reader) readAt() {
	for i, places := range t.words {
		if t.sign < (i+1)*partOf {
			places |= t.openings(i * partOf)
		}
		for ; places != 0; places &= places - 1 {
			if t.visit(i*partOf + bits.TrailingZeros64(places)); t.done {
				return
			}
		}
	}
}

// partOf is how many bytes are told apart at a time, since a step per word costs less than a step per eight bytes.
const partOf = 64

// letters has a bit for each byte of the part at i that is a letter.
func (t *reader) letters(i int) uint64 {
	mask := uint64(0)
	for end := i + partOf; i < end; i += 8 {
		w := eight(t.s, i)
		low := w&^highs | 0x20*each
		// Adding sets the high bit of a byte that is large enough, without a carry into the next.
		hit := (low + (0x80-'a')*each) &^ (low + (0x7f-'z')*each) &^ w & highs
		mask = mask>>8 | hit>>7*0x0102040810204080&^(1<<56-1)
	}
	return mask
}

// signs open some markup or an escape.
const signs = "<[#\\"

// openings has a bit for each byte of the part at i that is a sign. They are rare, so each is looked for by itself, far ahead.
func (t *reader) openings(i int) uint64 {
	mask := uint64(0)
	t.sign = len(t.s)
	for k := range t.signs {
		at := t.signs[k]
		for at < i+partOf {
			if at >= i {
				mask |= 1 << ((at - i) & 63)
			}
			n := strings.IndexByte(t.s[at+1:], signs[k])
			if at += n + 1; n < 0 {
				at = math.MaxInt
			}
		}
		t.signs[k] = at
		t.sign = min(t.sign, at)
	}
	return mask
}

// visit looks at what begins at i, a word, markup or an escape.
func (t *reader) visit(i int) {
	switch c := t.s[i]; {
	case c == '<' || c == '[' || c == '#':
		t.found(t.markup(i))
		return
	case c == '\\':
		if !t.isBreak(i) {
			return
		}
		i += 2
	case i > 0 && (isWord(t.s[i-1]) || t.isBreak(i-1)):
		return // in the middle of a name, or of an escape
	}
	if w := t.word(i); w.j-w.i > 1 && isStem(stem(t.text(w))) {
		t.found(t.cue(w))
	}
}

// isBreak reports whether an escaped line break is at i, of a text that nobody has unescaped.
func (t *reader) isBreak(i int) bool {
	return t.s[i] == '\\' && i+1 < len(t.s) && (t.s[i+1] == 'n' || t.s[i+1] == 't' || t.s[i+1] == 'r')
}

// Eight bytes at a time: a byte repeated eight times, and the high bit of each.
const (
	each  = 0x0101010101010101
	highs = 0x80 * each
)

// eight returns the eight bytes of s from i on, zeros behind its end.
func eight(s string, i int) uint64 {
	if i+8 <= len(s) {
		return binary.LittleEndian.Uint64([]byte(s[i : i+8]))
	}
	w := uint64(0)
	for n := 0; i+n < len(s); n++ {
		w |= uint64(s[i+n]) << (8 * n)
	}
	return w
}

// found yields the end of a cue; 0 stands for none. What folding found before it goes first.
func (t *reader) found(end int) {
	if end == 0 || t.done {
		return
	}
	end = t.padded(end)
	t.flush(end, false)
	t.tell(end)
}

// flush yields what folding found, up to end or all of it.
func (t *reader) flush(end int, all bool) {
	for len(t.other) > 0 && (all || t.other[0] <= end) {
		t.tell(t.other[0])
		t.other = t.other[1:]
	}
}

func (t *reader) tell(end int) {
	if end > t.last && !t.done {
		t.last = end
		t.done = !t.yield(end)
	}
}

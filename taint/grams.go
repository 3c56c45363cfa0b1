package taint

import (
	"encoding/binary"
	"math/bits"
	"unsafe"

	"github.com/bouncer-mcp/bouncer/inspect"
)

// Grams remembers, of every word that was said, the eight letters and digits that follow from its start on, whatever stands
// between them. It tells a value that was spelled in pieces, or that stood as plain words in a text, from one that nobody ever
// brought up.
type grams struct {
	few, many filter // few is full after a megabyte of text or two; a gram may be in either

	scratch compacted
}

const (
	gramLength   = 8
	minGrams     = 2  // of a value, all of which must have been said
	minMangled   = 12 // letters and digits of a value, below which chance would find it anywhere
	fewGramBits  = 20
	manyGramBits = 24
)

// filter is a Bloom filter of one hash that takes nothing more once a quarter of it is set.
type filter struct {
	bits []uint64 // a power of 2
	room int      // how many grams go in before the bits are counted again, negative once it is full
}

// add puts in the grams at some places of compacted text. It doesn't look which of them are new.
func (f *filter) add(compact *[compactCap + gramLength]byte, starts []uint16) {
	table, last := f.bits, uint64(len(f.bits)*64-1)
	for _, start := range starts {
		at := gramHash(binary.LittleEndian.Uint64(compact[start%compactCap:])) & last
		table[at/64] |= 1 << (at % 64)
	}
	if f.room -= len(starts); f.room < 0 {
		f.count()
	}
}

// count works out how much room is left. It is called for every so many grams, or it would cost more than they do.
func (f *filter) count() {
	quarter := len(f.bits) * 64 / 4
	least := quarter / 32
	f.room = quarter + least - f.ones()
	if f.room < least {
		f.room = -1
	}
}

func (f *filter) ones() (n int) {
	for _, w := range f.bits {
		n += bits.OnesCount64(w)
	}
	return n
}

func (f *filter) has(hash uint64) bool {
	if f.bits == nil {
		return false
	}
	at := hash & uint64(len(f.bits)*64-1)
	return f.bits[at/64]>>(at%64)&1 != 0
}

// spread is an odd number that mixes bits well.
const spread = 0x9e3779b97f4a7c15

// gramHash returns as many bits as the larger filter needs, those that depend on all of a gram.
func gramHash(gram uint64) uint64 {
	return (gram | 0x20*each) * spread >> (64 - manyGramBits) // small letters; digits have the bit anyway
}

const (
	stretchOf  = 512  // bytes of text whose words are compacted at a time
	wordsOf    = 64   // bytes of text whose words are told apart at a time
	compactCap = 1024 // more than that and what is left over
)

// compacted is a text without what stands between its words, and with no more of each than a gram may hold.
type compacted struct {
	text   [compactCap + gramLength]byte
	starts [compactCap]uint16 // of words, in text
	n, ns  uint
	inside uint64   // 1 if the last byte was part of a word
	room   int      // for the word under way
	cues   []uint64 // the words of the text at which a cue may begin: a bit for its first byte
}

// add takes in a text. It returns the words at which a cue may begin, since it looks at each of them anyway, nil if it does not know.
func (g *grams) add(text string, pay func(bytes int) bool) (cues []uint64) {
	if len(text) < gramLength {
		return nil
	}
	c := &g.scratch
	c.n, c.ns, c.inside, c.cues = 0, 0, 0, c.cues[:0]
	for len(text) >= wordsOf+gramLength { // so that eight bytes can be read at every place
		c.take(text)
		text = text[wordsOf:]
		if c.n >= stretchOf && !g.flush(c, pay) {
			return nil
		}
	}
	var rest [2*wordsOf + 2*gramLength]byte
	copy(rest[:], text)
	c.take(view(rest[:]))
	if len(text) > wordsOf {
		c.take(view(rest[wordsOf:]))
	}
	g.flush(c, pay)
	return c.cues
}

// take compacts the next bytes of a text. No index reaches the capacity; the remainders tell the compiler so.
func (c *compacted) take(text string) {
	b := (*[wordsOf + gramLength]byte)(unsafe.Slice(unsafe.StringData(text), len(text))) // which is only read
	words := wordMask(b)
	first, last := words&^(words<<1|c.inside), words&^(words>>1)|1<<63 // bytes of words
	cues := uint64(0)
	n, ns := c.n, c.ns
	if c.inside&words != 0 { // the word under way goes on
		binary.LittleEndian.PutUint64(c.text[n%compactCap:], binary.LittleEndian.Uint64(b[:]))
		n += uint(min(bits.TrailingZeros64(^words), c.room))
		last &= last - 1
	}
	for first != 0 { // counting ones is faster on some processors than to find the first one
		more := first & (first - 1)
		at := first ^ more
		from := bits.OnesCount64(at-1) & 63
		w := binary.LittleEndian.Uint64(b[from:])
		if inspect.MayBegin(uint32(w)) {
			cues |= at
		}
		c.starts[ns%compactCap] = uint16(n)
		binary.LittleEndian.PutUint64(c.text[n%compactCap:], w) // the next word replaces what is behind this one
		rest := last & (last - 1)
		n += uint(min(bits.OnesCount64((last^rest)-1)+1-from, gramLength))
		ns++
		first, last = more, rest|1<<63
	}
	c.n, c.ns, c.cues = n, ns, append(c.cues, cues)
	c.inside, c.room = words>>63, max(0, gramLength-bits.LeadingZeros64(^words))
}

// wordMask has a bit for each of the first 64 bytes that is a letter or a digit.
func wordMask(text *[wordsOf + gramLength]byte) uint64 {
	var mask uint64
	for i := 0; i < wordsOf; i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		low := w &^ highs
		hit := (between(low|0x20*each, 'a', 'z') | between(low, '0', '9')) &^ w & highs
		mask = mask>>8 | hit>>7*0x0102040810204080&^(1<<56-1)
	}
	return mask
}

// flush puts in the grams that are complete and keeps what the others have so far.
func (g *grams) flush(c *compacted, pay func(bytes int) bool) bool {
	done := c.ns
	for done > 0 && uint(c.starts[done-1])+gramLength > c.n {
		done--
	}
	if done > 0 && !g.insert(&c.text, c.starts[:done], pay) {
		return false
	}
	keep := max(c.n, gramLength) - gramLength
	copy(c.text[:], c.text[keep:c.n])
	for i, start := range c.starts[done:c.ns] {
		c.starts[i] = start - uint16(keep)
	}
	c.n, c.ns = c.n-keep, c.ns-done
	return true
}

func (g *grams) insert(compact *[compactCap + gramLength]byte, starts []uint16, pay func(bytes int) bool) bool {
	f, size := &g.few, 1<<fewGramBits
	if f.room < 0 {
		f, size = &g.many, 1<<manyGramBits
	}
	switch {
	case f.bits == nil:
		if !pay(size / 8) {
			return false
		}
		f.bits = make([]uint64, size/64)
		f.count()
	case f.room < 0:
		return false
	}
	f.add(compact, starts)
	return true
}

// mangled reports whether all of a value was said in pieces: its words as words, or each of its letters as one.
func (g *grams) mangled(value string) bool {
	if g.few.bits == nil || len(value) < minMangled || len(value) > maxWhole {
		return false
	}
	var compact [maxWhole]byte
	var starts [maxWhole]bool
	n := 0
	inside := false
	for i := range len(value) {
		if !isAlnum(value[i]) {
			inside = false
			continue
		}
		compact[n], starts[n] = value[i], !inside
		inside = true
		n++
	}
	return n >= minMangled && (g.hold(compact[:n], starts[:n]) || g.hold(compact[:n], nil))
}

// hold reports whether the grams that start at some places of compacted text, or at all, were said.
func (g *grams) hold(compact []byte, starts []bool) bool {
	found := 0
	for i := 0; i+gramLength <= len(compact); i++ {
		if starts != nil && !starts[i] {
			continue
		}
		hash := gramHash(binary.LittleEndian.Uint64(compact[i:]))
		if !g.few.has(hash) && !g.many.has(hash) {
			return false
		}
		found++
	}
	return found >= minGrams
}

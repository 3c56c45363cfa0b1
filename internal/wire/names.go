package wire

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
)

// sign condenses the name text[start:end] into 64 bits: length, first and last bytes.
func sign(text []byte, start, end int) uint64 {
	const spread = 0x9e3779b97f4a7c15
	n := end - start
	switch {
	case n >= 8:
		first := binary.LittleEndian.Uint64(text[start:])
		last := binary.LittleEndian.Uint64(text[end-8:])
		return (first^bits.RotateLeft64(last, 29))*spread + uint64(n)
	case start+8 <= len(text):
		return binary.LittleEndian.Uint64(text[start:])&(1<<(8*n)-1)*spread + uint64(n)
	}
	var w uint64
	for i := end - 1; i >= start; i-- {
		w = w<<8 | uint64(text[i])
	}
	return w*spread + uint64(n)
}

// distinct refuses an object that has a name twice, however it is escaped. Parsers keep the first, the last,
// or both.
func (s *scanner) distinct(members []member) bool {
	const few = 32
	if len(members) > few {
		return s.distinctMany(members)
	}
	var seen uint64 // a bit for each name; where it is new, so is the name
	for i, m := range members {
		bit := uint64(1) << (m.sign >> 58)
		if seen&bit != 0 {
			for _, earlier := range members[:i] {
				if earlier.sign == m.sign && s.twins(earlier, m) {
					return s.refuse(codeInvalid, int(m.at), "duplicate member")
				}
			}
		}
		seen |= bit
	}
	return true
}

// distinctMany does it with a table, so that an object of 100,000 members costs no 100,000 squared.
// The hash is seeded: a peer can't choose names that collide.
func (s *scanner) distinctMany(members []member) bool {
	size := 1 << bits.Len(uint(2*len(members)))
	if size > cap(s.slots) {
		s.slots = make([]int32, size)
	}
	slots := s.slots[:size]
	clear(slots)
	seed := maphash.MakeSeed()
	for i, m := range members {
		at := int(maphash.Bytes(seed, s.name(m))) & (size - 1)
		for slots[at] != 0 {
			if earlier := members[slots[at]-1]; earlier.sign == m.sign && s.twins(earlier, m) {
				return s.refuse(codeInvalid, int(m.at), "duplicate member")
			}
			at = (at + 1) & (size - 1)
		}
		slots[at] = int32(i + 1)
	}
	return true
}

func (s *scanner) twins(a, b member) bool {
	return bytes.Equal(s.name(a), s.name(b))
}

// Shadow finds a member of an object whose name differs from one of the known names only by case folding:
// a lenient decoder takes it for the known one.
func Shadow(v Value, known ...string) (name string, found bool) {
	for lit := range v.fields() {
		if decoded := lit.decoded(); folds(decoded, known...) {
			return string(decoded), true
		}
	}
	return "", false
}

// folds says whether name is none of the known names but equals one under simple Unicode case folding, where K
// also stands for the Kelvin sign and s for the long one.
func folds(name []byte, known ...string) bool {
	like := false
	for _, k := range known {
		if string(name) == k {
			return false
		}
		// A folded character takes up to three bytes where the known name has one.
		like = like || len(name) >= len(k) && len(name) <= 3*len(k) && bytes.EqualFold(name, []byte(k))
	}
	return like
}

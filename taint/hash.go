package taint

import (
	"encoding/binary"
	"math/bits"
)

// A hasher names values by 64 bits: SipHash-1-3 under the session's key, so that nobody who chooses values can choose
// which of them share a name.
type hasher struct{ k0, k1 uint64 }

func newHasher(key [16]byte) hasher {
	return hasher{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])}
}

// The families of keys. A folded key finds a value however it is spelled, a strict one knows exactly one spelling.
const (
	folded = 0
	strict = 1 << 8
)

// key names the canonical form of a value of some kind. It is never 0.
func (h hasher) key(family uint64, kind byte, canon []byte) uint64 {
	s := sip{
		h.k0 ^ 0x736f6d6570736575, h.k1 ^ 0x646f72616e646f6d,
		h.k0 ^ 0x6c7967656e657261, h.k1 ^ 0x7465646279746573,
	}
	s.take(uint64(len(canon))<<16 | family | uint64(kind))
	for len(canon) >= 8 {
		s.take(binary.LittleEndian.Uint64(canon))
		canon = canon[8:]
	}
	var last uint64
	for i, c := range canon {
		last |= uint64(c) << (8 * i)
	}
	s.take(last)
	s.v2 ^= 0xff
	s.round()
	s.round()
	s.round()
	return max(1, s.v0^s.v1^s.v2^s.v3)
}

type sip struct{ v0, v1, v2, v3 uint64 }

func (s *sip) take(word uint64) {
	s.v3 ^= word
	s.round()
	s.v0 ^= word
}

func (s *sip) round() {
	s.v0 += s.v1
	s.v1 = bits.RotateLeft64(s.v1, 13) ^ s.v0
	s.v0 = bits.RotateLeft64(s.v0, 32)
	s.v2 += s.v3
	s.v3 = bits.RotateLeft64(s.v3, 16) ^ s.v2
	s.v0 += s.v3
	s.v3 = bits.RotateLeft64(s.v3, 21) ^ s.v0
	s.v2 += s.v1
	s.v1 = bits.RotateLeft64(s.v1, 17) ^ s.v2
	s.v2 = bits.RotateLeft64(s.v2, 32)
}

package taint

import "hash/maphash"

// A memo knows texts that an index has taken in completely, so that what is said again, as most of what outputs say is,
// costs no more than a digest. A text falls out when another needs its place. Two texts of one digest would leave the
// values of the second unseen, like any other loss; nobody can look for such a pair, since the digest has a secret seed.
type memo struct {
	seed  maphash.Seed
	slots []uint64
}

// How many texts the two memos of an index know, powers of two.
const (
	memoTexts   = 1 << 15
	memoOutputs = 64
)

// digest names a text. What a text holds depends on where it stands, so equal texts in different roles are different.
func (m *memo) digest(text string, role uint64, slots int) uint64 {
	if m.slots == nil {
		m.seed, m.slots = maphash.MakeSeed(), make([]uint64, slots)
	}
	const spread = 0x9e3779b97f4a7c15
	return maphash.String(m.seed, text) + role*spread | 1 // 0 is an empty slot
}

func (m *memo) slot(digest uint64) *uint64 {
	return &m.slots[digest>>1&uint64(len(m.slots)-1)]
}

func (m *memo) knows(digest uint64) bool { return *m.slot(digest) == digest }

func (m *memo) learn(digest uint64) { *m.slot(digest) = digest }

package taint

import "hash/maphash"

// A memo knows texts that an index has taken in completely, so that what is said again, as most of what outputs say is,
// costs no more than a digest. A text falls out when another needs its place. Two texts of one digest would leave the
// values of the second unseen, like any other loss; nobody can look for such a pair, since the digest has a secret seed.
type memo struct {
	seed  maphash.Seed
	slots []uint64
}

// How many texts the memos of an index know, powers of two. Cells are short texts and URLs, of which there are too many to
// keep them among the others, and those that come again do so soon.
const (
	memoTexts   = 1 << 15
	memoCells   = 1 << 12
	memoOutputs = 64
)

// ready gives the memo its slots, if there is memory for them.
func (m *memo) ready(slots int, pay func(bytes int) bool) bool {
	if m.slots == nil && pay(8*slots) {
		m.seed, m.slots = maphash.MakeSeed(), make([]uint64, slots)
	}
	return m.slots != nil
}

// digest names a text. What a text holds depends on where it stands, so equal texts in different roles are different.
func (m *memo) digest(text string, role uint64) uint64 {
	return maphash.String(m.seed, text) + role*spread | 1 // 0 is an empty slot
}

// memoWays is how many texts share a bucket, a line of the processor's cache: the oldest of them falls out.
const memoWays = 8

func (m *memo) bucket(digest uint64) *[memoWays]uint64 {
	at := digest >> 1 & uint64(len(m.slots)-1) &^ (memoWays - 1)
	return (*[memoWays]uint64)(m.slots[at:])
}

func (m *memo) knows(digest uint64) bool {
	for _, known := range m.bucket(digest) {
		if known == digest {
			return true
		}
	}
	return false
}

func (m *memo) learn(digest uint64) {
	b := m.bucket(digest)
	copy(b[1:], b[:])
	b[0] = digest
}

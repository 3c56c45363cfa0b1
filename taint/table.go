package taint

import (
	"math/bits"
	"unsafe"
)

// An entry is what the index knows of one key.
type entry struct {
	key   uint64 // 0: a free slot
	place uint32 // where the worst of marks was met first, 0 when nobody needs to know
	marks Marks
	pos   uint16 // where in the place
}

const (
	entrySize  = int(unsafe.Sizeof(entry{}))
	segments   = 256
	firstSlots = 8
)

// A table finds entries by their keys. Each segment holds the keys with the same first byte and grows by itself, a quarter
// at a time: it is nearly full at any size, and no growth needs much memory or time at once.
type table struct {
	segment [segments]segment
	entries int
}

type segment struct {
	slots []entry
	used  int
}

// home is where a key belongs. It rises with the key, so that growing copies from front to back.
func (s *segment) home(key uint64) int {
	at, _ := bits.Mul64(key<<8, uint64(len(s.slots)))
	return int(at)
}

// find returns the entry of a key, nil when there is none. It is good until the next insert.
func (t *table) find(key uint64) *entry {
	s := &t.segment[key>>56]
	if len(s.slots) == 0 {
		return nil
	}
	for i := s.home(key); ; i++ {
		if i == len(s.slots) {
			i = 0
		}
		switch s.slots[i].key {
		case key:
			return &s.slots[i]
		case 0:
			return nil
		}
	}
}

// insert adds a key that is not there. If that takes memory, pay must agree to it; otherwise nothing happens.
func (t *table) insert(key uint64, pay func(bytes int) bool) *entry {
	s := &t.segment[key>>56]
	if s.used+1 > len(s.slots)*7/8 {
		size := max(firstSlots, len(s.slots)+len(s.slots)/4)
		if !pay((size - len(s.slots)) * entrySize) {
			return nil
		}
		old := s.slots
		s.slots = make([]entry, size)
		for _, e := range old {
			if e.key != 0 {
				*s.free(e.key) = e
			}
		}
	}
	s.used++
	t.entries++
	e := s.free(key)
	e.key = key
	return e
}

func (s *segment) free(key uint64) *entry {
	for i := s.home(key); ; i++ {
		if i == len(s.slots) {
			i = 0
		}
		if s.slots[i].key == 0 {
			return &s.slots[i]
		}
	}
}

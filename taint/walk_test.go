package taint

import (
	"math/rand/v2"
	"testing"
)

// TestStringEnd compares the many bytes at a time with one.
func TestStringEnd(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		doc := []byte{'"'}
		for range r.IntN(40) {
			doc = append(doc, "abc#!\"\\\\ \x01\x80\xdc\xff"[r.IntN(13)])
		}
		want := 1
		for want < len(doc) && doc[want] != '"' {
			if doc[want] == '\\' {
				want++
			}
			want++
		}
		want = min(want+1, len(doc))
		if got := stringEnd(doc, 0); got != want {
			t.Fatalf("%q: %d, want %d", doc, got, want)
		}
	}
}

func TestMemoKeepsNeighbours(t *testing.T) {
	var m memo
	if !m.ready(64, func(int) bool { return true }) {
		t.Fatal("not ready")
	}
	const bucket = 64 << 1 // digests so far apart share one
	for n := uint64(1); n <= memoWays+1; n++ {
		m.learn(n*bucket | 1)
	}
	if m.knows(1*bucket | 1) {
		t.Error("the oldest must have fallen out")
	}
	for n := uint64(2); n <= memoWays+1; n++ {
		if !m.knows(n*bucket | 1) {
			t.Errorf("forgot number %d", n)
		}
	}
}

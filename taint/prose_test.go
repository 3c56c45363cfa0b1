package taint

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestSentences: lines that are passed over carry nothing.
func TestSentences(t *testing.T) {
	pieces := strings.Fields("the report was read by nobody in a room, and it is ready. Nobody asked; they Wrote to me@x.com or IBM \"quoted\" " +
		"don't note: - * | { } [ ] dot at x.com U012345678 12 4711 #ops /etc/x +49 , . ! ? ( ) (at) _ ` : \\ <b> é \t \r a,b c|d")
	r := rand.New(rand.NewPCG(7, 3))
	passed := 0
	for range 3000 {
		var b strings.Builder
		for range 1 + r.IntN(6) {
			plain := r.IntN(3)
			for range r.IntN(24) {
				if plain > 0 {
					b.WriteString(pieces[r.IntN(12)] + " ")
					continue
				}
				b.WriteString(pieces[r.IntN(len(pieces))] + " "[r.IntN(2):])
			}
			b.WriteString(" .\n"[r.IntN(3):])
		}
		s := b.String()
		learned := func(search func(r *recorder)) map[uint64]Marks {
			x, all := New([16]byte{1}), map[uint64]Marks{}
			x.Notes(func(n Note) { all[n.Key] |= n.Marks })
			r := x.recorder()
			defer r.release()
			r.begin(s)
			r.ascii = isASCII(s)
			search(r)
			return all
		}
		got := learned(func(r *recorder) { r.linesOf(s, 0, len(s), 0) })
		want := learned(func(r *recorder) {
			start := 0
			for line := range strings.SplitSeq(s, "\n") {
				r.line(line, start, 0)
				if start += len(line) + 1; isSentence(line) && nextTrigger(line, 0) == len(line) {
					passed++
				}
			}
		})
		if !maps.Equal(got, want) {
			t.Fatalf("%q: %d values, want %d", s, len(got), len(want))
		}
	}
	if passed < 500 {
		t.Errorf("only %d lines were passed over", passed)
	}
}

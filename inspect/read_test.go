package inspect

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestParts compares the many bytes at a time with one.
func TestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(300) {
			b.WriteByte("azAZ`{@[<#\\0_ \n\x80\xe1\xff"[r.IntN(18)])
		}
		s := b.String()
		reader := reader{s: s, signs: [len(signs)]int{-1, -1, -1, -1}}
		for i := 0; i < len(s); i += partOf {
			letters, opening := reader.letters(i), reader.openings(i)
			for n := range partOf {
				letter, sign := false, false
				if i+n < len(s) {
					c := s[i+n]
					letter, sign = c|0x20-'a' < 26, strings.IndexByte(signs, c) >= 0
				}
				if letters>>n&1 != 0 != letter || opening>>n&1 != 0 != sign {
					t.Fatalf("%q: byte %d: letter %v, sign %v", s, i+n, !letter, !sign)
				}
			}
		}
	}
}

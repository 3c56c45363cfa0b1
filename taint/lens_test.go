package taint

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// What counts as simple has no other spelling.
func TestSimple(t *testing.T) {
	simple := 0
	check := func(s string) {
		if isSimple(s) {
			simple++
			spellings(s, func(other string) bool {
				t.Errorf("%q is simple and also reads %q", s, other)
				return true
			})
		}
	}
	for _, s := range []string{"bob@x.com", "Sarah Baker", "4711", "C0123ABC", "bob at x.com", "bob dot x", "xn--a.com", "m a r k", "0x06060606"} {
		check(s)
	}
	if !isSimple("sarah.baker@gmail.com") || !isSimple("Sarah Baker") || !isSimple("4711") {
		t.Error("nothing is simple")
	}
	r := rand.New(rand.NewPCG(3, 4))
	const signs = "abcxABCX0123 .-_@,;:!?\"'#$)\n+/="
	for range 300_000 {
		var b strings.Builder
		for range r.IntN(20) {
			if r.IntN(6) == 0 {
				b.WriteString([]string{" at ", " dot ", "xn--", "hxxp", "com", "%40", "6d61", "bWFy"}[r.IntN(8)])
			} else {
				b.WriteByte(signs[r.IntN(len(signs))])
			}
		}
		check(b.String())
	}
	if simple < 10_000 {
		t.Errorf("only %d were simple", simple)
	}
}

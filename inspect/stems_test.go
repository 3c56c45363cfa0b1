package inspect

import (
	"strings"
	"testing"
)

// TestFilter holds the filter against the stems, and says what it must be if it is not.
func TestFilter(t *testing.T) {
	var want [1 << filterBits / 8]byte
	for _, s := range strings.Fields(stems) {
		h := stem(s) * mix >> (32 - filterBits)
		want[h>>3] |= 1 << (h & 7)
		if !isStem(stem(s)) {
			t.Errorf("%q passes no more", s)
		}
	}
	if filter != string(want[:]) {
		t.Errorf("filter must be %q", want)
	}
}

// TestMayBegin holds the pairs of letters against the stems in the same way.
func TestMayBegin(t *testing.T) {
	var want [1 << 10 / 8]byte
	for _, s := range strings.Fields(stems) {
		for _, next := range []string{" the", "\x00\x00\x00", "...", "s x", "\""} {
			if key := stem(s + next); len(s) < 4 && !MayBegin(key) {
				t.Errorf("%q passes no more", s+next)
			}
		}
		if len(s) < 4 {
			at := int(s[0]&31) | int(s[1]&31)<<5
			want[at>>3] |= 1 << (at & 7)
		}
	}
	if short != string(want[:]) {
		t.Errorf("short must be %q", want)
	}
}

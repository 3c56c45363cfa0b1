package inspect

import (
	"strings"
	"testing"
)

// TestFilter holds the filter against the stems, and says what it must be if it is not.
func TestFilter(t *testing.T) {
	want := []byte(strings.Repeat("0", 1<<filterBits))
	for _, s := range strings.Fields(stems) {
		if want[stem(s)*mix>>(32-filterBits)] |= 1; !isStem(stem(s)) {
			t.Errorf("%q is no stem any more", s)
		}
		if len(s) < 4 {
			want[pair(stem(s))] |= 2
		}
		for _, next := range []string{" the", "\x00\x00\x00", "...", "s x", "\""} {
			if key := stem(s + next); !MayBegin(key) {
				t.Errorf("%q passes no more", s+next)
			}
		}
	}
	if filter != string(want) {
		t.Errorf("filter must be %q", want)
	}
}

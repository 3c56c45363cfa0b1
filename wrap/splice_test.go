package wrap

import (
	"bytes"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

func TestSpliceRefuses(t *testing.T) {
	for _, list := range [][]Splice{
		{{Start: -1, End: 0}}, {{Start: 2, End: 1}}, {{Start: 0, End: 4}}, {{Start: 1, End: 2}, {Start: 1, End: 3}},
	} {
		if got, err := splice([]byte("abc"), list); err == nil {
			t.Errorf("%v gave %q", list, got)
		}
	}
}

// FuzzSplices asserts that what makes one text of another also leads back.
func FuzzSplices(f *testing.F) {
	for _, pair := range [][2]string{{"", ""}, {"abc", "abc"}, {"abc", "xabcx"}, {"aaa", "aa"}, {"abc", ""}, {"é", "è"}} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, before, after []byte) {
		d := difference(before, after)
		made, err := splice(before, []Splice{d})
		if err != nil || !bytes.Equal(made, after) {
			t.Fatalf("%+v makes %q, %v", d, made, err)
		}
		if back := jsonc.Apply(made, reversed(before, []Splice{d})); !bytes.Equal(back, before) {
			t.Fatalf("and leads back to %q", back)
		}
	})
}

// TestReversed takes the many splices of a plan back.
func TestReversed(t *testing.T) {
	f := config(`{"mcpServers": {"a": {"args": ["x"], "command": "srv"}, "b": {"command": "srv"}}}`)
	p := mustWrap(t, f, options())
	if n := len(p.splices()); n < 6 {
		t.Errorf("only %d splices", n)
	}
	if back := jsonc.Apply(p.After, reversed(p.Before, p.splices())); !bytes.Equal(back, f.Data) {
		t.Errorf("got %s", back)
	}
	p.edits = p.edits[1:] // put together from other plans
	if made, err := splice(p.Before, p.splices()); err != nil || !bytes.Equal(made, p.After) {
		t.Errorf("got %s, %v", made, err)
	}
}

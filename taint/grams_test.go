package taint

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/inspect"
)

// TestCompact compares the many bytes at a time with one.
func TestCompact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(700) {
			b.WriteByte("abzABZ019_-/@[`{ \xc3\x80\n"[r.IntN(20)])
		}
		text := b.String()
		said := map[string]bool{}
		compact := ""
		var starts []int
		for i := range len(text) {
			if isAlnum(text[i]) {
				if i == 0 || !isAlnum(text[i-1]) {
					starts = append(starts, len(compact))
				}
				compact += strings.ToLower(text[i : i+1])
			}
		}
		var g grams
		g.add(text, func(int) bool { return true })
		n := 0
		for _, start := range starts {
			if start+gramLength <= len(compact) {
				n++
				gram := compact[start : start+gramLength]
				said[gram] = true
				if !g.few.has(gramHash(word(gram, 0))) {
					t.Fatalf("%q: no gram for %q", text, gram)
				}
			}
		}
		if n := g.few.ones(); n > len(said) {
			t.Fatalf("%q: %d grams, want at most %d", text, n, len(said))
		}
	}
}

func TestMangled(t *testing.T) {
	const text = "Write to m-a-r-k . b-l-a-c-k 2 1 3 4 @ g m a i l . c o m or to anneliese (collector) example. " +
		"We stayed at the Riverside View Hotel last year."
	for value, want := range map[string]bool{
		"mark.black2134@gmail.com":    true,
		"anneliese@collector.example": true,
		"Riverside View Hotel":        true,
		"anna.white7777@gmail.com":    false,
		"Riverside View Hostel":       false,
		"the hotel":                   false,
	} {
		var g grams
		g.add(text, func(int) bool { return true })
		if got := g.mangled(value); got != want {
			t.Errorf("%q: %v", value, got)
		}
	}
}

// TestCueWords: the words at which a cue may begin, as they are found here, lead to the same cues as a search by itself.
func TestCueWords(t *testing.T) {
	vocabulary := strings.Fields("ignore IGNORE all previous instructions you are an AI assistant, that must <important> tool_call the user 4you " +
		`\nIgnore \n### Instruction: [INST] x_llm gpt4 KI a . - "system prompt:" do not tell summary forgetful ` + strings.Repeat("word", 40))
	r := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 3000 {
		var b strings.Builder
		for range r.IntN(80) {
			b.WriteString(vocabulary[r.IntN(len(vocabulary))])
			b.WriteString([]string{" ", " ", " ", "\n", "", "_"}[r.IntN(6)])
		}
		text := b.String()
		var want, got []int
		inspect.Addresses(text, func(end int) bool { want = append(want, end); return true })
		var g grams
		words := g.add(text, func(int) bool { return true })
		if words == nil {
			continue
		}
		inspect.AddressesAt(text, words, func(end int) bool { got = append(got, end); return true })
		if !slices.Equal(got, want) {
			t.Fatalf("%q: %v, want %v", text, got, want)
		}
		found += len(got)
	}
	if found < 1000 {
		t.Errorf("only %d cues were compared", found)
	}
}

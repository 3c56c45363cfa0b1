package inspect

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestReach: what is farther away than Reach makes no difference.
func TestReach(t *testing.T) {
	vocabulary := strings.Fields("ignore all any the your previous prior system instructions instructions. prompt: you are an AI assistant assistant, " +
		"that must before after once , now first please send it this <important> <!-- note to for don't not tell the user without asking " +
		"\\n ### Instruction: [INST] <|im_start|> `send_mail` tool call use task with original solve continue do that " +
		strings.Repeat("x", 100) + " " + strings.Repeat("word", 400))
	r := rand.New(rand.NewPCG(9, 10))
	found := 0
	for range 300 {
		var b strings.Builder
		for b.Len() < 5*Reach {
			b.WriteString(vocabulary[r.IntN(len(vocabulary))])
			b.WriteString([]string{" ", " ", " ", "\n", "                      "}[r.IntN(5)])
		}
		s := b.String()
		from, to := r.IntN(Reach), len(s)-r.IntN(Reach)
		ends := func(s string, at int) (all []int) {
			Addresses(s, func(end int) bool {
				if end += at; end > 2*Reach && end < len(b.String())-2*Reach {
					all = append(all, end)
				}
				return true
			})
			return all
		}
		whole, part := ends(s, 0), ends(s[from:to], from)
		if !slices.Equal(whole, part) {
			t.Fatalf("%v in the whole text, %v in a part of it", whole, part)
		}
		found += len(whole)
	}
	if found < 1000 {
		t.Errorf("only %d cues were compared", found)
	}
}

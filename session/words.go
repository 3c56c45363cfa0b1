package session

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bouncer-mcp/bouncer/taint"
)

const (
	maxWords  = 20_000 // of a text that are compared one by one
	maxSteps  = 300    // between two texts, before all between their common ends counts as replaced
	maxEdits  = 12     // shown of one text
	maxRun    = 400    // characters shown of one removal or addition
	longWord  = 40     // bytes beyond which a word is taken apart
	nearWords = 2      // common words between two edits that make them one
	context   = 5      // words shown before an edit
)

// edits compares two texts word by word, whatever white space parts the words, and returns the first places where they differ
// and how many more there are.
func edits(old, now string) (list []Edit, more int) {
	a, b := splitWords(old), splitWords(now)
	for _, s := range compareWords(number(old, now, a, b)) {
		if len(list) == maxEdits {
			more++
			continue
		}
		list = append(list, Edit{
			After:   after(now, b[:s.b0]),
			Removed: run(old, a[s.a0:s.a1]),
			Added:   run(now, b[s.b0:s.b1]),
		})
	}
	return list, more
}

// span is one word of a text, by position.
type span struct{ start, end int }

// splitWords cuts a text at white space, a long word also behind punctuation, and scripts that set no spaces at every
// character. Odd spaces are no white space: they belong to a word, and show.
func splitWords(s string) []span {
	var list []span
	for i := 0; i < len(s); {
		if isBlank(s[i]) {
			i++
			continue
		}
		end := wordEnd(s, i)
		if len(list) == maxWords {
			end = len(s)
		}
		list = append(list, span{i, end})
		i = end
	}
	return list
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

func wordEnd(s string, start int) int {
	plain := start // the end of the word if it turns out long
	for i := start; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		dense := r >= 0x2e80
		switch {
		case isBlank(s[i]):
			return i
		case dense && i > start:
			return i
		case i-start >= longWord && plain > start:
			return plain
		case i-start >= longWord:
			return i
		}
		i += size
		if dense {
			return i
		}
		if strings.IndexByte(",;:{}[]()<>/?&=\"", s[i-1]) >= 0 {
			plain = i
		}
	}
	return len(s)
}

// number gives equal words equal numbers.
func number(old, now string, a, b []span) (x, y []int32) {
	numbers := make(map[string]int32, len(a))
	of := func(text string, spans []span) []int32 {
		list := make([]int32, len(spans))
		for i, s := range spans {
			word := text[s.start:s.end]
			n, ok := numbers[word]
			if !ok {
				n = int32(len(numbers))
				numbers[word] = n
			}
			list[i] = n
		}
		return list
	}
	return of(old, a), of(now, b)
}

// swap says that the words a0 to a1 gave way to the words b0 to b1.
type swap struct{ a0, a1, b0, b1 int }

// compareWords finds a shortest list of swaps, if it is short, and one that covers all between the common ends if not.
func compareWords(a, b []int32) []swap {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	whole := swap{head, len(a) - tail, head, len(b) - tail}
	if whole.a0 == whole.a1 && whole.b0 == whole.b1 {
		return nil
	}
	var list []swap
	for _, s := range shortest(a[whole.a0:whole.a1], b[whole.b0:whole.b1]) {
		s = swap{s.a0 + head, s.a1 + head, s.b0 + head, s.b1 + head}
		if last := len(list) - 1; last >= 0 && s.a0-list[last].a1 <= nearWords {
			list[last].a1, list[last].b1 = s.a1, s.b1
			continue
		}
		list = append(list, s)
	}
	return list
}

// shortest is Myers' greedy algorithm: after d steps, reach[k] is how far into a one gets on the diagonal k = x - y.
func shortest(a, b []int32) []swap {
	if len(a) == 0 || len(b) == 0 {
		return []swap{{0, len(a), 0, len(b)}}
	}
	reach := make([]int32, 2*maxSteps+3)
	const zero = maxSteps + 1
	var history [][]int32 // reach[-d..d] before step d
	for d := 0; d <= maxSteps; d++ {
		history = append(history, append([]int32(nil), reach[zero-d-1:zero+d+2]...))
		for k := -d; k <= d; k += 2 {
			x := int(reach[zero+k-1]) + 1
			if k == -d || k < d && reach[zero+k-1] < reach[zero+k+1] {
				x = int(reach[zero+k+1])
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			reach[zero+k] = int32(x)
			if x >= len(a) && y >= len(b) {
				return walkBack(history, len(a), len(b))
			}
		}
	}
	return []swap{{0, len(a), 0, len(b)}}
}

// walkBack follows the steps from the end to the start.
func walkBack(history [][]int32, x, y int) []swap {
	var reversed []swap
	for d := len(history) - 1; d > 0; d-- {
		before, k := history[d], x-y
		at := func(k int) int { return int(before[k+d+1]) }
		from := k - 1
		if k == -d || k < d && at(k-1) < at(k+1) {
			from = k + 1
		}
		px := at(from)
		py := px - from
		// From px, py one step leads to the diagonal k, and then common words lead to x, y.
		step := swap{px, px, py, py + 1}
		if from == k-1 {
			step = swap{px, px + 1, py, py}
		}
		if last := len(reversed) - 1; last >= 0 && step.a1 == reversed[last].a0 && step.b1 == reversed[last].b0 {
			reversed[last].a0, reversed[last].b0 = step.a0, step.b0
		} else {
			reversed = append(reversed, step)
		}
		x, y = px, py
	}
	for i, j := 0, len(reversed)-1; i < j; i, j = i+1, j-1 {
		reversed[i], reversed[j] = reversed[j], reversed[i]
	}
	return reversed
}

// after shows the last words before a place.
func after(text string, before []span) string {
	if len(before) == 0 {
		return ""
	}
	from := before[max(0, len(before)-context)].start
	s := blanksJoined(text[from:before[len(before)-1].end])
	if runes := []rune(s); len(runes) > maxName {
		s = string(runes[len(runes)-maxName:])
	}
	return inside(taint.Visible(s, 2*maxName))
}

// run shows some words of a text, from a long run its beginning and its end.
func run(text string, spans []span) string {
	if len(spans) == 0 {
		return ""
	}
	const end = maxRun / 4
	s := text[spans[0].start:spans[len(spans)-1].end]
	if len(s) > 16*maxRun { // before anything looks at all of it
		head := strings.ToValidUTF8(s[:4*maxRun], "")
		tail := strings.ToValidUTF8(s[len(s)-4*maxRun:], "")
		return cut(blanksJoined(head), maxRun-end) + fmt.Sprintf(" ... (%d characters) ... ", utf8.RuneCountInString(s)-maxRun) + lastOf(blanksJoined(tail), end)
	}
	s = blanksJoined(s)
	n := utf8.RuneCountInString(s)
	if n <= maxRun {
		return inside(taint.Visible(s, maxRun))
	}
	return cut(s, maxRun-end) + fmt.Sprintf(" ... (%d characters) ... ", n-maxRun) + lastOf(s, end)
}

func cut(s string, n int) string {
	return inside(taint.Visible(string([]rune(s)[:min(n, utf8.RuneCountInString(s))]), n))
}

func lastOf(s string, n int) string {
	runes := []rune(s)
	return inside(taint.Visible(string(runes[max(0, len(runes)-n):]), n))
}

// inside makes a text fit for quotes.
func inside(s string) string { return strings.ReplaceAll(s, `"`, `'`) }

// blanksJoined makes one space of every run of white space.
func blanksJoined(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r < utf8.RuneSelf && isBlank(byte(r)) }), " ")
}

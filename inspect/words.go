package inspect

import "strings"

// A word is where one stands in the text: letters, digits and underscores, and all that is not ASCII.
type word struct{ i, j int }

func isWord(c byte) bool {
	return c|0x20-'a' < 26 || c-'0' < 10 || c == '_' || c >= 0x80
}

// maxGap is how far apart two words of a phrase may stand: quotes, markup, an indented line break.
const maxGap = 24

// longestWord is how much of a word is read at a time: what is longer counts as several, and stands in no phrase that we know.
const longestWord = 128

// Reach is more bytes of ASCII than a phrase has with all that is looked at around it, some thirty words of which a dozen may be of
// any length: whether text addresses anybody does not depend on what is farther away.
const Reach = 4 << 10

// word returns the word that begins at i.
func (t *reader) word(i int) word {
	j := i
	for j < len(t.s) && isWord(t.s[j]) && j-i < longestWord {
		j++
	}
	return word{i, j}
}

func (t *reader) text(w word) string { return t.s[w.i:w.j] }

// next returns the word after place j unless a sentence ends in between.
func (t *reader) next(j int) (word, bool) {
	j = t.padded(j)
	i := j
	for ; i < len(t.s) && !isWord(t.s[i]); i++ {
		if i-j == maxGap || isStop(t.s[i]) {
			return word{}, false
		}
	}
	if i > j && i+1 < len(t.s) && t.s[i-1] == '\\' && t.s[i]|0x20 == 'n' && isWord(t.s[i+1]) {
		i++
	}
	w := t.word(i)
	return w, w.j > w.i
}

// prev returns the word before place i unless a sentence ends in between.
func (t *reader) prev(i int) (word, bool) {
	j := i
	for ; j > 0 && !isWord(t.s[j-1]) && t.s[j-1] != padding; j-- {
		if i-j == maxGap || isStop(t.s[j-1]) {
			return word{}, false
		}
	}
	for j > 0 && t.s[j-1] == padding {
		j--
	}
	w := word{j, j}
	for w.i > 0 && isWord(t.s[w.i-1]) && j-w.i <= maxWord {
		w.i--
	}
	if w.i+1 < w.j && w.i > 0 && t.s[w.i-1] == '\\' && t.s[w.i] == 'n' {
		w.i++
	}
	return w, w.j > w.i
}

// maxWord bounds how far back the start of a word is looked for, so that a text of one word costs no more than another.
const maxWord = 40

func isStop(c byte) bool { return c == '.' || c == '!' || c == '?' || c == ';' || c == ':' }

// gap returns what stands between place j and the next word, without padding and at most maxGap bytes of it.
func (t *reader) gap(j int) string {
	j = t.padded(j)
	i := j
	for i < len(t.s) && i-j < maxGap && !isWord(t.s[i]) {
		i++
	}
	return t.s[j:i]
}

// closes says whether a phrase that ends at j is at the end of something: a clause, a line, the text.
func (t *reader) closes(j int) bool {
	g := t.gap(j)
	return t.padded(j)+len(g) == len(t.s) || strings.ContainsAny(g, ",.:;!?)\n") || strings.Contains(g, " - ") || strings.Contains(g, "--")
}

// opens says whether a phrase that begins at i is at the start of something: a sentence, a line, the text.
func (t *reader) opens(i int) bool {
	j := i
	for j > 0 && i-j < maxGap && !isWord(t.s[j-1]) {
		j--
	}
	return j == 0 || strings.ContainsAny(t.s[j:i], ".:;!?([{<>#*\n") || t.s[j-1] == 'n' && j > 1 && t.s[j-2] == '\\'
}

// A pattern is a list of steps with a space between them. A step is words with | between them, of which one must come;
// ~ behind a word stands for any ending. A step that ends in ? may be left out; one that ends in * may be, or repeated.

// ahead matches a pattern with the words from place j on and returns where the last one ends, 0 without a match.
func (t *reader) ahead(j int, pattern string) int {
	for pattern != "" {
		step := pattern
		if at := strings.IndexByte(pattern, ' '); at >= 0 {
			step, pattern = pattern[:at], pattern[at+1:]
		} else {
			pattern = ""
		}
		words, must, most := quantity(step)
		n := 0
		for ; n < most; n++ {
			w, ok := t.next(j)
			if !ok || !is(t.text(w), words) {
				break
			}
			j = w.j
		}
		if n == 0 && must {
			return 0
		}
	}
	return j
}

// back matches a pattern with the words up to place i and returns where the first one begins, -1 without a match.
func (t *reader) back(i int, pattern string) int {
	for pattern != "" {
		at := strings.LastIndexByte(pattern, ' ')
		words, must, most := quantity(pattern[at+1:])
		pattern = pattern[:max(at, 0)]
		n := 0
		for ; n < most; n++ {
			w, ok := t.prev(i)
			if !ok || !is(t.text(w), words) {
				break
			}
			i = w.i
		}
		if n == 0 && must {
			return -1
		}
	}
	return i
}

// quantity takes the mark off a step.
func quantity(step string) (words string, must bool, most int) {
	switch step[len(step)-1] {
	case '?':
		return step[:len(step)-1], false, 1
	case '*':
		return step[:len(step)-1], false, 6
	}
	return step, true, 1
}

// is says whether a word is among words, whatever its case.
func is(s, words string) bool {
	if s == "" {
		return false
	}
	first := lower(s[0])
	for i := 0; ; i++ {
		n := strings.IndexByte(words[i:], first)
		if n < 0 {
			return false
		}
		if i += n; i > 0 && words[i-1] != '|' {
			continue
		}
		one := words[i:]
		if end := strings.IndexByte(one, '|'); end > 0 {
			one = one[:end]
		}
		if rest := one[:len(one)-1]; one[len(rest)] == '~' {
			if len(s) >= len(rest) && sameLetters(s[:len(rest)], rest) {
				return true
			}
		} else if len(s) == len(one) && sameLetters(s, one) {
			return true
		}
	}
}

func lower(c byte) byte {
	if c-'A' < 26 {
		c |= 0x20
	}
	return c
}

// A small is a word in lower case, for a switch; longer ones than any we know are empty.
type small struct {
	b [12]byte
	n int
}

func lowered(s string) (w small) {
	if len(s) > len(w.b) {
		return w
	}
	for i := range len(s) {
		w.b[i] = lower(s[i])
	}
	w.n = len(s)
	return w
}

// sameLetters compares s with lower-case letters of the same length.
func sameLetters(s, want string) bool {
	for i := range len(s) {
		if lower(s[i]) != want[i] {
			return false
		}
	}
	return true
}

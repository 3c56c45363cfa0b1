package taint

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxPhrase is how many capitalised words make one name.
const maxPhrase = 5

// scanTokens emits whatever in text[lo:hi] could be meant as a value: each word, the words that single signs join into one
// token, numbers, phrases in quotes, and names of one to five capitalised words. It is for the little text behind words that
// address the agent and for what the person said; addresses and the like are the scanner's. canon is the value's folded form,
// valid until emit returns.
func scanTokens(text string, lo, hi int, emit func(canon []byte, start, end int)) {
	t := tokenizer{text: text, end: min(hi, len(text)), emit: emit}
	for i := lo; i < t.end; {
		start, next := t.word(i)
		if start == next {
			break
		}
		t.take(start, next)
		i = next
	}
	quotes := scanner{text: text, found: &t, unmasked: len(text)}
	for i := lo; i < t.end; i++ {
		if c := text[i]; (c == '"' || c == '\'' || c == '`') && (i == 0 || !isNameByte(text[i-1])) {
			quotes.quoted(i)
		}
	}
}

type tokenizer struct {
	text  string
	end   int
	canon []byte
	emit  func(canon []byte, start, end int)
	names [maxPhrase]int // where the last capitalised words of the run under way start
	run   int            // how many there are
	last  int            // where the run's last word ends
	date  span           // the last token, if it starts with a digit
}

// typed takes a phrase in quotes.
func (t *tokenizer) typed(_ byte, canon []byte, start, end int) {
	if end <= t.end {
		t.emit(canon, start, end)
	}
}

func (t *tokenizer) put(start, end int) {
	t.canon = fold(t.canon[:0], t.text[start:end])
	if len(t.canon) > 0 {
		t.emit(t.canon, start, end)
	}
}

// word finds the next token at or behind i: words joined by single signs.
func (t *tokenizer) word(i int) (start, end int) {
	for i < t.end {
		if n := t.letter(i); n > 0 {
			break
		}
		i++
	}
	start = i
	for i < t.end {
		if n := t.letter(i); n > 0 {
			i += n
			continue
		}
		if i == start || strings.IndexByte("_-./\\@:+#&'=,", t.text[i]) < 0 || i+1 >= t.end || t.letter(i+1) == 0 {
			break
		}
		i++
	}
	return start, i
}

// letter returns the size of the letter or digit at i, or 0.
func (t *tokenizer) letter(i int) int {
	if c := t.text[i]; c < utf8.RuneSelf {
		if isAlnum(c) {
			return 1
		}
		return 0
	}
	r, size := utf8.DecodeRuneInString(t.text[i:t.end])
	if r == utf8.RuneError && size == 1 || !isWordRune(r) {
		return 0
	}
	return size
}

// take emits a token, its parts, and the names that end with it.
func (t *tokenizer) take(start, end int) {
	token := t.text[start:end]
	t.put(start, end)
	t.number(token, start, end)
	joined := false
	for lo, i := start, start; i <= end; i++ {
		if i == end || strings.IndexByte("/\\@:+#&'=,", t.text[i]) >= 0 {
			if joined = joined || i < end; joined && i > lo {
				t.put(lo, i)
			}
			lo = i + 1
		}
	}
	for lo, i := start, start; i <= end; i++ {
		if i == end || !isAlnum(t.text[i]) && t.text[i] < utf8.RuneSelf {
			if i > lo && i-lo < len(token) {
				t.put(lo, i)
			}
			lo = i + 1
		}
	}
	t.name(start, end)
	if isDigit(token[0]) {
		if t.date.end > 0 && t.date.end == start-1 && t.text[t.date.end] == ' ' {
			t.put(t.date.start, end) // a date and a time
		}
		t.date = span{start, end}
	}
}

// number also emits an amount without the signs that group it, and without a fraction of nothing.
func (t *tokenizer) number(token string, start, end int) {
	if !isDigit(token[0]) || strings.Trim(token, "0123456789,.") != "" {
		return
	}
	bare := strings.ReplaceAll(token, ",", "")
	if len(bare) < len(token) {
		t.emit([]byte(bare), start, end)
	}
	whole, fraction, ok := strings.Cut(bare, ".")
	if ok && strings.Trim(fraction, "0") == "" {
		t.emit([]byte(whole), start, end)
	}
}

// name emits the names of two words and more that end at a capitalised word. Small words may stand inside a name.
func (t *tokenizer) name(start, end int) {
	if t.run > 0 && strings.Trim(t.text[t.last:start], " ") != "" {
		t.run = 0 // a sign ends the run
	}
	r, _ := utf8.DecodeRuneInString(t.text[start:end])
	if !unicode.IsUpper(r) && (t.run == 0 || !unicode.IsDigit(r)) {
		if t.run > 0 && isParticle(t.text[start:end]) {
			t.last = end
		} else {
			t.run = 0
		}
		return
	}
	if t.run == maxPhrase {
		copy(t.names[:], t.names[1:])
		t.run--
	}
	t.names[t.run] = start
	t.run++
	t.last = end
	for _, from := range t.names[:t.run-1] {
		t.put(from, end)
	}
}

// isParticle knows the small words inside names.
func isParticle(s string) bool {
	switch s {
	case "of", "the", "and", "at", "in", "on", "for", "de", "la", "le", "du", "des", "di", "da", "von", "van", "der", "den", "el", "y", "et", "und":
		return true
	}
	return false
}

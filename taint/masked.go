package taint

import "strings"

// How far around a masked sign the rest of the address is looked for.
const (
	maskedBefore = 80
	maskedBehind = 160
)

// masked reads an address whose signs are spelled to keep programs from finding it, such as "bob [at] x (dot) com", when a
// sign is at i.
func (s *scanner) masked(i int) {
	if i < s.unmasked {
		return
	}
	if size, _ := maskedSign(s.text[i:]); size == 0 {
		return
	}
	lo := max(0, i-maskedBefore, s.unmasked)
	hi := min(len(s.text), i+maskedBehind)
	if n := strings.LastIndexByte(s.text[lo:i], '\n'); n >= 0 {
		lo += n + 1
	}
	if n := strings.IndexByte(s.text[i:hi], '\n'); n >= 0 {
		hi = i + n
	}
	s.unmasked = hi
	plain, places := unmask(s.text[lo:hi])
	inner := scanner{unmasked: len(plain), found: &shifted{s.found, places, lo}, text: plain}
	for j := range len(plain) {
		switch plain[j] {
		case '@':
			inner.mail(j)
		case '.':
			inner.at(j)
		}
	}
}

// spokenDot is a dot as it is read aloud.
const spokenDot = " dot "

// spokenDots looks for addresses that are written as they are read aloud.
func (s *scanner) spokenDots() {
	for i := 0; ; {
		n := strings.Index(s.text[i:], "dot ") // which is found faster than what starts with a space
		if n < 0 {
			return
		}
		if i += n; i > 0 && s.text[i-1] == ' ' {
			s.masked(i - 1)
		}
		i += len("dot ")
	}
}

// shifted reports values of a rewritten text at their places in the text it was made of.
type shifted struct {
	finder
	places []int // of each byte, and of the end
	lo     int
}

func (f *shifted) typed(kind byte, canon []byte, start, end int) {
	f.finder.typed(kind, canon, f.lo+f.places[start], f.lo+f.places[end])
}

// maskedSign reads the masked sign with which s starts: in brackets of any kind, or a dot as a word. size is 0 for none.
func maskedSign(s string) (size int, plain byte) {
	if s[0] == ' ' {
		if len(s) >= 5 && strings.EqualFold(s[:5], " dot ") {
			return 5, '.'
		}
		return 0, 0
	}
	if !in(s[0], 1<<'('|1<<'<', 1<<('['-64)|1<<('{'-64)) {
		return 0, 0
	}
	const longest = len("[ dot ]")
	end := 1
	for end < len(s) && !in(s[end], 1<<')'|1<<'>', 1<<(']'-64)|1<<('}'-64)) {
		if end++; end == longest {
			return 0, 0
		}
	}
	if end == len(s) {
		return 0, 0
	}
	switch strings.ToLower(strings.Trim(s[1:end], " ")) {
	case "at", "@":
		return end + 1, '@'
	case "dot", ".":
		return end + 1, '.'
	}
	return 0, 0
}

// unmask replaces masked signs and the blanks around them; once a dot is masked, a lone "at" is a sign too. places has where
// each byte of the result stood, and the length of s.
func unmask(s string) (plain string, places []int) {
	out := make([]byte, 0, len(s))
	places = make([]int, 0, len(s)+1)
	spoken := strings.Contains(s, " dot ") || strings.Contains(s, "dot]") || strings.Contains(s, "dot)")
	for i := 0; i < len(s); {
		size, sign := maskedSign(s[i:])
		if size == 0 && spoken && strings.HasPrefix(s[i:], " at ") {
			size, sign = len(" at "), '@'
		}
		if size == 0 {
			out, places = append(out, s[i]), append(places, i)
			i++
			continue
		}
		for len(out) > 0 && out[len(out)-1] == ' ' {
			out, places = out[:len(out)-1], places[:len(out)-1]
		}
		out, places = append(out, sign), append(places, i)
		for i += size; i < len(s) && s[i] == ' '; i++ {
		}
	}
	return string(out), append(places, len(s))
}

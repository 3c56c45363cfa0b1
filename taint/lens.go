package taint

import (
	"bytes"
	"strings"
)

// A sight is one value that can be read out of a text.
type sight struct {
	key    uint64
	strict bool // the key is of an exact spelling; only URLs have such sights
	whole  bool // the value is all of the text, as it stands there
}

// A lens reads out of a text every value that somebody may take it for. What is looked up, what vouches and what the agent
// has used are read through the same lens, so that they can't miss each other. Its zero value is ready.
type lens struct {
	scanner
	hash   hasher
	sights []sight
	own    bool // reading the text itself, not another spelling of it
	trim   span // the text without the white space around it
	folded []byte
}

// longestHost is how long a name in the domain name system can be.
const longestHost = 253

// How many short names one argument may list, and in how many bytes.
const (
	maxList     = 256
	maxListText = 4 << 10
)

// read returns the values of a text in all their spellings. The result is good until the next call.
func (l *lens) read(x *Index, s string) []sight {
	l.begin(x, s)
	if l.own = false; isSimple(s) {
		return l.sights
	}
	spellings(s, func(other string) bool {
		l.look(other)
		return true
	})
	return l.sights
}

// isSimple reports whether a text is sure to have no other spelling, which spares most values the search for one: a short
// number, or short words in ASCII with the signs of a sentence or an address.
func isSimple(s string) bool {
	const code, number = shortestCode, 7 // characters that may be a text in a code, or digits that have several spellings
	const long = 128                     // so that the search costs no more than to look here
	if s == "" || len(s) > long || len(s) > 4 && strings.EqualFold(s[:4], "hxxp") {
		return false
	}
	word, longest, run, figures := 0, 0, 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case isAlnum(c):
			if word++; isDigit(c) {
				figures++
			}
			longest = max(longest, word)
			run++
		case in(c, 1<<'-'|1<<'+'|1<<'/'|1<<'=', 1<<('_'-64)):
			if c == '-' && i > 0 && s[i-1] == '-' {
				return false // as in punycode
			}
			word = 0
			run++
		case c == ' ':
			if w := s[i-word : i]; word > 1 && word < 4 && (strings.EqualFold(w, "at") || strings.EqualFold(w, "dot")) {
				return false
			}
			word, run = 0, 0
		case in(c, 1<<'.'|1<<','|1<<';'|1<<':'|1<<'!'|1<<'?'|1<<'\''|1<<'"'|1<<'$'|1<<'#'|1<<')'|1<<'\n', 1):
			word, run = 0, 0
		default:
			return false
		}
		if run == code {
			return false
		}
	}
	if figures == len(s) {
		return figures < number
	}
	first, last := s[0], s[len(s)-1]
	return longest > 2 && in(first, 1<<'#', letters|1) && in(last, digits|1<<'.'|1<<','|1<<';'|1<<':'|1<<'!'|1<<'?', letters)
}

// readPlain is read with no other spellings than those in which outputs are read as well.
func (l *lens) readPlain(x *Index, s string) []sight {
	l.begin(x, s)
	if plain, ok := narrowed(s); ok {
		l.look(plain)
	}
	return l.sights
}

func (l *lens) begin(x *Index, s string) {
	const keep = 1 << 12
	if cap(l.sights) > keep {
		l.sights = nil
	}
	l.hash, l.found, l.sights, l.own = x.hash, l, l.sights[:0], true
	l.look(s)
}

func (l *lens) look(s string) {
	lo, hi := trimSpan(s, 0, len(s))
	l.trim = span{lo, hi}
	l.wholeOf(s, l.own)
	const wrapping = 1<<' ' | 1<<'\t' | 1<<'\r' | 1<<'\n' | 1<<'"' | 1<<'\'' | 1<<'<' | 1<<'>'
	for lo = 0; lo < len(s) && in(s[lo], wrapping, 0); lo++ {
	}
	for hi = len(s); hi > lo && in(s[hi-1], wrapping, 0); hi-- {
	}
	if hi-lo < len(s) {
		l.wholeOf(s[lo:hi], false)
	}
	l.list(s)
	l.scan(s)
	l.number(s)
}

// list reads the items of a list of names without spaces, such as "C0123, #ops".
func (l *lens) list(s string) {
	if len(s) > maxListText {
		return
	}
	items := 0
	for item := range itemsOf(s) {
		alone := len(item) == len(s)
		item = strings.TrimSpace(item)
		if items++; alone || items > maxList || strings.IndexByte(item, ' ') >= 0 || strings.IndexByte(item, '\t') >= 0 {
			return // which is soon in what is no list
		}
	}
	for item := range itemsOf(s) {
		l.wholeOf(strings.TrimSpace(item), false)
	}
}

// itemsOf ranges over what stands between the separators of a list.
func itemsOf(s string) func(yield func(item string) bool) {
	return func(yield func(item string) bool) {
		for start := 0; start < len(s); {
			end := start
			for end < len(s) && !in(s[end], 1<<','|1<<';'|1<<'\n', 0) {
				end++
			}
			if end > start && !yield(s[start:end]) {
				return
			}
			start = end + 1
		}
	}
}

// number reads an account or telephone number that is written in some other way than running text has it.
func (l *lens) number(s string) {
	const longest = 64
	if len(s) > longest {
		return
	}
	var compact [longest]byte
	n, digits := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case isDigit(c):
			digits++
			fallthrough
		case isLetter(c):
			compact[n] = c &^ 0x20
			if isDigit(c) {
				compact[n] = c
			}
			n++
		case strings.IndexByte(" -.()/+:", c) < 0:
			return
		}
	}
	number := compact[:n]
	if validIBAN(number) {
		l.add(kindIBAN, number, false)
	}
	if n-digits == 3 && string(number[:3]) == "TEL" {
		number = number[3:]
		n -= 3
	}
	if n != digits {
		return
	}
	if n > 2 && number[0] == '0' && number[1] == '0' {
		number = number[2:]
	}
	if len(number) >= 8 {
		l.add(kindPhone, number, false)
	}
}

func (l *lens) wholeOf(s string, whole bool) {
	if len(s) > maxWhole {
		return
	}
	l.folded = fold(l.folded[:0], s)
	if isValue(l.folded) {
		l.add(kindValue, l.folded, whole)
	}
}

// typed receives what the scanner found.
func (l *lens) typed(kind byte, canon []byte, start, end int) {
	whole := l.own && span{start, end} == l.trim
	l.add(kind, canon, whole)
	switch kind {
	case kindHost:
		// What was said of a host holds for the hosts below it, down to a domain with two labels.
		for host := canon[max(0, len(canon)-longestHost):]; ; {
			_, parent, ok := bytes.Cut(host, []byte("."))
			if !ok || bytes.IndexByte(parent, '.') < 0 {
				return
			}
			l.add(kindHost, parent, false)
			host = parent
		}
	case kindURL:
		exactURLs(l.text[start:end], func(canon []byte) {
			l.sights = append(l.sights, sight{key: l.hash.key(strict, kindURL, canon), strict: true})
		})
	}
}

// exactURLs yields the strict forms in which a URL that stands in a text was said: as it is, and without its fragment.
func exactURLs(url string, yield func(canon []byte)) {
	var buf [256]byte
	if kind, canon, ok := strictValue(buf[:0], url); ok && kind == kindURL {
		yield(canon)
	}
	if page, _, ok := strings.Cut(url, "#"); ok {
		if kind, canon, ok := strictValue(buf[:0], page); ok && kind == kindURL {
			yield(canon)
		}
	}
}

func (l *lens) add(kind byte, canon []byte, whole bool) {
	l.sights = append(l.sights, sight{key: l.hash.key(folded, kind, canon), whole: whole})
}

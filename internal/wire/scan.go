package wire

import "unicode/utf8"

// maxDepth is how deep objects and arrays may nest, well below the limit of any known peer (200).
const maxDepth = 128

// White space is a set of bits, one for each character below 64. A line holds no line break of any kind:
// some peers take a bare CR for one and would read two messages.
const (
	lineSpaces = 1<<' ' | 1<<'\t'
	allSpaces  = lineSpaces | 1<<'\n' | 1<<'\r'
)

// scanner checks JSON in one pass. Its methods take an index and return the one behind what they read, or -1
// after a refusal.
type scanner struct {
	text    []byte
	spaces  uint64
	members []member // of the objects that are open, outermost first
	inner   []member // of the last object that was a member of the outermost, unless they are many
	slots   []int32  // scratch for objects with many members
	lone    int      // where the first lone surrogate is, 0 for none

	code   int // of the refusal
	offset int
	reason string
}

// newScanner returns a scanner of text. A text too large for it looks empty and is refused as too large.
func newScanner(text []byte, spaces uint64) scanner {
	const few = 16 // members of a usual call, all levels together
	s := scanner{text: text, spaces: spaces, members: make([]member, 0, few)}
	if uint64(len(text)) > maxText {
		s.text = nil
		s.refuse(codeInvalid, 0, "too large")
	}
	return s
}

// member is where one member of an object is. It is small, since a text may hold millions.
type member struct {
	sign        uint64 // of the decoded name: equal names have equal signs
	at, nameEnd uint32 // the name with its quotes
	value, end  uint32
}

// maxInner is how many members of a message's params or result are remembered, more than any usual one has.
const maxInner = 32

// maxText is what a member can point into.
const maxText = 1<<32 - 1

func (m member) found() bool { return m.end > 0 }

// valueOf returns a member's value, nil for a member that was not found.
func (s *scanner) valueOf(m member) Value {
	if !m.found() {
		return nil
	}
	return s.text[m.value:m.end:m.end]
}

// name returns a member's decoded name, in place where nothing is escaped.
func (s *scanner) name(m member) []byte {
	return Value(s.text[m.at:m.nameEnd]).decoded()
}

// refuse records the first reason. It returns false to be returned.
func (s *scanner) refuse(code, offset int, reason string) bool {
	if s.reason == "" {
		s.code, s.offset, s.reason = code, offset, reason
	}
	return false
}

// bad refuses text that is not JSON.
func (s *scanner) bad(offset int, reason string) int {
	s.refuse(codeParse, offset, reason)
	return -1
}

func (s *scanner) space(i int) int {
	for i < len(s.text) && s.text[i] <= ' ' && s.spaces>>s.text[i]&1 != 0 {
		i++
	}
	return i
}

// ends says whether nothing but white space follows.
func (s *scanner) ends(i int) bool {
	if i = s.space(i); i < len(s.text) {
		return s.refuse(codeParse, i, "more text after the value")
	}
	return true
}

// value reads the value at i, which lies inside depth objects and arrays.
func (s *scanner) value(i, depth int) int {
	if i >= len(s.text) {
		return s.bad(i, "value missing")
	}
	switch c := s.text[i]; c {
	case '"':
		end, _ := s.str(i)
		return end
	case '{', '[':
		if depth == maxDepth {
			s.refuse(codeInvalid, i, "nested too deeply")
			return -1
		}
		if c == '[' {
			return s.array(i, depth+1)
		}
		open := len(s.members)
		end := s.object(i, depth+1)
		if inner := s.members[open:]; depth == 1 && end >= 0 && len(inner) <= maxInner {
			s.inner = append(s.inner[:0], inner...)
		}
		s.members = s.members[:open]
		return end
	case 't':
		return s.word(i, "true")
	case 'f':
		return s.word(i, "false")
	case 'n':
		return s.word(i, "null")
	default:
		return s.number(i)
	}
}

// object reads the object at i and leaves its members at the end of s.members.
func (s *scanner) object(i, depth int) int {
	open := len(s.members)
	i = s.space(i + 1)
	if i < len(s.text) && s.text[i] == '}' {
		return i + 1
	}
	for {
		start := i
		if i >= len(s.text) || s.text[i] != '"' {
			return s.bad(i, "member name missing")
		}
		var escaped bool
		if i, escaped = s.str(i); i < 0 {
			return -1
		}
		m := member{at: uint32(start), nameEnd: uint32(i)}
		if escaped {
			name := s.name(m)
			m.sign = sign(name, 0, len(name))
		} else {
			m.sign = sign(s.text, start+1, i-1)
		}
		if i = s.space(i); i >= len(s.text) || s.text[i] != ':' {
			return s.bad(i, "colon missing")
		}
		start = s.space(i + 1)
		if i = s.value(start, depth); i < 0 {
			return -1
		}
		m.value, m.end = uint32(start), uint32(i)
		s.members = append(s.members, m)

		if i = s.space(i); i >= len(s.text) {
			return s.bad(i, "object not closed")
		}
		switch s.text[i] {
		case ',':
			i = s.space(i + 1)
		case '}':
			if !s.distinct(s.members[open:]) {
				return -1
			}
			return i + 1
		default:
			return s.bad(i, "comma missing")
		}
	}
}

func (s *scanner) array(i, depth int) int {
	i = s.space(i + 1)
	if i < len(s.text) && s.text[i] == ']' {
		return i + 1
	}
	for {
		if i = s.value(i, depth); i < 0 {
			return -1
		}
		if i = s.space(i); i >= len(s.text) {
			return s.bad(i, "array not closed")
		}
		switch s.text[i] {
		case ',':
			i = s.space(i + 1)
		case ']':
			return i + 1
		default:
			return s.bad(i, "comma missing")
		}
	}
}

func (s *scanner) word(i int, word string) int {
	if end := i + len(word); end <= len(s.text) && string(s.text[i:end]) == word {
		return end
	}
	return s.bad(i, "not a JSON value")
}

func (s *scanner) number(i int) int {
	start := i
	if s.text[i] == '-' {
		i++
	}
	whole := i
	i = digits(s.text, i)
	switch {
	case i == start:
		return s.bad(start, "not a JSON value")
	case i == whole:
		return s.bad(i, "digit missing")
	case s.text[whole] == '0' && i > whole+1:
		return s.bad(whole, "leading zero")
	}
	if i < len(s.text) && s.text[i] == '.' {
		fraction := i + 1
		if i = digits(s.text, fraction); i == fraction {
			return s.bad(i, "digit missing")
		}
	}
	if i < len(s.text) && s.text[i]|0x20 == 'e' {
		i++
		if i < len(s.text) && (s.text[i] == '+' || s.text[i] == '-') {
			i++
		}
		exponent := i
		if i = digits(s.text, exponent); i == exponent {
			return s.bad(i, "digit missing")
		}
	}
	return i
}

// str reads the string whose opening quote is at i.
func (s *scanner) str(i int) (end int, escaped bool) {
	i++
	for {
		start := i
		var high uint64
		if i, high = plain(s.text, i); high != 0 && !utf8.Valid(s.text[start:i]) {
			return s.bad(start, "invalid UTF-8"), false
		}
		if i == len(s.text) {
			return s.bad(i, "string not closed"), false
		}
		switch s.text[i] {
		case '"':
			return i + 1, escaped
		case '\\':
			escaped = true
			if i = s.escape(i); i < 0 {
				return -1, false
			}
		default:
			return s.bad(i, "control character in a string"), false
		}
	}
}

func (s *scanner) escape(i int) int {
	if i+1 >= len(s.text) {
		return s.bad(i, "string not closed")
	}
	switch s.text[i+1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 2
	case 'u':
		r, n := unit(s.text[i:])
		switch {
		case n == 0:
			return s.bad(i, "malformed escape")
		case r == lone && s.lone == 0:
			s.lone = i
		}
		return i + n
	default:
		return s.bad(i, "malformed escape")
	}
}

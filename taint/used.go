package taint

import (
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Author notes that the agent has used every value in the arguments of a call. What an output says of them from then on can
// only lower what they are taken for, so that no value can be laundered through a note, a file or an address book.
func (x *Index) Author(args wire.Value) { scalars(args, 0, x.author) }

func (x *Index) author(text string) {
	sights := x.lens.read(x, text)
	marks := MarkUsed
	if x.unheard(sights) && x.grams.mangled(text) {
		marks |= MarkMangled // now, since the call's own echo is going to make it look so
	}
	for _, s := range sights {
		if s.whole {
			x.mark(s.key, s.strict, marks, nil)
		} else {
			x.mark(s.key, s.strict, MarkUsed, nil)
		}
	}
}

// unheard reports whether nothing is known of any of the values.
func (x *Index) unheard(sights []sight) bool {
	for _, s := range sights {
		if e := x.table.find(s.key); e != nil && e.marks != 0 {
			return false
		}
	}
	return true
}

// scalars calls take with the scalars of arguments, also with those in documents inside strings, and with the member names that
// may be values. Which brackets are around them makes no difference here.
func scalars(v wire.Value, nested int, take func(text string)) {
	for i := 0; i < len(v); {
		switch c := v[i]; {
		case c == '"':
			end := stringEnd(v, i)
			text, _ := v[i:end].View()
			if i = gap(v, end); i < len(v) && v[i] == ':' {
				if mayName(text) {
					take(text)
				}
				continue
			}
			take(text)
			if doc := document(text, nested); doc != nil {
				scalars(doc, nested+1, take)
			}
		case c == '-' || isDigit(c):
			end := scalarEnd(v, i)
			take(view(v[i:end]))
			i = end
		default:
			i++
		}
	}
}

// mayName reports whether a member's name may be a value itself.
func mayName(name string) bool {
	for i := range len(name) {
		if in(name[i], 1<<'.'|1<<'+'|1<<':'|1<<'/', 1|1<<('\\'-64)) { // 1 is the @
			return true
		}
	}
	return false
}

// maxSaid bounds how much of what the person said is taken in.
const maxSaid = 1 << 20

// Say remembers the person's own words: every value, name and number in them.
func (x *Index) Say(text string) {
	s := speech{x: x}
	s.found = &s
	s.scan(text[:runeStart(text, min(len(text), maxSaid))])
	scanTokens(s.text, 0, len(s.text), s.word)
}

// speech takes in the person's words.
type speech struct {
	scanner
	x     *Index
	taken []span // of everything it found, ascending
}

func (s *speech) typed(kind byte, canon []byte, start, end int) {
	s.taken = append(s.taken, span{start, end})
	s.take(kind, canon, start, end)
}

// word takes in a token, unless it is only a part of something longer: who names bob@x.com has not named x.com.
func (s *speech) word(canon []byte, start, end int) {
	joins := func(i, next int) bool {
		return i >= 0 && i < len(s.text) && (strings.IndexByte("@-_+", s.text[i]) >= 0 ||
			s.text[i] == '.' && next >= 0 && next < len(s.text) && isNameByte(s.text[next]))
	}
	if joins(start-1, start-2) && s.text[start-1] != '@' || joins(end, end+1) || s.inside(start, end) {
		return
	}
	s.take(kindValue, canon, start, end)
}

// inside reports whether a part of the text is only a part of something that the scanner found.
func (s *speech) inside(start, end int) bool {
	for _, t := range s.taken {
		if t.start <= start && end <= t.end && (t != span{start, end}) {
			return true
		}
	}
	return false
}

func (s *speech) take(kind byte, canon []byte, start, end int) {
	s.x.mark(s.x.hash.key(folded, kind, canon), false, MarkSaid, nil)
	if v, ok := s.x.exact(strings.Trim(s.text[start:end], "\"'`")); ok {
		s.x.vouch(v, MarkSaid, nil)
	}
}

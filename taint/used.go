package taint

import (
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Author notes that the agent has used every value in the arguments of a call. What an output says of them from then on can
// only lower what they are taken for, so that no value can be laundered through a note, a file or an address book.
func (x *Index) Author(args wire.Value) {
	for text := range scalars(args, 0) {
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

// scalars ranges over the scalars of arguments, also of those in documents inside strings, and over the member names that
// may be values.
func scalars(v wire.Value, nested int) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for leaf := range v.Leaves() {
			switch text, isText := leaf.Value.View(); {
			case leaf.IsKey:
				if strings.ContainsAny(text, `@.+\:/`) && !yield(text) {
					return
				}
			case leaf.Value.Kind() == '0':
				if !yield(text) {
					return
				}
			case isText:
				if !yield(text) {
					return
				}
				if doc := document(text, nested); doc != nil {
					for inner := range scalars(doc, nested+1) {
						if !yield(inner) {
							return
						}
					}
				}
			}
		}
	}
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

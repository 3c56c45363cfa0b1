package jsonc

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// parser reads one file, left to right, once.
type parser struct {
	doc     *Doc
	src     string // of doc; keys are cut from it
	pos     int
	depth   int
	strict  bool
	members stack[Member]
	elems   stack[Value]
}

// file reads the only value of a file, or none.
func (p *parser) file() (Value, error) {
	if err := p.blanks(); err != nil || p.pos == len(p.src) {
		return Value{}, err
	}
	v, err := p.value()
	if err != nil {
		return Value{}, err
	}
	if err := p.blanks(); err != nil {
		return Value{}, err
	}
	if p.pos < len(p.src) {
		return Value{}, p.unexpected("behind the end of the value")
	}
	return v, nil
}

// value reads the value that starts at pos.
func (p *parser) value() (Value, error) {
	v := Value{Start: p.pos, Kind: p.peek()}
	var err error
	switch c := v.Kind; {
	case c == '{':
		v.Members, err = p.object()
	case c == '[':
		v.Elems, err = p.array()
	case c == '"':
		err = p.str()
	case c == '-' || isDigit(c):
		v.Kind = '0'
		err = p.number()
	case c == 't':
		err = p.word("true")
	case c == 'f':
		err = p.word("false")
	case c == 'n':
		err = p.word("null")
	default:
		err = p.unexpected("where a value should start")
	}
	v.End = p.pos
	return v, err
}

// object reads the members of an object and its bracket.
func (p *parser) object() ([]Member, error) {
	mark := p.members.mark()
	err := p.list('}', func() error {
		m, err := p.member()
		p.members.push(m)
		return err
	})
	return p.members.popTo(mark), err
}

// array reads the elements of an array and its bracket.
func (p *parser) array() ([]Value, error) {
	mark := p.elems.mark()
	err := p.list(']', func() error {
		v, err := p.value()
		p.elems.push(v)
		return err
	})
	return p.elems.popTo(mark), err
}

// list reads an opening bracket, items with commas between them, and the closing bracket.
func (p *parser) list(closing byte, item func() error) error {
	if p.depth++; p.depth > MaxDepth {
		return p.doc.Errorf(p.pos, "nested more than %d deep", MaxDepth)
	}
	defer func() { p.depth-- }()
	p.pos++
	comma := -1
	for {
		if err := p.blanks(); err != nil {
			return err
		}
		if p.peek() == closing && (comma < 0 || !p.strict) {
			p.pos++
			return nil
		}
		if p.peek() == closing {
			return p.doc.Errorf(comma, "trailing comma in a file that is read as strict JSON")
		}
		if err := item(); err != nil {
			return err
		}
		if err := p.blanks(); err != nil {
			return err
		}
		switch p.peek() {
		case ',':
			comma = p.pos
			p.pos++
		case closing:
			p.pos++
			return nil
		default:
			return p.unexpected(fmt.Sprintf("where ',' or '%c' should stand", closing))
		}
	}
}

// member reads a key, a colon and a value.
func (p *parser) member() (m Member, err error) {
	if p.peek() != '"' {
		return m, p.unexpected("where a key should start")
	}
	m.KeyStart = p.pos
	if err := p.str(); err != nil {
		return m, err
	}
	m.KeyEnd = p.pos
	if m.Key, err = unquote(p.src[m.KeyStart:m.KeyEnd]); err != nil {
		return m, p.doc.Errorf(m.KeyStart, "invalid key")
	}
	if err := p.blanks(); err != nil {
		return m, err
	}
	if p.peek() != ':' {
		return m, p.unexpected("where ':' should stand")
	}
	p.pos++
	if err := p.blanks(); err != nil {
		return m, err
	}
	m.Value, err = p.value()
	return m, err
}

// str reads a string literal.
func (p *parser) str() error {
	start := p.pos
	for p.pos++; p.pos < len(p.src); p.pos++ {
		switch c := p.src[p.pos]; {
		case c == '"':
			p.pos++
			return nil
		case c < ' ':
			return p.doc.Errorf(p.pos, "control character in a string")
		case c == '\\':
			n := escapeLen(p.src[p.pos:])
			if n == 0 {
				return p.doc.Errorf(p.pos, "invalid escape in a string")
			}
			p.pos += n - 1
		}
	}
	return p.doc.Errorf(start, "string without an end")
}

// escapeLen returns the length of the escape that s starts with, 0 if it is none.
func escapeLen(s string) int {
	if len(s) < 2 {
		return 0
	}
	if s[1] != 'u' {
		if strings.IndexByte(`"\/bfnrt`, s[1]) < 0 {
			return 0
		}
		return 2
	}
	const n = len(`\u0000`)
	if len(s) < n || strings.Trim(s[2:n], "0123456789abcdefABCDEF") != "" {
		return 0
	}
	return n
}

// number reads a number literal.
func (p *parser) number() error {
	start := p.pos
	if p.peek() == '-' {
		p.pos++
	}
	ok := p.peek() == '0'
	if ok {
		p.pos++
	} else {
		ok = p.digits()
	}
	if ok && p.peek() == '.' {
		p.pos++
		ok = p.digits()
	}
	if ok && (p.peek() == 'e' || p.peek() == 'E') {
		p.pos++
		if p.peek() == '+' || p.peek() == '-' {
			p.pos++
		}
		ok = p.digits()
	}
	if !ok || isDigit(p.peek()) { // a digit is left behind a leading zero
		return p.doc.Errorf(start, "invalid number")
	}
	return nil
}

// digits reads digits and reports whether there was one.
func (p *parser) digits() bool {
	start := p.pos
	for isDigit(p.peek()) {
		p.pos++
	}
	return p.pos > start
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// word reads true, false or null.
func (p *parser) word(w string) error {
	if !strings.HasPrefix(p.src[p.pos:], w) {
		return p.unexpected("where a value should start")
	}
	p.pos += len(w)
	return nil
}

// blanks reads white space and comments.
func (p *parser) blanks() error {
	for p.pos < len(p.src) {
		switch p.src[p.pos] {
		case ' ', '\t', '\r', '\n':
			p.pos++
			continue
		case '/':
		default:
			return nil
		}
		end := commentEnd(p.doc.Src, p.pos)
		if end == p.pos {
			return nil
		}
		if err := p.checkComment(p.src[p.pos:end]); err != nil {
			return err
		}
		p.pos = end
	}
	return nil
}

// checkComment refuses a comment that not every reader of the file would end at the same place.
func (p *parser) checkComment(comment string) error {
	line := comment[1] == '/'
	switch {
	case p.strict:
		return p.doc.Errorf(p.pos, "comment in a file that is read as strict JSON")
	case !line && (len(comment) < 4 || !strings.HasSuffix(comment, "*/")):
		return p.doc.Errorf(p.pos, "comment without an end")
	case !line:
		return nil
	}
	text := strings.TrimSuffix(strings.TrimSuffix(comment, "\n"), "\r")
	if i := strings.IndexAny(text, "\r\u2028\u2029"); i >= 0 {
		return p.doc.Errorf(p.pos+i, "line break inside a // comment that is not a newline")
	}
	return nil
}

// peek returns the byte at pos, 0 at the end; checkEncoding has refused files that hold a 0.
func (p *parser) peek() byte {
	if p.pos == len(p.src) {
		return 0
	}
	return p.src[p.pos]
}

// unexpected says what stands at pos. It names one character, never a literal: that may be a secret.
func (p *parser) unexpected(where string) error {
	if p.pos == len(p.src) {
		return p.doc.Errorf(p.pos, "the file ends %s", where)
	}
	r, _ := utf8.DecodeRuneInString(p.src[p.pos:])
	return p.doc.Errorf(p.pos, "unexpected %q %s", r, where)
}

// stack collects the items of the lists that are open, and gives out each finished list as a slice of a large one:
// a file has a hundred thousand small lists, and an allocation for each took most of the time.
type stack[T any] struct {
	open []T
	slab []T
}

func (s *stack[T]) mark() int { return len(s.open) }

func (s *stack[T]) push(item T) { s.open = append(s.open, item) }

func (s *stack[T]) popTo(mark int) []T {
	list := s.open[mark:]
	s.open = s.open[:mark]
	if len(s.slab)+len(list) > cap(s.slab) {
		s.slab = make([]T, 0, max(min(2*cap(s.slab), 1024), 16, len(list)))
	}
	start := len(s.slab)
	s.slab = append(s.slab, list...)
	return s.slab[start:len(s.slab):len(s.slab)]
}

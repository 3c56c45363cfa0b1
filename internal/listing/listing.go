// Package listing reads what programs print when they list things: one document of simple YAML, block or flow style, or
// the way Python prints lists and dictionaries, which is nearly the same.
//
// It reads less than YAML on purpose. What it accepts means the same to every YAML reader; a text with anything cleverer
// in it (anchors, tags, several documents, tabs as indentation) is no listing, and neither is prose.
package listing

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// maxDepth is how deep collections may nest.
const maxDepth = 64

// JSON appends text as JSON to dst if the whole of it is one mapping or sequence. Scalars become strings, except for
// plain ones that JSON knows as they stand: numbers, true, false and null, which also stands for a value left out. A fence around
// the whole is no part of it.
// When ok is false, dst comes back as it was.
func JSON(dst []byte, text string) (json []byte, ok bool) {
	text = unwrapped(text)
	p := parser{text: text, out: dst}
	p.content()
	if p.indent() == 0 && p.rest("---\n") {
		p.i += len("---\n")
		p.content()
	}
	if !p.opens() {
		return dst, false // prose mostly ends here, after one line at most
	}
	if strings.IndexByte(text, '\r') >= 0 {
		unix := strings.ReplaceAll(text, "\r\n", "\n")
		if strings.IndexByte(unix, '\r') >= 0 {
			return dst, false
		}
		return JSON(dst, unix)
	}
	if !printable(text) || !p.node(-1) || p.i != len(text) {
		return dst, false
	}
	return p.out, true
}

// A parser reads one document by recursive descent. Its methods return false for anything they don't know, and then the
// whole text is no listing. What reads a whole node leaves the parser at the next line that holds something.
type parser struct {
	text  string
	i     int // the next byte
	line  int // where the line begins that i is in
	depth int
	out   []byte
	names []span // of the mappings that are open, for finding duplicates
}

// rest says whether what comes next begins with s.
func (p *parser) rest(s string) bool { return strings.HasPrefix(p.text[p.i:], s) }

// at returns the byte at index i, and a line break behind the end of the text.
func (p *parser) at(i int) byte {
	if i < len(p.text) {
		return p.text[i]
	}
	return '\n'
}

// blank says whether a space or the end of a line is at index i: what makes a dash or a colon an indicator.
func (p *parser) blank(i int) bool { return p.at(i) == ' ' || p.at(i) == '\n' }

// indent returns the column of the next byte, -1 at the end of the text.
func (p *parser) indent() int {
	if p.i == len(p.text) {
		return -1
	}
	return p.i - p.line
}

func (p *parser) spaces() {
	for p.i < len(p.text) && p.text[p.i] == ' ' {
		p.i++
	}
}

// content goes from the start of a line to the next line that holds more than space and comments.
func (p *parser) content() {
	for p.i < len(p.text) {
		p.line = p.i
		p.spaces()
		switch p.at(p.i) {
		case '\n':
		case '#':
			p.i += lineLength(p.text[p.i:])
		default:
			return
		}
		p.i = min(p.i+1, len(p.text))
	}
}

// endLine goes from behind a value to the next content; nothing but a comment may stand in between.
func (p *parser) endLine() bool {
	end := p.i
	p.spaces()
	if p.at(p.i) == '#' && p.i > end {
		p.i += lineLength(p.text[p.i:])
	}
	if p.at(p.i) != '\n' {
		return false
	}
	p.i = min(p.i+1, len(p.text))
	p.content()
	return true
}

// emptyLine says whether nothing but a comment is left of a line whose spaces were skipped.
func (p *parser) emptyLine() bool {
	c := p.at(p.i)
	return c == '\n' || c == '#' && p.text[p.i-1] == ' '
}

// wrap goes from the end of a line inside a scalar to where it continues, at column least or further right, and returns
// how many empty lines are between. It does not move when the scalar does not continue.
func (p *parser) wrap(least int) (empty int, ok bool) {
	for i := p.i + 1; i < len(p.text); i++ {
		line := i
		for p.at(i) == ' ' {
			i++
		}
		if p.at(i) == '\n' {
			empty++
			continue
		}
		if i-line < least || p.text[i] == '\t' || i == line && (p.text[i] == '-' || p.text[i] == '.') {
			return 0, false // a dash or a dot in the first column may end the document
		}
		p.i, p.line = i, line
		return empty, true
	}
	return 0, false
}

func lineLength(s string) int {
	if n := strings.IndexByte(s, '\n'); n >= 0 {
		return n
	}
	return len(s)
}

// opens says whether a collection can begin here.
func (p *parser) opens() bool {
	if p.i == len(p.text) {
		return false
	}
	return p.text[p.i] == '[' || p.text[p.i] == '{' || p.dash() || p.nameEnd() > 0
}

func (p *parser) dash() bool { return p.i < len(p.text) && p.text[p.i] == '-' && p.blank(p.i+1) }

// node reads a node of the block style. Its lines stand further right than column n.
func (p *parser) node(n int) bool {
	switch {
	case p.dash():
		return p.sequence(p.indent())
	case p.nameEnd() > 0:
		return p.mapping(p.indent())
	}
	return p.value(n)
}

// value reads a scalar or a collection in brackets, to the end of its last line.
func (p *parser) value(n int) bool {
	switch p.text[p.i] {
	case '\'':
		return p.single(n) && p.endLine()
	case '"':
		return p.double(n) && p.endLine()
	case '|', '>':
		return p.block(n)
	case '[', '{':
		return p.flow(n) && p.endLine()
	}
	return p.plain(n, false) && p.endLine()
}

// enter counts a collection that begins. Whoever fails after it gives up the whole text, so only success leaves again.
func (p *parser) enter() bool {
	p.depth++
	return p.depth <= maxDepth
}

// sequence reads entries whose dashes stand in column c.
func (p *parser) sequence(c int) bool {
	if !p.enter() {
		return false
	}
	p.out = append(p.out, '[')
	for first := true; p.indent() == c && p.dash(); first = false {
		if !first {
			p.out = append(p.out, ',')
		}
		p.i++
		p.spaces()
		if !p.emptyLine() {
			if !p.node(c) {
				return false
			}
			continue
		}
		if !p.endLine() || !p.below(c) {
			return false
		}
	}
	p.out = append(p.out, ']')
	p.depth--
	return true
}

// below reads the node that is due after a line that ended without one: further right than column n, or absent.
func (p *parser) below(n int) bool {
	if p.indent() > n {
		return p.node(n)
	}
	p.out = append(p.out, "null"...)
	return true
}

// mapping reads members whose names begin in column c.
func (p *parser) mapping(c int) bool {
	if !p.enter() {
		return false
	}
	p.out = append(p.out, '{')
	names := p.open()
	for first := true; p.indent() == c; first = false {
		if !first {
			p.out = append(p.out, ',')
		}
		end := p.nameEnd()
		if end == 0 || !p.name(&names, end) {
			return false
		}
		p.spaces()
		if !p.emptyLine() {
			if !p.value(c) {
				return false
			}
			continue
		}
		if !p.endLine() {
			return false
		}
		// A sequence may begin right below the name that it belongs to.
		if p.indent() == c && p.dash() {
			if !p.sequence(c) {
				return false
			}
			continue
		}
		if !p.below(c) {
			return false
		}
	}
	p.close(names)
	p.out = append(p.out, '}')
	p.depth--
	return true
}

// flow reads a collection in brackets. Its lines stand further right than column n.
func (p *parser) flow(n int) bool {
	if !p.enter() {
		return false
	}
	opening, closing := p.text[p.i], byte(']')
	if opening == '{' {
		closing = '}'
	}
	p.out = append(p.out, opening)
	p.i++
	names := p.open()
	for first := true; ; first = false {
		if !p.gap(n) {
			return false
		}
		if p.text[p.i] == closing {
			break // behind a comma, too
		}
		if !first {
			p.out = append(p.out, ',')
		}
		if opening == '{' && (!p.flowName(&names) || !p.gap(n)) || !p.flowValue(n) || !p.gap(n) {
			return false
		}
		if p.text[p.i] == ',' {
			p.i++
		} else if p.text[p.i] != closing {
			return false
		}
	}
	p.close(names)
	p.i++
	p.out = append(p.out, closing)
	p.depth--
	return true
}

func (p *parser) flowValue(n int) bool {
	switch p.text[p.i] {
	case '\'':
		return p.single(n)
	case '"':
		return p.double(n)
	case '[', '{':
		return p.flow(n)
	}
	return p.plain(n, true)
}

// gap goes over space and comments between brackets; ok is false at the end of the text.
func (p *parser) gap(n int) (ok bool) {
	for p.i < len(p.text) {
		switch p.text[p.i] {
		case ' ':
			p.i++
		case '#':
			if before := p.text[p.i-1]; before != ' ' && before != '\n' {
				return false
			}
			p.i += lineLength(p.text[p.i:])
		case '\n':
			if _, ok := p.wrap(n + 1); !ok {
				return false
			}
		default:
			return true
		}
	}
	return false
}

// printable says whether text is made of characters that YAML reads as they stand, alike in all its versions.
func printable(text string) bool {
	for i := 0; i < len(text); {
		// Eight bytes that are all ASCII and neither control characters nor DEL: nearly always.
		for i+8 <= len(text) && plainASCII(binary.LittleEndian.Uint64([]byte(text[i:i+8]))) {
			i += 8
		}
		if i == len(text) {
			return true
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r < ' ' && r != '\n' && r != '\t', 0x7f <= r && r < 0xa0, r == utf8.RuneError && n == 1:
			return false
		case r == 0x2028, r == 0x2029, r == 0xfeff, r == 0xfffe, r == 0xffff:
			return false
		}
		i += n
	}
	return true
}

// plainASCII says whether all bytes of w are between space and tilde.
func plainASCII(w uint64) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	// A byte below the space or above the tilde borrows or carries into its high bit. What a neighbour lends only makes
	// the answer no more often.
	return (w|(w-' '*each)|(w+each))&high == 0
}

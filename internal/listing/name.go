package listing

import (
	"unicode"
	"unicode/utf8"
)

// What a name without quotes can be. Prose has colons, too, but rarely so early in a line and behind so few words.
const (
	maxName  = 40 // characters
	maxWords = 3
)

// maxQuoted is how many bytes a name in quotes may have, quotes included.
const maxQuoted = 512

// A span is where a name stands in the output. Quotes included, equal names have equal bytes there.
type span struct{ start, end int }

// members are the names of one mapping.
type members struct {
	base int             // where they begin among the parser's
	many map[string]bool // the same ones, when they are more than a few
}

// few is up to how many names are compared one by one.
const few = 16

func (p *parser) open() members { return members{base: len(p.names)} }

func (p *parser) close(m members) { p.names = p.names[:m.base] }

// nameEnd returns the index of the colon behind the name of a member in block style that begins here, 0 without one.
func (p *parser) nameEnd() int {
	end := 0
	if c := p.at(p.i); c == '\'' || c == '"' {
		end = p.quotedEnd()
	} else {
		end = p.plainNameEnd()
	}
	if end > 0 && p.at(end) == ':' && p.blank(end+1) {
		return end
	}
	return 0
}

func (p *parser) plainNameEnd() int {
	words := 1
	i := p.i
	for n := 0; i < len(p.text) && n <= maxName; n++ {
		switch c := p.text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_':
			i++
		case c == '.' || c == '/' || c == '$':
			i++
		case n > 0 && (c == '-' || c == '@' || c == '+'):
			i++
		case n > 0 && c == ' ' && words < maxWords:
			words++
			i++
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(p.text[i:])
			if !unicode.IsLetter(r) && !unicode.IsMark(r) {
				return 0
			}
			i += size
		case c == ':' && n > 0 && p.text[i-1] != ' ':
			return i
		default:
			return 0
		}
	}
	return 0
}

// quotedEnd returns the index behind a string that ends in this line and is short, 0 for another.
func (p *parser) quotedEnd() int {
	quote := p.text[p.i]
	for i := p.i + 1; i < len(p.text) && i < p.i+maxQuoted; i++ {
		switch c := p.text[i]; {
		case c == '\n':
			return 0
		case c == '\\' && quote == '"':
			i++
		case c == quote && quote == '\'' && p.at(i+1) == quote:
			i++
		case c == quote:
			return i + 1
		}
	}
	return 0
}

// name reads a name up to the colon at end, and the colon. The name must be new to its mapping.
func (p *parser) name(m *members, end int) bool {
	start := len(p.out)
	switch p.text[p.i] {
	case '\'':
		if !p.single(-1) {
			return false
		}
	case '"':
		if !p.double(-1) {
			return false
		}
	default:
		p.out = append(appendText(append(p.out, '"'), p.text[p.i:end]), '"')
		p.i = end
	}
	if p.i != end || !p.isNew(m, span{start, len(p.out)}) {
		return false
	}
	p.i++
	p.out = append(p.out, ':')
	return true
}

// flowName reads a name between brackets.
func (p *parser) flowName(m *members) bool {
	end := 0
	if c := p.text[p.i]; c == '\'' || c == '"' {
		end = p.quotedEnd()
	} else if p.startsPlain(true) {
		if end, _ = p.plainEnd(p.i+1, true); end-p.i > maxQuoted || !p.blank(end+1) {
			return false
		}
	}
	return end > 0 && p.at(end) == ':' && p.name(m, end)
}

// isNew remembers the name at s, unless the mapping has it already.
func (p *parser) isNew(m *members, s span) bool {
	name := p.out[s.start:s.end]
	known := p.names[m.base:]
	p.names = append(p.names, s)
	if len(known) < few {
		for _, k := range known {
			if string(p.out[k.start:k.end]) == string(name) {
				return false
			}
		}
		return true
	}
	if m.many == nil {
		m.many = make(map[string]bool, 4*few)
		for _, k := range known {
			m.many[string(p.out[k.start:k.end])] = true
		}
	}
	if m.many[string(name)] {
		return false
	}
	m.many[string(name)] = true
	return true
}

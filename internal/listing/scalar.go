package listing

import (
	"strings"
	"unicode/utf8"
)

// fold appends what a line break inside a scalar means: a space, or as many line breaks as there are empty lines.
func (p *parser) fold(empty int) {
	if empty == 0 {
		p.out = append(p.out, ' ')
		return
	}
	p.breaks(empty)
}

func (p *parser) breaks(n int) {
	for range n {
		p.out = append(p.out, '\\', 'n')
	}
}

// plain reads a scalar without quotes. Between brackets it must end in the line in which it begins.
func (p *parser) plain(n int, flow bool) bool {
	if !p.startsPlain(flow) {
		return false
	}
	start, mark := p.i, len(p.out)
	end, stop := p.plainEnd(p.i+1, flow)
	p.out = append(p.out, '"')
	lines := 1
	for ; ; lines++ {
		if stop == ':' || stop == '\t' {
			return false
		}
		p.out = appendText(p.out, p.text[p.i:end])
		p.i = end
		if flow || stop == '#' {
			break
		}
		p.spaces()
		empty, ok := p.wrap(n + 1)
		if !ok || p.text[p.i] == '#' {
			p.i = end
			break
		}
		p.fold(empty)
		end, stop = p.plainEnd(p.i, false)
	}
	if lines == 1 && isLiteral(p.text[start:end]) {
		p.out = append(p.out[:mark], p.text[start:end]...)
		return true
	}
	p.out = append(p.out, '"')
	return true
}

// startsPlain says whether the next byte can begin a scalar without quotes.
func (p *parser) startsPlain(flow bool) bool {
	switch p.at(p.i) {
	case '\n', ' ', '\t', ',', '[', ']', '{', '}', '#', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`':
		return false
	case '-':
		return !p.blank(p.i+1) && (!flow || !strings.ContainsRune(",[]{}", rune(p.at(p.i+1))))
	case '?', ':':
		return !flow && !p.blank(p.i+1)
	}
	return true
}

// plainEnd returns where the part of a plain scalar that is in this line ends, looking from i on, and what ends it: the
// line, a comment, a colon, a bracket or comma if flow, or a tab, which no plain scalar of ours may hold.
func (p *parser) plainEnd(i int, flow bool) (end int, stop byte) {
	for ; i < len(p.text); i++ {
		c := p.text[i]
		if c > ':' && !flow {
			continue
		}
		if c == '\n' || c == '\t' || c == ':' && (p.blank(i+1) || p.text[i+1] == '\t') || c == '#' && p.text[i-1] == ' ' {
			break
		}
		if flow && (c == ',' || c == '?' || c == '[' || c == ']' || c == '{' || c == '}') {
			break
		}
		if flow && c == ':' && strings.IndexByte(",?[]{}", p.text[i+1]) >= 0 {
			break
		}
	}
	end, stop = i, p.at(i)
	for p.text[end-1] == ' ' {
		end--
	}
	return end, stop
}

// isLiteral says whether JSON has s as a number, a truth value or null.
func isLiteral(s string) bool {
	switch s[0] {
	case 't', 'f', 'n':
		return s == "true" || s == "false" || s == "null"
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return isNumber(s)
	}
	return false
}

func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := digits(s)
	if whole == 0 || whole > 1 && s[0] == '0' {
		return false
	}
	s = s[whole:]
	if strings.HasPrefix(s, ".") {
		n := digits(s[1:])
		if n == 0 {
			return false
		}
		s = s[1+n:]
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		return s != "" && digits(s) == len(s)
	}
	return s == ""
}

// digits returns how many digits s begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

// single reads a scalar in single quotes, which doubles those inside.
func (p *parser) single(n int) bool {
	p.out = append(p.out, '"')
	for p.i++; ; {
		start := p.i
		for p.at(p.i) != '\'' && p.at(p.i) != '\n' {
			p.i++
		}
		switch {
		case p.at(p.i) == '\n':
			if !p.foldQuoted(start, n) {
				return false
			}
		case p.at(p.i+1) == '\'':
			p.out = appendText(p.out, p.text[start:p.i+1])
			p.i += 2
		default:
			p.out = append(appendText(p.out, p.text[start:p.i]), '"')
			p.i++
			return true
		}
	}
}

// foldQuoted appends what stands between start and the end of the line and goes to the line after it.
func (p *parser) foldQuoted(start, n int) bool {
	line := strings.TrimRight(p.text[start:p.i], " ")
	if strings.HasSuffix(line, "\t") {
		return false
	}
	p.out = appendText(p.out, line)
	empty, ok := p.wrap(n + 1)
	if !ok {
		return false
	}
	p.fold(empty)
	return true
}

// double reads a scalar in double quotes, which has escapes.
func (p *parser) double(n int) bool {
	p.out = append(p.out, '"')
	for p.i++; ; {
		start := p.i
		for c := p.at(p.i); c != '"' && c != '\\' && c != '\n'; c = p.at(p.i) {
			p.i++
		}
		switch p.at(p.i) {
		case '\n':
			if !p.foldQuoted(start, n) {
				return false
			}
		case '\\':
			p.out = appendText(p.out, p.text[start:p.i])
			p.i++
			if !p.escape(n) {
				return false
			}
		default:
			p.out = append(appendText(p.out, p.text[start:p.i]), '"')
			p.i++
			return true
		}
	}
}

// escape reads what stands behind a backslash.
func (p *parser) escape(n int) bool {
	if p.i == len(p.text) {
		return false
	}
	c := p.text[p.i]
	if c == '\n' { // the line goes on as if it had not ended
		empty, ok := p.wrap(n + 1)
		return ok && empty == 0
	}
	p.i++
	switch c {
	case 'x':
		return p.hex(2)
	case 'u':
		return p.hex(4)
	case 'U':
		return p.hex(8)
	}
	// Not \/, which came with YAML 1.2 and which some readers don't know.
	const known, meant = `0abtnvfre "\N_LP`, "\x00\a\b\t\n\v\f\r\x1b \"\\\u0085\u00a0\u2028\u2029"
	at := strings.IndexByte(known, c)
	if at < 0 {
		return false
	}
	p.out = appendText(p.out, string([]rune(meant)[at]))
	return true
}

// hex reads a character given by that many digits.
func (p *parser) hex(n int) bool {
	if len(p.text)-p.i < n {
		return false
	}
	var r rune
	for _, c := range []byte(p.text[p.i : p.i+n]) {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return false
		}
		if r >= 1<<24 {
			return false
		}
		r = r<<4 | rune(c)
	}
	if !utf8.ValidRune(r) {
		return false
	}
	p.out = appendText(p.out, string(r))
	p.i += n
	return true
}

// appendText appends s as it stands between the quotes of a JSON string.
func appendText(dst []byte, s string) []byte {
	start := 0
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		default:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, s[start:]...)
}

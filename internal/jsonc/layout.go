package jsonc

import (
	"bytes"
	"iter"
)

const blanks = " \t\r\n"

// Space returns the blank, or nothing, that the text around m puts behind punctuation in a line.
func (d *Doc) Space(m Member) string {
	if bytes.ContainsAny(d.Src[m.KeyEnd:m.Value.Start], " \t") {
		return " "
	}
	return ""
}

// Separator returns what stands between two elements of the array that m holds: a comma and what the text puts
// behind it.
func (d *Doc) Separator(m Member) []byte {
	elems := m.Value.Elems
	if len(elems) > 0 {
		if line := d.Line(elems[0].Start); line != nil {
			return append([]byte(","), line...)
		}
	}
	if len(elems) > 1 {
		gap := d.Src[elems[0].End:elems[1].Start]
		if string(gap) == "," || string(gap) == ", " {
			return gap
		}
	}
	return []byte("," + d.Space(m))
}

// colon returns m's colon with the blanks around it.
func (d *Doc) colon(m Member) []byte {
	gap := d.Src[m.KeyEnd:m.Value.Start]
	if len(bytes.Trim(gap, " \t")) == 1 {
		return gap
	}
	return []byte(":" + d.Space(m))
}

// Line returns the line break and the indentation before offset, or nil if something else stands before it in
// its line.
func (d *Doc) Line(offset int) []byte {
	line := bytes.LastIndexByte(d.Src[:offset], '\n')
	if line < 0 || len(bytes.Trim(d.Src[line+1:offset], " \t")) > 0 {
		return nil
	}
	if line > 0 && d.Src[line-1] == '\r' {
		line--
	}
	return d.Src[line:offset:offset]
}

// lineEnd returns the offset behind the last comment that follows in offset's line. ok is false when a value, key
// or bracket follows in that line.
func (d *Doc) lineEnd(offset int) (end int, ok bool) {
	end = offset
	for i := offset; i < len(d.Src); {
		switch d.Src[i] {
		case ' ', '\t', '\r':
			i++
			continue
		case '\n':
			return end, true
		}
		next := commentEnd(d.Src, i)
		if next == i {
			return offset, false
		}
		comment := d.Src[i:next]
		switch {
		case comment[1] == '/': // ends the line
			return i + len(bytes.TrimRight(comment, "\r\n")), true // blanks at its end are the comment's own
		case bytes.IndexByte(comment, '\n') >= 0: // leads away from the line
			return end, true
		}
		i, end = next, next
	}
	return end, true
}

// Commented reports whether a comment stands inside v.
func (d *Doc) Commented(v Value) bool {
	quoted := false
	for i := v.Start; i < v.End; i++ {
		switch c := d.Src[i]; {
		case c == '\\' && quoted:
			i++
		case c == '"':
			quoted = !quoted
		case c == '/' && !quoted: // nothing else begins with it
			return true
		}
	}
	return false
}

// Comments yields where each comment begins and ends; a line comment's newline is not part of it.
func (d *Doc) Comments() iter.Seq2[int, int] {
	return func(yield func(start, end int) bool) {
		quoted := false
		for i := 0; i < len(d.Src); i++ {
			switch c := d.Src[i]; {
			case c == '\\' && quoted:
				i++
			case c == '"':
				quoted = !quoted
			case c == '/' && !quoted:
				end := commentEnd(d.Src, i)
				if end == i {
					continue
				}
				text := i + len(bytes.TrimSuffix(d.Src[i:end], []byte("\n")))
				if !yield(i, text) {
					return
				}
				i = end - 1
			}
		}
	}
}

// blanksBefore returns the offset where the white space before offset starts.
func (d *Doc) blanksBefore(offset int) int { return len(bytes.TrimRight(d.Src[:offset], blanks)) }

// inLineComment reports whether offset lies in a // comment, or at its end. Only blanks, commas and comments may stand
// between from and offset.
func (d *Doc) inLineComment(from, offset int) bool {
	for i := from; i < offset; {
		end := commentEnd(d.Src, i)
		if end > offset {
			return true
		}
		i = max(i+1, end)
	}
	return false
}

// lineIsOver reports whether nothing but blanks follows in offset's line.
func (d *Doc) lineIsOver(offset int) bool {
	return bytes.HasPrefix(bytes.TrimLeft(d.Src[offset:], " \t\r"), []byte("\n"))
}

// commaAfter returns the offset of the comma behind offset, past white space and comments, or -1 if something else
// follows.
func (d *Doc) commaAfter(offset int) int {
	for i := offset; i < len(d.Src); {
		c := d.Src[i]
		if c == ',' {
			return i
		}
		if bytes.IndexByte([]byte(blanks), c) >= 0 {
			i++
			continue
		}
		next := commentEnd(d.Src, i)
		if next == i {
			return -1
		}
		i = next
	}
	return -1
}

func isBlank(b []byte) bool { return len(bytes.Trim(b, blanks)) == 0 }

// commentEnd returns the offset behind the comment that starts at i, a line comment's newline included, or i if
// there is none. A comment that is never closed ends with the text.
func commentEnd(src []byte, i int) int {
	rest := src[i:]
	end := "\n"
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
	case bytes.HasPrefix(rest, []byte("/*")):
		end = "*/"
	default:
		return i
	}
	n := bytes.Index(rest[2:], []byte(end))
	if n < 0 {
		return len(src)
	}
	return i + 2 + n + len(end)
}

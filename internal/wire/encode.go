package wire

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// AppendQuoted appends s as a JSON string that passes Parse, with no more escapes than JSON asks for.
// Bytes that are not UTF-8 become U+FFFD.
func AppendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c < ' ' || c == '"' || c == '\\' {
			dst = appendEscaped(append(dst, s[start:i]...), c)
			start = i + 1
		}
		i++
	}
	return append(append(dst, s[start:]...), '"')
}

// appendEscaped appends the escape of a quote, a backslash or a control character.
func appendEscaped(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	const hex = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
}

// Canonical returns v in the one spelling that all equal values share: no white space, members sorted by
// decoded name, strings with only the escapes they need. Numbers stay as they are spelled, and so do lone
// surrogates but for their case, so that different texts stay different.
func Canonical(v Value) []byte {
	return appendCanonical(make([]byte, 0, len(v)), v)
}

func appendCanonical(dst []byte, v Value) []byte {
	switch v.Kind() {
	case '"':
		return appendCanonicalString(dst, v)
	case '{':
		return appendCanonicalObject(dst, v)
	case '[':
		dst = append(dst, '[')
		sep := false
		for elem := range v.Elems() {
			if sep {
				dst = append(dst, ',')
			}
			dst, sep = appendCanonical(dst, elem), true
		}
		return append(dst, ']')
	default:
		return append(dst, v...)
	}
}

func appendCanonicalObject(dst []byte, v Value) []byte {
	type field struct {
		key       string
		name, val Value
	}
	var fields []field
	for name, val := range v.fields() {
		key, _ := name.Text()
		fields = append(fields, field{key, name, val})
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.key, b.key) })
	dst = append(dst, '{')
	for i, f := range fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendCanonicalString(dst, f.name), ':')
		dst = appendCanonical(dst, f.val)
	}
	return append(dst, '}')
}

func appendCanonicalString(dst []byte, v Value) []byte {
	dst = append(dst, '"')
	for body := v.body(); len(body) > 0; {
		if body[0] != '\\' {
			i, _ := plain(body, 1)
			dst = append(dst, body[:i]...)
			body = body[i:]
			continue
		}
		r, n := escaped(body)
		switch {
		case r == lone:
			dst = append(dst, '\\', 'u')
			for _, c := range body[2:6] {
				dst = append(dst, c|0x20) // lower case; digits have this bit anyway
			}
		case r < ' ' || r == '"' || r == '\\':
			dst = appendEscaped(dst, byte(r))
		default:
			dst = utf8.AppendRune(dst, r)
		}
		body = body[n:]
	}
	return append(dst, '"')
}

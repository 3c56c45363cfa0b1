package taint

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Visible returns at most limit characters of s as one line in which nothing hides: control, zero-width and
// direction characters, odd spaces and bytes that are no text are spelled out, as in <U+200B>.
func Visible(s string, limit int) string {
	if plain(s) && len(s) <= limit {
		return s
	}
	var b strings.Builder
	n := 0
	for i, r := range s {
		if n == limit {
			b.WriteString("...")
			break
		}
		n++
		writeVisible(&b, r, s[i:])
	}
	return b.String()
}

// writeVisible writes r, which is how rest begins.
func writeVisible(b *strings.Builder, r rune, rest string) {
	switch {
	case ' ' <= r && r <= '~':
		b.WriteByte(byte(r))
	case r == utf8.RuneError && isBadByte(rest):
		fmt.Fprintf(b, "<0x%02X>", rest[0])
	case unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r) && !ignorable(r):
		b.WriteRune(r)
	default:
		fmt.Fprintf(b, "<U+%04X>", r)
	}
}

func isBadByte(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	return size == 1
}

func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// snippetSide is how much context a snippet shows on either side of a value.
const snippetSide = 80

// snippet shows text[start:end] in its context.
func snippet(text string, start, end int) string {
	lo, hi := start, end
	for range snippetSide {
		_, size := utf8.DecodeLastRuneInString(text[:lo])
		lo -= size
	}
	for range snippetSide {
		_, size := utf8.DecodeRuneInString(text[hi:])
		hi += size
	}
	var b strings.Builder // a copy, so that a few bytes don't keep all of text alive
	b.Grow(hi - lo)
	for lo < hi {
		at := lo
		for lo < hi && ' ' < text[lo] && text[lo] <= '~' {
			lo++
		}
		b.WriteString(text[at:lo])
		at = lo
		for lo < hi && isBlank(text[lo]) {
			lo++
		}
		if lo > at {
			if b.Len() > 0 && lo < hi {
				b.WriteByte(' ')
			}
			continue
		}
		if lo < hi {
			r, size := utf8.DecodeRuneInString(text[lo:])
			writeVisible(&b, r, text[lo:])
			lo += size
		}
	}
	return b.String()
}

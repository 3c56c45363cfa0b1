package wire

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf16"
	"unicode/utf8"
)

// Eight bytes at a time: a byte repeated eight times, and the high bit of each byte.
const (
	each  = 0x0101010101010101
	highs = 0x80 * each
)

// plain returns the index of the first byte at or after i that ends a run of plain string text (a quote, a
// backslash, a control character), or len(b). The bits in high tell whether the run holds anything but ASCII.
func plain(b []byte, i int) (end int, high uint64) {
	for ; i+8 <= len(b); i += 8 {
		w := binary.LittleEndian.Uint64(b[i:])
		// Flipping bit 1 moves the quote right behind the control characters, so that one comparison finds
		// both. A borrow can only falsify bytes above a true hit, and the lowest hit is all that counts.
		quotes := (w ^ 0x02*each) - 0x21*each
		slashes := (w ^ '\\'*each) - each
		if stops := (quotes | slashes) & ^w & highs; stops != 0 {
			n := bits.TrailingZeros64(stops) &^ 7
			return i + n/8, (high | w&(1<<n-1)) & highs
		}
		high |= w
	}
	for ; i < len(b) && b[i] >= ' ' && b[i] != '"' && b[i] != '\\'; i++ {
		high |= uint64(b[i])
	}
	return i, high & highs
}

// digits returns the index of the first byte at or after i that is no digit.
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' < 10 {
		i++
	}
	return i
}

// lone stands for half of a surrogate pair. It is no rune that a text can hold.
const lone rune = -1

// unit decodes the escape of the form \uXXXX at the start of b, or the pair of them that makes up one
// character, and returns its length: 0 when it is malformed.
func unit(b []byte) (r rune, n int) {
	if r = hex4(b); r < 0 {
		return 0, 0
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if full := utf16.DecodeRune(r, hex4(b[6:])); full != utf8.RuneError {
		return full, 12
	}
	return lone, 6
}

// hex4 reads \uXXXX at the start of b, or returns -1.
func hex4(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	var r rune
	for _, c := range b[2:6] {
		switch {
		case c-'0' < 10:
			c -= '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

// hasLone says whether a string's body holds a lone surrogate.
func hasLone(body []byte) bool {
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 {
			return false
		}
		r, n := escaped(body[i:])
		if r == lone {
			return true
		}
		body = body[i+n:]
	}
}

// unescape appends the text of a string's body that was checked. A lone surrogate becomes U+FFFD.
func unescape(dst, body []byte) []byte {
	for {
		i := bytes.IndexByte(body, '\\')
		if i < 0 {
			return append(dst, body...)
		}
		dst = append(dst, body[:i]...)
		r, n := escaped(body[i:])
		dst = utf8.AppendRune(dst, r) // which writes U+FFFD for lone
		body = body[i+n:]
	}
}

// escaped decodes the escape at the start of b, which was checked.
func escaped(b []byte) (r rune, n int) {
	if len(b) < 2 {
		return utf8.RuneError, len(b)
	}
	switch b[1] {
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		if r, n = unit(b); n > 0 {
			return r, n
		}
	}
	return rune(b[1]), 2
}

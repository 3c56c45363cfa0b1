package taint

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf16"
	"unicode/utf8"
)

// equal sets the high bit of each byte of w that is c.
func equal(w uint64, c byte) uint64 {
	w ^= uint64(c) * each
	return ^(w&^highs + 0x7f*each | w) & highs
}

// stringEnd returns the index behind the string at i. A document inside a string has an escape every few bytes, so that
// those are told apart eight bytes at a time, too.
func stringEnd(doc []byte, i int) int {
	escaped := uint64(0) // the high bit of the next byte, if that is escaped
	run := 0
	for i++; i+8 <= len(doc); i += 8 {
		w := binary.LittleEndian.Uint64(doc[i:])
		quotes, slashes := equal(w, '"'), equal(w, '\\')
		if quotes|slashes|escaped == 0 {
			if run++; run > 3 {
				i = plainEnd(doc, i+8) - 8
			}
			continue
		}
		run = 0
		if follow := slashes<<8 | escaped; slashes&follow == 0 {
			quotes &^= follow
			escaped = slashes >> 56
		} else { // one slash escapes another
			for n := 0; n < 64; n += 8 {
				bit := uint64(0x80) << n
				if escaped != 0 {
					quotes &^= bit
					escaped = 0
				} else {
					escaped = slashes & bit
				}
			}
			if escaped != 0 {
				escaped = 0x80
			}
		}
		if quotes != 0 {
			return i + bits.TrailingZeros64(quotes)/8 + 1
		}
	}
	if escaped != 0 {
		i++
	}
	for ; i < len(doc); i++ {
		switch doc[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(doc)
}

// plainEnd returns an index at or before the first quote or backslash at or behind i.
func plainEnd(doc []byte, i int) int {
	for ; i+32 <= len(doc); i += 32 {
		b := doc[i : i+32]
		if special(binary.LittleEndian.Uint64(b))|special(binary.LittleEndian.Uint64(b[8:]))|
			special(binary.LittleEndian.Uint64(b[16:]))|special(binary.LittleEndian.Uint64(b[24:])) != 0 {
			break
		}
	}
	return i
}

// special is 0 if none of the bytes of w is a quote or a backslash.
func special(w uint64) uint64 {
	quotes, slashes := w^'"'*each, w^'\\'*each
	return ((quotes-each)&^quotes | (slashes-each)&^slashes) & highs
}

// unescape appends the text of the string whose body begins with b, in which half of a surrogate pair becomes U+FFFD. It returns
// where the body ends.
func unescape(dst, b []byte) (text []byte, end int) {
	n := len(dst)
	dst = slices.Grow(dst, len(b)+8) // no escape is shorter than what it stands for
	dst = dst[:cap(dst)]
	quote := -1 // the next one
	for i := 0; i < len(b); {
		if quote < i {
			quote = indexOf(b, i, '"')
		}
		plain := indexOf(b[:quote], i, '\\')
		n += copy(dst[n:], b[i:plain])
		// Where there is one escape, others are near, unless it is that of a line. Going on eight bytes or to behind the next
		// one are the same few instructions, since nobody can guess which it will be.
		most := 4
		if plain-i > 64 {
			most = 1
		}
		i = plain
		for run := 0; run < most && i+10 <= len(b); {
			w := binary.LittleEndian.Uint64(b[i:])
			binary.LittleEndian.PutUint64(dst[n:], w)
			quotes := equal(w, '"')
			signs := quotes | equal(w, '\\')
			first := bits.TrailingZeros64(signs) / 8 // 8 if there is none
			if signs&-signs&quotes != 0 {
				return dst[:n+first], i + first
			}
			any := int((signs | -signs) >> 63)
			c := shortEscapes[b[i+first+1]&0x7f]
			dst[n+first] = c
			i, n, run = i+first, n+first, (run+1)*(1-any)
			if any > int(c) { // it is longer
				break
			}
			i, n = i+2*any, n+any
		}
		switch {
		case i == len(b):
		case b[i] == '"':
			return dst[:n], i
		case b[i] == '\\':
			r, size := escaped(b[i:])
			n += utf8.EncodeRune(dst[n:], r)
			i += size
		case i+10 > len(b):
			dst[n] = b[i]
			i, n = i+1, n+1
		}
	}
	return dst[:n], len(b)
}

// indexOf returns the index of the first c at or behind i, the length of b if there is none.
func indexOf(b []byte, i int, c byte) int {
	if n := bytes.IndexByte(b[i:], c); n >= 0 {
		return i + n
	}
	return len(b)
}

// shortEscapes has the character that a backslash and another one stand for, 0 for none.
const shortEscapes = "" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00/" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\\\x00\x00\x00" +
	"\x00\x00\b\x00\x00\x00\f\x00\x00\x00\x00\x00\x00\x00\n\x00" +
	"\x00\x00\r\x00\t\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// escaped decodes the escape at the start of b.
func escaped(b []byte) (r rune, size int) {
	if len(b) < 2 {
		return utf8.RuneError, len(b)
	}
	if c := shortEscapes[b[1]&0x7f]; c != 0 {
		return rune(c), 2
	}
	if r = unit(b); r < 0 {
		return rune(b[1]), 2
	}
	if !utf16.IsSurrogate(r) {
		return r, 6
	}
	if pair := utf16.DecodeRune(r, unit(b[6:])); pair != utf8.RuneError {
		return pair, 12
	}
	return utf8.RuneError, 6
}

// unit reads \uXXXX at the start of b; -1 stands for anything else.
func unit(b []byte) rune {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return -1
	}
	r := rune(0)
	for _, c := range b[2:6] {
		switch {
		case isDigit(c):
			c -= '0'
		case c|0x20-'a' < 6:
			c = c | 0x20 - 'a' + 10
		default:
			return -1
		}
		r = r<<4 | rune(c)
	}
	return r
}

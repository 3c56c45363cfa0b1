package taint

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// A set of ASCII characters is two words of bits: one for those below 64, one for the others. Deciding by a set takes the
// same few instructions for every character, and recording asks about each character of every output.

const (
	digits  = 0x3ff << '0'
	letters = 0x7fffffe | 0x7fffffe<<32 // above 64

	hostLow  = digits | 1<<'-' | 1<<'.'
	mailLow  = hostLow | 1<<'%' | 1<<'+'
	mailHigh = letters | 1<<('_'-64)

	specialLow  = mailLow | 1<<'!' | 1<<'#' | 1<<'$' | 1<<'&' | 1<<'\'' | 1<<'*' | 1<<'/' | 1<<'=' | 1<<'?'
	specialHigh = mailHigh | 1<<('^'-64) | 1<<('`'-64) | 1<<('{'-64) | 1<<('|'-64) | 1<<('}'-64) | 1<<('~'-64)

	// White space and control characters, and what no URL in running text goes on with.
	urlStopLow  = 1<<(' '+1) - 1 | 1<<'"' | 1<<'<' | 1<<'>'
	urlStopHigh = 1<<('\\'-64) | 1<<('^'-64) | 1<<('`'-64) | 1<<('|'-64) | 1<<(0x7f-64)
	trailingLow = 1<<'.' | 1<<',' | 1<<';' | 1<<':' | 1<<'!' | 1<<'?' | 1<<'\'' | 1<<'*' // belongs to the sentence

	base64Low  = digits | 1<<'+' | 1<<'/' | 1<<'-' | 1<<'='
	hexLetters = 0x7e | 0x7e<<32

	schemeLow = digits | 1<<'+' | 1<<'-' | 1<<'.'

	pathLow  = hostLow | 1<<'+' | 1<<'/' | 1<<'%' | 1<<'$' | 1<<'='
	pathHigh = letters | 1 | 1<<('_'-64) | 1<<('\\'-64) | 1<<('~'-64)
)

// in reports whether c is in the set. Beyond ASCII it is in none: shifting by 64 or more leaves nothing.
func in(c byte, low, high uint64) bool { return (low>>c|high>>(c-64))&1 != 0 }

func isHostByte(c byte) bool    { return in(c, hostLow, letters) }
func isMailByte(c byte) bool    { return in(c, mailLow, mailHigh) }
func isMailSpecial(c byte) bool { return in(c, specialLow, specialHigh) }
func isSchemeByte(c byte) bool  { return in(c, schemeLow, letters) }

// isPathByte also takes every byte beyond ASCII for part of a file's name.
func isPathByte(c byte) bool { return in(c, pathLow, pathHigh) || c >= utf8.RuneSelf }

func isHexByte(c byte) bool { return in(c, digits, hexLetters) }

func isLetter(c byte) bool { return in(c, 0, letters) }
func isUpper(c byte) bool  { return c-'A' <= 'Z'-'A' }
func isDigit(c byte) bool  { return c-'0' <= 9 }
func isAlnum(c byte) bool  { return in(c, digits, letters) }

// isWordByte takes every byte beyond ASCII for part of a word.
func isWordByte(c byte) bool { return isAlnum(c) || c >= utf8.RuneSelf }

// isNameByte also takes an underscore for part of a word, as programs do.
func isNameByte(c byte) bool { return isWordByte(c) || c == '_' }

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func lower(c byte) byte {
	if isUpper(c) {
		return c | 0x20
	}
	return c
}

// Eight bytes at a time: a byte repeated eight times, and the high bit of each.
const (
	each  = 0x0101010101010101
	highs = 0x80 * each
)

// word returns the eight bytes at i.
func word(s string, i int) uint64 { return binary.LittleEndian.Uint64([]byte(s[i : i+8])) }

func isASCII(s string) bool { return nextHigh(s, 0) == len(s) }

// between sets the high bit of each byte that lies between two ASCII characters; low has no high bit set. Adding sets it in
// a byte that is large enough, without a carry into the next.
func between(low uint64, from, to byte) uint64 {
	return (low + uint64(0x80-from)*each) &^ (low + uint64(0x7f-to)*each)
}

// nextTrigger returns the index of the first byte at or after i at which a value may be recognised:
//   - a digit, an @ or a plus,
//   - a dot inside a word, a colon before a slash, an opening parenthesis or bracket,
//   - a quote or a capital that does not continue a word; the capital goes on with another,
//   - a # that does, or a slash behind something that is no word and before a word or a dot.
//
// Everything else is passed over eight bytes a step, which is what makes recording cheap on prose. At the end of
// the text, it may also return a byte for the sake of what could follow it.
func nextTrigger(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		if i = plainUpTo(s, i); i+8 > len(s) {
			break
		}
		w := word(s, i)
		low := w &^ highs
		sign := func(from, to byte) uint64 { return between(low, from, to) &^ w & highs }
		const unknown = 0x80 << 56 // what follows the last byte
		upper := sign('A', 'Z')
		digit := sign('0', '9')
		name := w&highs | upper | digit | (between(low, 'a', 'z')|between(low, '_', '_'))&highs
		before := name << 8
		if i > 0 && isNameByte(s[i-1]) {
			before |= 0x80
		}
		after := name>>8 | unknown
		slash := sign('/', '/') | sign('\\', '\\')
		hit := digit | sign('@', '@') | sign('+', '+') | sign('(', '(') | sign('[', '[') |
			sign('.', '.')&before&after | sign(':', ':')&(slash>>8|unknown) |
			(sign('"', '#')|sign('\'', '\'')|sign('`', '`')|slash&(after|sign('.', '.')>>8)|upper&(upper>>8|unknown))&^before
		switch {
		case hit == 0x80<<56 && i+15 <= len(s):
			i-- // look again, with what follows it
		case hit != 0:
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for ; i < len(s); i++ {
		const signs = digits | 1<<'"' | 1<<'#' | 1<<'\'' | 1<<'(' | 1<<'+' | 1<<'.' | 1<<'/' | 1<<':'
		if in(s[i], signs, 1|letters&0xffffffff|1<<('['-64)|1<<('\\'-64)|1<<('`'-64)) {
			return i
		}
	}
	return i
}

// plainUpTo returns an index at or behind i, before which there are only words and what is between most of them.
func plainUpTo(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		w := word(s, i)
		low := w &^ highs
		upper := between(low, 'A', 'Z')
		const last = 0x80 << 56 // what follows that is not known
		drawn := (w|(low+(0x7f-' ')*each))>>8 | last
		if (between(low, '!', '`')&^between(low, ',', '.')&^upper|between(low, '.', '.')&drawn|upper&(upper>>8|last))&^w&highs != 0 {
			break
		}
	}
	return i
}

// nextMask returns the index of the first byte at or after i at which a masked sign may stand: an opening bracket, or a blank before
// a d. It may also return a blank that is the last of eight bytes.
func nextMask(s string, i int) int {
	for ; i+8 <= len(s); i += 8 {
		w := word(s, i)
		small := w | 0x20*each
		hit := equal(small, '{') | equal(w, '(') | equal(w, '<') | equal(w, ' ')&(equal(small, 'd')>>8|0x80<<56)
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	for i < len(s) && !in(s[i], 1<<' '|1<<'('|1<<'<', 1<<('['-64)|1<<('{'-64)) {
		i++
	}
	return i
}

// nextHigh returns the index of the first byte beyond ASCII at or after i.
func nextHigh(s string, i int) int {
	for i+32 <= len(s) && (word(s, i)|word(s, i+8)|word(s, i+16)|word(s, i+24))&highs == 0 {
		i += 32
	}
	for ; i+8 <= len(s); i += 8 {
		if high := word(s, i) & highs; high != 0 {
			return i + bits.TrailingZeros64(high)/8
		}
	}
	for i < len(s) && s[i] < utf8.RuneSelf {
		i++
	}
	return i
}

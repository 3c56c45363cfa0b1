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

	schemeLow = digits | 1<<'+' | 1<<'-' | 1<<'.'
)

// in reports whether c is in the set. Beyond ASCII it is in none: shifting by 64 or more leaves nothing.
func in(c byte, low, high uint64) bool { return (low>>c|high>>(c-64))&1 != 0 }

func isHostByte(c byte) bool    { return in(c, hostLow, letters) }
func isMailByte(c byte) bool    { return in(c, mailLow, mailHigh) }
func isMailSpecial(c byte) bool { return in(c, specialLow, specialHigh) }
func isSchemeByte(c byte) bool  { return in(c, schemeLow, letters) }

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

func isASCII(s string) bool {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if word(s, i)&highs != 0 {
			return false
		}
	}
	for ; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// between sets the high bit of each byte that lies between two ASCII characters; low has no high bit set. Adding sets it in
// a byte that is large enough, without a carry into the next.
func between(low uint64, from, to byte) uint64 {
	return (low + uint64(0x80-from)*each) &^ (low + uint64(0x7f-to)*each)
}

// nextTrigger returns the index of the first byte at or after i at which a value may be recognised: @ + . : and a capital
// at the start of a word that goes on with another or a digit. Everything else is passed over eight bytes a step, which is
// what makes recording cheap on prose.
func nextTrigger(s string, i int) int {
	var inside uint64 // a high bit when the byte before i is part of a word
	if i > 0 && isNameByte(s[i-1]) {
		inside = 0x80
	}
	for ; i+8 <= len(s); i += 8 {
		w := word(s, i)
		low := w &^ highs
		upper := between(low, 'A', 'Z') &^ w & highs
		next := upper | between(low, '0', '9')&^w&highs
		name := w&highs | next | (between(low, 'a', 'z')|between(low, '_', '_'))&highs
		start := upper &^ (name<<8 | inside)
		hit := start&(next>>8|0x80<<56) | // what follows the last byte is not known here
			(between(low, '@', '@')|between(low, '+', '+')|between(low, '.', '.')|between(low, ':', ':'))&^w&highs
		if hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
		inside = name >> 56
	}
	for ; i < len(s); i++ {
		const signs = 1<<'+' | 1<<'.' | 1<<':'
		if in(s[i], signs, 1|letters&0xffffffff) {
			return i
		}
	}
	return i
}

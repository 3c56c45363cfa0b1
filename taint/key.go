package taint

import (
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The kinds of value. Kinds never match each other.
const (
	kindValue = 'v' // a whole value, folded
	kindMail  = 'm'
	kindURL   = 'u'
	kindHost  = 'h'
	kindIBAN  = 'i'
	kindPhone = 'p'
	kindCard  = 'c'
	kindPath  = 'f' // only where spelling counts: a path is found as a value
)

// fold appends the canonical form of a whole value to dst: trimmed, white space collapsed, compatibility forms and
// case folded, invisible characters removed. A leading # or @ goes too, since tools take a channel or a user either way.
func fold(dst []byte, s string) []byte {
	if !isASCII(s) {
		s = foldUnicode(s)
	}
	start := len(dst)
	space := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c <= ' ' || c == 0x7f {
			space = len(dst) > start
			continue
		}
		if space {
			dst, space = append(dst, ' '), false
		}
		for i+8 <= len(s) { // a long word
			w := word(s, i)
			if between(w&^highs, '!', '~')&^w&highs != highs {
				break
			}
			w |= between(w, 'A', 'Z') & highs >> 2
			dst = binary.LittleEndian.AppendUint64(dst, w)
			i += 8
		}
		if i < len(s) && s[i] > ' ' && s[i] != 0x7f {
			dst = append(dst, lower(s[i]))
		} else {
			i--
		}
	}
	if folded := dst[start:]; len(folded) > 2 && (folded[0] == '#' || folded[0] == '@') && folded[1] != ' ' {
		dst = append(dst[:start], folded[1:]...)
	}
	return dst
}

// foldUnicode folds what lies beyond ASCII and leaves spaces and ASCII to fold.
func foldUnicode(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	var last rune
	for _, r := range norm.NFKC.String(strings.Map(dropIgnorable, s)) {
		switch {
		case ignorable(r):
			continue
		case unicode.IsSpace(r) || unicode.IsControl(r):
			r = ' '
			b.WriteByte(' ')
		case r == 'ß' || r == 'ẞ':
			b.WriteString("ss")
		case r == 'İ' || r == 'ı': // so that no locale's upper case hides an i
			r = 'i'
			b.WriteByte('i')
		case r == '\u0307' && (last == 'i' || last == 'I'):
			continue
		default:
			b.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
		}
		last = r
	}
	return norm.NFKC.String(b.String())
}

// narrowed returns s as it looks: without invisible characters, compatibility forms such as full-width letters and signs as
// the plain ones, and letters of other scripts as the Latin ones they look like. ok is false when that is s itself. Whoever shows where a value stood looks at s first, since
// only there can be seen what was hidden.
func narrowed(s string) (plain string, ok bool) {
	if isASCII(s) {
		return s, false
	}
	if looksPlain(s) {
		return s, false
	}
	plain = strings.Map(dropIgnorable, norm.NFKC.String(strings.Map(dropIgnorable, s)))
	plain = norm.NFKC.String(strings.Map(latin, plain))
	return plain, plain != s
}

// looksPlain reports whether nothing in s can need narrowing.
func looksPlain(s string) bool {
	for i := nextHigh(s, 0); i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if ignorable(r) || latin(r) != r {
			return false
		}
		if i += size; i < len(s) && s[i] < utf8.RuneSelf {
			i = nextHigh(s, i)
		}
	}
	return norm.NFKC.IsNormalString(s)
}

func dropIgnorable(r rune) rune {
	if ignorable(r) {
		return -1
	}
	return r
}

// ignorable reports whether r is normally drawn as nothing at all.
func ignorable(r rune) bool {
	switch {
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c, r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5,
		r == 0x2800, r == 0x3164, r == 0xfeff, r == 0xffa0,
		0x180b <= r && r <= 0x180f,
		0x200b <= r && r <= 0x200f, 0x202a <= r && r <= 0x202e, 0x2060 <= r && r <= 0x206f,
		0xfe00 <= r && r <= 0xfe0f, 0xfff0 <= r && r <= 0xfffb,
		0x1bca0 <= r && r <= 0x1bca3, 0x1d173 <= r && r <= 0x1d17a, 0xe0000 <= r && r <= 0xe0fff:
		return true
	}
	return false
}

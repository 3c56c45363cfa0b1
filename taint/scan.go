package taint

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A scanner finds the values in a text that are clearly destinations, in one pass.
type scanner struct {
	text  string
	canon []byte // the canonical form under construction
	found finder
}

// A finder gets each value in its canonical form, valid until it returns, with its place in the text.
type finder interface {
	typed(kind byte, canon []byte, start, end int)
}

func (s *scanner) scan(text string) {
	s.text = text
	for i := 0; ; {
		if i = nextTrigger(text, i); i == len(text) {
			return
		}
		next, c := 0, text[i]
		switch c {
		case '@':
			next = s.mail(i)
		case ':':
			if strings.HasPrefix(text[i:], "://") {
				next = s.url(i)
			}
		case '.':
			if i > 0 && i+1 < len(text) && isWordByte(text[i-1]) && isWordByte(text[i+1]) {
				next = s.host(i)
			}
		case '+':
			if i == 0 || !isAlnum(text[i-1]) {
				next = s.phone(i)
			}
		default:
			if i+1 < len(text) && (isUpper(text[i+1]) || isDigit(text[i+1])) && (i == 0 || !isNameByte(text[i-1])) {
				next = s.id(i)
			}
		}
		i = max(next, i+1)
	}
}

// mail reads an address around the @ at i and returns where to go on.
func (s *scanner) mail(at int) int {
	lo, hi := at, at+1
	for lo > 0 && isMailByte(s.text[lo-1]) {
		lo--
	}
	for hi < len(s.text) && isHostByte(s.text[hi]) {
		hi++
	}
	s.emitMail(lo, at, hi)
	// The wider readings are recorded beside the plain one: quotes and operators are legal in addresses, and in
	// scripts without spaces a letter next to an address may or may not belong to it.
	if wide := s.extendLeft(lo, isMailSpecial); wide < lo {
		s.emitMail(wide, at, hi)
	}
	wideLo, wideHi := s.extendLeft(lo, isMailByte), s.extendRight(hi, isHostByte)
	if (wideLo < lo || wideHi > hi) && !isASCII(s.text[wideLo:wideHi]) {
		s.emitMail(wideLo, at, wideHi)
	}
	return hi
}

func (s *scanner) emitMail(lo, at, hi int) {
	for lo < at && s.text[lo] == '.' {
		lo++
	}
	for hi > at+1 && (s.text[hi-1] == '.' || s.text[hi-1] == '-') {
		hi--
	}
	if lo == at || hi == at+1 {
		return
	}
	s.canon = appendMail(s.canon[:0], s.text[lo:at], s.text[at+1:hi])
	s.found.typed(kindMail, s.canon, lo, hi)
}

// extendLeft moves lo over bytes of a class and over letters beyond ASCII.
func (s *scanner) extendLeft(lo int, class func(byte) bool) int {
	for lo > 0 {
		if c := s.text[lo-1]; c < utf8.RuneSelf {
			if !class(c) {
				break
			}
			lo--
			continue
		}
		r, size := utf8.DecodeLastRuneInString(s.text[:lo])
		if !isWordRune(r) {
			break
		}
		lo -= size
	}
	return lo
}

// extendRight is extendLeft in the other direction.
func (s *scanner) extendRight(hi int, class func(byte) bool) int {
	for hi < len(s.text) {
		if c := s.text[hi]; c < utf8.RuneSelf {
			if !class(c) {
				break
			}
			hi++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[hi:])
		if !isWordRune(r) {
			break
		}
		hi += size
	}
	return hi
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || ignorable(r) || r == '。' || r == '．'
}

// url reads a URL around the :// at i. It goes on behind the authority: a query may hold further values.
func (s *scanner) url(colon int) int {
	lo := colon
	for lo > 0 && isSchemeByte(s.text[lo-1]) {
		lo--
	}
	for lo < colon && !isLetter(s.text[lo]) {
		lo++
	}
	if colon-lo < 2 {
		return 0
	}
	hi, ascii := urlEnd(s.text, colon+3)
	authority := s.emitURL(lo, hi)
	if ascii < hi {
		s.emitURL(lo, ascii)
	}
	return authority
}

func (s *scanner) emitURL(lo, hi int) (authority int) {
	u, ok := parseURL(s.text[lo:hi])
	if !ok {
		return 0
	}
	s.canon = u.append(s.canon[:0], false)
	s.found.typed(kindURL, s.canon, lo, hi)
	if u.fragment != "" {
		s.canon = u.append(s.canon[:0], true)
		s.found.typed(kindURL, s.canon, lo, hi)
	}
	s.canon = appendHost(s.canon[:0], u.host)
	start := lo + u.hostAt
	s.found.typed(kindHost, s.canon, start, start+len(u.host))
	return start + len(u.host)
}

// host reads a bare host name around the dot at i.
func (s *scanner) host(dot int) int {
	lo, hi := dot, dot
	for lo > 0 && isHostByte(s.text[lo-1]) {
		lo--
	}
	for hi < len(s.text) && isHostByte(s.text[hi]) {
		hi++
	}
	wideLo, wideHi := s.extendLeft(lo, isHostByte), s.extendRight(hi, isHostByte)
	if wideHi < len(s.text) && strings.IndexByte("@(_", s.text[wideHi]) >= 0 {
		return 0 // the local part of an address, or code
	}
	if wideLo > 0 && strings.IndexByte("@/_", s.text[wideLo-1]) >= 0 && !strings.HasSuffix(s.text[:wideLo], "//") {
		return hi // an address that was read already, or a file in a path
	}
	s.emitHost(lo, hi)
	if wideLo < lo || wideHi > hi {
		s.emitHost(wideLo, wideHi)
	}
	return hi
}

func (s *scanner) emitHost(lo, hi int) {
	for lo < hi && (s.text[lo] == '.' || s.text[lo] == '-') {
		lo++
	}
	for hi > lo && (s.text[hi-1] == '.' || s.text[hi-1] == '-') {
		hi--
	}
	if !looksLikeHost(s.text[lo:hi]) {
		return
	}
	s.canon = appendHost(s.canon[:0], s.text[lo:hi])
	s.found.typed(kindHost, s.canon, lo, hi)
}

// phone reads an international number at the plus at i.
func (s *scanner) phone(plus int) int {
	s.canon = s.canon[:0]
	end := plus
	for i := plus + 1; i < len(s.text) && len(s.canon) <= 15; i++ {
		c := s.text[i]
		if isDigit(c) {
			s.canon, end = append(s.canon, c), i+1
		} else if strings.IndexByte(" -.()/", c) < 0 || i-end > 2 {
			break
		}
	}
	if len(s.canon) < 8 || len(s.canon) > 15 {
		return 0
	}
	s.found.typed(kindPhone, s.canon, plus, end)
	return end
}

// id reads what starts with a capital at a word's start: an IBAN, or an identifier of a chat service.
func (s *scanner) id(lo int) int {
	hi := lo
	for hi < len(s.text) && (isUpper(s.text[hi]) || isDigit(s.text[hi])) {
		hi++
	}
	if end := s.iban(lo); end > 0 {
		return end
	}
	whole := hi == len(s.text) || !isWordByte(s.text[hi]) && s.text[hi] != '_'
	if hi-lo >= 9 && whole && strings.IndexByte("CUDGW", s.text[lo]) >= 0 {
		s.canon = fold(s.canon[:0], s.text[lo:hi])
		s.found.typed(kindValue, s.canon, lo, hi)
	}
	return hi
}

// iban reads an account number at lo, written in one piece or in groups of four.
func (s *scanner) iban(lo int) int {
	t := s.text[lo:]
	if len(t) < 15 || !isUpper(t[1]) || !isDigit(t[2]) || !isDigit(t[3]) {
		return 0
	}
	s.canon = s.canon[:0]
	best, size := 0, 0
	for i := 0; i < len(t) && len(s.canon) < 34; i++ {
		if c := t[i]; isUpper(c) || isDigit(c) {
			s.canon = append(s.canon, c)
		} else if c != ' ' && c != '-' || len(s.canon)%4 != 0 || t[i-1] == c {
			break
		}
		// A group ends here: at a separator, at the end of the text, or before anything else.
		if end := i + 1; end == len(t) || !isWordByte(t[end]) {
			if isDigit(t[i]) || isUpper(t[i]) {
				if validIBAN(s.canon) {
					best, size = end, len(s.canon)
				}
			}
		}
	}
	if best == 0 {
		return 0
	}
	s.found.typed(kindIBAN, s.canon[:size], lo, lo+best)
	return lo + best
}

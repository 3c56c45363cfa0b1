package taint

import (
	"net/netip"
	"slices"
	"strings"
)

// token reads the word or number around the digit at i, and returns where to go on.
func (s *scanner) token(i int) int {
	text := s.text
	lo := i
	for lo > 0 && (isNameByte(text[lo-1]) || isJoint(text, lo-1)) {
		if lo--; isDigit(text[lo]) {
			return nameEnd(text, i) // the token was read at its first digit
		}
		if i-lo > maxToken {
			return nameEnd(text, i)
		}
	}
	if end := s.iban(lo); end > 0 {
		return end
	}
	if end := s.figure(lo, i); end > 0 {
		return end
	}
	end := nameEnd(text, i)
	if lo > 0 && text[lo-1] == ':' || end < len(text) && text[end] == ':' {
		if hi := s.ipv6(lo); hi > 0 {
			return hi
		}
	}
	hi := end
	for hi < len(text) && hi-lo <= maxToken && (isNameByte(text[hi]) || isJoint(text, hi)) {
		hi++
	}
	if hi-lo >= 16 {
		if behind := blobEnd(text, hi); behind > 0 {
			return behind
		}
	}
	if hi-lo <= maxToken && (standsOut(text[lo:hi]) && !s.inTime(lo) || s.labelled(lo)) {
		s.emit(lo, hi)
	}
	if number := text[lo:hi]; len(number) == 10 && strings.HasPrefix(number, "0x") {
		if ip, ok := parseNumericIP(number); ok {
			s.canon = ip.AppendTo(s.canon[:0])
			s.found.typed(kindHost, s.canon, lo, hi)
		}
	}
	return end
}

// blobEnd returns where a long stretch of base64 ends that is under way at i, and 0 if there is none.
func blobEnd(text string, i int) int {
	const long = 512
	start := i
	for i < len(text) && in(text[i], digits|1<<'+'|1<<'/'|1<<'=', letters) {
		i++
		if i-start == long {
			for i < len(text) && in(text[i], digits|1<<'+'|1<<'/'|1<<'=', letters) {
				i++
			}
			return i
		}
	}
	return 0
}

// nameEnd returns where the word at i ends.
func nameEnd(text string, i int) int {
	for i < len(text) && isNameByte(text[i]) {
		i++
	}
	return i
}

// standsOut tells an identifier from the numbers, amounts, dates and times that texts are full of: it mixes letters and
// digits, or has five digits and more.
func standsOut(token string) bool {
	figures, others, dots := 0, 0, 0
	for i := range len(token) {
		switch c := token[i]; {
		case isDigit(c):
			figures++
		case c == '.':
			dots++
		case c != '-':
			others++
		}
	}
	if others == 0 && dots > 0 || isDate(token) {
		return false
	}
	return figures >= 5 || others > 0 && len(token) > 2
}

// inTime reports whether what starts at lo are the seconds of a time, or its like.
func (s *scanner) inTime(lo int) bool { return lo > 1 && s.text[lo-1] == ':' && isDigit(s.text[lo-2]) }

func isDate(s string) bool {
	return len(s) == 10 && s[4] == '-' && s[7] == '-' || len(s) >= 13 && s[4] == '-' && s[7] == '-' && s[10] == 'T'
}

// labelled reports whether the words before lo say that a number is one of somebody or something.
func (s *scanner) labelled(lo int) bool {
	end := lo
	for end > 0 && lo-end < 4 && strings.IndexByte(" :=#'\"_.", s.text[end-1]) >= 0 {
		end--
	}
	start := end
	for start > 0 && end-start < 10 && isLetter(s.text[start-1]) {
		start--
	}
	switch strings.ToLower(s.text[start:end]) {
	case "id", "ids", "no", "nr", "number", "num", "ref", "key", "account", "order", "ticket", "issue", "invoice", "event", "file",
		"user", "record", "case":
		return true
	}
	return false
}

// figure reads a telephone or card number whose first digit is at i, in a token that starts at lo.
func (s *scanner) figure(lo, i int) int {
	text := s.text
	if lo != i || i > 0 && strings.IndexByte(".,/-$", text[i-1]) >= 0 {
		return 0
	}
	start := i
	if i > 0 && text[i-1] == '(' {
		start--
	}
	var buf [maxFigures]byte
	f, ok := readFigure(buf[:], text, start)
	if !ok || len(f.digits) < 7 {
		return 0
	}
	s.canon = append(s.canon[:0], f.digits...)
	switch {
	case f.isCard():
		s.found.typed(kindCard, s.canon, start, f.end)
		if f.n == 1 {
			return 0 // it may as well be an identifier
		}
	case strings.HasPrefix(string(f.digits), "00") && len(f.digits) >= 10:
		s.emitPhone(s.canon[2:], start, f.end)
	case f.isPhone(), len(text[:start]) > 3 && strings.EqualFold(text[start-4:start], "tel:"):
		s.emitPhone(s.canon, start, f.end)
	default:
		return 0
	}
	return f.end
}

// phone reads an international number at the plus at i.
func (s *scanner) phone(plus int) int {
	digits := s.canon[:0]
	end := plus
	for i := plus + 1; i < len(s.text) && len(digits) <= 15; i++ {
		c := s.text[i]
		switch {
		case isDigit(c):
			if c == '0' && s.text[i-1] == '(' && strings.HasPrefix(s.text[i+1:], ")") {
				end = i + 1 // dialled inside the country only
				continue
			}
			digits, end = append(digits, c), i+1
			continue
		case strings.IndexByte(" -.()/", c) >= 0 && i-end <= 2:
			continue
		}
		break
	}
	s.canon = digits
	if len(digits) < 8 || len(digits) > 15 {
		return 0
	}
	s.emitPhone(digits, plus, end)
	return end
}

// emitPhone reports a telephone number; one of North America with and without its country code.
func (s *scanner) emitPhone(digits []byte, lo, hi int) {
	s.found.typed(kindPhone, digits, lo, hi)
	if len(digits) == 11 && digits[0] == '1' {
		s.found.typed(kindPhone, digits[1:], lo, hi)
	}
}

// id reads two capitals and more at a word's start: an identifier of a chat service, as far as it holds no digit.
func (s *scanner) id(lo int) int {
	hi := lo
	for hi < len(s.text) && isUpper(s.text[hi]) {
		hi++
	}
	whole := hi == len(s.text) || !isNameByte(s.text[hi])
	if hi-lo >= 9 && whole && strings.IndexByte("CUDGW", s.text[lo]) >= 0 {
		s.emit(lo, hi)
	}
	return hi
}

// iban reads an account number at lo, written in one piece or in groups of four, and returns where it ends. Words in capitals
// may follow it: then the reading with the right check digits, the one whose last group holds a digit and the longest are
// all reported.
func (s *scanner) iban(lo int) int {
	t := s.text[lo:]
	if len(t) < 15 || !isUpper(t[0]) || !isUpper(t[1]) || !isDigit(t[2]) || !isDigit(t[3]) {
		return 0
	}
	s.canon = s.canon[:0]
	var valid, shaped, longest span // the length of the number and that of its spelling
	digit := false                  // in the group under way
	for i := 0; i < len(t) && len(s.canon) < 34; i++ {
		c := t[i]
		switch {
		case isUpper(c) || isDigit(c):
			s.canon = append(s.canon, c)
			digit = digit || isDigit(c)
		case (c == ' ' || c == '-') && len(s.canon)%4 == 0 && t[i-1] != c:
			digit = false
			continue
		default:
			i = len(t)
			continue
		}
		if end := i + 1; (end == len(t) || !isNameByte(t[end])) && shapedIBAN(s.canon) {
			longest = span{len(s.canon), end}
			if digit {
				shaped = longest
			}
			if validIBAN(s.canon) {
				valid = longest
			}
		}
	}
	if longest.end == 0 {
		return 0
	}
	for _, reading := range slices.Compact([]span{valid, shaped, longest}) {
		if reading.end > 0 {
			s.found.typed(kindIBAN, s.canon[:reading.start], lo, lo+reading.end)
		}
	}
	if end := max(valid.end, shaped.end); end > 0 {
		return lo + end
	}
	return 0
}

// ipv6 reads an address of version 6 of which the token at lo is the first one with a digit.
func (s *scanner) ipv6(lo int) int {
	const longest = len("0000:0000:0000:0000:0000:ffff:255.255.255.255")
	isPart := func(c byte) bool { return isDigit(c) || c == ':' || c == '.' || 'a' <= c|0x20 && c|0x20 <= 'f' }
	start, hi := lo, lo
	for start > 0 && isPart(s.text[start-1]) {
		if start--; isDigit(s.text[start]) || lo-start > longest {
			return 0
		}
	}
	colons := 0
	for hi < len(s.text) && hi-start <= longest && isPart(s.text[hi]) {
		hi++
	}
	for hi > lo && (s.text[hi-1] == '.' || s.text[hi-1] == ':' && (hi < 2 || s.text[hi-2] != ':')) {
		hi--
	}
	part := s.text[start:hi]
	if colons = strings.Count(part, ":"); colons < 2 || colons < 6 && !strings.Contains(part, "::") {
		return 0
	}
	ip, err := netip.ParseAddr(part)
	if err != nil {
		return 0
	}
	s.canon = ip.Unmap().AppendTo(s.canon[:0])
	s.found.typed(kindHost, s.canon, start, hi)
	return hi
}

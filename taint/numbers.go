package taint

import "strings"

// shapedIBAN reports whether s looks like an account number without spaces: two capitals, two check digits, then 11 to 30
// capitals and digits. Made-up numbers, as people use in tests and attackers in tales, have it too.
func shapedIBAN(s []byte) bool {
	if len(s) < 15 || len(s) > 34 || !isUpper(s[0]) || !isUpper(s[1]) || !isDigit(s[2]) || !isDigit(s[3]) {
		return false
	}
	for _, c := range s[4:] {
		if !isUpper(c) && !isDigit(c) {
			return false
		}
	}
	return true
}

// validIBAN also checks the check digits.
func validIBAN(s []byte) bool {
	if !shapedIBAN(s) {
		return false
	}
	rest := 0
	for i := range len(s) {
		if c := s[(i+4)%len(s)]; isDigit(c) {
			rest = (rest*10 + int(c-'0')) % 97
		} else {
			rest = (rest*100 + int(c-'A') + 10) % 97
		}
	}
	return rest == 1
}

// A figure is a number in running text, with the separators people put between its groups.
type figure struct {
	digits []byte
	groups [maxGroups]int // how many digits each has
	n      int            // how many groups there are
	end    int            // in the text
	opened bool           // a group stands in parentheses
}

const (
	maxGroups  = 7
	maxFigures = 19 // digits
)

// readFigure reads a number that starts with a digit, or a parenthesis before one, at i. It ends before whatever is no
// digit and no single separator; ok is false if that cuts a word or a longer number.
func readFigure(buf []byte, s string, i int) (f figure, ok bool) {
	f.digits = buf[:0]
	if i < len(s) && s[i] == '(' {
		f.opened = true
		i++
	}
	closed := !f.opened
	for i < len(s) && f.n < maxGroups {
		start := i
		for i < len(s) && isDigit(s[i]) && len(f.digits) < maxFigures {
			f.digits = append(f.digits, s[i])
			i++
		}
		if i == start {
			break
		}
		f.groups[f.n], f.n, f.end = i-start, f.n+1, i
		if i < len(s) && s[i] == ')' && !closed {
			closed = true
			i++
		}
		if i < len(s) && strings.IndexByte(" -./", s[i]) >= 0 {
			i++
		}
		if i < len(s) && s[i] == '(' && closed && !f.opened {
			f.opened, closed = true, false
			i++
		}
	}
	return f, f.end == len(s) || f.n > 0 && !isNameByte(s[f.end])
}

// isPhone reports whether the groups are those of a telephone number without a country code: (555) 123-4567 and
// 1-555-123-4567, or a leading zero and at least two groups.
func (f *figure) isPhone() bool {
	g := f.groups[:f.n]
	if len(g) == 4 && g[0] == 1 && f.digits[0] == '1' {
		g = g[1:]
	}
	if len(g) == 3 && g[0] == 3 && g[1] == 3 && g[2] == 4 {
		return true
	}
	n := len(f.digits)
	return f.n >= 2 && f.digits[0] == '0' && f.groups[0] >= 3 && 9 <= n && n <= 15
}

// isCard reports whether the digits are those of a payment card, in one piece or in the groups that are printed on it.
func (f *figure) isCard() bool {
	g := f.groups[:f.n]
	switch {
	case len(g) == 1:
	case len(g) == 3 && g[0] == 4 && g[1] == 6 && (g[2] == 5 || g[2] == 4):
	case len(g) == 4 || len(g) == 5:
		for _, n := range g[:4] {
			if n != 4 {
				return false
			}
		}
	default:
		return false
	}
	return !f.opened && len(f.digits) >= 13 && luhn(f.digits)
}

func luhn(digits []byte) bool {
	sum := 0
	for i, c := range digits {
		d := int(c - '0')
		if (len(digits)-i)%2 == 0 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0
}

// cardNumber appends the digits of a card number that is all of s, grouped by one kind of separator or not at all.
func cardNumber(dst []byte, s string) ([]byte, bool) {
	if len(s) < 13 || len(s) > maxFigures+4 || strings.ContainsAny(s, "./") || strings.Contains(s, " ") && strings.Contains(s, "-") {
		return dst, false
	}
	var buf [maxFigures]byte
	f, ok := readFigure(buf[:0], s, 0)
	if !ok || f.end != len(s) || !f.isCard() {
		return dst, false
	}
	return append(dst, f.digits...), true
}

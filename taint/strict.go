package taint

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/text/unicode/norm"
)

// maxStrict is the length up to which a value can be trusted at all.
const maxStrict = 2 << 10

// strictValue appends the canonical form by which a value may be trusted. Only spellings that every program reads as one and
// the same value share it; what two programs could read as two values, or one as several, has none.
//
// What it makes equal, the lenient forms make equal too, so that nothing trusted can be out of the reach of what accuses it.
func strictValue(dst []byte, s string) (kind byte, canon []byte, ok bool) {
	s = strings.Trim(s, " \t\r\n")
	if s == "" || len(s) > maxStrict || !allVisible(s) {
		return 0, dst, false
	}
	switch {
	case strings.Contains(s, "://"):
		canon, ok = strictURL(dst, s)
		return kindURL, canon, ok
	case isPath(s):
		return kindPath, append(dst, s...), !strings.HasPrefix(s, "//") && !strings.ContainsAny(s, ",;")
	case strings.LastIndexByte(s, '@') > 0:
		canon, ok = strictMailbox(dst, s)
		return kindMail, canon, ok
	case s[0] == '+' && len(s) > 1 && isDigit(s[1]):
		canon, ok = strictPhone(dst, s)
		return kindPhone, canon, ok
	}
	if canon, ok = strictIBAN(dst, s); ok {
		return kindIBAN, canon, true
	}
	if canon, ok = cardNumber(dst, s); ok {
		return kindCard, canon, true
	}
	if looksLikeHost(strings.TrimSuffix(s, ".")) && !isAmbiguousName(s) {
		canon, ok = strictHost(dst, s)
		return kindHost, canon, ok
	}
	canon, ok = strictName(dst, s)
	return kindValue, canon, ok
}

// allVisible reports whether each character of s is drawn, and the only white space is the plain space.
func allVisible(s string) bool {
	if plain(s) {
		return true
	}
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if r != ' ' && (unicode.IsSpace(r) || !unicode.IsGraphic(r) || ignorable(r)) {
			return false
		}
	}
	return true
}

// strictURL takes a URL whose host no reader can take for another one, and leaves everything behind the host as it is.
func strictURL(dst []byte, s string) ([]byte, bool) {
	u, ok := parseURL(s)
	if !ok || u.userinfo || s[len(s)-1] == '#' || !isScheme(u.scheme) || !isPort(u.port) || strings.ContainsAny(s, " \\\"<>`{}|^") {
		return dst, false
	}
	behind := s[u.hostAt+len(u.host):]
	if strings.Contains(behind, "://") || u.port == "" && strings.HasPrefix(behind, ":") || hasDotSegment(u.rest) {
		return dst, false
	}
	canon, ok := strictHost(u.appendScheme(dst), u.host)
	if !ok {
		return dst, false
	}
	return u.appendRest(canon, true), true
}

func isScheme(s string) bool {
	return len(s) > 1 && isLetter(s[0]) && strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf || !isSchemeByte(byte(r)) }) < 0
}

func isPort(s string) bool {
	return s == "" || len(s) <= 5 && s[0] != '0' && strings.Trim(s, "0123456789") == ""
}

// hasDotSegment reports whether a path has a segment that some programs resolve and others send.
func hasDotSegment(rest string) bool {
	path, _, _ := strings.Cut(rest, "?")
	if strings.IndexByte(path, '%') < 0 && strings.IndexByte(path, '.') < 0 {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		switch strings.ReplaceAll(strings.ToLower(segment), "%2e", ".") {
		case ".", "..":
			return true
		}
	}
	return false
}

// strictHost takes a host name or a dotted quad. Names beyond ASCII are one with their punycode only if no version of the
// rules for such names maps either to anything else.
func strictHost(dst []byte, host string) ([]byte, bool) {
	host = strings.TrimSuffix(host, ".")
	if host == "" || len(host) > longestHost {
		return dst, false
	}
	if !isASCII(host) {
		if strings.ContainsFunc(host, isNoHostRune) || host != foldUnicode(host) || strings.ContainsAny(host, "ßς") || !norm.NFKC.IsNormalString(host) {
			return dst, false
		}
		if outer := "." + host + "."; strings.Contains(outer, ".-") || strings.Contains(outer, "-.") || strings.Contains(outer, "--") {
			return dst, false
		}
		ascii, err := idna.Punycode.ToASCII(host)
		if err != nil {
			return dst, false
		}
		host = ascii
	}
	start := len(dst)
	last := ""
	for label := range strings.SplitSeq(host, ".") {
		if !isLabel(label) {
			return dst[:start], false
		}
		last = label
	}
	for i := range len(host) {
		dst = append(dst, lower(host[i]))
	}
	if strings.Contains(view(dst[start:]), "--") {
		folded := string(dst[start:])
		u, err := idna.Punycode.ToUnicode(folded)
		if err != nil || foldHost(folded) != folded || foldUnicode(u) != u || strings.ContainsAny(u, "ßς") || !allVisible(u) {
			return dst[:start], false
		}
	}
	if isDigit(last[0]) && !isDottedQuad(host) {
		return dst[:start], false // a number is an address in one spelling or another
	}
	return dst, true
}

func isNoHostRune(r rune) bool {
	return r != '.' && r != '-' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
}

func isLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if !isAlnum(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

func isDottedQuad(s string) bool {
	n := 0
	for part := range strings.SplitSeq(s, ".") {
		n++
		if part == "" || len(part) > 3 || part[0] == '0' && len(part) > 1 || strings.Trim(part, "0123456789") != "" ||
			len(part) == 3 && part > "255" {
			return false
		}
	}
	return n == 4
}

// isAmbiguousName reports whether what looks like a host may as well be a file, whose case counts.
func isAmbiguousName(s string) bool {
	extension := s[strings.LastIndexByte(s, '.')+1:]
	return (isCodeExtension(extension) || strings.EqualFold(extension, "com")) && strings.ToLower(s) != s
}

// strictMailbox takes addr and Name <addr>, where the name can't hold or hide another address.
func strictMailbox(dst []byte, s string) ([]byte, bool) {
	if s[len(s)-1] == '>' {
		name, addr, _ := strings.Cut(s[:len(s)-1], "<")
		name = strings.TrimSpace(name)
		if len(name) > 1 && name[0] == '"' && name[len(name)-1] == '"' {
			name = name[1 : len(name)-1]
		}
		if strings.ContainsAny(name, "@<>()[]{},;:|\"\\%&=/") {
			return dst, false
		}
		s = addr
	}
	local, domain, ok := strings.Cut(s, "@")
	if !ok || len(local) > 64 || !isDotAtom(local) || strings.IndexByte(domain, '.') < 0 || domain[len(domain)-1] == '.' {
		return dst, false
	}
	start := len(dst)
	for i := range len(local) {
		dst = append(dst, lower(local[i]))
	}
	dst = append(dst, '@')
	dst, ok = strictHost(dst, domain)
	if !ok || isDigit(domain[strings.LastIndexByte(domain, '.')+1]) {
		return dst[:start], false
	}
	return dst, true
}

// isDotAtom reports whether s is a local part without quotes. Characters that route a mail on, or that a list or a URL
// would end at, are left out.
func isDotAtom(s string) bool {
	if last := s[max(0, len(s)-1):]; last == "" || last[0] < utf8.RuneSelf && !isMailByte(last[0]) {
		return false
	}
	for part := range strings.SplitSeq(s, ".") {
		if part == "" {
			return false
		}
		for _, r := range part {
			if r < utf8.RuneSelf && !isAlnum(byte(r)) && !strings.ContainsRune("+-_='#$&*~", r) || r >= utf8.RuneSelf && !isWordRune(r) {
				return false
			}
		}
	}
	return true
}

// strictPhone takes an international number, with its usual separators but without an optional trunk prefix.
func strictPhone(dst []byte, s string) ([]byte, bool) {
	start := len(dst)
	gap := 0
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case isDigit(c):
			dst, gap = append(dst, c), 0
		case gap == 2 || strings.IndexByte(" -.()", c) < 0 || c == '(' && i+1 < len(s) && s[i+1] == '0':
			return dst[:start], false
		default:
			gap++
		}
	}
	n := len(dst) - start
	return dst, 8 <= n && n <= 15 && gap == 0
}

// strictIBAN takes an account number in one piece or in groups of four. Whether the check digits are right is the bank's
// affair; two spellings of a wrong number are still one number.
func strictIBAN(dst []byte, s string) ([]byte, bool) {
	start := len(dst)
	for i := range len(s) {
		if c := s[i]; c != ' ' {
			dst = append(dst, c)
		} else if (len(dst)-start)%4 != 0 || s[i-1] == ' ' {
			return dst[:start], false
		}
	}
	grouped := len(s) > len(dst)-start
	if !shapedIBAN(dst[start:]) || grouped && len(s) != len(dst)-start+(len(dst)-start-1)/4 {
		return dst[:start], false
	}
	return dst, true
}

// isPath reports whether s says itself that it is a path.
func isPath(s string) bool {
	for _, start := range [...]string{"/", "./", "../", "~/", `\\`, `.\`, `..\`} {
		if strings.HasPrefix(s, start) {
			return true
		}
	}
	return len(s) > 2 && isLetter(s[0]) && s[1] == ':' && (s[2] == '\\' || s[2] == '/')
}

// strictName takes any other text of one line as a name: exact but for the # or @ that marks a channel or a user. A list is no name, and neither is a text with an address in it.
func strictName(dst []byte, s string) ([]byte, bool) {
	if len(s) > maxName || strings.ContainsAny(s, ",;<>\"\\|") || strings.Contains(s, "//") || strings.IndexByte("[{(", s[0]) >= 0 {
		return dst, false
	}
	if (s[0] == '#' || s[0] == '@') && len(s) > 2 && isAlnum(s[1]) && isASCII(s) {
		if kind, _, ok := strictValue(nil, s[1:]); ok && kind == kindValue {
			s = s[1:]
		}
	}
	return append(dst, s...), true
}

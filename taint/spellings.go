package taint

import (
	"encoding/base64"
	"encoding/hex"
	"html"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

const (
	maxSpellings = 16
	maxDecoded   = 4 << 10  // of a longer value, only the readings that cost no more than a look at each byte are made
	maxFreed     = 64 << 10 // longer ones still are only freed of what is invisible
)

// spellings yields other ways to read s: decoded, freed of what hides in it, put together again. Each reading is read again,
// so that what was encoded twice comes out as well. They are there to find a value in what outputs said, never to trust it:
// who looks only at s may miss something, who looks at all of them may suspect too much.
func spellings(s string, yield func(string) bool) {
	all := decoders()
	decoders := all[:]
	switch {
	case len(s) > maxFreed:
		decoders = decoders[:1]
	case len(s) > maxDecoded:
		decoders = decoders[:4]
	}
	var buf [maxSpellings + 1]string
	read := append(buf[:0], s)
	for i := 0; i < len(read); i++ {
		for _, decode := range decoders {
			other, ok := decode(read[i])
			if !ok || other == "" || len(other) > 2*len(s)+64 || slices.Contains(read, other) {
				continue
			}
			if len(read) > maxSpellings || !yield(other) {
				return
			}
			read = append(read, other)
		}
	}
}

// decoders are the readings, cheapest and commonest first: each returns false, fast, where there is nothing to do.
func decoders() [11]func(string) (string, bool) {
	return [...]func(string) (string, bool){
		narrowed, unpercent, unentity, unescaped, unmasked, unspaced, unpuny, unbase64, unhexed, renumbered, unwrapped,
	}
}

// unpercent undoes one round of percent-encoding, leaving what is none.
func unpercent(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, false
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				out = append(out, byte(n))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out), len(out) < len(s)
}

func unentity(s string) (string, bool) {
	if strings.IndexByte(s, '&') < 0 {
		return s, false
	}
	plain := html.UnescapeString(s)
	return plain, plain != s
}

// unescaped undoes the escapes of program texts, as in bob\u0040x.com.
func unescaped(s string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 || !strings.Contains(s, `\u`) && !strings.Contains(s, `\x`) {
		return s, false
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		size := 0
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case 'u':
				size = 4
			case 'x':
				size = 2
			}
		}
		if size > 0 && i+2+size <= len(s) {
			if n, err := strconv.ParseUint(s[i+2:i+2+size], 16, 32); err == nil {
				b.WriteRune(rune(n))
				i += 2 + size
				continue
			}
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String(), b.Len() < len(s)
}

// unmasked reads "bob [at] x (dot) com", "bob at x.com", "bob @ x.com" and defanged links.
func unmasked(s string) (string, bool) {
	plain := s
	if len(s) > 4 && strings.EqualFold(s[:4], "hxxp") {
		plain = "http" + plain[4:]
	}
	if hasMask(plain) {
		plain, _ = unmask(plain)
	}
	if local, domain, ok := strings.Cut(plain, " at "); ok && !strings.ContainsAny(strings.TrimSpace(local), " @") && looksLikeHost(strings.TrimSpace(domain)) {
		plain = strings.TrimSpace(local) + "@" + strings.TrimSpace(domain)
	}
	return plain, plain != s
}

func hasMask(s string) bool {
	for i := nextMask(s, 0); i < len(s); i = nextMask(s, i+1) {
		if size, _ := maskedSign(s[i:]); size > 0 {
			return true
		}
	}
	return false
}

// unspaced joins what is spelled letter by letter: m a r k @ x . c o m.
func unspaced(s string) (string, bool) {
	if len(s) < 5 || len(s) > 512 {
		return s, false
	}
	singles := 0
	for i, n := 0, 0; i <= len(s); i++ {
		if i < len(s) && !in(s[i], 1<<' '|1<<'-'|1<<'.'|1<<'*', 1<<('_'-64)|1<<('|'-64)) {
			if s[i]&0xc0 != 0x80 {
				n++
			}
			if n > 2 {
				return s, false
			}
			continue
		}
		if n == 1 {
			singles++
		}
		n = 0
	}
	if singles < 4 {
		return s, false
	}
	separator := s[strings.IndexAny(s, " -_.*|")]
	joined := strings.ReplaceAll(s, string(separator), "")
	return joined, joined != s
}

// unpuny writes the labels of a host as they are drawn.
func unpuny(s string) (string, bool) {
	i := strings.Index(s, "--")
	if i < 2 || !strings.EqualFold(s[i-2:i], "xn") || len(s) > maxStrict {
		return s, false
	}
	i -= 2
	end := i
	for end < len(s) && isHostByte(s[end]) {
		end++
	}
	u, err := idna.Punycode.ToUnicode(strings.ToLower(s[i:end]))
	if err != nil || isASCII(u) {
		return s, false
	}
	return s[:i] + u + s[end:], true
}

// shortestCode is from how many characters on a run of letters and digits may be a text in a code.
const shortestCode = 12

// unbase64 collects the texts with values in them that stand in s in base64.
func unbase64(s string) (string, bool) {
	return codes(s, base64Low, letters|1<<('_'-64), func(run string) ([]byte, bool) {
		run = strings.TrimRight(run, "=")
		coding := base64.RawStdEncoding
		if strings.ContainsAny(run, "-_") {
			coding = base64.RawURLEncoding
		}
		text, err := coding.DecodeString(run)
		return text, err == nil
	})
}

// unhexed collects the texts with values in them that stand in s in hexadecimal.
func unhexed(s string) (string, bool) {
	return codes(s, digits, hexLetters, func(run string) ([]byte, bool) {
		text, err := hex.DecodeString(run)
		return text, err == nil
	})
}

// codes decodes each run of a set of characters in s, and joins the results that hold a value.
func codes(s string, low, high uint64, decode func(run string) ([]byte, bool)) (string, bool) {
	var b strings.Builder
	for i := 0; i+shortestCode <= len(s); i++ {
		start, probe := i, i+shortestCode
		for probe > i && in(s[probe-1], low, high) {
			probe--
		}
		if probe > i {
			i = probe - 1 // no run that is long enough reaches over this one
			continue
		}
		for i += shortestCode; i < len(s) && in(s[i], low, high); {
			i++
		}
		text, ok := decode(s[start:i])
		if !ok || !isText(text) || !holdsValue(string(text)) {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.Write(text)
	}
	return b.String(), b.Len() > 0
}

func isText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for _, r := range string(b) {
		if !unicode.IsPrint(r) && r != '\n' && r != '\r' && r != '\t' {
			return false
		}
	}
	return true
}

// holdsValue reports whether there is an address, a link or an account in s.
func holdsValue(s string) bool {
	var d detector
	scan := scanner{found: &d}
	scan.scan(s)
	return d.found
}

type detector struct{ found bool }

func (d *detector) typed(kind byte, _ []byte, _, _ int) {
	d.found = d.found || kind != kindValue
}

// renumbered writes a number otherwise: a telephone or card number without its separators, a North American one without its
// country code, an IP address as a dotted quad.
func renumbered(s string) (string, bool) {
	s = strings.TrimSpace(s)
	if isDate(s) || isDottedQuad(s) {
		return s, false
	}
	if len(s) < 3 || len(s) > 40 || !isDigit(s[len(s)-1]) && !isHexByte(s[len(s)-1]) {
		return s, false
	}
	if len(s) >= 8 || strings.IndexByte(s, '.') > 0 {
		if ip, ok := parseNumericIP(strings.ToLower(s)); ok {
			return ip.String(), true
		}
	}
	if strings.Trim(s, "0123456789 -.()/+") != "" {
		return s, false
	}
	compact := strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
	if len(compact) < 7 {
		return s, false
	}
	if compact == s && len(s) == 11 && s[0] == '1' {
		return s[1:], true
	}
	return compact, compact != s
}

// unwrapped takes off the quotes and brackets around a value.
func unwrapped(s string) (string, bool) {
	if len(s) > maxStrict {
		return s, false
	}
	bare := strings.Trim(s, " \t\r\n\"'`<>()[]{}“”‘’«»")
	return bare, bare != s
}

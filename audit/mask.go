package audit

import (
	"bytes"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// mask stands where a secret was. Nothing of the secret stays, not even its length.
const mask = "[masked]"

// secretName reports whether a member of this name holds a secret whatever it looks like. Case and separators don't matter, and
// only the end of the name counts: client_secret and X-Api-Key do, max_tokens and secretary don't.
func secretName(name string) bool {
	var folded [24]byte // more than the longest ending below
	n := len(folded)
	for i := len(name) - 1; i >= 0 && n > 0; i-- {
		c := name[i]
		if 'A' <= c && c <= 'Z' {
			c |= 0x20
		}
		if c != '_' && c != '-' && c != '.' && c != ' ' {
			n--
			folded[n] = c
		}
	}
	for _, ending := range [...]string{
		"password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey", "secretkey",
		"authorization", "credential", "credentials", "cookie",
	} {
		if strings.HasSuffix(string(folded[n:]), ending) {
			return true
		}
	}
	return false
}

// mayHoldSecret excludes what can't: true, false, null.
func mayHoldSecret(v wire.Value) bool {
	k := v.Kind()
	return k == '"' || k == '0' || k == '{' || k == '['
}

func hasSecret(text []byte) bool {
	_, _, found := nextSecret(text, 0, len(text))
	return found
}

// appendMasked appends text up to the index until, with mask in the place of every secret that begins before it.
func appendMasked(dst, text []byte, until int) []byte {
	for i := 0; i < until; {
		start, end, found := nextSecret(text, i, until)
		if !found {
			return append(dst, text[i:until]...)
		}
		dst = append(append(dst, text[i:start]...), mask...)
		i = end
	}
	return dst
}

// nextSecret finds the first secret that begins at or after from and before until. It may end behind until.
// It knows the shapes of common credentials; a secret of no particular shape is only found by the name of its member.
func nextSecret(text []byte, from, until int) (start, end int, found bool) {
	for i := from; i < until; i++ {
		switch text[i] {
		case ':':
			start, end = userinfo(text, i)
		case '-':
			start, end = i, privateKey(text, i)
		case 'g', 's', 'x', 'n', 'A', 'e', 'B', 'b':
			if i > from && isTokenByte(text[i-1]) {
				continue // inside a word
			}
			start, end = i, token(text, i)
		default:
			continue
		}
		if end > start && start < until {
			return start, end, true
		}
	}
	return 0, 0, false
}

// userinfo returns what stands between "://" at i and the "@" before the host, empty when there is none. All of it goes: a token is
// as often the user as the password. The last "@" counts, as it does for those who connect.
func userinfo(text []byte, i int) (start, end int) {
	if !bytes.HasPrefix(text[i:], []byte("://")) {
		return 0, 0
	}
	start, end = i+3, i+3
	for j := start; j < len(text); j++ {
		switch c := text[j]; {
		case c == '@':
			end = j
		case c <= ' ' || c == '/' || c == '\\' || c == '?' || c == '#' || c == '"' || c == '\'' || c == '<' || c == '>':
			return start, end
		}
	}
	return start, end
}

// privateKey returns the end of the PEM block of a private key at i, or i. Without an end it takes all that follows.
func privateKey(text []byte, i int) int {
	rest := text[i:]
	if !bytes.HasPrefix(rest, []byte("-----BEGIN ")) {
		return i
	}
	label := rest[:min(len(rest), 64)]
	if !bytes.Contains(label, []byte("PRIVATE KEY-----")) {
		return i
	}
	const fin = "-----END "
	end := bytes.Index(rest, []byte(fin))
	if end < 0 {
		return len(text)
	}
	end += len(fin)
	if dashes := bytes.Index(rest[end:], []byte("-----")); dashes >= 0 {
		return i + end + dashes + len("-----")
	}
	return len(text)
}

// token returns the end of a credential with a well-known prefix at i, or i.
func token(text []byte, i int) int {
	rest := text[i:]
	starts := func(prefix string) bool { return len(rest) >= len(prefix) && string(rest[:len(prefix)]) == prefix }
	switch {
	case starts("ghp_"), starts("gho_"), starts("ghs_"), starts("ghu_"), starts("ghr_"), starts("npm_"):
		return randomRun(text, i, 4, 20)
	case starts("github_pat_"):
		return randomRun(text, i, 11, 20)
	case starts("glpat-"):
		return randomRun(text, i, 6, 16)
	case starts("sk-"):
		return randomRun(text, i, 3, 20)
	case starts("xox") && len(rest) > 4 && rest[4] == '-':
		return randomRun(text, i, 5, 10)
	case starts("AKIA"), starts("ASIA"):
		return randomRun(text, i, 4, 16)
	case starts("AIza"):
		return randomRun(text, i, 4, 30)
	case starts("eyJ"):
		return webToken(text, i)
	case starts("Bearer "), starts("bearer "):
		return bearer(text, i)
	}
	return i
}

// randomRun returns the end of the run of token characters behind a prefix at i, or i when the run is shorter than least or has no
// digit: words joined by hyphens are no key.
func randomRun(text []byte, i, prefix, least int) int {
	end, digit := i+prefix, false
	for end < len(text) && isTokenByte(text[end]) {
		digit = digit || isDigit(text[end])
		end++
	}
	if end-i-prefix < least || !digit {
		return i
	}
	return end
}

// webToken returns the end of a JSON web token at i, or i: header, payload and perhaps a signature, each base64, joined by dots.
func webToken(text []byte, i int) int {
	part := func(j int) int {
		for j < len(text) && isTokenByte(text[j]) {
			j++
		}
		return j
	}
	end := part(i)
	if end-i < 10 || !bytes.HasPrefix(text[end:], []byte(".eyJ")) {
		return i
	}
	if end = part(end + 1); end < len(text) && text[end] == '.' {
		end = part(end + 1)
	}
	return end
}

// bearer returns the end of the credential behind "Bearer " at i, or i.
func bearer(text []byte, i int) int {
	const prefix = len("Bearer ")
	end, digit := i+prefix, false
	for end < len(text) && (isTokenByte(text[end]) || strings.IndexByte(".~+/=", text[end]) >= 0) {
		digit = digit || isDigit(text[end])
		end++
	}
	if end-i-prefix < 16 || !digit {
		return i
	}
	return end
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isTokenByte covers what the tokens above are made of.
func isTokenByte(c byte) bool {
	return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '-'
}

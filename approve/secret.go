package approve

import "strings"

const masked = "(masked)"

// secretName reports whether an argument is a secret by its name.
func secretName(name string) bool {
	name = strings.ToLower(strings.NewReplacer("_", "", "-", "", ".", "").Replace(name))
	for _, word := range []string{"password", "passwd", "passphrase", "secret", "apikey", "accesskey", "privatekey", "accesstoken", "authtoken", "refreshtoken", "bearer", "authorization", "credential", "cookie"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return strings.HasSuffix(name, "token")
}

// secretPrefixes are how well-known credentials begin.
func secretPrefixes() []string {
	return []string{
		"sk-", "sk_live_", "rk_live_", "pk_live_", "whsec_", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-",
		"xoxa-", "xoxb-", "xoxp-", "xoxs-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "eyJ", "npm_", "pypi-", "hf_", "dop_v1_", "SG.", "shpat_",
	}
}

// maskSecrets keeps the first characters of what has the shape of a credential.
func maskSecrets(s string) string {
	if i := strings.Index(s, "-----BEGIN "); i >= 0 && strings.Contains(s[i:], "KEY") {
		s = s[:i] + masked
	}
	var b strings.Builder
	for len(s) > 0 {
		n := 0
		for n < len(s) && isTokenByte(s[n]) {
			n++
		}
		b.WriteString(maskToken(s[:n]))
		if n < len(s) {
			b.WriteByte(s[n])
			n++
		}
		s = s[n:]
	}
	return b.String()
}

func maskToken(t string) string {
	const short = 16
	if len(t) < short {
		return t
	}
	for _, prefix := range secretPrefixes() {
		if strings.HasPrefix(t, prefix) {
			return prefix + masked
		}
	}
	return t
}

func isTokenByte(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_' || c == '-' || c == '.'
}

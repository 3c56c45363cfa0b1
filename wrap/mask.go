package wrap

import (
	"slices"
	"strings"
	"unicode"
)

const (
	masked   = "***"
	minToken = 16 // shorter words only happen to begin like a token
)

// MaskArgs returns args for showing: the values of flags, variables, headers and URL parts that are named like secrets,
// and what has the form of a well-known token, are replaced. It errs on the side of hiding.
func MaskArgs(args []string) []string {
	m := masker{}
	list := make([]string, len(args))
	for i, arg := range args {
		list[i] = m.arg(arg)
	}
	return list
}

// masker goes through the words of a command line. What follows a word may be what it announced.
type masker struct{ next pending }

type pending uint8

const (
	nothing pending = iota
	secret          // the next word is a secret
	perhaps         // the next word is a secret unless it is a path, a port or a number
	user            // the next word is NAME:PASSWORD
	header          // the next word is NAME: VALUE
)

// arg masks one argument. One with blanks in it may be a command line of its own, as in `bash -lc "..."`.
func (m *masker) arg(arg string) string {
	switch expected := m.next; {
	case expected == secret && !strings.HasPrefix(arg, "--"):
		m.next = nothing
		return masked
	case expected == header:
		m.next = nothing
		return maskHeader(arg)
	case expected == perhaps && mayBeSecret(arg):
		m.next = nothing
		return masked
	case expected == user:
		m.next = nothing
		return maskUser(arg)
	}
	m.next = nothing
	if harmless(arg) {
		return arg
	}
	if strings.Contains(arg, "-----BEGIN ") {
		return masked // a key, in PEM
	}
	if name, _, ok := strings.Cut(arg, ":"); ok && isSecretName(name) && !strings.Contains(name[min(1, len(name)):], "/") {
		return maskHeader(arg)
	}
	if strings.Contains(arg, ";") && strings.Contains(arg, "=") {
		return m.settings(arg)
	}
	return m.words(arg)
}

// settings masks a list of NAME=VALUE with semicolons between, such as a connection string. A value may hold blanks.
func (m *masker) settings(arg string) string {
	parts := strings.Split(arg, ";")
	for i, part := range parts {
		before, _, _ := strings.Cut(part, "=")
		// Of `--connection=Password=x` the last name counts.
		if last := strings.LastIndexByte(part, '='); last > len(before) && !isSecretName(before) && !strings.Contains(before, "://") {
			before = part[:last]
		}
		if len(before) < len(part) && isSecretName(before) && !strings.Contains(before, "://") {
			parts[i] = before + "=" + masked
			continue
		}
		parts[i] = m.words(part)
	}
	return strings.Join(parts, ";")
}

// words masks each of an argument's words.
func (m *masker) words(arg string) string {
	var b strings.Builder
	for arg != "" {
		n := strings.IndexFunc(arg, unicode.IsSpace)
		if n < 0 {
			n = len(arg)
		}
		if n > 0 {
			b.WriteString(m.word(arg[:n]))
		}
		rest := strings.TrimLeftFunc(arg[n:], unicode.IsSpace)
		b.WriteString(arg[n : len(arg)-len(rest)])
		arg = rest
		if m.next == header && arg != "" { // where a quoted header ends is the shell's to know
			m.next = nothing
			b.WriteString(masked)
			break
		}
	}
	return b.String()
}

// harmless reports whether an argument has none of the marks by which the others are judged. Nearly all strings of a
// large config are prose, and this tells in one pass.
func harmless(arg string) bool {
	start := 0 // of the word
	for i := range len(arg) + 1 {
		switch {
		case i == len(arg) || arg[i] == ' ':
			word := arg[start:i]
			if len(word) >= minToken || strings.HasPrefix(word, "-") || isScheme(word) {
				return false
			}
			start = i + 1
		case strings.IndexByte(":=\"'\t\n\r", arg[i]) >= 0:
			return false
		}
	}
	return true
}

// word masks one word and remembers what it says about the next.
func (m *masker) word(w string) string {
	switch expected := m.next; {
	case expected == secret && !strings.HasPrefix(w, "--"), expected == perhaps && mayBeSecret(w):
		m.next = nothing
		return masked
	case expected == user:
		m.next = nothing
		return maskUser(w)
	}
	m.next = nothing
	bare := strings.Trim(w, `"'`)
	name, value, assigned := strings.Cut(w, "=")
	flag := strings.HasPrefix(bare, "-")
	switch {
	case assigned && isHeaderFlag(name):
		return name + "=" + maskHeader(value)
	case assigned && !strings.Contains(name, "://") && isSecretName(name):
		return name + "=" + masked
	case assigned && isUserFlag(name):
		return name + "=" + maskUser(value)
	case assigned && !strings.Contains(name, "://"):
		return name + "=" + m.word(value) // --env=API_KEY=...
	case isUserFlag(bare):
		m.next = user
	case isShortFlag(bare):
		m.next = perhaps
	case isGlued(w):
		return w[:2] + masked
	case isHeaderFlag(bare):
		m.next = header
	case flag && !assigned && isSecretName(bare), strings.HasSuffix(bare, ":") && isSecretName(bare), isScheme(bare):
		m.next = secret
	}
	return maskTokens(maskURL(w))
}

func isHeaderFlag(flag string) bool { return flag == "--header" || flag == "--headers" || flag == "-H" }

// isScheme recognises what stands before the credential in an Authorization header, and otherwise by itself.
func isScheme(w string) bool {
	switch len(w) {
	case len("basic"), len("bearer"), len("password"):
	default:
		return false
	}
	return slices.ContainsFunc([]string{"bearer", "basic", "token", "apikey", "password"}, func(s string) bool { return strings.EqualFold(w, s) })
}

// isUserFlag recognises the flags of curl and its like for a name and password.
func isUserFlag(flag string) bool {
	return flag == "-u" || flag == "--user" || flag == "--proxy-user"
}

// maskUser hides the password of NAME:PASSWORD. Numbers are a user and a group of the system's.
func maskUser(s string) string {
	name, password, ok := strings.Cut(s, ":")
	if !ok || strings.Trim(password, "0123456789") == "" {
		return maskTokens(maskURL(s))
	}
	return name + ":" + masked
}

// isShortFlag recognises flags that many programs have for a password, a token or a key, and as many for other things.
func isShortFlag(flag string) bool { return flag == "-p" || flag == "-t" || flag == "-k" }

// isGlued recognises a short flag with its value behind it. Of -p anything may be a password that is no number and no usual
// flag's name with one dash.
func isGlued(w string) bool {
	if len(w) < 4 || !isShortFlag(w[:2]) || !mayBeSecret(w[2:]) {
		return false
	}
	if strings.ContainsAny(w, "0123456789") {
		return true
	}
	return w[1] == 'p' && !slices.Contains([]string{
		"-package", "-params", "-path", "-pidfile", "-platform", "-plugin", "-plugins", "-policy", "-port", "-prefix", "-print",
		"-prod", "-production", "-profile", "-project", "-protocol", "-proxy", "-public",
	}, w)
}

// mayBeSecret tells what stands behind a short flag from a path, a port, a number and another flag.
func mayBeSecret(w string) bool {
	return w != "" && w[0] != '-' && !strings.ContainsAny(w, `/\=`) && strings.Trim(w, "0123456789:.,") != ""
}

// maskHeader hides the value of NAME: VALUE, or all of what is no header.
func maskHeader(s string) string {
	name, _, ok := strings.Cut(s, ":")
	if !ok {
		return masked
	}
	return name + ": " + masked
}

// isSecretName reports whether a flag, variable, header or key is named like something that holds a secret.
func isSecretName(name string) bool {
	lower := strings.ToLower(name)
	for _, part := range []string{"token", "secret", "passw", "apikey", "credential", "authoriz", "private"} {
		if strings.Contains(lower, part) {
			return true
		}
	}
	if strings.Contains(lower, "session") && strings.HasSuffix(lower, "id") {
		return true
	}
	parts := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(parts, func(part string) bool {
		return strings.HasSuffix(part, "key") ||
			slices.Contains([]string{"auth", "bearer", "cookie", "dsn", "jwt", "pass", "passphrase", "pat", "sid", "pwd", "sig", "signature"}, part)
	})
}

// tokenStarts are how well-known kinds of tokens begin.
func tokenStarts() []string {
	return []string{
		"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "sk-", "sk_live_", "sk_test_", "rk_live_", "pk_live_",
		"xoxb-", "xoxp-", "xoxa-", "xoxe-", "xapp-", "AKIA", "ASIA", "AIza", "ya29.", "eyJ", "npm_", "pypi-", "hf_", "lin_api_", "ntn_", "secret_",
		"dop_v1_", "shpat_", "SG.", "figd_", "tvly-", "fc-", "pplx-", "gsk_", "r8_", "sbp_", "ATATT", "AGE-SECRET-KEY-",
	}
}

// maskTokens hides what has the form of a well-known token, wherever it stands in a word.
func maskTokens(w string) string {
	isPart := func(c byte) bool {
		return c == '_' || c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
	}
	var b strings.Builder
	for len(w) > 0 {
		n := 0
		for n < len(w) && isPart(w[n]) {
			n++
		}
		run := w[:n]
		if n >= minToken && slices.ContainsFunc(tokenStarts(), func(start string) bool { return strings.HasPrefix(run, start) }) {
			run = masked
		}
		b.WriteString(run)
		for w = w[n:]; len(w) > 0 && !isPart(w[0]); w = w[1:] {
			b.WriteByte(w[0])
		}
	}
	return b.String()
}

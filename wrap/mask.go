package wrap

import (
	"slices"
	"strings"
	"unicode"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
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
	}
	m.next = nothing
	if harmless(arg) {
		return arg
	}
	if name, _, ok := strings.Cut(arg, ":"); ok && isSecretName(name) && !strings.Contains(name, "/") {
		return maskHeader(arg)
	}
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
	if m.next == secret && !strings.HasPrefix(w, "--") {
		m.next = nothing
		return masked
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
	case isHeaderFlag(bare):
		m.next = header
	case flag && !assigned && isSecretName(bare), strings.HasSuffix(bare, ":") && isSecretName(bare), isScheme(bare):
		m.next = secret
	}
	return maskTokens(maskURL(w))
}

func isHeaderFlag(flag string) bool { return flag == "--header" || flag == "--headers" || flag == "-H" }

// isScheme recognises what stands before the credential in an Authorization header.
func isScheme(w string) bool { return strings.EqualFold(w, "bearer") || strings.EqualFold(w, "basic") }

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
	parts := strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return slices.ContainsFunc(parts, func(part string) bool {
		return strings.HasSuffix(part, "key") ||
			slices.Contains([]string{"auth", "bearer", "cookie", "dsn", "jwt", "pass", "passphrase", "pat", "pwd", "sig", "signature"}, part)
	})
}

// maskURL hides the user and password of a URL, and those of its parameters that are named like secrets.
func maskURL(w string) string {
	scheme := strings.Index(w, "://")
	if scheme < 0 {
		return w
	}
	head, rest := w[:scheme+3], w[scheme+3:]
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	if at := strings.LastIndexByte(rest[:end], '@'); at >= 0 {
		rest = masked + rest[at:]
	}
	path, query, ok := strings.Cut(rest, "?")
	if !ok {
		return head + rest
	}
	params := strings.Split(query, "&")
	for i, param := range params {
		if name, _, ok := strings.Cut(param, "="); ok && isSecretName(name) {
			params[i] = name + "=" + masked
		}
	}
	return head + path + "?" + strings.Join(params, "&")
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

// maskFile returns a config's text for showing. Only literals that hold a secret change, so that equal lines stay equal.
func maskFile(doc *jsonc.Doc) []byte {
	m := fileMasker{doc: doc}
	m.value(doc.Root, "")
	return jsonc.Apply(doc.Src, m.edits)
}

// fileMasker gathers the edits that mask one file.
type fileMasker struct {
	doc   *jsonc.Doc
	edits []jsonc.Edit
}

// value masks what is inside v, which is the member key of its object.
func (m *fileMasker) value(v jsonc.Value, key string) {
	switch v.Kind {
	case '{':
		for _, member := range v.Members {
			if key == "env" || key == "headers" || isSecretName(member.Key) && isScalar(member.Value) {
				m.hide(member.Value)
				continue
			}
			m.value(member.Value, member.Key)
		}
	case '[':
		words := masker{}
		for _, elem := range v.Elems {
			if elem.Kind == '"' {
				m.text(elem, &words)
			} else {
				m.value(elem, "")
			}
		}
	case '"':
		m.text(v, &masker{})
	}
}

func isScalar(v jsonc.Value) bool { return v.Kind == '"' || v.Kind == '0' }

// hide replaces a whole value.
func (m *fileMasker) hide(v jsonc.Value) {
	m.edits = append(m.edits, jsonc.Edit{Start: v.Start, End: v.End, Text: jsonc.Quote(masked)})
}

// text masks inside a string.
func (m *fileMasker) text(v jsonc.Value, words *masker) {
	text, ok := m.doc.Text(v)
	if !ok {
		return
	}
	if shown := words.arg(text); shown != text {
		m.edits = append(m.edits, jsonc.Edit{Start: v.Start, End: v.End, Text: jsonc.Quote(shown)})
	}
}

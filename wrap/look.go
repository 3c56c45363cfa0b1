package wrap

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// look reads what a server's entry says besides its command line.
func (s *Server) look(doc *jsonc.Doc, e *server) {
	s.Env = make(map[string]string, len(e.value(e.env).Members))
	for _, m := range e.value(e.env).Members {
		value, isText := doc.Text(m.Value)
		if !isText {
			continue
		}
		s.Env[m.Key] = value
		if strings.EqualFold(m.Key, "PATH") {
			s.Path, s.HasPath = value, true
		}
		if isSecretName(m.Key) && isWrittenOut(value) || hasToken(value) {
			s.Secrets = append(s.Secrets, "env "+m.Key)
		}
	}
	for _, m := range e.member.Value.Members {
		if m.Key != "headers" {
			continue
		}
		for _, h := range m.Value.Members {
			value, _ := doc.Text(h.Value)
			if isSecretName(h.Key) && isWrittenOut(value) || hasToken(value) {
				s.Secrets = append(s.Secrets, "header "+h.Key)
			}
		}
	}
	if secretArgs(s.Args) {
		s.Secrets = append(s.Secrets, "an argument")
	}
	if hasToken(s.URL) {
		s.Secrets = append(s.Secrets, "the url")
	}
}

// withoutVariables takes out what a client puts in only when it starts a server: ${NAME}, $NAME, %NAME%.
func withoutVariables(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		b.WriteString(before)
		_, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			break
		}
		s = after
	}
	s = b.String()
	if strings.HasPrefix(s, "$") || strings.HasPrefix(s, "%") && strings.HasSuffix(s, "%") {
		return ""
	}
	return s
}

// isWrittenOut reports whether the value of something named like a secret is one: no reference, no file that holds
// it, no number, no switch.
func isWrittenOut(value string) bool {
	value = strings.TrimSpace(withoutVariables(value))
	if i := strings.LastIndexByte(value, ' '); i < 0 && isScheme(value) {
		return false // the credential was a variable
	}
	switch {
	case value == "", strings.Trim(value, "0123456789.") == "",
		slices.Contains([]string{"true", "false", "yes", "no", "on", "off", "none", "null"}, strings.ToLower(value)):
		return false
	case strings.HasPrefix(value, "/"), strings.HasPrefix(value, "~"), strings.HasPrefix(value, "./"), strings.HasPrefix(value, `\\`),
		len(value) > 2 && value[1] == ':' && (value[2] == '\\' || value[2] == '/'):
		return false
	}
	return true
}

// hasToken reports whether a value holds a secret that its form gives away: a well-known token, or a part of a URL.
func hasToken(value string) bool {
	head, query, _ := strings.Cut(withoutVariables(value), "?")
	params := strings.Split(query, "&")
	params = slices.DeleteFunc(params, func(p string) bool { return strings.HasSuffix(p, "=") }) // its value was a variable
	if value = head; len(params) > 0 {
		value += "?" + strings.Join(params, "&")
	}
	return maskTokens(maskURL(value)) != value
}

// secretArgs reports whether the words of a command line hold a secret that is written out.
func secretArgs(args []string) bool {
	m := masker{}
	for _, arg := range args {
		expected := m.next
		plain := withoutVariables(arg)
		shown := m.arg(plain)
		switch {
		case shown == plain:
		case expected == perhaps, isGlued(plain): // hidden for safety's sake, and no reason to alarm anybody
		case expected == secret:
			if isWrittenOut(plain) {
				return true
			}
		default:
			_, value, ok := strings.Cut(plain, "=")
			if name, after, header := strings.Cut(plain, ":"); !ok && header && !strings.HasPrefix(after, "//") && isSecretName(name) {
				value, ok = after, true
			}
			if !ok || isWrittenOut(value) {
				return true
			}
		}
	}
	return false
}

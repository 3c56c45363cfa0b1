package wrap

import (
	"strings"
	"unicode"
)

// maskURL hides the user and password of a URL, those of its parameters that are named like secrets, and what in its path
// looks like one: many a service is reached by an address that nobody else must know.
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
	host, rest := rest[:end], rest[end:]
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = masked + host[at:]
	}
	end = strings.IndexAny(rest, "?#")
	if end < 0 {
		end = len(rest)
	}
	return head + host + maskPath(rest[:end]) + maskParams(rest[end:])
}

// maskPath hides the opaque segments of a URL's path.
func maskPath(path string) string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if isOpaque(segment) && !hasEnding(segment) {
			segments[i] = masked
		}
	}
	return strings.Join(segments, "/")
}

// maskParams hides values in the query and the fragment of a URL.
func maskParams(s string) string {
	var b strings.Builder
	for s != "" {
		n := strings.IndexAny(s[1:], "?&#") + 1
		if n == 0 {
			n = len(s)
		}
		param := s[:n]
		if name, _, ok := strings.Cut(param, "="); ok && isSecretName(name) {
			param = name + "=" + masked
		}
		b.WriteString(param)
		s = s[n:]
	}
	return b.String()
}

// isOpaque reports whether a word is long, and made of letters and digits in a way that words of a language are not.
func isOpaque(w string) bool {
	return len(w) >= minToken && strings.IndexFunc(w, unicode.IsLetter) >= 0 && strings.IndexFunc(w, unicode.IsDigit) >= 0 &&
		!strings.ContainsAny(w, "/@$%{}()[],;")
}

// hasEnding reports whether a word ends like the name of a file.
func hasEnding(w string) bool {
	ending := w[strings.LastIndexByte(w, '.')+1:]
	return len(ending) < len(w) && len(ending) <= 4 && strings.IndexFunc(ending, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Trusts reports whether an allowlist covers a destination. Each item of the list is one of
//
//	@corp.com or *@corp.com    any e-mail address at exactly this domain
//	https://api.corp.com       any path at exactly this scheme, host and port
//	https://corp.com/hooks/*   any path below this one
//	anything else              this value: an address, a URL, a host, a channel
//
// Trust is strict: the value must be one address or one URL, ASCII letters compare without case, all others exactly, and
// what two programs may read differently is not trusted.
func Trusts(allow []string, value string) bool {
	value = trim(value)
	if value == "" || hidden(value) {
		return false
	}
	url, isURL := parseURL(value)
	for _, item := range allow {
		item = trim(item)
		switch {
		case hidden(item):
		case strings.Contains(item, "://"):
			if isURL && urlTrusts(item, url) {
				return true
			}
		case same(item, value) && !strings.HasPrefix(item, "*"):
			return true
		default:
			domain, ok := strings.CutPrefix(strings.TrimPrefix(item, "*"), "@")
			if ok && isHost(domain) && same(domain, mailDomain(value)) {
				return true
			}
		}
	}
	return false
}

// trustFault says why an item of an allowlist would never match, or nothing.
func trustFault(item string) string {
	item = trim(item)
	head, isURL := strings.CutSuffix(item, "/*")
	_, ok := parseURL(head)
	domain, isDomain := strings.CutPrefix(strings.TrimPrefix(item, "*"), "@")
	switch {
	case hidden(item):
		return "holds a control or invisible character"
	case strings.Contains(item, "://") && !ok && strings.Contains(item, "@"):
		return "is a URL with a user name, which is never trusted"
	case strings.Contains(item, "://") && !ok:
		return "is not a plain URL (scheme, host, port, path)"
	case isDomain && strings.Contains(domain, "*"):
		return "has a * for sub-domains, which are not trusted together; name each one, as in @mail.example.com"
	case isDomain && !isHost(domain):
		return "has no domain after the @"
	case isDomain, isURL && ok, !strings.Contains(item, "*"):
		return ""
	}
	return "has a * that stands for nothing; it may stand in *@domain and at the end of https://host/path/*"
}

// hidden reports whether a text holds anything that people don't see, or that is no text.
func hidden(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return r == utf8.RuneError || r != ' ' && !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) ||
			r > unicode.MaxASCII && unicode.IsSpace(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
			unicode.Is(unicode.Variation_Selector, r)
	})
}

func trim(s string) string { return strings.Trim(s, " \t\r\n") }

// same compares without the case of ASCII letters, unless there are others.
func same(a, b string) bool {
	return a == b || isASCII(a) && isASCII(b) && strings.EqualFold(a, b)
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > unicode.MaxASCII })
}

// mailDomain returns the domain of a bare e-mail address, or nothing. Quoted and routed local parts (a%b.com@c.com,
// b.com!a@c.com) may be delivered elsewhere and have none.
func mailDomain(value string) string {
	local, domain, ok := strings.Cut(value, "@")
	if !ok || local == "" || strings.ContainsAny(local, " \"%!:;,<>()[]\\/") || !isHost(domain) {
		return ""
	}
	return domain
}

// isHost accepts dotted labels; letters outside ASCII are left to the comparison, which is exact.
func isHost(s string) bool {
	if s == "" || len(s) > 253 {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || label[0] == '-' || label[len(label)-1] == '-' || strings.ContainsFunc(label, func(r rune) bool {
			return r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
		}) {
			return false
		}
	}
	return true
}

// webURL is a URL that every program reads alike.
type webURL struct {
	origin string // scheme://host, with the port unless it is the scheme's own
	path   string // as written
	tail   string // query and fragment, as written
}

func parseURL(s string) (webURL, bool) {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || !isScheme(scheme) || strings.ContainsAny(s, " \\\"<>^`{|}") {
		return webURL{}, false
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	scheme = strings.ToLower(scheme)
	host, port, hasPort := strings.Cut(rest[:end], ":")
	if !isHost(host) || hasPort && !isPort(port) {
		return webURL{}, false
	}
	if isASCII(host) {
		host = strings.ToLower(host)
	}
	u := webURL{origin: scheme + "://" + host}
	if hasPort && (scheme != "https" || port != "443") && (scheme != "http" || port != "80") {
		u.origin += ":" + port
	}
	u.path, u.tail = rest[end:], ""
	if i := strings.IndexAny(u.path, "?#"); i >= 0 {
		u.path, u.tail = u.path[:i], u.path[i:]
	}
	return u, true
}

func isScheme(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r|0x20 < 'a' || r|0x20 > 'z') && (r < '0' || r > '9') && r != '+' && r != '-' && r != '.'
	})
}

func isPort(s string) bool {
	return s != "" && len(s) <= 5 && s[0] != '0' && !strings.ContainsFunc(s, func(r rune) bool { return r < '0' || r > '9' })
}

func urlTrusts(item string, u webURL) bool {
	below, isPrefix := strings.CutSuffix(item, "/*")
	t, ok := parseURL(below)
	switch {
	case !ok || t.origin != u.origin:
		return false
	case isPrefix:
		prefix, ok1 := cleanPath(t.path)
		path, ok2 := cleanPath(u.path)
		return ok1 && ok2 && t.tail == "" && strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/")
	case t.path == "" && t.tail == "":
		return true
	}
	return rooted(t.path) == rooted(u.path) && t.tail == u.tail
}

func rooted(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// cleanPath decodes a path and resolves its dot segments. It refuses paths that servers take apart in different ways:
// encoded slashes, encoding inside encoding, dot segments beside empty ones or with parameters.
func cleanPath(path string) (string, bool) {
	text, ok := unescape(path)
	if !ok || strings.Count(text, "/") != strings.Count(path, "/") || strings.ContainsAny(text, "\\%") || hidden(text) {
		return "", false
	}
	var kept []string
	dots, empty := false, false
	segments := strings.Split(strings.TrimPrefix(text, "/"), "/")
	for i, seg := range segments {
		switch name, _, params := strings.Cut(seg, ";"); {
		case params && (name == "." || name == ".."):
			return "", false
		case name == "..":
			dots = true
			kept = kept[:max(0, len(kept)-1)]
		case name == ".":
			dots = true
		default:
			empty = empty || seg == "" && i < len(segments)-1
			kept = append(kept, seg)
		}
	}
	return "/" + strings.Join(kept, "/"), !dots || !empty
}

// unescape decodes %XX once. ok is false where a % begins none.
func unescape(s string) (text string, ok bool) {
	if !strings.Contains(s, "%") {
		return s, true
	}
	var b strings.Builder
	ok = true
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]) {
			b.WriteByte(unhex(s[i+1])<<4 | unhex(s[i+2]))
			i += 2
			continue
		}
		ok = ok && s[i] != '%'
		b.WriteByte(s[i])
	}
	return b.String(), ok
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

package taint

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/idna"
)

// appendMail appends an address in canonical form: folded, without a plus-tag, the domain as a host.
func appendMail(dst []byte, local, domain string) []byte {
	start := len(dst)
	dst = fold(dst, local)
	for i := start + 1; i < len(dst); i++ {
		if dst[i] == '+' {
			dst = dst[:i]
			break
		}
	}
	dst = append(dst, '@')
	return appendHost(dst, domain)
}

// appendHost appends a host in canonical form: folded, in its ASCII spelling, without a trailing dot; an IP address in the
// one spelling that everybody knows.
func appendHost(dst []byte, host string) []byte {
	start := len(dst)
	if isASCII(host) && !strings.Contains(host, "--") { // no punycode
		for i := range len(host) {
			dst = append(dst, lower(host[i]))
		}
	} else {
		dst = append(dst, foldHost(host)...)
	}
	for len(dst) > start+1 && dst[len(dst)-1] == '.' {
		dst = dst[:len(dst)-1]
	}
	if len(dst) > start && (isDigit(dst[start]) || dst[start] == '[' || dst[start] == ':') {
		if ip, ok := parseIP(string(dst[start:])); ok {
			dst = ip.AppendTo(dst[:start])
		}
	}
	return dst
}

// foldHost folds the Unicode spelling, wherever it came from, and goes back to ASCII.
func foldHost(host string) string {
	host = strings.ReplaceAll(foldUnicode(host), "。", ".")
	host = strings.ToLower(host)
	if u, err := idna.Punycode.ToUnicode(host); err == nil {
		host = foldUnicode(u)
	}
	if a, err := idna.Punycode.ToASCII(host); err == nil {
		host = a
	}
	return host
}

// looksLikeHost tells a bare host name from a number, a sentence without a space and a file name.
func looksLikeHost(s string) bool {
	if len(s) < 4 || len(s) > 253 {
		return false
	}
	last, labels, digits := "", 0, 0
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 {
			return false
		}
		labels++
		if len(label) <= 3 && strings.Trim(label, "0123456789") == "" {
			digits++
		}
		last = label
	}
	if digits == labels {
		return labels == 4
	}
	return labels > 1 && looksLikeTopLevel(last)
}

func looksLikeTopLevel(s string) bool {
	if len(s) < 2 || len(s) > 24 && !isPuny(s) {
		return false
	}
	if isPuny(s) {
		return true
	}
	upper := 0
	for i := range len(s) {
		switch c := s[i]; {
		case isUpper(c):
			upper++
		case !isLetter(c) && c < utf8.RuneSelf:
			return false
		}
	}
	return (upper == 0 || upper == len(s)) && !isFileExtension(s)
}

func isPuny(s string) bool { return len(s) > 4 && strings.EqualFold(s[:4], "xn--") }

// isFileExtension knows the common extensions that are no top-level domain.
func isFileExtension(s string) bool {
	switch strings.ToLower(s) {
	case "txt", "pdf", "csv", "tsv", "json", "jsonl", "xml", "html", "htm", "css", "js", "ts", "jsx", "tsx", "mjs",
		"go", "java", "rb", "cpp", "hpp", "lock", "mod", "sum", "log", "ini", "cfg", "conf", "toml", "yaml", "yml",
		"doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "png", "jpg", "jpeg", "gif", "svg", "webp", "mp3", "mp4",
		"gz", "tgz", "tar", "exe", "dll", "bin", "bak", "tmp", "env", "sql", "db", "bat", "cmd":
		return true
	}
	return false
}

// isCodeExtension knows the common extensions that are top-level domains too.
func isCodeExtension(s string) bool {
	switch strings.ToLower(s) {
	case "ai", "app", "cc", "md", "mm", "mov", "pl", "pm", "ps", "py", "rs", "sh", "so", "vb", "zip":
		return true
	}
	return false
}

// A parsedURL is a URL cut into the parts that decide where it leads.
type parsedURL struct {
	scheme, host, port, rest, fragment string
	userinfo                           bool
	hostAt                             int // offset of host in the text
}

// parseURL cuts scheme://[user@]host[:port][/path][?query][#fragment]. It is lenient: a recorded URL only has to
// meet its like again.
func parseURL(s string) (u parsedURL, ok bool) {
	scheme, after, ok := strings.Cut(s, "://")
	if !ok || scheme == "" {
		return u, false
	}
	u.scheme, u.hostAt = scheme, len(scheme)+3
	end := 0
	for end < len(after) && !in(after[end], 1<<'/'|1<<'?'|1<<'#', 1<<('\\'-64)) {
		end++
	}
	host := after[:end]
	u.rest, u.fragment, _ = strings.Cut(after[end:], "#")
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		u.userinfo = true
		u.hostAt += i + 1
		host = host[i+1:]
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host, u.port = host[:i], host[i+1:]
	}
	u.host = host
	return u, host != ""
}

// append writes the canonical form.
func (u *parsedURL) append(dst []byte, withFragment bool) []byte {
	return u.appendRest(appendHost(u.appendScheme(dst), u.host), withFragment)
}

func (u *parsedURL) appendScheme(dst []byte) []byte {
	for i := range len(u.scheme) {
		dst = append(dst, lower(u.scheme[i]))
	}
	return append(dst, "://"...)
}

// appendRest writes what stands behind the host.
func (u *parsedURL) appendRest(dst []byte, withFragment bool) []byte {
	if u.port != "" && u.port != defaultPort(u.scheme) {
		dst = append(append(dst, ':'), u.port...)
	}
	if u.rest == "" || u.rest[0] == '?' {
		dst = append(dst, '/')
	}
	dst = append(dst, u.rest...)
	if withFragment && u.fragment != "" {
		dst = append(append(dst, '#'), u.fragment...)
	}
	return dst
}

func defaultPort(scheme string) string {
	switch strings.ToLower(scheme) {
	case "http", "ws":
		return "80"
	case "https", "wss":
		return "443"
	case "ftp":
		return "21"
	}
	return ""
}

// urlEnd finds where a URL that is under way at i ends in running text: at white space, a quote, a closing bracket
// that it did not open, or punctuation that belongs to the sentence. ascii is the same for a reader who stops at
// the first character beyond ASCII.
func urlEnd(text string, i int) (end, ascii int) {
	start, ascii := i, -1
	open := 0
scan:
	for i < len(text) {
		c := text[i]
		switch {
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(text[i:])
			if unicode.IsSpace(r) || unicode.IsPunct(r) && r != '。' && r != '．' || r == utf8.RuneError {
				break scan
			}
			if ascii < 0 {
				ascii = trimURL(text, start, i)
			}
			i += size
			continue
		case in(c, urlStopLow, urlStopHigh):
			break scan
		case c == '(' || c == '[' || c == '{':
			open++
		case c == ')' || c == ']' || c == '}':
			if open == 0 {
				break scan
			}
			open--
		}
		i++
	}
	end = trimURL(text, start, i)
	if ascii < 0 {
		ascii = end
	}
	return end, ascii
}

func trimURL(text string, start, end int) int {
	for end > start && in(text[end-1], trailingLow, 0) {
		end--
	}
	return end
}

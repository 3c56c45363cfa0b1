package engine

import (
	"encoding/base64"
	"iter"
	"mime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// maxInside bounds a string that is taken for a document of its own.
const maxInside = 256 << 10

// inside reads a string as the document that it may be: JSON, or the head of a mail, either also in base64. recipients are those
// that such a head names.
func inside(text string) (doc wire.Value, recipients []string) {
	if len(text) < 8 || len(text) > maxInside {
		return nil, nil
	}
	text = decoded(text)
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, nil
	}
	if c := trimmed[0]; c == '{' || c == '[' {
		if v, err := wire.ParseValue([]byte(trimmed)); err == nil {
			return v, nil
		}
		return nil, nil
	}
	return nil, headRecipients(trimmed)
}

func encoded(text string) bool { return decoded(text) != text }

const shortestBase64 = 16

// decoded returns what a string says that is base64 as a whole, and any other string as it is.
func decoded(text string) string {
	if !maybeBase64(text) {
		return text
	}
	packed := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r) || r == '=':
			return -1
		case r == '-':
			return '+'
		case r == '_':
			return '/'
		}
		return r
	}, text)
	plain, err := base64.RawStdEncoding.DecodeString(packed)
	if err != nil || !utf8.Valid(plain) || !beginsText(plain) {
		return text
	}
	return string(plain)
}

// maybeBase64 spares most texts the attempt: they hold a mark that base64 does not have, or what they begin with makes no text.
func maybeBase64(text string) bool {
	var room [shortestBase64]byte
	head := room[:0]
	for i := range len(text) {
		c := text[i]
		switch {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c >= '0' && c <= '9', c == '+', c == '/':
		case c == '-':
			c = '+'
		case c == '_':
			c = '/'
		case c == '=', c == ' ', c >= '\t' && c <= '\r', c >= utf8.RuneSelf: // which may be a blank
			continue
		default:
			return false
		}
		if len(head) == shortestBase64 {
			continue
		}
		if head = append(head, c); len(head) == shortestBase64 {
			var plain [shortestBase64]byte
			n, _ := base64.RawStdEncoding.Decode(plain[:], head)
			if !beginsText(plain[:n]) {
				return false
			}
		}
	}
	return len(head) == shortestBase64
}

// beginsText reports whether bytes are text without control characters, as far as they go.
func beginsText(b []byte) bool {
	for utf8.FullRune(b) {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size == 1 || unicode.IsControl(r) && !unicode.IsSpace(r) {
			return false
		}
		b = b[size:]
	}
	return true
}

// headRecipients returns whom the head of a mail names. A word that can't be decoded stands for itself, which nobody has vouched for.
func headRecipients(text string) []string {
	var all []string
	to := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			break
		}
		value := line
		if line[0] != ' ' && line[0] != '\t' {
			name, rest, ok := strings.Cut(line, ":")
			if name = strings.TrimRight(name, " \t"); !ok || strings.ContainsAny(name, " \t") {
				break // no head
			}
			switch strings.ToLower(name) {
			case "to", "cc", "bcc", "resent-to", "resent-cc", "resent-bcc":
				to = true
			default:
				to = false
			}
			value = rest
		}
		if !to {
			continue
		}
		plain, err := new(mime.WordDecoder).DecodeHeader(strings.TrimSpace(value))
		if err != nil {
			plain = value
		}
		for item := range strings.FieldsFuncSeq(plain, func(r rune) bool { return r == ',' || r == ';' }) {
			if item = strings.TrimSpace(item); strings.Contains(item, "@") || strings.Contains(item, "=?") {
				all = append(all, item)
			}
		}
	}
	return all
}

// spoken ranges over a string and those in the document that it may be.
func spoken(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(text) {
			return
		}
		if plain := decoded(text); plain != text && !yield(plain) {
			return
		}
		doc, _ := inside(text)
		for leaf := range doc.Leaves() {
			if text, ok := leaf.Value.Text(); ok && !yield(text) {
				return
			}
		}
	}
}

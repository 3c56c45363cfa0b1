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

// decoded returns what a string says that is base64 as a whole, and any other string as it is.
func decoded(text string) string {
	const shortest = 16
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
	if len(packed) < shortest || strings.Trim(packed, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") != "" {
		return text
	}
	plain, err := base64.RawStdEncoding.DecodeString(packed)
	if err != nil || !utf8.Valid(plain) || strings.ContainsFunc(string(plain), func(r rune) bool {
		return unicode.IsControl(r) && !unicode.IsSpace(r)
	}) {
		return text
	}
	return string(plain)
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

// texts ranges over the strings of a call with the names of their arguments, and over those in documents inside strings.
func texts(args wire.Value) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for leaf := range args.Leaves() {
			text, ok := leaf.Value.Text()
			if !ok {
				continue
			}
			param := leaf.Path.String()
			if !yield(param, text) {
				return
			}
			if plain := decoded(text); plain != text && !yield(param, plain) {
				return
			}
			doc, _ := inside(text)
			for leaf := range doc.Leaves() {
				if text, ok := leaf.Value.Text(); ok && !yield(param, text) {
					return
				}
			}
		}
	}
}

// Package jsonc reads JSON and JSON with comments into values that know their byte positions, so that edits can be byte splices.
//
// The parser is its own because a config may be 10 MB and is read several times per command: one pass straight into
// Values takes a third of the time and memory of building hujson's tree and converting it, and places a byte-order
// mark, a last comment without newline, invalid UTF-8 and deep nesting by itself. Fuzzing holds it against hujson.
package jsonc

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Format says what the reader of a file accepts. The zero Format is strict JSON.
type Format uint8

// The formats.
const (
	Strict   Format = iota // comments and trailing commas are an error
	Comments               // JSON with comments and trailing commas
)

// MaxDepth is how many objects and arrays may stand inside one another.
const MaxDepth = 128

// Doc is one parsed file. Offsets count bytes of Src, including a byte-order mark.
type Doc struct {
	Src  []byte
	Root Value // Kind 0 when the file holds no value: it is empty, or white space and comments only
}

// Value is one value with its place: Src[Start:End] is its literal.
type Value struct {
	Start, End int
	Kind       byte     // { [ " 0 t f n
	Members    []Member // of an object, in order
	Elems      []Value  // of an array
}

// Member is one member of an object.
type Member struct {
	Key              string // decoded
	KeyStart, KeyEnd int
	Value            Value
}

// Error is a fault with its place. It prints as `line L, column C: what`.
type Error struct {
	Line, Col int // from 1; columns count bytes, a byte-order mark excluded
	Msg       string
}

func (e *Error) Error() string { return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Col, e.Msg) }

// Parse reads src. The error is a *Error. Duplicate keys are kept; a caller that must not guess asks Lookup or Member.
// A byte-order mark and a last line that is a comment without a newline are accepted.
func Parse(src []byte, f Format) (*Doc, error) {
	d := &Doc{Src: src}
	if err := d.checkEncoding(); err != nil {
		return nil, err
	}
	p := parser{doc: d, src: string(src), pos: d.bodyStart(), strict: f == Strict}
	root, err := p.file()
	if err != nil {
		return nil, err
	}
	d.Root = root
	return d, nil
}

const bom = "\xef\xbb\xbf"

// bodyStart is the offset of the text behind a byte-order mark.
func (d *Doc) bodyStart() int {
	if bytes.HasPrefix(d.Src, []byte(bom)) {
		return len(bom)
	}
	return 0
}

// checkEncoding refuses what is not UTF-8 text.
func (d *Doc) checkEncoding() error {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff"} { // the first is UTF-32's too
		if bytes.HasPrefix(d.Src, []byte(mark)) {
			return d.Errorf(0, "text is UTF-16 or UTF-32, not UTF-8")
		}
	}
	if i := bytes.IndexByte(d.Src, 0); i >= 0 {
		return d.Errorf(i, "NUL byte")
	}
	if i := invalidUTF8(d.Src); i >= 0 {
		return d.Errorf(i, "invalid UTF-8")
	}
	return nil
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(b []byte) int {
	if utf8.Valid(b) {
		return -1
	}
	i := 0
	for i < len(b) {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n <= 1 {
			break
		}
		i += n
	}
	return i
}

// Lookup follows keys from the root. It returns ok false when the path is absent and a *Error when a key on it
// stands twice in its object (readers take the last, some the first) or leads through something that is no object.
func (d *Doc) Lookup(keys ...string) (v Value, ok bool, err error) {
	v = d.Root
	for _, key := range keys {
		i, err := d.Member(v, key)
		if err != nil || i < 0 {
			return Value{}, false, err
		}
		v = v.Members[i].Value
	}
	return v, v.Kind != 0, nil
}

// Member returns the index of obj's member with that key, or -1. It returns a *Error when the key stands twice
// or obj is no object; the absent Value has no members.
func (d *Doc) Member(obj Value, key string) (int, error) {
	if obj.Kind != '{' && obj.Kind != 0 {
		return -1, d.Errorf(obj.Start, "an object was expected around %q", key)
	}
	found := -1
	for i := range obj.Members {
		if obj.Members[i].Key != key {
			continue
		}
		if found >= 0 {
			return -1, d.Errorf(obj.Members[i].KeyStart, "duplicate key %q", key)
		}
		found = i
	}
	return found, nil
}

// Literal returns v's bytes.
func (d *Doc) Literal(v Value) []byte { return d.Src[v.Start:v.End] }

// Text decodes a string value.
func (d *Doc) Text(v Value) (string, bool) {
	if v.Kind != '"' {
		return "", false
	}
	s, err := unquote(string(d.Literal(v)))
	return s, err == nil
}

// unquote decodes a string literal; one without escapes is cut out as it is.
func unquote(lit string) (string, error) {
	if strings.IndexByte(lit, '\\') < 0 {
		return lit[1 : len(lit)-1], nil
	}
	var s string
	err := json.Unmarshal([]byte(lit), &s)
	return s, err
}

// Quote returns s as a string literal that escapes only what it must.
func Quote(s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil { // a string always encodes
		return []byte(`""`)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// Errorf makes an Error that points at offset.
func (d *Doc) Errorf(offset int, format string, args ...any) *Error {
	start := min(d.bodyStart(), offset)
	before := d.Src[start:min(offset, len(d.Src))]
	return &Error{
		Line: 1 + bytes.Count(before, []byte("\n")),
		Col:  len(before) - bytes.LastIndexByte(before, '\n'),
		Msg:  fmt.Sprintf(format, args...),
	}
}

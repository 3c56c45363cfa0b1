package wire

import (
	"bytes"
	"iter"
	"strconv"
	"unsafe"
)

// Value is one JSON value inside bytes that Parse or ParseValue accepted, so walking it never fails.
// The nil Value stands for an absent one. What is derived from it as a Value shares its bytes; strings are copies.
type Value []byte

// Kind returns the value's first byte folded to one of { [ " 0 t f n, or 0 when absent.
func (v Value) Kind() byte {
	if len(v) == 0 {
		return 0
	}
	if c := v[0]; c != '-' && c-'0' >= 10 {
		return c
	}
	return '0'
}

// Get returns the member of an object whose decoded key equals key exactly, or nil.
func (v Value) Get(key string) Value {
	for name, val := range v.fields() {
		if name.is(key) {
			return val
		}
	}
	return nil
}

// At is Get along a path of keys.
func (v Value) At(keys ...string) Value {
	for _, key := range keys {
		v = v.Get(key)
	}
	return v
}

// Members ranges over an object's members in order, keys decoded.
func (v Value) Members() iter.Seq2[string, Value] {
	return func(yield func(string, Value) bool) {
		i := v.inside('{')
		for name, val, next := v.field(i); val != nil; name, val, next = v.field(next) {
			if !yield(string(name.decoded()), val) {
				return
			}
		}
	}
}

// fields ranges over an object's members with their names as they stand there.
func (v Value) fields() iter.Seq2[Value, Value] {
	return func(yield func(name, val Value) bool) {
		i := v.inside('{')
		for name, val, next := v.field(i); val != nil && yield(name, val); {
			name, val, next = v.field(next)
		}
	}
}

// inside returns the index behind the opening bracket of a value of that kind, len(v) for another.
func (v Value) inside(kind byte) int {
	if v.Kind() != kind {
		return len(v)
	}
	return 1
}

// field reads the member at or after i; next is where to look for the one after it. val is nil behind the last.
func (v Value) field(i int) (name, val Value, next int) {
	start := gap(v, i)
	if start >= len(v) || v[start] != '"' {
		return nil, nil, i
	}
	end := skipString(v, start)
	name = v[start:end:end]
	if i = gap(v, end); i >= len(v) || v[i] != ':' {
		return nil, nil, i
	}
	start = gap(v, i+1)
	if end = skip(v, start); end == start {
		return nil, nil, i
	}
	return name, v[start:end:end], comma(v, end)
}

// Elems ranges over an array's elements in order.
func (v Value) Elems() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for i := gap(v, v.inside('[')); i < len(v) && v[i] != ']'; {
			end := skip(v, i)
			if end == i || !yield(v[i:end:end]) {
				return
			}
			i = gap(v, comma(v, end))
		}
	}
}

// Text decodes a string value; lone surrogates become U+FFFD. ok is false for other kinds.
func (v Value) Text() (s string, ok bool) {
	if v.Kind() != '"' {
		return "", false
	}
	return string(v.decoded()), true
}

// View is Text without a copy where nothing is escaped: the string shares the bytes of v, and is good as long as they stay as
// they are. Of a scalar that is no string, it returns the spelling.
func (v Value) View() (s string, ok bool) {
	b := []byte(v)
	if ok = v.Kind() == '"'; ok {
		b = v.decoded()
	}
	return unsafe.String(unsafe.SliceData(b), len(b)), ok
}

// AppendText is Text into a buffer of the caller's.
func (v Value) AppendText(dst []byte) (text []byte, ok bool) {
	if v.Kind() != '"' {
		return dst, false
	}
	return unescape(dst, v.body()), true
}

// Number returns a number as it is spelled; ok is false for other kinds.
func (v Value) Number() (text string, ok bool) {
	return string(v), v.Kind() == '0'
}

// Int returns a number that is spelled as an integer and fits; ok is false for everything else.
func (v Value) Int() (n int64, ok bool) {
	if v.Kind() != '0' {
		return 0, false
	}
	n, err := strconv.ParseInt(string(v), 10, 64)
	return n, err == nil
}

// Bool returns true or false; ok is false for other kinds.
func (v Value) Bool() (b, ok bool) {
	k := v.Kind()
	return k == 't', k == 't' || k == 'f'
}

// Span returns the offset of v inside the line raw it was parsed from, for Splice, and -1, -1 when v is not a
// part of raw.
func (v Value) Span(raw []byte) (start, end int) {
	if len(v) == 0 || len(raw) == 0 {
		return -1, -1
	}
	at := uintptr(unsafe.Pointer(&v[0])) - uintptr(unsafe.Pointer(&raw[0]))
	if at >= uintptr(len(raw)) || int(at)+len(v) > len(raw) || &raw[at] != &v[0] {
		return -1, -1
	}
	return int(at), int(at) + len(v)
}

// body returns what stands between the quotes of a string.
func (v Value) body() []byte {
	return v[1:max(1, len(v)-1)]
}

// decoded returns the text of a string, in place where nothing is escaped.
func (v Value) decoded() []byte {
	body := v.body()
	if bytes.IndexByte(body, '\\') < 0 {
		return body
	}
	return unescape(make([]byte, 0, len(body)), body)
}

// is says whether a string decodes to s.
func (v Value) is(s string) bool {
	// Escaping makes nothing shorter.
	return len(v.body()) >= len(s) && string(v.decoded()) == s
}

// The functions below also serve text that nobody has checked, where they find some end and never panic.

// gap returns the index of the first byte at or after i that is no white space.
func gap(b []byte, i int) int {
	for i < len(b) && b[i] <= ' ' && uint64(allSpaces)>>b[i]&1 != 0 {
		i++
	}
	return i
}

// comma steps over white space and the comma behind a value.
func comma(b []byte, i int) int {
	if i = gap(b, i); i < len(b) && b[i] == ',' {
		i++
	}
	return i
}

// skip returns the index behind the value at i.
func skip(b []byte, i int) int {
	if i >= len(b) {
		return len(b)
	}
	switch b[i] {
	case '"':
		return skipString(b, i)
	case '{', '[':
		return skipNested(b, i)
	}
	for i < len(b) {
		switch b[i] {
		case ',', ':', ']', '}', '"', ' ', '\t', '\n', '\r':
			return i
		}
		i++
	}
	return i
}

func skipString(b []byte, i int) int {
	for i++; i < len(b); {
		i, _ = plain(b, i)
		switch {
		case i >= len(b):
		case b[i] == '"':
			return i + 1
		case b[i] == '\\':
			i += 2
		default:
			i++
		}
	}
	return len(b)
}

func skipNested(b []byte, i int) int {
	for depth := 0; i < len(b); {
		switch b[i] {
		case '"':
			i = skipString(b, i)
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
		i++
	}
	return i
}

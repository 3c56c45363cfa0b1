package wire

import (
	"strconv"
	"unicode/utf8"
)

// ID is a request id by decoded value and type: 1 and "1" differ, "a" and "\u0061" do not.
// The zero ID means no id (a notification). IDs are comparable and may be map keys.
type ID struct {
	text   string
	number int64
	kind   byte // 0 none, 's' string, 'n' number
}

// maxID bounds numeric ids: beyond it some peers round.
const maxID = 1<<53 - 1

// StringID returns the id that is the string s.
func StringID(s string) ID { return ID{kind: 's', text: s} }

// NumberID returns the id that is the integer n.
func NumberID(n int64) ID { return ID{kind: 'n', number: n} }

// IsZero says whether there is no id.
func (id ID) IsZero() bool { return id.kind == 0 }

// Text returns a string id; ok is false for the other kinds.
func (id ID) Text() (s string, ok bool) { return id.text, id.kind == 's' }

// AppendJSON appends the id as a JSON value; the zero ID is null.
func (id ID) AppendJSON(dst []byte) []byte {
	switch id.kind {
	case 's':
		return AppendQuoted(dst, id.text)
	case 'n':
		return strconv.AppendInt(dst, id.number, 10)
	default:
		return append(dst, "null"...)
	}
}

// String is the id's JSON.
func (id ID) String() string { return string(id.AppendJSON(nil)) }

// parseID reads an id that every peer reads alike. It also serves text that nobody has checked.
func parseID(v Value) (ID, bool) {
	switch v.Kind() {
	case '"':
		text, _ := v.Text()
		if !utf8.ValidString(text) || hasLone(v.body()) {
			return ID{}, false
		}
		return StringID(text), true
	case '0':
		n, ok := v.Int()
		var room [20]byte
		if !ok || n < -maxID || n > maxID || string(strconv.AppendInt(room[:0], n, 10)) != string(v) {
			return ID{}, false
		}
		return NumberID(n), true
	default:
		return ID{}, false
	}
}

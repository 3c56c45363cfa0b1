package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
)

// AppendRequest appends a request without line ending; nil params are left out. White space that breaks lines
// in params becomes spaces, here and in the functions below.
func AppendRequest(dst []byte, id ID, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = id.AppendJSON(dst)
	dst = append(dst, ',')
	return appendCallee(dst, method, params)
}

// AppendNotification appends a notification without line ending; nil params are left out.
func AppendNotification(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0",`...)
	return appendCallee(dst, method, params)
}

func appendCallee(dst []byte, method string, params []byte) []byte {
	dst = append(dst, `"method":`...)
	dst = AppendQuoted(dst, method)
	if params != nil {
		dst = append(dst, `,"params":`...)
		dst = appendOneLine(dst, params)
	}
	return append(dst, '}')
}

// AppendResult appends a response without line ending. The result is a JSON value.
func AppendResult(dst []byte, id ID, result []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = id.AppendJSON(dst)
	dst = append(dst, `,"result":`...)
	dst = appendOneLine(dst, result)
	return append(dst, '}')
}

// AppendError appends an error response without line ending. The zero ID answers a line that had no readable id.
func AppendError(dst []byte, id ID, code int, msg string) []byte {
	dst = append(dst, `{"jsonrpc":"2.0","id":`...)
	dst = id.AppendJSON(dst)
	dst = append(dst, `,"error":{"code":`...)
	dst = strconv.AppendInt(dst, int64(code), 10)
	dst = append(dst, `,"message":`...)
	dst = AppendQuoted(dst, msg)
	return append(dst, "}}"...)
}

// appendOneLine appends JSON on one line. Inside strings line breaks are always escaped, so those that stand
// there are white space.
func appendOneLine(dst, raw []byte) []byte {
	start := len(dst)
	dst = append(dst, raw...)
	for i, c := range dst[start:] {
		if c == '\n' || c == '\r' {
			dst[start+i] = ' '
		}
	}
	return dst
}

// Edit replaces the bytes from Start to End by Text.
type Edit struct {
	Start, End int
	Text       []byte
}

// Splice applies edits to a line and returns the new line, which is a valid frame again. Edits don't overlap;
// of two at the same place, the one given first stands first.
func Splice(raw []byte, edits ...Edit) ([]byte, error) {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b Edit) int { return cmp.Compare(a.Start, b.Start) })
	size := len(raw)
	done := 0
	for _, e := range edits {
		if e.Start < done || e.End < e.Start || e.End > len(raw) {
			return nil, fmt.Errorf("edit from %d to %d of a line of %d bytes: out of place", e.Start, e.End, len(raw))
		}
		done = e.End
		size += len(e.Text) - (e.End - e.Start)
	}
	out := make([]byte, 0, size)
	done = 0
	for _, e := range edits {
		out = append(append(out, raw[done:e.Start]...), e.Text...)
		done = e.End
	}
	out = append(out, raw[done:]...)
	if _, err := Parse(out); err != nil {
		return nil, fmt.Errorf("edited line: %w", err)
	}
	return out, nil
}

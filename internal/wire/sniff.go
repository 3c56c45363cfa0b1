package wire

import (
	"bytes"
	"math"
	"strconv"
)

// guess is what the outermost members of a line that was refused, or of its beginning, tell.
type guess struct {
	id   ID
	kind Kind // Invalid when the members contradict each other or there are too few
	sure bool // the line was seen to its end and leaves no doubt about the id
}

// SniffID guesses the id of a line that was refused or is known in part only, so that whoever waits for the
// answer gets one. A wrong guess does no more harm than the peer could do by answering that id.
func SniffID(head []byte) (ID, bool) {
	g := sniff(head)
	return g.id, !g.id.IsZero()
}

// sniff reads the outermost object as far as it goes, without looking inside its members.
func sniff(line []byte) guess {
	v := Value(line)
	i := gap(v, 0)
	if i >= len(v) || v[i] != '{' {
		return guess{}
	}
	var id ID
	var ids, methods, results, errors, odd int
	for more := true; more; {
		name, val, next := v.field(i + 1)
		if val == nil {
			break
		}
		switch key := name.decoded(); string(key) {
		case "id":
			ids++
			if next < len(v) { // else it may be longer than what is here
				id, _ = parseID(val)
			}
		case "method":
			methods++
		case "result":
			results++
		case "error":
			errors++
		default:
			if folds(key, "id", "method", "result", "error") {
				odd++
			}
		}
		more = v[next-1] == ','
		i = next - 1
	}
	if ids > 1 || odd > 0 || methods+results+errors > 1 {
		return guess{}
	}
	end := gap(v, i+1)
	g := guess{id: id}
	g.sure = end < len(v) && v[end] == '}' && gap(v, end+1) == len(v) && !bytes.ContainsAny(line, "\r\n")
	switch {
	case methods > 0 && ids == 0 && g.sure:
		g.kind = Notification
	case methods > 0:
		g.kind = Request
	case results > 0:
		g.kind = Result
	case errors > 0:
		g.kind = Error
	}
	return g
}

// sniffTail guesses the id from the end of a line: many peers write it last.
func sniffTail(tail []byte) ID {
	at := bytes.LastIndex(tail, []byte(`"id"`))
	if at < 0 {
		return ID{}
	}
	v := Value(tail)
	_, val, next := v.field(at)
	id, ok := parseID(val)
	if !ok {
		return ID{}
	}
	if name, version, after := v.field(next); version != nil {
		if !name.is("jsonrpc") {
			return ID{} // the id of something inside the message
		}
		next = after
	}
	if next >= len(v) || v[next] != '}' || gap(v, next+1) != len(v) {
		return ID{}
	}
	return id
}

// SniffIDs finds every id that a refused line gives its outermost object, or the objects of its outermost array, however
// malformed the rest is. It reads them as lenient peers do: 7.0 is 7, and Id is id.
func SniffIDs(line []byte) []ID {
	var ids []ID
	depth, base := 0, 1
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '[':
			if depth == 0 {
				base = 2
			}
			depth++
		case '{':
			depth++
		case ']', '}':
			depth--
		case '"':
			end := looseString(line, i)
			if depth == base && end < len(line) && bytes.EqualFold(line[i:end], []byte(`"id"`)) {
				if id, ok := looseID(line[end:]); ok {
					ids = append(ids, id)
				}
			}
			i = end - 1
		}
	}
	return ids
}

// looseString returns the end of a string that begins at i, or of the line.
func looseString(line []byte, i int) int {
	for i++; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(line)
}

// looseID reads what stands behind the name of an id.
func looseID(rest []byte) (ID, bool) {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(rest, " \t"), []byte(":"))
	if rest = bytes.TrimLeft(rest, " \t"); !ok || len(rest) == 0 {
		return ID{}, false
	}
	if rest[0] == '"' {
		return parseID(Value(rest[:looseString(rest, 0)]))
	}
	if end := bytes.IndexAny(rest, ",}] \t"); end >= 0 {
		rest = rest[:end]
	}
	n, err := strconv.ParseFloat(string(rest), 64)
	if err != nil || n != math.Trunc(n) || math.Abs(n) >= 1<<53 {
		return ID{}, false
	}
	return NumberID(int64(n)), true
}

package jsonc

import (
	"bytes"
	"slices"
)

// Edit replaces Src[Start:End] by Text.
type Edit struct {
	Start, End int
	Text       []byte
}

// Apply returns src with edits made; they must not overlap. Order does not matter, except that
// edits at the same offset keep theirs. Overlapping ones are a fault of the caller that no file may
// ever show, so Apply panics.
func Apply(src []byte, edits []Edit) []byte {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int { return a.Start - b.Start })
	size := len(src)
	for _, e := range sorted {
		size += len(e.Text)
	}
	out := make([]byte, 0, size)
	pos := 0
	for _, e := range sorted {
		if e.Start < pos {
			panic("jsonc: edits overlap")
		}
		out = append(out, src[pos:e.Start]...)
		out = append(out, e.Text...)
		pos = e.End
	}
	return append(out, src[pos:]...)
}

// NewMember is a member to insert.
type NewMember struct {
	Key     string
	Literal []byte
}

// InsertAfter adds members behind obj's member i, in the style of the text around it: on lines of their own where
// member i has its own line, in the same line otherwise. A comment that ends member i's line stays with it.
// Remove takes exactly these bytes away again.
func (d *Doc) InsertAfter(obj Value, i int, members ...NewMember) []Edit {
	m := obj.Members[i]
	comma := d.commaAfter(m.Value.End)
	at := m.Value.End
	if comma >= 0 {
		at = comma + 1
	}
	separator := []byte(d.Space(m))
	if line := d.Line(m.KeyStart); line != nil {
		if end, ok := d.lineEnd(at); ok {
			at, separator = end, line
		}
	}
	var text []byte
	for k, n := range members {
		if comma < 0 && k > 0 {
			text = append(text, ',')
		}
		text = slices.Concat(text, separator, Quote(n.Key), d.colon(m), n.Literal)
		if comma >= 0 {
			text = append(text, ',')
		}
	}
	edit := Edit{at, at, text}
	if comma >= 0 {
		return []Edit{edit}
	}
	return []Edit{{m.Value.End, m.Value.End, []byte(",")}, edit}
}

// Remove takes the members at these indexes out of obj, each with the blanks before it and its comma. Whether the
// last member is followed by a comma stays as it was. Comments stay.
func (d *Doc) Remove(obj Value, indexes ...int) []Edit {
	items := make([]item, len(obj.Members))
	for i, m := range obj.Members {
		items[i] = item{m.KeyStart, m.Value.End, slices.Contains(indexes, i)}
	}
	return d.cut(obj.Start+1, items)
}

// Prepend puts literals in front of the elements of the array that holder holds, in the style of the text around them.
// DropFirst takes exactly these bytes away again.
func (d *Doc) Prepend(holder Member, literals ...[]byte) Edit {
	arr := holder.Value
	separator := d.Separator(holder)
	text := bytes.Join(literals, separator)
	if len(arr.Elems) == 0 {
		return Edit{arr.Start + 1, arr.Start + 1, text}
	}
	at := arr.Elems[0].Start
	return Edit{at, at, append(text, separator...)}
}

// DropFirst takes the first n elements out of arr. Comments that somebody has put among them stay.
func (d *Doc) DropFirst(arr Value, n int) []Edit {
	if n == 0 {
		return nil
	}
	if d.commented(arr.Elems[:min(n+1, len(arr.Elems))]) {
		return d.Drop(arr, 0, n)
	}
	first := arr.Elems[0].Start
	if n < len(arr.Elems) {
		return []Edit{{Start: first, End: arr.Elems[n].Start}}
	}
	end := arr.Elems[n-1].End
	comma := d.commaAfter(end)
	// Prepend puts its elements directly behind the bracket. Elsewhere somebody has laid the array out anew for
	// them, and no blank line need remain.
	if first != arr.Start+1 && isBlank(d.Src[arr.Start+1:first]) && isBlank(d.Src[max(end, comma+1):arr.End-1]) {
		return []Edit{{Start: arr.Start + 1, End: arr.End - 1}}
	}
	return append([]Edit{{Start: first, End: end}}, without(comma)...)
}

// Drop takes the elements from index first up to but without end out of arr. Comments stay.
func (d *Doc) Drop(arr Value, first, end int) []Edit {
	items := make([]item, len(arr.Elems))
	for i, elem := range arr.Elems {
		items[i] = item{elem.Start, elem.End, first <= i && i < end}
	}
	return d.cut(arr.Start+1, items)
}

// commented reports whether a comment stands between these elements.
func (d *Doc) commented(elems []Value) bool {
	for i := 1; i < len(elems); i++ {
		if bytes.IndexByte(d.Src[elems[i-1].End:elems[i].Start], '/') >= 0 {
			return true
		}
	}
	return false
}

// item is a member or element, and whether it is to go.
type item struct {
	start, end int
	gone       bool
}

// cut takes items out of the list that begins at open.
func (d *Doc) cut(open int, items []item) []Edit {
	var edits []Edit
	lastKept := -1
	rest := 0 // where the text that stays begins again, behind the item and those that go with it
	for i, it := range slices.Backward(items) {
		if !it.gone {
			lastKept = max(lastKept, i)
			continue
		}
		comma := d.commaAfter(it.end)
		behind := max(it.end, comma+1)
		if comma > it.end { // blanks or comments stand before it
			behind = it.end
		}
		if i+1 == len(items) || !items[i+1].gone || d.blanksBefore(items[i+1].start) != behind {
			rest = behind
		}
		before := open
		if i > 0 {
			before = items[i-1].end
		}
		edits = append(edits, Edit{Start: d.cutFrom(before, it.start, rest), End: it.end})
		edits = append(edits, without(comma)...)
	}
	last := len(items) - 1
	if lastKept < 0 || lastKept == last || d.commaAfter(items[last].end) >= 0 {
		return edits
	}
	return append(edits, without(d.commaAfter(items[lastKept].end))...)
}

// cutFrom returns where to begin taking out what starts at start: with the blanks before it. The newline among them
// is left if a // comment would else swallow what stays behind the cut, at rest. before is the end of the item before.
func (d *Doc) cutFrom(before, start, rest int) int {
	from := d.blanksBefore(start)
	if !d.inLineComment(before, from) {
		return from
	}
	newline := from + bytes.IndexByte(d.Src[from:start], '\n')
	if d.lineIsOver(rest) {
		return from + len(bytes.TrimRight(d.Src[from:newline], "\r")) // blanks at its end are the comment's own
	}
	return newline + 1
}

// without takes away the comma at an offset; for -1 there is none.
func without(comma int) []Edit {
	if comma < 0 {
		return nil
	}
	return []Edit{{Start: comma, End: comma + 1}}
}

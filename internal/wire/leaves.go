package wire

import (
	"iter"
	"strconv"
)

// Leaf is one scalar inside a value, or one member name.
type Leaf struct {
	Value Value // the scalar, or the name as a JSON string
	IsKey bool  // Value is a member name
	Path  Path  // where it is; of a name: where the member is
}

// Path leads from a value to a part of it. A Path that an iterator yields is good until the next step of the
// iteration; its String stays.
type Path []Step

// Step is one step down: to a member of an object, or to an element of an array.
type Step struct {
	key   Value // nil for an element
	index int
}

// Key returns the name of the member that the step leads to; ok is false for an element.
func (s Step) Key() (name string, ok bool) { return s.key.Text() }

// Index returns the number of the element that the step leads to; ok is false for a member.
func (s Step) Index() (i int, ok bool) { return s.index, s.key == nil }

// String spells the path as content[0].text. A name that is not made of letters, digits, _ and - stands in
// brackets and quotes. The empty path is empty.
func (p Path) String() string {
	b := make([]byte, 0, 64)
	for _, s := range p {
		if s.key == nil {
			b = append(b, '[')
			b = strconv.AppendInt(b, int64(s.index), 10)
			b = append(b, ']')
			continue
		}
		name := s.key.decoded()
		switch {
		case !isPlainName(name):
			b = append(b, '[')
			b = AppendQuoted(b, string(name))
			b = append(b, ']')
		default:
			if len(b) > 0 {
				b = append(b, '.')
			}
			b = append(b, name...)
		}
	}
	return string(b)
}

func isPlainName(name []byte) bool {
	for _, c := range name {
		if c-'0' >= 10 && c|0x20-'a' >= 26 && c != '_' && c != '-' {
			return false
		}
	}
	return len(name) > 0
}

// Leaves ranges over every scalar inside v and every member name, in the order of the text; a name comes
// before what it names. It reads v once, however deep it is.
func (v Value) Leaves() iter.Seq[Leaf] {
	return func(yield func(Leaf) bool) {
		w := walker{text: v, yield: yield, path: make(Path, 0, 16)}
		w.walk(0)
	}
}

type walker struct {
	text  Value
	yield func(Leaf) bool
	path  Path
}

// walk visits the value at i and returns the index behind it, or -1 when the loop has been left.
func (w *walker) walk(i int) int {
	if i >= len(w.text) {
		return -1
	}
	switch w.text[i] {
	case '{':
		return w.object(i)
	case '[':
		return w.array(i)
	}
	end := skip(w.text, i)
	if end == i || !w.yield(Leaf{Value: w.text[i:end:end], Path: w.path}) {
		return -1
	}
	return end
}

func (w *walker) object(i int) int {
	depth := len(w.path)
	for i = gap(w.text, i+1); i < len(w.text) && w.text[i] == '"'; i = gap(w.text, comma(w.text, i)) {
		end := skipString(w.text, i)
		name := w.text[i:end:end]
		w.path = append(w.path[:depth], Step{key: name})
		if !w.yield(Leaf{Value: name, IsKey: true, Path: w.path}) {
			return -1
		}
		colon := gap(w.text, end)
		if i = w.walk(gap(w.text, colon+1)); i < 0 {
			return -1
		}
	}
	w.path = w.path[:depth]
	return i + 1
}

func (w *walker) array(i int) int {
	depth := len(w.path)
	n := 0
	for i = gap(w.text, i+1); i < len(w.text) && w.text[i] != ']'; i = gap(w.text, comma(w.text, i)) {
		w.path = append(w.path[:depth], Step{index: n})
		if i = w.walk(i); i < 0 {
			return -1
		}
		n++
	}
	w.path = w.path[:depth]
	return i + 1
}

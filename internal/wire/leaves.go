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
	var room [64]byte
	b := room[:0]
	for _, s := range p {
		if s.key == nil {
			b = appendIndex(b, s.index)
		} else {
			name, _ := s.key.View()
			b = appendName(b, name)
		}
	}
	return string(b)
}

func appendIndex(b []byte, i int) []byte {
	return append(strconv.AppendInt(append(b, '['), int64(i), 10), ']')
}

func appendName(b []byte, name string) []byte {
	switch {
	case !isPlainName(name):
		return append(AppendQuoted(append(b, '['), name), ']')
	case len(b) > 0:
		b = append(b, '.')
	}
	return append(b, name...)
}

func isPlainName(name string) bool {
	for _, c := range []byte(name) {
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
		w := walker{text: v}
		for w.next() && yield(Leaf{w.leaf, w.isKey, w.path()}) {
		}
	}
}

// A walker goes from leaf to leaf. All that it knows is in itself, so that it can stay on the stack.
type walker struct {
	text    Value
	at      int  // of what comes next
	between bool // that is a member, an element or the end of some, and not a value
	leaf    Value
	isKey   bool // the leaf is the name of a member

	depth int
	steps [6]Step // the way to the leaf
	deep  Path    // all of it, once it has been longer than that
}

func (w *walker) path() Path {
	if w.deep != nil {
		return w.deep
	}
	return w.steps[:w.depth]
}

func (w *walker) push(s Step) {
	switch {
	case w.deep == nil && w.depth < len(w.steps):
		w.steps[w.depth] = s
		w.depth++
	case w.deep == nil:
		w.deep = append(append(make(Path, 0, 4*len(w.steps)), w.steps[:]...), s)
	default:
		w.deep = append(w.deep, s)
	}
}

func (w *walker) pop() {
	if w.deep != nil {
		w.deep = w.deep[:len(w.deep)-1]
		return
	}
	w.depth--
}

// next finds the next leaf. It is false behind the last one.
func (w *walker) next() bool {
	text := w.text
	for i := w.at; i < len(text); {
		if !w.between {
			switch text[i] {
			case '{':
				w.push(Step{key: text[i:i]})
			case '[':
				w.push(Step{index: -1})
			default:
				end := skip(text, i)
				w.leaf, w.isKey = text[i:end:end], false
				w.at, w.between = gap(text, comma(text, end)), true
				return end > i
			}
			i, w.between = gap(text, i+1), true
			continue
		}
		way := w.path()
		if len(way) == 0 {
			return false
		}
		switch last := &way[len(way)-1]; {
		case last.key != nil && text[i] == '"':
			end := skipString(text, i)
			last.key = text[i:end:end]
			w.leaf, w.isKey = last.key, true
			w.at, w.between = gap(text, gap(text, end)+1), false
			return true
		case last.key == nil && text[i] != ']':
			last.index++
			w.between = false
		default:
			w.pop()
			i = gap(text, comma(text, i+1))
		}
	}
	return false
}

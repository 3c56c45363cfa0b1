package wire

// A Tree is a value taken apart, for those who look at it more than once: what is in it stands in the order of the text,
// each value before those inside it, the whole first. Its strings share the bytes of the value wherever nothing is escaped
// in them, and are good as long as those stay as they are.
type Tree []Node

// Node is one value in a Tree.
type Node struct {
	Kind   byte   // as Value.Kind tells it
	Member bool   // of an object; otherwise it is an element of an array, or the whole
	Name   string // of a member, decoded
	Text   string // of a string, decoded; of another scalar, as it is spelled
	Parent int32
	Index  int32 // of an element
	End    int32 // where the nodes inside it end
}

// Tree takes v apart into a buffer. It is false for a value that is made of more than limit others.
func (v Value) Tree(into Tree, limit int) (Tree, bool) {
	p := planter{text: v, limit: limit, tree: into[:0]}
	if len(v) > 0 {
		p.plant(0, Node{})
	}
	return p.tree, p.limit >= 0
}

type planter struct {
	text  Value
	limit int
	tree  Tree
}

// plant reads the value at i, and returns the index behind it. Behind the limit, it returns the end of the text.
func (p *planter) plant(i int, n Node) int {
	if p.limit--; p.limit < 0 || i >= len(p.text) {
		return len(p.text)
	}
	at := int32(len(p.tree))
	n.Kind = p.text[i:].Kind()
	p.tree = append(p.tree, n)
	switch n.Kind {
	case '{':
		i = p.members(i, at)
	case '[':
		i = p.elements(i, at)
	default:
		end := skip(p.text, i)
		if end == i {
			return len(p.text) // nobody has checked it
		}
		p.tree[at].Text, _ = p.text[i:end].View()
		i = end
	}
	p.tree[at].End = int32(len(p.tree))
	return i
}

func (p *planter) members(i int, parent int32) int {
	for i = gap(p.text, i+1); i < len(p.text) && p.text[i] == '"'; i = gap(p.text, comma(p.text, i)) {
		end := skipString(p.text, i)
		name, _ := p.text[i:end].View()
		i = p.plant(gap(p.text, gap(p.text, end)+1), Node{Member: true, Name: name, Parent: parent})
	}
	return i + 1
}

func (p *planter) elements(i int, parent int32) int {
	n := int32(0)
	for i = gap(p.text, i+1); i < len(p.text) && p.text[i] != ']'; i = gap(p.text, comma(p.text, i)) {
		i = p.plant(i, Node{Parent: parent, Index: n})
		n++
	}
	return i + 1
}

// Path spells the way to a node as Path.String does.
func (t Tree) Path(i int) string {
	var room [64]byte
	return string(t.appendPath(room[:0], i))
}

func (t Tree) appendPath(b []byte, i int) []byte {
	if i == 0 {
		return b
	}
	n := &t[i]
	if b = t.appendPath(b, int(n.Parent)); n.Member {
		return appendName(b, n.Name)
	}
	return appendIndex(b, int(n.Index))
}

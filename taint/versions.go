package taint

import (
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// An answer may come in two versions: as structured content, and as a document in its text. The client chooses which one the
// agent sees and the person may see the other, so that where both are there, only what is in both vouches.

// versions holds what may vouch until both versions have been read. The zero value holds nothing back.
type versions struct {
	two   bool // there are two, as far as can be told beforehand
	met   uint8
	cells []candidate
	by    map[uint64]uint8 // the versions in which a value was met, by its exact key
}

const (
	inText uint8 = 1 << iota
	inStructure
)

// A candidate is a cell that vouches for its value if the other version has the value as well.
type candidate struct {
	value string
	key   uint64
	marks Marks
	place uint32
	pos   uint16
}

func (c candidate) locate() (uint32, uint16) { return c.place, c.pos }
func (c candidate) length() int              { return len(c.value) }

// versionsOf prepares for an output.
func (r *recorder) versionsOf(output wire.Value) {
	r.versions = versions{}
	if r.belief.any && output.Get("structuredContent").Kind() == '{' && output.Get("content").Kind() == '[' {
		r.versions.two, r.versions.met, r.versions.by = true, inStructure, make(map[uint64]uint8)
	}
}

// version tells in which one the walk is.
func (r *recorder) version() uint8 {
	if len(r.steps) > 0 && string(r.steps[0].name) == `"structuredContent"` {
		return inStructure
	}
	return inText
}

// hold keeps a cell for later. r.value is the place of it.
func (r *recorder) hold(s string, v exact, marks Marks) {
	c := candidate{value: strings.Clone(s), key: r.x.hash.key(strict, v.kind, v.canon), marks: marks}
	c.place, c.pos = r.locate()
	r.versions.cells = append(r.versions.cells, c)
	r.versions.by[c.key] |= r.version()
	r.versions.met |= r.version()
}

// settle lets the cells vouch that were held back.
func (r *recorder) settle() {
	for _, c := range r.versions.cells {
		v, ok := r.x.exact(c.value)
		if !ok || r.versions.by[c.key] != r.versions.met || !r.x.vouch(v, c.marks, c) {
			r.missed++
		}
	}
	r.versions = versions{}
}

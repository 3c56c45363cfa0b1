package taint

import (
	"strconv"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Where values were met is kept as a tree of places, so that a path costs one step, and a row of cells one place. The text
// around values is kept as chunks, each stretch of an output at most once, and made readable only when somebody asks.

// A place is a part of an output: the whole of it, a container, a leaf, or a stretch of a leaf's text.
type place struct {
	up   uint32 // the place around it; 0: an output, and step is its source
	step uint32 // from there to here: stepIndex and a number, or a name
	text uint32 // a chunk, 0 when there is none
	size uint32 // of the chunk
}

const (
	stepIndex   = 1 << 31 // a step to an element of an array
	stepNone    = stepIndex - 1
	posIndex    = 1 << 15 // a position that is an index; otherwise, it is a name
	posName     = posIndex - 1
	placeSize   = int(unsafe.Sizeof(place{}))
	pageOf      = 256     // places
	blockOf     = 1 << 14 // bytes of text
	maxChunk    = 1 << 12
	maxNames    = posName // and no more: what comes later has no name
	maxNameText = 64
	maxPathText = 200
	maxSnippet  = 4 * snippetSide // of a neighbour's; a value between two sides may be long
)

// places holds everything that says where values were met.
type places struct {
	sources []Source
	names   []string
	nameOf  map[string]uint32 // number in names, from 1
	pages   [][]place
	count   int      // of places; number 0 is none
	blocks  [][]byte // of text
}

func (p *places) get(n uint32) *place { return &p.pages[n/pageOf][n%pageOf] }

// add returns the number of a new place, 0 when there is no memory for it.
func (p *places) add(what place, pay func(bytes int) bool) uint32 {
	if p.count/pageOf == len(p.pages) {
		if !pay(pageOf * placeSize) {
			return 0
		}
		p.pages = append(p.pages, make([]place, pageOf))
		if p.count == 0 {
			p.count = 1
		}
	}
	n := uint32(p.count)
	p.count++
	*p.get(n) = what
	return n
}

// source returns the place of a whole output.
func (p *places) source(s Source, pay func(bytes int) bool) uint32 {
	if !pay(int(unsafe.Sizeof(s)) + len(s.Server) + len(s.Tool)) {
		return 0
	}
	p.sources = append(p.sources, s)
	return p.add(place{step: uint32(len(p.sources) - 1)}, pay)
}

// name returns the number of a member's name, 0 when it is one too many.
func (p *places) name(name []byte, pay func(bytes int) bool) uint32 {
	if n, ok := p.nameOf[string(name)]; ok {
		return n
	}
	const entry = 64 // about, in both lists
	if len(p.names) == maxNames || len(name) > maxNameText || !pay(len(name)+entry) {
		return 0
	}
	if p.nameOf == nil {
		p.nameOf = make(map[string]uint32)
	}
	p.names = append(p.names, string(name))
	n := uint32(len(p.names))
	p.nameOf[p.names[n-1]] = n
	return n
}

// chunk keeps a text at the end of the last block and returns its number, 0 when there is no memory for it.
func (p *places) chunk(text string, pay func(bytes int) bool) uint32 {
	if len(text) > blockOf {
		return 0
	}
	last := len(p.blocks) - 1
	if last < 0 || len(p.blocks[last])+len(text) > blockOf {
		if !pay(blockOf) {
			return 0
		}
		p.blocks = append(p.blocks, make([]byte, 0, blockOf))
		if last++; last == 0 {
			p.blocks[0] = append(p.blocks[0], 0) // so that no chunk has number 0
		}
	}
	at := uint32(last*blockOf + len(p.blocks[last]))
	p.blocks[last] = append(p.blocks[last], text...)
	return at
}

// extend adds text to a chunk if that is the last one and the block has room.
func (p *places) extend(what *place, text string) bool {
	last := len(p.blocks) - 1
	if int(what.text+what.size) != last*blockOf+len(p.blocks[last]) || len(p.blocks[last])+len(text) > blockOf ||
		int(what.size)+len(text) > maxChunk {
		return false
	}
	p.blocks[last] = append(p.blocks[last], text...)
	what.size += uint32(len(text))
	return true
}

func (p *places) text(what *place) string {
	block, at := what.text/blockOf, what.text%blockOf
	return view(p.blocks[block][at : at+what.size])
}

// origin spells out a place, of a value of that many bytes.
func (p *places) origin(n uint32, pos uint16, length int) Origin {
	if n == 0 {
		return Origin{}
	}
	what := p.get(n)
	if what.step == stepNone && what.up != 0 { // told by a neighbour
		at := Origin{Source: p.sources[p.get(what.up).step]}
		if what.text != 0 {
			at.Path, at.Snippet, _ = strings.Cut(strings.Clone(p.text(what)), "\n")
		}
		return at
	}
	var at Origin
	if what.text != 0 {
		text := p.text(what)
		start := min(int(pos), len(text))
		at.Snippet = snippet(text, start, runeStart(text, min(start+length, len(text))))
		pos = 0
	}
	at.Source, at.Path = p.path(what, pos)
	return at
}

// runeStart moves i back to where a character starts.
func runeStart(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}

// path spells the way to a place and on to the position in it.
func (p *places) path(what *place, pos uint16) (Source, string) {
	var steps [maxSteps]uint32
	n := len(steps)
	switch {
	case pos&posIndex != 0:
		n--
		steps[n] = stepIndex | uint32(pos&^posIndex)
	case pos != 0:
		n--
		steps[n] = uint32(pos)
	}
	for what.up != 0 {
		if n > 0 {
			n--
			steps[n] = what.step
		}
		what = p.get(what.up)
	}
	b := make([]byte, 0, 64)
	for _, step := range steps[n:] {
		b = p.appendStep(b, step)
	}
	return p.sources[what.step], Visible(string(b), maxPathText)
}

const maxSteps = 160 // of a deeper place, the way is shown from there on

func (p *places) appendStep(b []byte, step uint32) []byte {
	if step&stepIndex != 0 {
		b = strconv.AppendUint(append(b, '['), uint64(step&^stepIndex), 10)
		return append(b, ']')
	}
	name := "?"
	if step > 0 && step <= uint32(len(p.names)) {
		name = p.names[step-1]
	}
	if !isPlainName(name) {
		return append(wire.AppendQuoted(append(b, '['), name), ']')
	}
	if len(b) > 0 {
		b = append(b, '.')
	}
	return append(b, name...)
}

func isPlainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; !isAlnum(c) && c != '_' && c != '-' {
			return false
		}
	}
	return name != ""
}

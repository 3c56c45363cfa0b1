package taint

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"

	"github.com/bouncer-mcp/bouncer/internal/listing"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

const (
	maxNested = 4   // documents inside strings inside documents
	maxWhole  = 512 // no destination is longer: such a leaf is searched, but not remembered as a value
	minOnce   = 48  // a shorter text is a cell

	maxLiteral = 32 << 10 // a longer string is unescaped before anything else
)

// A recorder takes in one output.
type recorder struct {
	scanner
	x         *Index
	from      Source
	belief    belief
	args      wire.Value          // that produced the output
	echo      map[uint64]struct{} // keys of what args hold, once somebody asked
	missed    int                 // values that were not taken in: echoes, and what did not fit
	typedOnly bool

	steps    []step // where the walk is
	root     uint32 // place of the output, 0 while nobody has asked
	docStart int    // steps that lead to the document at hand; -1 outside of any
	vouches  bool   // the document's cells may vouch
	nested   int    // how many documents inside strings are being walked
	said     bool   // to the agent, by the name of a member around
	entries  bool   // the answer's first text is one word
	versions versions

	leaf
	aims aims

	braces   int                   // in the last row that was no known one
	looked   int                   // bytes in which the end of a known row was looked for, at most
	texts    [maxNested + 1][]byte // buffers for what is escaped, one for each document inside another
	docs     [maxNested + 1][]byte // buffers for listings as JSON, and for documents without what is known
	whole    []byte                // buffer
	unquoted []byte                // buffer
	namesBuf []string              // buffer
}

// A leaf is the text that is being searched, and what the search has come to.
type leaf struct {
	base    string
	stretch stretch // of base, that was kept last
	offset  int     // where the scanned line starts in base
	value   span    // in base, the value that is being marked
	cell    span    // the part of the scanned line that is a whole value
	cellIs  Marks   // what a typed value is that fills the cell
	filled  bool    // a typed value was all of the leaf, so it need not be remembered a second time
	link    bool    // the leaf is a URL, whose host comes next
	zones   []span  // of base, which follow words that address the agent
}

// span is a part of a text; the zero span is none.
type span struct{ start, end int }

// Record remembers every value in one output, whose cells may be believed as far as reading says. args are the arguments
// of the call that produced it (nil for none): a value the agent itself sent is an echo there and is not recorded.
func (x *Index) Record(from Source, output, args wire.Value, as Reading) {
	r := x.recorder()
	defer r.release()
	r.from, r.args, r.belief = from, args, believe(as)
	r.versionsOf(output)
	r.output(output)
}

// RecordTyped remembers only addresses, URLs and the like, for tool definitions and instructions. Those address the agent
// by their nature, so nothing in them counts as aimed.
func (x *Index) RecordTyped(from Source, output wire.Value) {
	r := x.recorder()
	defer r.release()
	r.from, r.typedOnly = from, true
	r.walk(output, 0)
}

// recorder prepares the index's recorder for one walk.
func (x *Index) recorder() *recorder {
	r := &x.rec
	x.shown = 0
	r.x, r.found, r.docStart = x, r, -1
	return r
}

// release lets go of the output, which may be large.
func (r *recorder) release() {
	keep := 3 << 19 // of the buffer for what most outputs are,
	texts, docs := r.texts, r.docs
	clear(r.namesBuf[:cap(r.namesBuf)])
	for i := range texts {
		if cap(texts[i]) > keep {
			texts[i] = nil
		}
		if keep = 1 << 17; cap(docs[i]) > keep { // and of each other
			docs[i] = nil
		}
	}
	*r = recorder{
		scanner: scanner{canon: r.canon[:0]}, texts: texts, docs: docs,
		steps: r.steps[:0], braces: r.braces, whole: r.whole, unquoted: r.unquoted, leaf: leaf{zones: r.zones[:0]}, aims: r.aims, namesBuf: r.namesBuf[:0],
	}
}

// repeats reports whether the arguments held a value. Most outputs hold nothing new, so the arguments are only read when
// one does.
func (r *recorder) repeats(key uint64) bool {
	if r.args.Kind() == 0 {
		return false
	}
	if r.echo == nil {
		r.echo = make(map[uint64]struct{})
		var l lens
		var a aims
		scalars(r.args, 0, func(text string) {
			for _, s := range l.readPlain(r.x, text) {
				r.echo[s.key] = struct{}{}
				r.x.mark(s.key, s.strict, MarkUsed, nil) // if nobody has noted that yet
			}
			for _, z := range a.find(nil, text, nil, -1) {
				scanTokens(text, z.start, z.end, func(canon []byte, _, _ int) {
					r.echo[r.x.hash.key(folded, kindValue, canon)] = struct{}{}
				})
			}
		})
	}
	_, found := r.echo[key]
	return found
}

// The roles in which a text can stand, for the memo. The lower bits say where the walk is.
const (
	roleLeaf uint64 = iota << 16
	roleLine
	roleRow
	roleOutput
	roleSpelled // in other spellings, for the agent
	roleURL
	roleText
	rolePart

	roleInDoc uint64 = 1 << 12
)

// output takes in a whole output, unless it is known.
func (r *recorder) output(v wire.Value) {
	m := &r.x.outputs
	if !m.ready(memoOutputs, r.x.pay) {
		r.walk(v, 0)
		r.settle()
		return
	}
	digest := m.digest(view(v), roleOutput) ^ r.belief.digest(m.seed)
	if m.knows(digest) {
		return
	}
	r.walk(v, 0)
	r.settle()
	if r.missed == 0 {
		m.learn(digest)
	}
}

// once calls take for a text that is not known to be taken in already.
func (r *recorder) once(text string, role uint64, take func()) {
	r.onceAs(text, r.role(role), take)
}

// onceAs is once for a role that is complete.
func (r *recorder) onceAs(text string, role uint64, take func()) {
	switch {
	case !r.remembersRows():
		take()
	case len(text) < minOnce:
		r.unlessKnown(&r.x.cells, memoCells, text, role, take)
	default:
		r.unlessKnown(&r.x.texts, memoTexts, text, role, take)
	}
}

// unlessKnown calls take for a text that a memo of so many slots does not know.
func (r *recorder) unlessKnown(m *memo, slots int, text string, role uint64, take func()) {
	if !m.ready(slots, r.x.pay) {
		take()
		return
	}
	missed := r.missed
	digest := m.digest(text, role)
	if m.knows(digest) {
		return
	}
	take()
	if r.missed == missed {
		m.learn(digest)
	}
}

// role adds to the role of a text where the walk is.
func (r *recorder) role(role uint64) uint64 {
	role |= uint64(r.nested) << 8
	if r.docStart >= 0 {
		role |= roleInDoc
	}
	if r.isAnswer() {
		role |= 1 << 13
	}
	return role
}

// remembersRows reports whether a text says the same wherever it stands.
func (r *recorder) remembersRows() bool { return !r.typedOnly && !r.belief.any && !r.said }

// literal takes in a string.
func (r *recorder) literal(lit []byte) {
	r.once(view(lit), roleLeaf, func() { r.search(r.decode(lit)) })
}

// longText takes in the string at i, which is long, and returns the index behind it. To find its end first would take as long as
// it takes to unescape it.
func (r *recorder) longText(doc []byte, i int) int {
	buf := &r.texts[r.nested]
	text, end := unescape((*buf)[:0], doc[i+1:])
	*buf = text
	r.once(view(text), roleText, func() { r.search(view(text)) })
	return min(len(doc), i+1+end+1)
}

// decode returns the text of a string. The text is good until the next one of the same document.
func (r *recorder) decode(lit []byte) string {
	if bytes.IndexByte(lit, '\\') < 0 {
		return view(lit[1 : len(lit)-1])
	}
	buf := &r.texts[r.nested]
	*buf, _ = unescape((*buf)[:0], lit[1:len(lit)-1])
	return view(*buf)
}

// name searches a member's name: there, only what is clearly a destination counts. It reports whether the name addresses the
// agent, so that the member's value is said to it.
func (r *recorder) name(lit []byte) bool {
	if !slices.ContainsFunc(lit, func(c byte) bool { return in(c, 1<<' '|1<<'.'|1<<'+', 1|1<<('\\'-64)) }) { // 1 is the @
		return false
	}
	s := r.decode(lit)
	return r.prose(s, MarkField)
}

func (r *recorder) number(s string) {
	if r.typedOnly {
		return
	}
	r.begin(s)
	if r.said { // itself, it says nothing to anybody
		r.findZones(nil)
	}
	r.wholeValue(0, len(s), r.cellMarks(s))
	r.vouchCell(s)
}

// begin makes s the leaf that is being searched.
func (r *recorder) begin(s string) {
	r.leaf = leaf{base: s, zones: r.zones[:0]}
}

// search takes in a string that is a leaf: as a value, and for what it holds.
func (r *recorder) search(s string) {
	marks := r.cellMarks(s)
	doc, proven := r.document(s)
	if doc != nil {
		r.nest(doc, proven && r.answers())
		r.begin(s)
	} else {
		r.prose(s, marks)
	}
	if r.typedOnly {
		return
	}
	r.offset = 0
	if !r.filled && len(s) <= maxWhole {
		r.wholeValue(0, len(s), marks)
	}
	if doc == nil {
		r.vouchCell(s)
	}
}

// document returns a string as a value if all of it is one document: JSON, or, where a tool says what it has to say, the
// simple YAML that programs print. What a document holds inside its strings may be anybody's, so there only JSON counts.
// proven tells that nobody can have added to the document from inside one of its texts.
func (r *recorder) document(s string) (doc []byte, proven bool) {
	if doc := parsed(r.news(documentText(s, r.nested))); doc != nil {
		return doc, true
	}
	if !r.isAnswer() || r.nested >= maxNested || r.typedOnly || strings.IndexByte(s, ':') < 0 && strings.IndexByte(s, '\n') < 0 && !strings.HasPrefix(s, "[") {
		return nil, false
	}
	buf := &r.docs[r.nested]
	doc, ok := listing.JSON((*buf)[:0], s)
	*buf = doc[:0]
	if !ok {
		return nil, false
	}
	return doc, r.belief.any && dumped(doc)
}

// document returns s as a value if all of it is a JSON object or array.
func document(s string, nested int) wire.Value {
	return parsed(documentText(s, nested))
}

// documentText returns what may be a JSON object or array in s, "" if nothing is.
func documentText(s string, nested int) string {
	t := strings.TrimSpace(s)
	if nested >= maxNested || len(t) < 2 {
		return ""
	}
	if first, last := t[0], t[len(t)-1]; (first != '{' || last != '}') && (first != '[' || last != ']') {
		return ""
	}
	return t
}

// parsed returns t as a value if it is one.
func parsed(t string) wire.Value {
	if t == "" {
		return nil
	}
	doc, err := wire.ParseValue(unsafe.Slice(unsafe.StringData(t), len(t))) // which only reads
	if err != nil {
		return nil
	}
	return doc
}

// nest walks a document that stands in a string.
func (r *recorder) nest(doc []byte, vouches bool) {
	around, docStart, vouched := r.leaf, r.docStart, r.vouches
	r.leaf, r.docStart, r.vouches = leaf{}, len(r.steps), vouches
	if vouches {
		r.versions.met |= r.version()
	}
	r.nested++
	r.walk(doc, 0)
	r.nested--
	r.leaf, r.docStart, r.vouches = around, docStart, vouched
}

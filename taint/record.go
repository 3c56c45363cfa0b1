package taint

import (
	"bytes"
	"slices"
	"strings"
	"unsafe"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

const (
	maxNested = 4   // documents inside strings inside documents
	maxWhole  = 512 // no destination is longer: such a leaf is searched, but not remembered as a value
	maxCell   = 256 // a cell of a listing
	maxLine   = 40  // a line that is a cell of its own: an entry of a plain list, not a sentence
	maxKey    = 40  // the name before a colon in a listing
)

// A recorder walks one output, or the arguments of a call.
type recorder struct {
	scanner
	x         *Index
	from      Source
	purpose   purpose
	args      wire.Value          // that produced the output
	echo      map[string]struct{} // keys of what args hold, once somebody asked
	missed    int                 // values that were not taken in: echoes, and what did not fit
	typedOnly bool
	nested    int                   // how many documents inside strings are being walked
	prefix    string                // path of the document inside a string
	path      wire.Path             // where the walk is in the document
	pathText  string                // the whole path, once somebody asked
	key       key                   // buffer
	whole     []byte                // buffer
	texts     [maxNested + 1][]byte // buffers for what is escaped, one for each document inside another
	base      string                // the leaf that is being searched, for snippets
	offset    int                   // where the scanned line starts in base
	cell      span                  // the part of the scanned line that is a whole value
	cellClass Class                 // what a typed value is that fills the cell
	filled    bool                  // a typed value was all of the leaf, so it need not be remembered a second time
}

// purpose is what a recorder does with the values it finds.
type purpose uint8

const (
	remembering purpose = iota // in the index
	authoring                  // as the agent's own
	echoing                    // as what an output may repeat
)

// span is a part of a text; the zero span is none.
type span struct{ start, end int }

// recorder prepares the index's recorder for one walk.
func (x *Index) recorder(p purpose) *recorder {
	r := &x.rec
	r.x, r.purpose = x, p
	r.found = r
	return r
}

// release lets go of the output, which may be large.
func (r *recorder) release() {
	const keep = 1 << 20 // of a buffer
	texts := r.texts
	for i := range texts {
		if cap(texts[i]) > keep {
			texts[i] = nil
		}
	}
	*r = recorder{scanner: scanner{canon: r.canon}, key: r.key, whole: r.whole, texts: texts}
}

// repeats reports whether the arguments held a value. Most outputs hold nothing new, so the arguments are only read when
// one does.
func (r *recorder) repeats(k key) bool {
	if r.args.Kind() == 0 {
		return false
	}
	if r.echo == nil {
		r.echo = make(map[string]struct{})
		e := recorder{purpose: echoing, echo: r.echo}
		e.found = &e
		e.value(r.args)
	}
	_, found := r.echo[string(k)]
	return found
}

// The roles in which a text can stand, for the memo.
const (
	roleLeaf uint64 = iota * (maxNested + 1) // and the depth of its document
	roleLine
	roleItem
	roleOutput
)

// output takes in a whole output, unless it is known.
func (r *recorder) output(v wire.Value) {
	m := &r.x.outputs
	digest := m.digest(view(v), roleOutput, memoOutputs)
	if m.knows(digest) {
		return
	}
	r.value(v)
	if r.missed == 0 {
		m.learn(digest)
	}
}

// once calls take for a text that is not known to be taken in already.
func (r *recorder) once(text string, role uint64, take func()) {
	if r.purpose != remembering || r.typedOnly {
		take()
		return
	}
	m, missed := &r.x.texts, r.missed
	digest := m.digest(text, role+uint64(r.nested), memoTexts)
	if m.knows(digest) {
		return
	}
	take()
	if r.missed == missed {
		m.learn(digest)
	}
}

func (r *recorder) value(v wire.Value) {
	for leaf := range v.Leaves() {
		r.path, r.pathText = leaf.Path, ""
		switch kind := leaf.Value.Kind(); {
		case leaf.IsKey:
			r.name(leaf.Value)
		case kind == '"':
			r.once(view(leaf.Value), roleLeaf, func() { r.leaf(r.decode(leaf.Value)) })
		case kind == '0':
			r.once(view(leaf.Value), roleLeaf, func() { r.number(view(leaf.Value)) })
		}
	}
}

// decode returns the text of a string. The text is good until the next one of the same document.
func (r *recorder) decode(v wire.Value) string {
	if bytes.IndexByte(v, '\\') < 0 {
		return view(v[1 : len(v)-1])
	}
	buf := &r.texts[r.nested]
	*buf, _ = v.AppendText(slices.Grow((*buf)[:0], len(v)))
	return view(*buf)
}

// view returns b as a string without copying it, which for a large output would cost as much as searching it. What is kept
// of a text is copied; the text itself is not looked at any more when b changes.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// name searches a member's name: there, only what is clearly a destination counts.
func (r *recorder) name(v wire.Value) {
	if slices.ContainsFunc(v, func(c byte) bool { return in(c, 1<<'.'|1<<'+', 1|1<<('\\'-64)) }) { // 1 is the @
		r.prose(r.decode(v), false)
	}
}

func (r *recorder) number(s string) {
	if !r.typedOnly {
		r.base, r.offset = s, 0
		r.wholeValue(s, Field, 0, len(s))
	}
}

// nest walks a document that stands in a string.
func (r *recorder) nest(doc wire.Value) {
	prefix, path, base := r.prefix, r.path, r.base
	r.prefix = r.pathString()
	r.nested++
	r.value(doc)
	r.nested--
	r.prefix, r.path, r.pathText, r.base = prefix, path, "", base
}

// leaf records one string: as a value, and for what it holds.
func (r *recorder) leaf(s string) {
	r.filled = false
	if doc := r.document(s); doc != nil {
		r.nest(doc)
		r.filled = false
	} else {
		r.prose(s, !r.typedOnly)
	}
	if !r.typedOnly && !r.filled && len(s) <= maxWhole {
		r.base, r.offset = s, 0
		r.wholeValue(s, Field, 0, len(s))
	}
}

// document returns s as a value if all of it is a JSON object or array.
func (r *recorder) document(s string) wire.Value {
	t := strings.TrimSpace(s)
	if r.nested >= maxNested || len(t) < 2 {
		return nil
	}
	if first, last := t[0], t[len(t)-1]; (first != '{' || last != '}') && (first != '[' || last != ']') {
		return nil
	}
	doc, err := wire.ParseValue(unsafe.Slice(unsafe.StringData(t), len(t))) // which only reads
	if err != nil {
		return nil
	}
	return doc
}

// prose searches a string that is no document. With cells, each line of a listing counts as the value it carries.
func (r *recorder) prose(s string, cells bool) {
	if wide, ok := narrowed(s); ok { // full-width signs don't look like those of an address until they are folded
		r.prose(wide, false)
	}
	r.base = s
	if !cells || strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, ':') < 0 {
		r.offset, r.cellClass = 0, Field
		r.cell = span{0, len(s)}
		r.scan(s)
		return
	}
	class, role := Text, roleLine
	if isListing(s) {
		class, role = Field, roleItem
	}
	if strings.IndexByte(s, '\n') < 0 {
		r.line(s, 0, len(s), class, false)
		return
	}
	for start := 0; start < len(s); {
		end := len(s)
		if i := strings.IndexByte(s[start:], '\n'); i >= 0 {
			end = start + i
		}
		r.once(s[start:end], role, func() { r.line(s, start, end, class, true) })
		start = end + 1
	}
}

func (r *recorder) line(s string, start, end int, class Class, multi bool) {
	line := s[start:end]
	if multi {
		if doc := r.document(line); doc != nil {
			r.nest(doc)
			return
		}
	}
	r.offset = start
	r.cell, r.cellClass = span{}, class
	if !multi {
		r.cell, r.cellClass = span{0, len(line)}, Field
	}
	if cell, marked := cellOf(line); marked || multi && cell.end-cell.start <= maxLine {
		r.wholeValue(line[cell.start:cell.end], class, cell.start, cell.end)
		if marked {
			r.cell, r.cellClass = cell, class
		}
	}
	r.scan(line)
}

// isListing reports whether every line of s is an item or a pair, so that s is a simple YAML document.
func isListing(s string) bool {
	for line := range strings.SplitSeq(s, "\n") {
		if _, marked := cellOf(line); !marked && strings.TrimSpace(line) != "" {
			return false
		}
	}
	return true
}

// cellOf finds the value that a line carries: behind `key: ` or `- `, else the whole line. marked tells which.
func cellOf(line string) (cell span, marked bool) {
	lo, hi := trimSpan(line, 0, len(line))
	if hi-lo >= 2 && (line[lo] == '-' || line[lo] == '*') && line[lo+1] == ' ' {
		lo, hi = trimSpan(line, lo+2, hi)
		marked = true
	}
	window := line[lo:min(hi, lo+maxKey+2)]
	if i := strings.IndexByte(window, ':'); i > 0 {
		switch after := lo + i + 1; {
		case after == hi:
			return span{hi, hi}, true
		case line[after] == ' ' || line[after] == '\t':
			lo, hi = trimSpan(line, after, hi)
			marked = true
		}
	}
	if hi > lo && line[hi-1] == ',' && marked {
		hi--
	}
	if hi-lo >= 2 && line[lo] == line[hi-1] && (line[lo] == '"' || line[lo] == '\'') {
		lo, hi = lo+1, hi-1
	}
	if hi-lo > maxCell {
		return span{lo, lo}, marked
	}
	return span{lo, hi}, marked
}

func trimSpan(s string, lo, hi int) (int, int) {
	for lo < hi && isBlank(s[lo]) {
		lo++
	}
	for hi > lo && isBlank(s[hi-1]) {
		hi--
	}
	return lo, hi
}

// wholeValue records text as a value of its own. A single character is no destination worth remembering.
func (r *recorder) wholeValue(text string, class Class, start, end int) {
	if len(text) < 2 {
		return
	}
	r.whole = fold(r.whole[:0], text)
	if !isValue(r.whole) {
		return
	}
	r.key = makeKey(r.key, kindValue, r.whole)
	r.put(r.key, class, start, end)
}

// isValue reports whether folded text has two characters or more.
func isValue(folded []byte) bool {
	n := 0
	for i := 0; i < len(folded) && n < 2; i++ {
		if folded[i]&0xc0 != 0x80 {
			n++
		}
	}
	return n == 2
}

// typed receives what the scanner found.
func (r *recorder) typed(kind byte, canon []byte, start, end int) {
	class := Text
	if lo, hi := trimSpan(r.text, r.cell.start, r.cell.end); start == lo && end == hi {
		class = r.cellClass
		r.filled = r.cell == span{0, len(r.base)}
	}
	r.key = makeKey(r.key, kind, canon)
	r.put(r.key, class, start, end)
}

func (r *recorder) put(k key, class Class, start, end int) {
	switch r.purpose {
	case remembering:
		r.remember(k, class, start, end)
	case authoring:
		r.x.author(k)
	case echoing:
		r.echo[string(k)] = struct{}{}
	}
}

// remember adds a value to the index, unless it is an echo or known as well or better.
func (r *recorder) remember(k key, class Class, start, end int) {
	old, known := r.x.seen[string(k)]
	if known && !class.Worse(old.class) {
		return
	}
	if r.repeats(k) {
		r.missed++
		return
	}
	at := Origin{Source: r.from, Path: r.pathString()}
	if end-start < len(r.base) { // else the value itself is all there is to show
		at.Snippet = snippet(r.base, r.offset+start, r.offset+end)
	}
	if !r.x.fits(len(k) + len(at.Path) + len(at.Snippet) + entryBytes) {
		r.missed++
		return
	}
	r.x.insert(k, entry{class: class, own: old.own, at: r.x.newOrigin(at)})
}

func (r *recorder) pathString() string {
	if r.pathText == "" {
		path := r.path.String()
		if r.prefix != "" && path != "" && path[0] != '[' {
			path = "." + path
		}
		r.pathText = Visible(r.prefix+path, 200)
	}
	return r.pathText
}

package taint

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bouncer-mcp/bouncer/inspect"
)

const (
	maxCell = 256 // a cell of a listing
	maxLine = 40  // a line that is a cell of its own: an entry of a plain list, not a sentence
	maxKey  = 40  // the name before a colon in a listing
)

// prose searches a string that is no document for values. A typed value that is all of it gets the marks. It reports whether the
// text addresses the agent.
func (r *recorder) prose(s string, marks Marks) (addressed bool) {
	r.begin(s)
	ascii := isASCII(s)
	r.ascii, r.quiet = ascii, false
	missed := r.missed
	var parts []part
	if ascii {
		if parts = r.parts(s); r.newParts(s, parts) {
			r.learn(parts, missed)
			r.ascii = false
			return false
		}
	}
	if !r.typedOnly {
		words := r.x.grams.add(s, r.x.pay)
		if !ascii {
			words = nil
		}
		r.findZones(words)
	}
	if r.typedOnly || strings.IndexByte(s, '\n') < 0 && strings.IndexByte(s, ':') < 0 {
		r.scanLine(s, span{0, len(s)}, marks)
	} else {
		r.lines(s, marks)
	}
	r.ascii = false
	r.aim()
	if addressed = len(r.zones) > 0; !addressed {
		r.learn(parts, missed)
	}
	if ascii {
		return addressed
	}
	plain, ok := narrowed(s)
	if !ok {
		return addressed
	}
	// What is spelled to be overlooked is looked for second, so that snippets show the spelling.
	filled, zones := r.filled, r.zones
	r.zones = nil
	r.begin(plain)
	if !r.typedOnly {
		r.findZones(nil)
	}
	r.scanLine(plain, span{0, len(plain)}, marks)
	r.aim()
	filled, addressed = filled || r.filled, addressed || len(r.zones) > 0
	r.begin(s)
	r.filled, r.zones = filled, zones
	return addressed
}

func (r *recorder) scanLine(line string, cell span, marks Marks) {
	r.cell, r.cellIs = cell, marks
	r.scan(line)
}

// lines searches a text line by line, since each line of a listing also counts as the value it carries.
func (r *recorder) lines(s string, marks Marks) {
	if strings.IndexByte(s, '\n') < 0 {
		r.pair(s, false)
		r.scanLine(s, span{0, len(s)}, marks)
		return
	}
	r.linesOf(s, 0, len(s), separatorOf(s))
}

// linesOf searches the lines of s[start:stop], which are whole.
func (r *recorder) linesOf(s string, start, stop int, separator byte) {
	role := r.role(roleLine + uint64(separator))
	r.quiet = r.ascii && !strings.Contains(s[start:stop], spokenDot) // once for all lines, which costs less
	trigger := -1                                                    // the next place at which there may be something to scan
	for start < stop {
		end := len(s)
		if i := strings.IndexByte(s[start:], '\n'); i >= 0 {
			end = start + i
		}
		if trigger < start {
			trigger = nextTrigger(s, start)
		}
		switch line := s[start:end]; {
		case trigger >= end && r.quiet && separator == 0 && isSentence(line):
			// Nothing in it is a value.
		case len(r.zones) > 0:
			r.line(line, start, separator)
		default:
			r.onceAs(line, role, func() { r.line(line, start, separator) })
		}
		start = end + 1
	}
	r.quiet = false
}

// isSentence reports whether a line in which there is nothing to scan is neither a cell nor a document nor a row.
func isSentence(line string) bool {
	if len(line) <= maxLine || !isLetter(line[0]) || strings.IndexByte(line[:min(len(line), maxKey+2)], ':') >= 0 {
		return false
	}
	more, end := trimSpan(line, maxLine, len(line))
	return more < end
}

func (r *recorder) line(line string, start int, separator byte) {
	r.offset = start
	if doc := document(line, r.nested); doc != nil {
		r.nest(doc, false)
		return
	}
	if strings.HasPrefix(line, "|") {
		separator = '|'
	}
	if separator != 0 {
		r.row(line, separator)
	}
	r.scanLine(line, r.pair(line, true), MarkText)
}

// pair takes in the value that a line of a listing carries and returns where it is. One of several lines may be a value as it is.
func (r *recorder) pair(line string, several bool) span {
	cell, marked := cellOf(line)
	if !marked && (!several || cell.end-cell.start > maxLine) {
		return span{}
	}
	r.wholeValue(cell.start, cell.end, MarkText)
	return cell
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
	lo, hi = unquoted(line, lo, hi)
	if hi-lo > maxCell {
		return span{lo, lo}, marked
	}
	return span{lo, hi}, marked
}

func unquoted(s string, lo, hi int) (int, int) {
	if hi-lo >= 2 && s[lo] == s[hi-1] && (s[lo] == '"' || s[lo] == '\'') {
		return lo + 1, hi - 1
	}
	return lo, hi
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

// separatorOf guesses what separates the cells of a table: something that stands in the first line between short names, and in
// the second one as often or more.
func separatorOf(s string) byte {
	const longest = 512 // a header
	head, rest, _ := strings.Cut(strings.TrimLeft(s[:min(len(s), 2*longest)], "\r\n"), "\n")
	if len(head) > longest {
		return 0
	}
	second, _, _ := strings.Cut(strings.TrimLeft(rest, "\r\n"), "\n")
	for _, sep := range [...]string{"\t", ";", ","} {
		if n := strings.Count(head, sep); n > 0 && strings.Count(second, sep) >= n && !hasLongCell(head, sep) {
			return sep[0]
		}
	}
	return 0
}

func hasLongCell(line, separator string) bool {
	for cell := range strings.SplitSeq(line, separator) {
		if len(strings.TrimSpace(cell)) > maxLine {
			return true
		}
	}
	return false
}

// row takes in the cells of a line of a table.
func (r *recorder) row(line string, separator byte) {
	for start := 0; start <= len(line); {
		end := len(line)
		if i := strings.IndexByte(line[start:], separator); i >= 0 {
			end = start + i
		}
		lo, hi := trimSpan(line, start, end)
		if lo, hi = unquoted(line, lo, hi); hi-lo <= maxCell {
			r.wholeValue(lo, hi, MarkText)
		}
		start = end + 1
	}
}

// findZones finds the parts of the leaf that are aimed at the agent. words are those at which a cue may begin, if that is known.
func (r *recorder) findZones(words []uint64) {
	first := -1
	if r.said {
		first = 0
	}
	r.zones = r.aims.find(r.zones[:0], r.base, words, first)
}

// zoneLength is how many characters behind words that address the agent are aimed at it.
const zoneLength = 400

// minCue is a length below which no text addresses anybody.
const minCue = 6

// aims finds the parts of a text that follow words which address the agent. Its zero value is ready.
type aims struct {
	text  string
	zones []span // ascending, apart from each other
	yield func(end int) bool
}

// find appends them to zones, beside the one that starts at first if that is not negative.
func (a *aims) find(zones []span, text string, words []uint64, first int) []span {
	a.text, a.zones = text, zones
	if first >= 0 {
		a.add(first)
	}
	if len(text) >= minCue {
		if a.yield == nil {
			a.yield = a.add // once, since this is called for every cell
		}
		if words != nil {
			inspect.AddressesAt(text, words, a.yield)
		} else {
			inspect.Addresses(text, a.yield)
		}
	}
	a.text = ""
	return a.zones
}

func (a *aims) add(end int) bool {
	stop := end
	for range zoneLength {
		_, size := utf8.DecodeRuneInString(a.text[stop:])
		stop += size
	}
	if n := len(a.zones); n > 0 && end <= a.zones[n-1].end {
		a.zones[n-1].end = stop
	} else {
		a.zones = append(a.zones, span{end, stop})
	}
	return true
}

// aimed reports whether a place in the leaf follows words that address the agent.
func (r *recorder) aimed(at int) bool {
	if len(r.zones) == 0 {
		return false
	}
	i, found := slices.BinarySearchFunc(r.zones, at, func(z span, at int) int { return z.start - at })
	return found || i > 0 && at < r.zones[i-1].end
}

// aim takes in everything that text says to the agent: not only what is clearly a destination, but each word and number, and
// what can be decoded.
func (r *recorder) aim() {
	const part = 8 << 10 // that is read in other spellings at a time
	s := r.base
	for i := 0; i < len(r.zones); i++ {
		lo, hi := r.zones[i].start, r.zones[i].end
		for hi < len(s) && hi-r.zones[i].end < maxCell && !isBlank(s[hi]) { // what starts inside counts whole
			hi++
		}
		if r.typedOnly {
			return
		}
		r.offset = lo
		r.scanLine(s[lo:hi], span{}, 0)
		r.offset = 0
		scanTokens(s, lo, hi, r.word)
		for ; lo < hi; lo += part {
			r.aimSpelled(s, lo, min(hi, lo+part))
		}
	}
}

// word receives a word that is said to the agent.
func (r *recorder) word(canon []byte, start, end int) {
	r.put(kindValue, canon, MarkText|MarkAimed, start, end)
}

// aimSpelled takes in what can be read out of a part of the leaf in another spelling.
func (r *recorder) aimSpelled(s string, lo, hi int) {
	d := decoded{r: r}
	d.found = &d
	d.once(s[lo:hi], lo)
	for start, word := range words(s[lo:hi]) {
		d.once(word, lo+start)
	}
}

// words ranges over the longer words of a text, which may be something in another spelling.
func words(s string) func(yield func(start int, word string) bool) {
	const shortest = 8
	return func(yield func(int, string) bool) {
		for start := 0; start < len(s); {
			end := start
			for end < len(s) && !isBlank(s[end]) {
				end++
			}
			if end-start >= shortest && !yield(start, s[start:end]) {
				return
			}
			start = end + 1
		}
	}
}

// decoded takes in what the scanner finds in another spelling of a part of a leaf.
type decoded struct {
	scanner
	r  *recorder
	at span
}

// once takes in the other spellings of a text that starts at lo, unless they are known: who wants to keep bouncer busy repeats himself.
func (d *decoded) once(text string, lo int) {
	d.r.unlessKnown(&d.r.x.texts, memoTexts, text, roleSpelled, func() {
		d.at = span{lo, lo + len(text)}
		spellings(text, func(other string) bool {
			d.scan(other)
			return true
		})
	})
}

func (d *decoded) typed(kind byte, canon []byte, start, _ int) {
	d.r.put(kind, canon, MarkText|MarkAimed, d.at.start, d.at.end)
	if kind == kindHost && isAlone(d.text, start) {
		d.r.put(kindURL, bareHost(canon), MarkText|MarkAimed, d.at.start, d.at.end)
	}
}

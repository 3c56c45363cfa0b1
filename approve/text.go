package approve

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/taint"
)

const (
	maxText  = 1500 // characters of a question
	maxHead  = 700  // of these, for what is asked about, so that what is sent is never crowded out
	maxValue = 120  // of a value that is sent along
	maxAsked = 300  // of a value that is asked about
	keepEnd  = 100  // of these, its end: that is where the domain of an address and the true host of a URL stand
	maxName  = 60   // of a name
	maxPlace = 160  // of the path of a file
)

// Text words the question as plain text: what is about to happen, each destination with where it was seen, what is sent.
// The first line is bouncer's own; all that a client, a server or a model chose stands behind it, in quotes, each on
// one line, with nothing hidden in it and nothing that a client would take for markup.
func (q Question) Text() string {
	var b strings.Builder
	b.WriteString(q.headline())
	b.WriteString("\n")
	if q.Number > 1 {
		fmt.Fprintf(&b, "This is question %d: others wait for an answer, too.\n", q.Number)
	}
	q.writeDetail(&b)
	q.writeFindings(&b)
	forGood := q.forGood()
	q.writeRest(&b, maxText-utf8.RuneCountInString(forGood))
	return strings.TrimRight(b.String(), "\n") + forGood
}

// writeDetail tells what changed about a tool, as far as there is room.
func (q Question) writeDetail(b *strings.Builder) {
	for i, line := range q.Detail {
		line = show(line, maxAsked)
		if length(b)+utf8.RuneCountInString(line) > maxHead {
			fmt.Fprintf(b, "\nand %d more changes: bouncer pins diff shows them", len(q.Detail)-i)
			break
		}
		b.WriteString("\n" + line)
	}
	if len(q.Detail) > 0 {
		b.WriteString("\n")
	}
}

// forGood says what a yes for good would do.
func (q Question) forGood() string {
	if len(q.Always) == 0 {
		return ""
	}
	what := fmt.Sprintf("the %d values above", len(q.Always))
	if len(q.Always) == 1 {
		what = "this value"
	}
	return "\n\n" + `"` + sayAlways + `" writes into ` + inQuotes(show(q.Policy, maxPlace)) + " that " + name(q.Tool) + " may use " + what + "."
}

func (q Question) headline() string {
	server, tool := name(q.Server), name(q.Tool)
	switch {
	case q.Verdict.Contract == "pinning":
		return server + ": " + show(q.Verdict.Reason, 200) + ". Use it?"
	case q.whole() && q.deed():
		return server + ": " + tool + " can't be undone, and this session has read what others may have written."
	case q.whole():
		return server + ": " + tool + " names no destination, so the server would choose one."
	case q.count() > 1:
		return fmt.Sprintf("%s: %s would use %d %s nobody has vouched for.", server, tool, q.count(), q.kind())
	case q.Verdict.Findings[0].Role == engine.Object:
		return server + ": " + tool + " would change something that nobody has named."
	case q.Verdict.Findings[0].Role == engine.Content:
		return server + ": " + tool + " would send a link that only a tool's output has brought up."
	case q.Verdict.Contract == "toxic_flow":
		return server + ": " + tool + " would open an address known only from text, and this session holds private data."
	}
	return server + ": " + tool + " would use a destination nobody has vouched for."
}

// count tells how many values are asked about, each address of a list by itself.
func (q Question) count() int {
	n := 0
	for _, f := range q.Verdict.Findings {
		if f.Role == engine.Destination {
			n += max(1, len(Addresses(f.Value)))
		} else {
			n++
		}
	}
	return n
}

func (q Question) kind() string {
	if slices.ContainsFunc(q.Verdict.Findings, func(f engine.Finding) bool { return f.Role != engine.Destination }) {
		return "values"
	}
	return "destinations"
}

// whole reports whether the question is about the call as a whole: it has no destination, or can't be undone.
func (q Question) whole() bool {
	f := q.Verdict.Findings
	return len(f) == 0 || len(f) == 1 && f[0].Pair == engine.Pair{}
}

func (q Question) deed() bool {
	return len(q.Verdict.Findings) > 0 && q.Verdict.Findings[0].Role == engine.Deed
}

// writeFindings lists what is asked about. If it is too much to list, it says so: a yes covers it all.
func (q Question) writeFindings(b *strings.Builder) {
	if q.whole() || q.Verdict.Contract == "pinning" {
		return
	}
	found := q.Verdict.Findings
	for i, f := range found {
		line := "\n"
		if len(found) > 1 {
			line += fmt.Sprintf("%d. ", i+1)
		}
		line += about(f)
		if more := q.spelling(f); length(b)+utf8.RuneCountInString(line+more) <= maxHead {
			line += more
		}
		if i > 0 && length(b)+utf8.RuneCountInString(line) > maxHead {
			fmt.Fprintf(b, "\nand %d more that do not fit here. A yes would cover them all.", len(found)-i)
			break
		}
		b.WriteString(line)
	}
	b.WriteString("\n")
}

// about tells of one finding what it is and where it was seen.
func about(f engine.Finding) string {
	switch {
	case f.Pair != engine.Pair{}:
		return name(f.Param) + " = " + inQuotes(ends(f.Value)) + foreign(f.Value) + "\n   " + seen(f)
	case f.Role == engine.Deed:
		return "it can't be undone"
	}
	return "no destination is named"
}

// spelling says that a destination is a trusted one, but for how it is written.
func (q Question) spelling(f engine.Finding) string {
	trusted := q.Trusted[f.Value]
	if f.Role != engine.Destination || len(trusted) == 0 {
		return ""
	}
	var quoted []string
	for _, address := range trusted {
		quoted = append(quoted, inQuotes(show(address, maxPlace)))
	}
	verb := " is"
	if len(quoted) > 1 {
		verb = " are"
	}
	return "\n   " + strings.Join(quoted, ", ") + verb + " trusted, but only spelled exactly so"
}

func seen(f engine.Finding) string {
	switch {
	case f.Class == taint.Unseen:
		return "not seen in this session"
	case f.Origin.Tool == "":
		return "seen in this session with other letters between its own"
	}
	s := "first seen in the result of " + name(f.Origin.Tool) + " (" + name(f.Origin.Server) + ")"
	if f.Class == taint.Aimed {
		s = "also in text that addresses the agent, in the result of " + name(f.Origin.Tool) + " (" + name(f.Origin.Server) + ")"
	}
	if f.Origin.Path != "" {
		s += ", at " + name(f.Origin.Path)
	}
	if f.Origin.Snippet != "" {
		s += ": " + quote(f.Origin.Snippet)
	}
	return s
}

// foreign points out letters that may be taken for others.
func foreign(s string) string {
	for _, r := range s {
		if r > unicode.MaxASCII && unicode.IsLetter(r) {
			return fmt.Sprintf(" (with letters outside ASCII, such as U+%04X)", r)
		}
	}
	return ""
}

// writeRest shows the other arguments, secrets masked, as far as there is room.
func (q Question) writeRest(b *strings.Builder, limit int) {
	asked := make(map[engine.Pair]bool)
	for _, f := range q.Verdict.Findings {
		asked[f.Pair] = true
	}
	head, left := "\nIt sends:", 0
	for leaf := range q.Args.Leaves() {
		if leaf.IsKey {
			continue
		}
		if left > 0 {
			left++
			continue
		}
		value, ok := leaf.Value.Text()
		if !ok {
			value = string(leaf.Value)
		}
		path := leaf.Path.String()
		if asked[engine.Pair{Param: withoutIndex(leaf.Path), Value: value}] || asked[engine.Pair{Param: path, Value: value}] {
			continue
		}
		if secretName(path) && value != "" {
			value = masked
		} else {
			value = breaks(maskSecrets(cut(value, maxValue)))
		}
		line := head + "\n" + name(path) + " = " + inQuotes(show(value, 2*maxValue))
		if length(b)+utf8.RuneCountInString(line) > limit-20 {
			left++
			continue
		}
		b.WriteString(line)
		head = ""
	}
	if left > 0 {
		fmt.Fprintf(b, "%s\nand %d more", head, left)
	}
}

// withoutIndex spells a path as the engine does for elements of a list of scalars.
func withoutIndex(p wire.Path) string {
	for len(p) > 0 {
		if _, ok := p[len(p)-1].Index(); !ok {
			break
		}
		p = p[:len(p)-1]
	}
	return p.String()
}

func length(b *strings.Builder) int { return utf8.RuneCountInString(b.String()) }

// cut shortens s to n characters before anything else looks at it.
func cut(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "..."
		}
		n--
	}
	return s
}

func quote(s string) string {
	return inQuotes(show(s, maxValue+len("...")))
}

// breaks spells line breaks and tabs as programmers do: they are nothing odd in what is sent, as they would be in a destination.
func breaks(s string) string {
	return strings.NewReplacer("\r\n", `\n`, "\n", `\n`, "\t", `\t`).Replace(s)
}

// ends shows a value with its beginning and its end, since a yes covers what stands between them.
func ends(s string) string {
	s = show(s, 1<<16)
	if n := utf8.RuneCountInString(s) - maxAsked; n > 0 {
		r := []rune(s)
		cut := len(r) - keepEnd
		return fmt.Sprintf("%s ...(%d characters)... %s", string(r[:maxAsked-keepEnd]), n, string(r[cut:]))
	}
	return s
}

// inQuotes puts s in quotes that it can't close.
func inQuotes(s string) string { return `"` + strings.ReplaceAll(s, `"`, `'`) + `"` }

// name shows a name, bare if it looks like one: words in quotes are not bouncer's.
func name(s string) string {
	s = show(s, maxName)
	for i := range len(s) {
		if c := s[i]; c|0x20-'a' >= 26 && c-'0' >= 10 && !strings.ContainsRune("._-/[]", rune(c)) {
			return inQuotes(s)
		}
	}
	if s == "" {
		return inQuotes(s)
	}
	return s
}

// show makes what is hidden in s visible, in at most limit characters and the three that say that there are more.
func show(s string, limit int) string {
	s = inert(taint.Visible(s, limit))
	if utf8.RuneCountInString(s) <= limit+len("...") {
		return s
	}
	s = string([]rune(s)[:limit])
	if open := strings.LastIndex(s, "‹"); open > strings.LastIndex(s, "›") {
		s = s[:open] // half of a character is none
	}
	return s + "..."
}

// inert replaces what Markdown or HTML would make something of. Angle brackets become typographic ones: a client that
// strips tags must not swallow an address, or the <U+200B> that shows what is hidden.
func inert(s string) string {
	return strings.NewReplacer("<", "‹", ">", "›", "`", "'", "](", "] (", "![", "! [").Replace(s)
}

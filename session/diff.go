package session

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/taint"
)

const (
	maxExplained = 8 << 20 // bytes of one definition
	maxLines     = 60      // of one explanation, and of each rank while it is made
	maxValue     = 120     // characters of a value
	maxName      = 80      // characters of a name
)

// Line is one thing that differs between two forms of a tool, or of a server's instructions. What the server wrote stands in
// quotes, with what is normally invisible spelled out, as in <U+200B>.
type Line struct {
	What  string `json:"what"`            // one stable word for what it means: argument_required, hint_destructive
	Text  string `json:"text"`            // the same as a sentence without a full stop
	Edits []Edit `json:"edits,omitempty"` // where a text differs, in its order
	More  int    `json:"more,omitempty"`  // places that are not among them
}

// Edit is one place where a text differs.
type Edit struct {
	After   string `json:"after,omitempty"` // the words before it, empty at the beginning
	Removed string `json:"removed,omitempty"`
	Added   string `json:"added,omitempty"`
}

// Explain says what a difference means, the gravest first.
func (d Difference) Explain() []Line {
	if d.Instructions {
		return explainInstructions(d)
	}
	known := !d.Accepted.IsZero()
	switch {
	case known && d.Seen.IsZero():
		return []Line{{What: "tool_gone", Text: "the tool is no longer listed"}}
	case known && d.Old == nil, d.New == nil, len(d.Old) > maxExplained, len(d.New) > maxExplained:
		return []Line{{What: "too_large", Text: "the definition differs, and is too large to be explained"}}
	}
	var old wire.Value
	var err error
	if known {
		old, err = wire.ParseValue(d.Old)
	}
	now, err2 := wire.ParseValue(d.New)
	if err != nil || err2 != nil {
		return []Line{{What: "unreadable", Text: "the definition differs, and what is kept of it can't be read"}}
	}
	return Explain(old, now)
}

func explainInstructions(d Difference) []Line {
	if d.Old == nil || d.New == nil || len(d.Old) > maxExplained || len(d.New) > maxExplained {
		return []Line{{What: "too_large", Text: "the instructions differ, and are too large to be explained"}}
	}
	e := &explainer{}
	e.text(wording, "instructions_changed", "the instructions differ", string(d.Old), string(d.New))
	return e.lines()
}

// Explain says what differs between two definitions of a tool, the gravest first. A nil old is a new tool.
func Explain(old, now wire.Value) []Line {
	e := &explainer{}
	now = wire.Canonical(now) // of values inside canonical ones, equal bytes are equal values
	if old == nil {
		e.introduce(now)
	} else {
		e.tool(wire.Canonical(old), now)
	}
	return e.lines()
}

// rank is how much a difference matters to whoever is asked.
type rank int

const (
	grave    rank = iota // what the tool does, or needs to be told
	wording              // what the model reads first
	loosened             // what it may be given
	details              // what the model reads, too
	rest
	ranks
)

// explainer collects lines by rank. They are made when it is known that they will be shown.
type explainer struct {
	found [ranks][]func() Line
	left  int
}

func (e *explainer) add(r rank, line func() Line) {
	if len(e.found[r]) == maxLines {
		e.left++
		return
	}
	e.found[r] = append(e.found[r], line)
}

func (e *explainer) say(r rank, what, format string, args ...any) {
	e.add(r, func() Line { return Line{What: what, Text: fmt.Sprintf(format, args...)} })
}

func (e *explainer) text(r rank, what, sentence, old, now string) {
	e.add(r, func() Line {
		l := Line{What: what, Text: sentence}
		l.Edits, l.More = edits(old, now)
		if len(l.Edits) == 0 {
			l.Text += " in spaces and line breaks alone"
		}
		return l
	})
}

// value is about a value of any kind: a short one is shown, of a longer one the difference is.
func (e *explainer) value(r rank, what, subject string, m member) {
	switch {
	case m.now == nil:
		e.say(r, what, "%s is gone, it was %s", subject, literal(m.old))
	case m.old == nil:
		e.say(r, what, "%s is new: %s", subject, literal(m.now))
	case len(m.old) > maxValue || len(m.now) > maxValue:
		e.text(r, what, subject+" differs", string(m.old), string(m.now))
	default:
		e.say(r, what, "%s is %s, it was %s", subject, literal(m.now), literal(m.old))
	}
}

func (e *explainer) lines() []Line {
	var list []Line
	for _, found := range e.found {
		for _, line := range found {
			if len(list) == maxLines {
				e.left++
				continue
			}
			list = append(list, line())
		}
	}
	if e.left > 0 {
		list = append(list, Line{What: "more", Text: fmt.Sprintf("and %d more differences", e.left)})
	}
	return list
}

// introduce describes a tool that nothing is known of.
func (e *explainer) introduce(now wire.Value) {
	description, _ := now.Get("description").Text()
	e.add(grave, func() Line {
		l := Line{What: "tool_added", Text: "a new tool without a description"}
		if description != "" {
			l.Text = "a new tool"
			l.Edits, l.More = edits("", description)
		}
		return l
	})
	e.hints(nil, now.Get("annotations"))
	e.arguments("", nil, now.Get("inputSchema"))
}

// tool goes through the members of two definitions.
func (e *explainer) tool(old, now wire.Value) {
	for _, m := range differing(old, now) {
		switch m.key {
		case "name":
			e.value(grave, "name_changed", "the name", m)
		case "title", "description":
			e.prose(wording, m.key+"_changed", "the "+m.key, m)
		case "inputSchema":
			e.schema("", m.old, m.now)
		case "annotations":
			e.hints(m.old, m.now)
		case "outputSchema":
			e.value(rest, "output_schema_changed", "the schema of its output", m)
		case "_meta":
			e.value(rest, "meta_changed", "_meta", m)
		default:
			e.value(rest, "member_changed", "the member "+quoted(m.key), m)
		}
	}
}

// prose is about a text.
func (e *explainer) prose(r rank, what, subject string, m member) {
	old, oldText := m.old.Text()
	now, nowText := m.now.Text()
	switch {
	case m.old != nil && !oldText, m.now != nil && !nowText:
		e.value(r, what, subject, m)
	case m.now == nil:
		e.text(r, what, subject+" is gone", old, "")
	case m.old == nil:
		e.text(r, what, subject+" is new", "", now)
	default:
		e.text(r, what, subject+" differs", old, now)
	}
}

// hint is what an annotation promises, and what it means when it no longer does.
type hint struct {
	key      string
	safe     bool // the value that promises something
	r        rank
	what     string
	lost     string // the promise is gone
	openly   string // the opposite is said, where that is more than silence
	promised string
}

func hints() []hint {
	return []hint{
		{"readOnlyHint", true, grave, "hint_read_only", "no longer says that it only reads", "", "now says that it only reads"},
		{"destructiveHint", false, grave, "hint_destructive", "no longer says that it destroys nothing", "now says that it may destroy something", "now says that it destroys nothing"},
		{"openWorldHint", false, grave, "hint_open_world", "no longer says that it stays inside a closed world", "now says that it reaches the outside world", "now says that it stays inside a closed world"},
		{"idempotentHint", true, loosened, "hint_idempotent", "no longer says that repeating a call changes nothing", "", "now says that repeating a call changes nothing"},
	}
}

func (e *explainer) hints(old, now wire.Value) {
	known := map[string]hint{}
	for _, h := range hints() {
		known[h.key] = h
	}
	for _, m := range differing(old, now) {
		h, ok := known[m.key]
		was, wasBool := m.old.Bool()
		is, isBool := m.now.Bool()
		switch {
		case m.key == "title":
			e.prose(wording, "title_changed", "the title among the annotations", m)
		case !ok, m.old != nil && !wasBool, m.now != nil && !isBool:
			e.value(rest, "annotation_changed", "the annotation "+quoted(m.key), m)
		case isBool && is == h.safe:
			e.say(loosened, h.what+"_promised", "%s", h.promised)
		case isBool && h.openly != "":
			e.say(h.r, h.what, "%s", h.openly)
		case wasBool && was == h.safe:
			e.say(h.r, h.what, "%s", h.lost)
		default: // said before or now, and it is what silence means
			e.value(rest, "annotation_changed", "the annotation "+quoted(m.key), m)
		}
	}
}

// member is a member of an object in two forms; nil where it isn't there.
type member struct {
	key      string
	old, now wire.Value
}

// differing returns the members that differ between two objects, by name.
func differing(old, now wire.Value) []member {
	a, b := members(old), members(now)
	names := slices.Collect(maps.Keys(a))
	for name := range b {
		if a[name] == nil {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var list []member
	for _, name := range names {
		if !bytes.Equal(a[name], b[name]) {
			list = append(list, member{name, a[name], b[name]})
		}
	}
	return list
}

func members(v wire.Value) map[string]wire.Value { return maps.Collect(v.Members()) }

// literal shows a value as JSON.
func literal(v wire.Value) string {
	if s, ok := v.Text(); ok {
		return quoted(s)
	}
	return taint.Visible(string(v), maxValue)
}

// quoted shows a text in quotes that it can't close.
func quoted(s string) string {
	return `"` + strings.ReplaceAll(taint.Visible(s, maxValue), `"`, `'`) + `"` + foreign(s)
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

// rows spells a line for people, each row without line break.
func (l Line) rows() []string {
	rows := []string{l.Text}
	for _, e := range l.Edits {
		indent := "    "
		switch {
		case e.After != "":
			rows = append(rows, `  after "`+e.After+`"`)
		case e.Removed != "" && e.Added != "" || len(l.Edits) > 1:
			rows = append(rows, "  at the beginning")
		default: // the whole text, or its beginning
			indent = "  "
		}
		if e.Removed != "" {
			rows = append(rows, indent+`removed "`+e.Removed+`"`+foreign(e.Removed))
		}
		if e.Added != "" {
			rows = append(rows, indent+`added "`+e.Added+`"`+foreign(e.Added))
		}
	}
	if l.More > 0 {
		rows = append(rows, fmt.Sprintf("  and in %d more places", l.More))
	}
	return rows
}

// Text spells lines for people in at most about limit characters, and says how much it leaves out.
func Text(lines []Line, limit int) string {
	var b strings.Builder
	left := 0
	for _, l := range lines {
		for _, row := range l.rows() {
			if runes := []rune(row); len(runes) > max(limit/3, maxValue) {
				row = string(runes[:max(limit/3, maxValue)]) + "..."
			}
			if left > 0 || b.Len()+len(row) > limit && b.Len() > 0 {
				left++
				continue
			}
			b.WriteString(row)
			b.WriteByte('\n')
		}
	}
	if left > 0 {
		fmt.Fprintf(&b, "and %d more lines\n", left)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

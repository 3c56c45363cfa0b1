package engine

import (
	"strconv"
	"strings"

	"github.com/bouncer-mcp/bouncer/taint"
)

// quote shows a value that a client or server chose: short, on one line, and with nothing hidden in it.
func quote(s string) string {
	return `"` + strings.ReplaceAll(taint.Visible(s, 80), `"`, `'`) + `"`
}

func (p Pair) String() string { return taint.Visible(p.Param, 60) + "=" + quote(p.Value) }

// from tells where a value came from.
func from(o taint.Origin) string {
	if o.Server == "" { // nobody but the person is without one
		return taint.Visible(o.Tool, 80)
	}
	return "the result of " + taint.Visible(o.Tool, 80) + " (" + taint.Visible(o.Server, 80) + ")"
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// reason words what was found, worst first. It names the first; the others stand in the findings.
func (j *judgement) reason(found []weighing) string {
	first, n := found[0], len(found)-1
	s := j.why(first)
	if n > 0 {
		rest := ", and " + plural(n, "more value") + " of this call nobody has vouched for"
		if first.Role == Destination && first.Class == taint.Unseen && first.Pair != (Pair{}) {
			rest = ", and so of " + plural(n, "other value")
		}
		s += rest
	}
	if j.call.Doubtful && first.Class != taint.Aimed {
		s += "; what another server of this session has just said is not known yet"
	}
	return s
}

// why tells what is wrong with one value.
func (j *judgement) why(w weighing) string {
	switch {
	case w.Role == Deed && w.Pair == Pair{}:
		s := quote(j.call.Tool.Name) + " can't be undone, and this session has read what others may have written"
		if w.Origin.Tool != "" {
			s += " (" + from(w.Origin) + ")"
		}
		return s
	case w.Pair == Pair{}:
		return "the call names no destination, so the server would choose one"
	case w.toxic:
		s := w.String() + " is known only from text" + in(w.Origin) + ", and this session holds private data"
		if j.sensitive.Tool != "" {
			s += " (" + from(taint.Origin{Source: *j.sensitive}) + ")"
		}
		return s
	case w.Class == taint.Aimed && w.action != Deny:
		return w.String() + " also stands in text that addresses the agent" + in(w.Origin)
	case w.Role == Content && w.marks&outputs == 0:
		return taint.Visible(w.Param, 60) + " carries " + quote(w.Value) + ", which nobody has vouched for"
	case w.Role == Content:
		return contentReason(w.Finding, "an output")
	case w.Role == Object && w.Class != taint.Aimed:
		s := "only the person can say that " + w.String() + " is to be changed"
		if w.Origin.Tool != "" {
			s += "; it came from " + from(w.Origin)
		}
		return s
	case w.Origin.Tool == "":
		return "nobody has vouched for " + w.String()
	}
	return w.String() + " came from " + from(w.Origin) + place(w)
}

// in tells which output, if it is known.
func in(o taint.Origin) string {
	if o.Tool == "" {
		return ""
	}
	return ", in " + from(o)
}

// place tells in what kind of place of an output a value stands.
func place(w weighing) string {
	switch w.Class {
	case taint.Aimed:
		return ", where it stands in text that addresses the agent"
	case taint.Text:
		if w.marks&taint.MarkText == 0 {
			return ", where its letters stand with others between them"
		}
		return ", where it stands inside a text"
	case taint.Field:
		return ", where it is a field"
	case taint.Directory:
		return ", where it is an entry"
	}
	return ""
}

// contentReason words why a call may not take a value along.
func contentReason(f Finding, who string) string {
	return taint.Visible(f.Param, 60) + " carries " + quote(f.Value) + ", which " + who + " brought up" + in(f.Origin)
}

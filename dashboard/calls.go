package dashboard

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/taint"
)

const (
	tailed = 400 // records of the log that the first page looks at
	listed = 60  // calls on it
)

// call is what the log tells of one tools/call, in words.
type call struct {
	Seq     uint64 // of the newest verdict, by which the call is found again
	Time    time.Time
	Client  string
	Server  string
	Tool    string
	State   string // a class of the style sheet: allowed, observed, asking, blocked
	Verdict string
	Reason  string
	Outcome string
	Layers  []string
	Flows   []flow
}

// Blocked reports whether the call was refused, or would have been if its tool were not only watched.
func (c call) Blocked() bool { return c.State == "blocked" || c.State == "observed" }

// recent returns the calls of the end of the log, the newest first, and how many of its records could not be read.
func recent(state string) (calls []call, damaged int, err error) {
	lines, err := audit.Tail(state, tailed)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	results := map[string]audit.Record{}
	done := map[string]bool{}
	for i := len(lines) - 1; i >= 0 && len(calls) < listed; i-- {
		r, err := audit.ParseRecord(lines[i])
		if err != nil {
			damaged++
			continue
		}
		id := fmt.Sprint(r.Session, " ", r.Call)
		switch {
		case r.Kind == "result":
			results[id] = r
		case r.Kind == "verdict" && !done[id]:
			done[id] = true
			c := callOf(r)
			if result, ok := results[id]; ok {
				c.end(result)
			}
			calls = append(calls, c)
		}
	}
	return calls, damaged, nil
}

// callAt finds the call that the record seq is about.
func callAt(state string, seq uint64) (call, bool, error) {
	var found call
	var id string
	for line, err := range audit.Records(state) {
		if err != nil {
			return call{}, false, err
		}
		r, err := audit.ParseRecord(line)
		switch {
		case err != nil:
		case id == "" && r.Seq == seq && r.Kind == "verdict":
			found, id = callOf(r), fmt.Sprint(r.Session, " ", r.Call)
		case id != "" && fmt.Sprint(r.Session, " ", r.Call) == id:
			if r.Kind == "result" {
				found.end(r)
				return found, true, nil
			}
			found = callOf(r)
		}
	}
	return found, id != "", nil
}

func callOf(r audit.Record) call {
	c := call{
		Seq: r.Seq, Time: r.Time.Local(), Client: visible(r.Client), Server: visible(r.Server), Tool: visible(r.Tool),
		Reason: taint.Visible(r.Reason, 1000), Layers: r.Layers,
	}
	c.State, c.Verdict = worded(r)
	for _, e := range r.Evidence {
		c.Flows = append(c.Flows, flowOf(c, e))
	}
	return c
}

// worded says what became of a call, for the style sheet and in words.
func worded(r audit.Record) (state, verdict string) {
	by := ""
	if r.Channel != "" {
		by = " by " + visible(r.Channel)
	}
	switch {
	case r.Observed == "ask":
		return "observed", "would ask you"
	case r.Observed != "":
		return "observed", "would be blocked"
	case r.Verdict == "allow" && r.Answer != "":
		return "allowed", "you allowed it: " + visible(r.Answer) + by
	case r.Verdict == "allow":
		return "allowed", "allowed"
	case r.Verdict == "ask":
		return "asking", "asks you" + by
	case r.Answer != "":
		return "blocked", "blocked: " + visible(strings.TrimPrefix(r.Answer, "no: ")) + by
	}
	return "blocked", "blocked"
}

func (c *call) end(r audit.Record) {
	switch r.Outcome {
	case "ok":
		c.Outcome = fmt.Sprintf("done in %.0f ms", r.MS)
	case "tool_error", "rpc_error":
		c.Outcome = "failed"
	default:
		c.Outcome = visible(r.Outcome)
	}
}

// flow is the way of one value: where it came from, what it is, where it would have gone.
type flow struct {
	Source  string   // empty when it came from nowhere in this session
	Path    string   // in the source's output
	Context []marked // around the value
	Param   string
	Value   string
	Class   string // as the log has it, for the style sheet
	Means   string // the class in words
	Sink    string
	State   string
	Verdict string
}

// marked is a piece of a text; Is says that it is the value.
type marked struct {
	Text string
	Is   bool
}

func flowOf(c call, e audit.Evidence) flow {
	f := flow{
		Path: visible(e.Path), Context: mark(taint.Visible(e.Snippet, 300), taint.Visible(e.Value, 300)), Param: visible(e.Param),
		Value: taint.Visible(e.Value, 300), Class: e.Class, Means: meaning(e.Class),
		Sink: c.Server + ": " + c.Tool, State: c.State, Verdict: c.Verdict,
	}
	switch {
	case e.Tool == "":
	case e.Server == "":
		f.Source = visible(e.Tool)
	default:
		f.Source = visible(e.Server) + ": " + visible(e.Tool)
	}
	if e.Param == "" && e.Value == "" {
		f.Means = "the call as a whole"
	}
	return f
}

// meaning words a class of package taint.
func meaning(class string) string {
	switch class {
	case taint.Aimed.String():
		return "stands in text that addresses the agent"
	case taint.Text.String():
		return "stands inside a text"
	case taint.Field.String():
		return "was a field of an output"
	case taint.Directory.String():
		return "was an entry of a directory"
	case taint.Said.String():
		return "you said it"
	case taint.Trusted.String():
		return "is trusted"
	}
	return "was seen nowhere in this session"
}

// mark finds a value in a text, whatever its case.
func mark(text, value string) []marked {
	if text == "" {
		return nil
	}
	at := strings.Index(strings.ToLower(text), strings.ToLower(value))
	// Letters may change their length with their case, and then the place is another.
	if value == "" || at < 0 || at+len(value) > len(text) || !strings.EqualFold(text[at:at+len(value)], value) {
		return []marked{{Text: text}}
	}
	var parts []marked
	for _, p := range []marked{{Text: text[:at]}, {text[at : at+len(value)], true}, {Text: text[at+len(value):]}} {
		if p.Text != "" {
			parts = append(parts, p)
		}
	}
	return parts
}

// visible shows a name that a server or a client chose, in which nothing hides.
func visible(s string) string { return taint.Visible(s, 200) }

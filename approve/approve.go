// Package approve asks the person: it words one question per call, keeps it where it can be answered, reads the answer, and
// seals what a retry must prove.
package approve

import (
	"encoding/json"
	"strings"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Question is what a person is asked about one call.
type Question struct {
	Server  string
	Tool    string
	Args    wire.Value
	Verdict engine.Verdict
	Detail  []string            // what changed about a tool that is asked about, the gravest first
	Trusted map[string][]string // of a destination, the addresses in it that are trusted in another spelling
	Number  int                 // tells questions apart that are open at once; the first needs none
	Always  []string            // the destinations that a yes for good would trust; none: it is no possible answer
	Policy  string              // the file that this would change
	Diff    string              // and how
}

// Answer is what the person said. The zero Answer is no.
type Answer uint8

// The answers.
const (
	No Answer = iota
	Once
	Session
	Always // also from now on, by the person's own policy
)

// String is the answer in a word, as the audit log has it.
func (a Answer) String() string {
	switch a {
	case Once:
		return "once"
	case Session:
		return "session"
	case Always:
		return "always"
	}
	return "no"
}

// answerOf reverses String. What it does not know is No.
func answerOf(word string) Answer {
	for _, a := range []Answer{Once, Session, Always} {
		if a.String() == word {
			return a
		}
	}
	return No
}

// The words of the form. The first is what a client shows before anything is chosen.
const (
	sayDeny    = "deny"
	sayOnce    = "allow once"
	saySession = "allow for this session"
	sayAlways  = "always allow"
)

// choices are the answers that this question may get, as the form words them.
func (q Question) choices() []string {
	words := []string{sayDeny, sayOnce, saySession}
	if len(q.Always) > 0 {
		words = append(words, sayAlways)
	}
	return words
}

// Params returns the params of an elicitation/create request (form mode) that asks the question. The form is one
// choice, a string with an enum: every protocol version since 2025-06-18 knows that shape. mode is left out, since
// form is its default and the first of these versions does not know it.
func (q Question) Params() []byte {
	type property struct {
		Type  string   `json:"type"`
		Title string   `json:"title"`
		Enum  []string `json:"enum"`
	}
	type schema struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	params, err := json.Marshal(struct {
		Message         string `json:"message"`
		RequestedSchema schema `json:"requestedSchema"`
	}{q.Text(), schema{
		Type:       "object",
		Properties: map[string]property{"decision": {"string", "Allow this call?", q.choices()}},
		Required:   []string{"decision"},
	}})
	if err != nil {
		panic(err) // strings always marshal
	}
	return params
}

// ReadAnswer reads the result of elicitation/create that answers this question.
func (q Question) ReadAnswer(result wire.Value) (a Answer, note string) {
	a, note = ReadAnswer(result)
	if a == Always && len(q.Always) == 0 {
		return No, "malformed answer"
	}
	return a, note
}

// ReadAnswer reads the result of elicitation/create. Anything but an explicit yes is No; note says why in a few words.
func ReadAnswer(result wire.Value) (a Answer, note string) {
	if shadowed(result, "action", "content") {
		return No, "malformed answer"
	}
	action, _ := result.Get("action").Text()
	switch action {
	case "accept":
	case "decline":
		return No, "declined"
	case "cancel":
		return No, "cancelled"
	default:
		return No, "malformed answer"
	}
	content := result.Get("content")
	if shadowed(content, "decision") {
		return No, "malformed answer"
	}
	decision, ok := content.Get("decision").Text()
	switch {
	case !ok:
		return No, "accepted without a decision"
	case decision == sayOnce:
		return Once, ""
	case decision == saySession:
		return Session, ""
	case decision == sayAlways:
		return Always, ""
	case decision == sayDeny:
		return No, "declined"
	}
	return No, "malformed answer"
}

// shadowed reports whether a member's name differs from a known one only in case or in white space around it: a
// lenient client and a strict reader would take different members for the answer.
func shadowed(v wire.Value, known ...string) bool {
	for name := range v.Members() {
		for _, k := range known {
			if name != k && strings.EqualFold(strings.TrimSpace(name), k) {
				return true
			}
		}
	}
	return false
}

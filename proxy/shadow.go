package proxy

import (
	"fmt"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Some peers match member names without regard to case, so that a decline could carry an accept past everyone who reads
// exactly. In what decides over a question, no member may look like another.

// shadowedAnswers finds such a member in the answers that a call brings back (2026-07-28), but for those to bouncer's own
// questions, which never leave it.
func (r *relay) shadowedAnswers(f wire.Frame) (string, bool) {
	if member, ok := f.Shadow("inputResponses", "requestState"); ok {
		return member, true
	}
	for key, answer := range f.Get("inputResponses").Members() {
		if r.isOwnText(key) {
			continue
		}
		if member, ok := wire.Shadow(answer, "action", "content", "_meta"); ok {
			return member, true
		}
	}
	return "", false
}

// questionable says what is wrong with the questions that a result asks instead of answering.
func (r *relay) questionable(f wire.Frame) error {
	if f.Kind != wire.Result {
		return nil
	}
	if member, ok := f.Shadow("resultType", "inputRequests", "requestState"); ok {
		return shadowed(member)
	}
	for key, question := range f.Get("inputRequests").Members() {
		if r.isOwnText(key) {
			return fmt.Errorf("it asks under a reserved key")
		}
		if member, ok := wire.Shadow(question, "method", "params"); ok {
			return shadowed(member)
		}
		if member, ok := wire.Shadow(question.Get("params"), "message", "requestedSchema", "mode", "url", "elicitationId", "_meta"); ok {
			return shadowed(member)
		}
	}
	return nil
}

func shadowed(member string) error {
	return fmt.Errorf("member %q only differs in case from one the protocol knows", member)
}

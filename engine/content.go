package engine

import (
	"strings"
	"unicode"

	"github.com/bouncer-mcp/bouncer/taint"
)

// checkContent denies a call that carries along what text that addresses the agent brought up: a link in a message, an
// account number in a note. Words alone say nothing, or no mail could be quoted.
func (j *judgement) checkContent() (Verdict, bool) {
	if !j.rule.Changing || j.rule.Open {
		return Verdict{}, false
	}
	judged := make(map[string]bool)
	for _, w := range j.weigh() {
		judged[w.Value] = w.Role != Content
	}
	for i, text := range j.args.texts() {
		for said := range spoken(text) {
			if judged[said] {
				continue
			}
			if value, f, found := j.planted(said); found {
				bad := Finding{Pair{Param: j.args.Path(i), Value: value}, Content, taint.Aimed, f.Origin}
				return Verdict{Reason: contentReason(bad, "text that addresses the agent"), Findings: []Finding{bad}}, true
			}
		}
	}
	return Verdict{}, false
}

// planted finds the first value in a text that only text addressing the agent has brought up.
func (j *judgement) planted(text string) (value string, f taint.Found, found bool) {
	if isWords(text) {
		return "", taint.Found{}, false
	}
	for value, f := range j.seen.Carried(text) {
		if f = j.fair(value, f); f.Marks&taint.MarkAimed != 0 && f.Grants&vouching == 0 {
			return value, f, true
		}
	}
	return "", taint.Found{}, false
}

// links weighs what a message to somebody whom the person has not named takes along: a link or an account number that only
// an output has brought up. The contact is real, and so would be their trust in the sender.
func (j *judgement) links(judged *pairSet) []weighing {
	var all []weighing
	if !j.rule.Changing {
		return nil
	}
	for i, text := range j.args.texts() {
		param := j.args.Path(i)
		if isWords(text) || judged.has(Pair{Param: param, Value: text}) {
			continue
		}
		for value, f := range j.seen.Carried(text) {
			if known := f.Grants&vouching != 0 || f.Marks&outputs == 0; known && !j.call.Doubtful || !leads(value) {
				continue
			}
			f = j.fair(value, f)
			p := Pair{Param: param, Value: value}
			all = append(all, weighing{Finding: Finding{p, Content, class(f.Marks), f.Origin}, action: Ask, marks: f.Marks})
		}
	}
	return all
}

// leads tells a link or an account number from an address or a telephone number, which letters are full of.
func leads(value string) bool {
	mail := strings.Contains(value, "@") && !strings.Contains(value, "://")
	return !mail && strings.ContainsFunc(value, unicode.IsLetter)
}

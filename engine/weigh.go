package engine

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

// weighing is one value of a call with what follows from where it comes from.
type weighing struct {
	Finding
	action Action
	marks  taint.Marks // all that was said of it
	toxic  bool        // nothing is wrong with it but the private data that the session holds
	lookup bool        // it may pass because a lookup tool lists it, and nobody has named it
	covers []Pair      // what a yes vouches for; the value itself when empty
}

// gateValues asks of every destination, every object and every deed who vouched for it and where it came from. One
// verdict speaks of all of them.
func (j *judgement) gateValues() (Verdict, bool) {
	if v, spoke := j.checkContent(); spoke {
		return v, true
	}
	if !slices.ContainsFunc(j.weigh(), func(w weighing) bool { return w.action != Allow && !w.toxic }) {
		return Verdict{}, false
	}
	return j.verdict()
}

// checkFlow asks about what is a fine place to read from, as long as there is nothing to give away.
func (j *judgement) checkFlow() (Verdict, bool) { return j.verdict() }

// verdict is about all values that nobody has vouched for.
func (j *judgement) verdict() (Verdict, bool) {
	var found []weighing
	var pairs []Pair
	for _, w := range j.weigh() {
		if w.action == Allow {
			continue
		}
		found = append(found, w)
		if w.covers == nil {
			pairs = append(pairs, w.Pair)
		}
		pairs = append(pairs, w.covers...)
	}
	if len(found) == 0 || j.vouched(pairs) {
		return Verdict{}, false
	}
	// What a person has vouched for in another company is asked about again, but it is not what is wrong.
	known := make(map[Pair]bool)
	for i, w := range found {
		if w.covers == nil && j.approvedOnce(w.Pair) {
			known[w.Pair] = true
			found[i].action = Ask
		}
	}
	slices.SortStableFunc(found, func(a, b weighing) int {
		switch {
		case known[a.Pair] != known[b.Pair]:
			return order(known[b.Pair])
		case a.action != b.action:
			return int(a.action) - int(b.action)
		case a.Class != b.Class:
			return order(a.Class.Worse(b.Class))
		}
		return 0
	})
	v := Verdict{Action: found[0].action, Findings: make([]Finding, len(found))}
	for i, w := range found {
		v.Findings[i] = w.Finding
	}
	if v.Action == Ask {
		v.Pairs = pairs
	}
	if n := slices.IndexFunc(found, func(w weighing) bool { return known[w.Pair] }); n > 0 {
		found = found[:n]
	}
	v.Reason = j.reason(found)
	return v, true
}

// order is what a comparison returns for one that comes before the other, or behind it.
func order(before bool) int {
	if before {
		return -1
	}
	return 1
}

// weigh returns what a call reaches, changes and does, each with what follows from its provenance.
func (j *judgement) weigh() []weighing {
	if !j.weighed {
		j.weighings, j.weighed = j.weighAll(), true
	}
	return j.weighings
}

func (j *judgement) weighAll() []weighing {
	objects := j.at(j.rule.ObjectParams).list
	judged, nowhere := j.destinations()
	destinations := judged.list
	var all []weighing
	if n := len(destinations) + len(objects); n > 0 {
		all = make([]weighing, 0, n)
	}
	if nowhere {
		all = append(all, weighing{action: Ask})
	}
	first := len(all) // from here on, judged says where a value stands
	looked, isAlone := false, false
	alone := func() bool {
		if !looked {
			looked, isAlone = true, j.alone(&judged)
		}
		return isAlone
	}
	for _, p := range destinations {
		all = append(all, j.destination(p, alone))
	}
	for _, p := range objects {
		o := j.object(p)
		if i := judged.index(p); i < 0 {
			judged.add(p)
			all = append(all, o)
		} else if o.action < all[first+i].action { // both rules must be content with it
			all[first+i] = o
		}
	}
	if j.call.Doubtful || slices.ContainsFunc(all, func(w weighing) bool { return w.lookup }) {
		all = append(all, j.links(&judged)...)
	}
	switch {
	case len(objects) == 0 && (j.rule.Irreversible || len(j.rule.ObjectParams) > 0):
		all = append(all, j.deed(&judged)...)
	case j.rule.Irreversible:
		all = append(all, j.terms(&judged)...)
	}
	return all
}

const (
	vouching = taint.MarkDirectory | taint.MarkIdentity | taint.MarkSaid
	outputs  = taint.MarkText | taint.MarkField | taint.MarkDirectory | taint.MarkIdentity | taint.MarkAimed | taint.MarkMangled
)

// trace looks a value up, in the role that it plays.
func (j *judgement) trace(p Pair, r Role) (weighing, taint.Found) {
	f := j.fair(p.Value, j.seen.Trace(p.Value))
	if shortNumber(p.Value) && !j.saidByName(p.Value) {
		f.Grants &^= taint.MarkSaid
	}
	switch {
	case j.call.Doubtful:
		f.Grants = 0
	case j.doubts:
		f.Grants &^= taint.MarkDirectory | taint.MarkIdentity
	}
	return weighing{Finding: Finding{p, r, class(f.Marks), f.Origin}, action: Ask, marks: f.Marks}, f
}

// fair takes back what Trace says of a URL only because text that addresses the agent named another page of its host.
func (j *judgement) fair(value string, f taint.Found) taint.Found {
	if f.Marks&taint.MarkAimed != 0 && strings.Contains(value, "://") && !j.seen.Aims(value) {
		f.Marks = f.Marks&^taint.MarkAimed | taint.MarkText
	}
	return f
}

func class(m taint.Marks) taint.Class {
	switch {
	case m&taint.MarkAimed != 0:
		return taint.Aimed
	case m&(taint.MarkText|taint.MarkMangled) != 0:
		return taint.Text
	case m&taint.MarkField != 0:
		return taint.Field
	case m&(taint.MarkDirectory|taint.MarkIdentity) != 0:
		return taint.Directory
	case m&taint.MarkSaid != 0:
		return taint.Said
	}
	return taint.Unseen
}

// destination weighs whom or what the call reaches. alone tells whether nothing goes there but the request for a page.
func (j *judgement) destination(p Pair, alone func() bool) weighing {
	if policy.Trusts(j.rule.TrustedDestinations, p.Value) {
		return weighing{Finding: Finding{Pair: p, Class: taint.Trusted}, action: Allow}
	}
	w, f := j.trace(p, Destination)
	w.action = j.profile().destination(f)
	w.lookup = w.action == Allow && f.Grants&vouching == taint.MarkDirectory
	reads := j.rule.Fetch || !j.rule.Exfiltrating && !j.rule.Changing
	if w.action == Allow || !reads || f.Marks&taint.MarkAimed != 0 || j.call.Doubtful || !j.seen.SeenWhole(p.Value) || !alone() {
		return w
	}
	// A page that an output named in full may be read: nothing of the session can be in its address.
	w.action = Allow
	if j.sensitive != nil && f.Grants&vouching == 0 && f.Marks&taint.MarkField == 0 {
		w.action, w.toxic = Ask, true
	}
	return w
}

// destination is the table of verdicts.
func (p Profile) destination(f taint.Found) Action {
	aimed := f.Marks&taint.MarkAimed != 0
	if p == Balanced {
		return granted(f.Grants&vouching != 0, aimed)
	}
	switch {
	case f.Grants&(taint.MarkSaid|taint.MarkIdentity) != 0 && !aimed:
		return Allow
	case f.Marks&outputs != 0:
		return Deny
	}
	return Ask
}

// granted weighs a word for a value against the same value in text that addresses the agent.
func granted(vouched, aimed bool) Action {
	switch {
	case vouched && !aimed:
		return Allow
	case aimed && !vouched:
		return Deny
	}
	return Ask
}

// object weighs what a call changes. That a lookup lists it is no reason to change it: only a person says so.
func (j *judgement) object(p Pair) weighing {
	w, f := j.trace(p, Object)
	w.action = j.theirs(f)
	return w
}

// theirs is the verdict on what only the person's own words vouch for.
func (j *judgement) theirs(f taint.Found) Action {
	said, aimed := f.Grants&taint.MarkSaid != 0, f.Marks&taint.MarkAimed != 0
	if said && aimed && j.profile() == Strict {
		return Deny
	}
	return granted(said, aimed)
}

// deed weighs a call that can't be taken back and that names nothing it changes: as a whole. It is asked about once
// the session has read what others wrote, unless the person named every one of its arguments.
func (j *judgement) deed(judged *pairSet) []weighing {
	if j.untrusted == nil {
		return nil
	}
	rest := slices.DeleteFunc(j.all().list, judged.has)
	named, open := 0, 0
	for _, p := range rest {
		if p.Value == "true" || p.Value == "false" || len(p.Value) <= 2 && shortNumber(p.Value) {
			continue // a flag or a count, in nobody's words
		}
		w, found := j.trace(p, Deed)
		switch w.action = j.theirs(found); w.action {
		case Deny:
			w.covers = rest
			return []weighing{w}
		case Ask:
			open++
		case Allow:
			named++
		}
	}
	if named > 0 && open == 0 {
		return nil
	}
	if len(rest) == 0 {
		rest = []Pair{{}}
	}
	return []weighing{{Finding: Finding{Role: Deed, Origin: taint.Origin{Source: *j.untrusted}}, action: Ask, covers: rest}}
}

// terms weighs how something is changed for good that the person may have named: to which password, for whom. What is deleted is
// gone in any terms.
func (j *judgement) terms(judged *pairSet) []weighing {
	if j.untrusted == nil || policy.Deletes(j.call.Tool.Name) {
		return nil
	}
	var all []weighing
	for _, p := range j.at(policy.Plain(j.tool, j.call.Args)).list {
		if judged.has(p) || p.Value == "true" || p.Value == "false" {
			continue
		}
		if w, found := j.trace(p, Deed); found.Grants&vouching == 0 || found.Marks&taint.MarkAimed != 0 {
			w.action = granted(found.Grants&vouching != 0, found.Marks&taint.MarkAimed != 0)
			all = append(all, w)
		}
	}
	return all
}

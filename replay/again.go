package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/policy"
)

// Options is what the calls of a log are judged by.
type Options struct {
	Before, After *policy.Set         // the policy of the log, and the one in question; neither bound to a server
	Profile       string              // that the servers were and are started with; empty for the policies'
	Servers       map[string][]Server // by name. Several of one name are all considered
	Paths         engine.Paths
}

// Change is what another policy makes of one call.
type Change struct {
	Call *Call
	Was  string // allow, ask or deny, whatever a person answered then

	// Now holds the verdicts that are possible under the new policy, the most permissive first. It is one if it follows from
	// the record; several where it depends on what the log does not tell.
	Now     []string
	Reason  string // of the least permissive of them
	Unknown string // why nothing can be said; Now is empty then
}

// Kinds of changes.
const (
	Same    = "same"
	Changed = "changed"
	Open    = "open"    // more than one verdict is possible
	Unknown = "unknown" // the record can't be derived again
)

// Kind names what became of the call.
func (c Change) Kind() string {
	switch {
	case c.Unknown != "":
		return Unknown
	case len(c.Now) > 1:
		return Open
	case c.Now[0] != c.Was:
		return Changed
	}
	return Same
}

// Again judges every call of a log under another policy.
func Again(log *Log, o Options) []Change {
	a := again{o: o, sessions: map[[2]string][]*rerun{}}
	all := make([]Change, len(log.Calls))
	for i, c := range log.Calls {
		all[i] = a.judge(c)
	}
	return all
}

type again struct {
	o        Options
	sessions map[[2]string][]*rerun // by session and server: one for each server that it may have been
}

// rerun is a session with one server under both policies.
type rerun struct {
	server        Server
	before, after side
	rules         map[string]*rules // by tool
}

// rules are what a tool's calls were and are judged by.
type rules struct {
	before, after policy.Rule
	same          bool
}

func (r *rerun) rulesOf(t policy.Tool) *rules {
	known := r.rules[t.Name]
	if known == nil {
		known = &rules{before: r.before.set.Resolve(t), after: r.after.set.Resolve(t)}
		known.same = sameRule(known.before, known.after) && r.before.set.Profile() == r.after.set.Profile()
		r.rules[t.Name] = known
	}
	return known
}

// mind reports whether verdicts on a call may depend on what its session has read.
func (r *rules) mind(call engine.Call, rec *audit.Record) bool {
	plain := func(r policy.Rule) bool {
		return !r.Changing && !r.Exfiltrating && !r.Irreversible && !r.Fetch && len(r.ObjectParams) == 0
	}
	return !plain(r.before) || !plain(r.after) || len(rec.Evidence) > 0 || len(policy.Destinations(call.Tool, call.Args)) > 0
}

type side struct {
	set    *policy.Set
	engine *engine.Engine
}

func (a *again) reruns(rec *audit.Record) []*rerun {
	key := [2]string{rec.Session, rec.Server}
	if all, ok := a.sessions[key]; ok {
		return all
	}
	var all []*rerun
	for _, s := range a.o.Servers[rec.Server] {
		side := func(set *policy.Set) side {
			of := policy.Server{Name: rec.Server, Package: s.Package}
			set, profile := engine.Bind(set, of, a.o.Profile)
			return side{set, engine.New(engine.Config{Server: rec.Server, Policy: set, Profile: profile, Paths: a.o.Paths})}
		}
		all = append(all, &rerun{s, side(a.o.Before), side(a.o.After), map[string]*rules{}})
	}
	a.sessions[key] = all
	return all
}

func (a *again) judge(c *Call) Change {
	rec, ok := c.Judged()
	switch {
	case rec == nil && c.first().Contract == "pinning":
		return Change{Call: c, Was: verdict(c.first()), Now: []string{verdict(c.first())}} // no policy has a say in this
	case !ok:
		return Change{Call: c, Was: c.first().Verdict, Unknown: "the question that it answers is not in the log"}
	case rec.Contract == "self_protection":
		return Change{Call: c, Was: rec.Verdict, Now: []string{rec.Verdict}}
	}
	ch := Change{Call: c, Was: verdict(rec)}
	reruns := a.reruns(rec)
	if len(reruns) == 0 {
		ch.Unknown = "nothing is recorded of this server's tools"
		return ch
	}
	var why string
	for _, r := range reruns {
		now, reason, unknown := r.judge(c, rec)
		if unknown != "" {
			why = unknown
			continue
		}
		for _, v := range now {
			if !slices.Contains(ch.Now, v) {
				ch.Now = append(ch.Now, v)
			}
		}
		ch.Reason = reason
	}
	if len(ch.Now) == 0 {
		ch.Unknown = why
	}
	slices.SortFunc(ch.Now, func(a, b string) int { return permits(b) - permits(a) })
	return ch
}

func permits(verdict string) int { return slices.Index([]string{"deny", "ask", "allow"}, verdict) }

// judge returns the verdicts that a call may get under the new policy, or why that can't be said.
func (r *rerun) judge(c *Call, rec *audit.Record) (now []string, reason, unknown string) {
	tool, known := r.server.tool(rec.Tool)
	call := engine.Call{Tool: tool, Pin: engine.PinHeld, Args: rec.Args}
	r.before.engine.Attempt(call)
	r.after.engine.Attempt(call)
	rules := r.rulesOf(tool)
	before, after := rules.before, rules.after
	switch {
	case !known:
		return nil, "", "the definition of the tool is not recorded"
	case hidden(rec, before, after):
		return nil, "", "the log has masked or cut an argument that decides"
	}
	var least, was, will engine.Verdict
	var layers []string
	past := histories(rec, minds(before) || minds(after))
	if !rules.mind(call, rec) {
		past = func(yield func(engine.History) bool) { yield(engine.History{}) }
	}
	for h := range past {
		v := r.before.engine.Rejudge(call, h)
		layers = v.Layers
		if !reproduces(v, rec) {
			continue
		}
		was = v
		will = r.after.engine.Rejudge(call, h)
		if name := will.Action.String(); !slices.Contains(now, name) {
			now = append(now, name)
		}
		if reason == "" || will.Action < least.Action {
			least, reason = will, will.Reason
		}
		if rules.same || len(now) == 3 {
			break
		}
	}
	if len(now) == 0 {
		if !sameLayers(layers, rec.Layers) {
			return nil, "", "it was judged by another policy: " + strings.Join(rec.Layers, ", ")
		}
		return nil, "", "the policy that it is compared with does not lead to what was recorded"
	}
	r.answer(c, call, was, will)
	return now, reason, ""
}

// minds reports whether a verdict may depend on what the session has read, apart from the values of the call.
func minds(r policy.Rule) bool { return r.Irreversible || r.Fetch || len(r.ObjectParams) > 0 }

// answer lets the rest of the session know what a person said, and how the call ended.
func (r *rerun) answer(c *Call, call engine.Call, was, will engine.Verdict) {
	r.before.engine.Settle(call, was)
	r.after.engine.Settle(call, will)
	answer := c.Answered()
	if answer != Once && answer != Session {
		return
	}
	// An answer holds for what was asked. If the new policy asks about no more than that, it answers that question, too.
	agreed := was.Pairs
	theirs := agreed
	if len(will.Pairs) > 0 && !slices.ContainsFunc(will.Pairs, func(p engine.Pair) bool { return !slices.Contains(agreed, p) }) {
		theirs = will.Pairs
	}
	if answer == Session {
		r.before.engine.Approve(call.Tool.Name, agreed)
		r.after.engine.Approve(call.Tool.Name, theirs)
	}
	if c.Outcome != "" && c.Outcome != "ok" && c.Passed() {
		call.Approved = agreed
		r.before.engine.Failed(call)
		call.Approved = theirs
		r.after.engine.Failed(call)
	}
}

// reproduces reports whether a verdict is the recorded one, with the same evidence and from the same layers.
func reproduces(v engine.Verdict, rec *audit.Record) bool {
	if v.Action.String() != verdict(rec) || v.Contract != rec.Contract || !sameLayers(v.Layers, rec.Layers) {
		return false
	}
	if len(v.Findings) < len(rec.Evidence) || len(v.Findings) > len(rec.Evidence) && len(rec.Evidence) < maxEvidence {
		return false
	}
	left := slices.Clone(rec.Evidence)
	for _, f := range v.Findings {
		i := slices.IndexFunc(left, func(e audit.Evidence) bool { return sameFinding(f, e) })
		if i < 0 && len(rec.Evidence) < maxEvidence {
			return false
		}
		if i >= 0 {
			left = slices.Delete(left, i, i+1)
		}
	}
	return len(left) == 0
}

// maxEvidence is how much of its evidence a record lists.
const maxEvidence = 50

func sameFinding(f engine.Finding, e audit.Evidence) bool {
	return (f.Param == e.Param || wasCut(e.Param)) && (f.Value == e.Value || wasCut(e.Value) || strings.Contains(e.Value, "[masked]")) &&
		f.Class.String() == e.Class
}

// sameLayers compares what spoke, apart from where the policy files lie.
func sameLayers(a, b []string) bool {
	plain := func(layers []string) []string {
		var all []string
		for _, l := range layers {
			if strings.HasPrefix(l, "policy ") {
				l = "policy"
			}
			all = append(all, l)
		}
		return all
	}
	return slices.Equal(plain(a), plain(b))
}

// sameRule reports whether two rules lead to the same verdicts, wherever they come from.
func sameRule(a, b policy.Rule) bool {
	text := func(r policy.Rule) string {
		r.Layers = nil
		return fmt.Sprintf("%+v", r)
	}
	return text(a) == text(b)
}

// hidden reports whether the log does not have an argument as it was and a verdict may depend on it.
func hidden(rec *audit.Record, before, after policy.Rule) bool {
	paths := altered(rec.Args)
	if len(paths) == 0 {
		return false
	}
	if paths[0] == "" || before.Changing != after.Changing || before.Open != after.Open {
		return true
	}
	return slices.ContainsFunc(paths, func(path string) bool { return decides(before, path) || decides(after, path) })
}

// decides reports whether a rule looks at an argument.
func decides(r policy.Rule, path string) bool {
	if r.Irreversible || r.Exfiltrating && len(r.SinkParams) == 0 {
		return true
	}
	params := slices.Concat(r.SinkParams, r.ObjectParams)
	if len(r.AllowedPathPrefixes) > 0 {
		params = append(params, r.WriteParams...)
	}
	for _, p := range r.ArgPatterns {
		params = append(params, p.Param)
	}
	top, _, _ := strings.Cut(path, ".")
	top, _, _ = strings.Cut(top, "[")
	return slices.ContainsFunc(params, func(p string) bool {
		first, _, _ := strings.Cut(p, ".")
		return strings.EqualFold(first, top) || strings.EqualFold(p, path)
	})
}

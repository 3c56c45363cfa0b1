package engine

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/policy"
)

// destinations returns what a call reaches; nowhere, that it names nothing though its tool sends.
func (j *judgement) destinations() (all pairSet, nowhere bool) {
	if j.rule.Open {
		return all, false
	}
	values := j.byValue()
	if j.rule.Exfiltrating {
		all = j.judged(len(values) > 0)
		nowhere = len(all.list) == 0 && len(values) == 0 && !j.staysHome()
	} else { // nothing in the definition is a destination; what a call brings along beside it may still be one
		all = j.at(j.named())
	}
	all.add(values...)
	return all, nowhere
}

// declared reports whether the schema lists every argument of the call, without which a fetch may carry data along.
func (j *judgement) declared() bool {
	properties := j.tool.InputSchema.Get("properties")
	for name := range j.call.Args.Members() {
		if properties.Get(name) == nil {
			return false
		}
	}
	return true
}

// judged returns the values that are destinations: those of the declared sinks and of what is one by its name. If no
// declared sink holds a value, whatever does may be the destination, and every argument is judged. Where only the tool's name
// says that it sends, prose is left out, since that is what it sends, and so is all else once a value told by itself that
// it is one.
func (j *judgement) judged(told bool) pairSet {
	all, named := flattener{pairSet: j.at(j.rule.SinkParams), tool: j.resolved}, j.named()
	declared := len(all.list) > 0
	if !declared && len(named) == 0 && j.staysHome() {
		return pairSet{}
	}
	if len(j.rule.SinkParams) == 0 && inferred(j.rule) && j.tool.InputSchema.Get("properties") != nil {
		if len(named) == 0 && !told {
			named = policy.Plain(j.tool, j.call.Args)
		}
	} else if !declared || len(named) > maxNamed {
		all.flatten(&j.args, 0)
		return all.pairSet
	}
	all.followAll(&j.args, named)
	return all.pairSet
}

// staysHome reports whether a call that names no destination reaches nobody: an appointment without guests. That is
// so if the schema leaves every destination out at will, knows all there is in the call, and the tool is not there to
// send. Of what a policy declares, somebody has said that it matters.
func (j *judgement) staysHome() bool {
	return j.profile() == Balanced && j.optional() && j.declared()
}

// inferred reports whether nobody has said anything of a tool: its rule follows from its definition.
func inferred(r *policy.Rule) bool {
	return !slices.ContainsFunc(r.Layers, func(l string) bool { return l != "inferred" })
}

// optionalSinks reports whether a tool may be called without a destination, and does something else then.
func optionalSinks(t policy.Tool, r *policy.Rule) bool {
	if r.Fetch || !inferred(r) {
		return false
	}
	if bare := policy.Infer(policy.Tool{Name: t.Name}); bare.Exfiltrating || bare.Irreversible {
		return false // its name alone says that it sends, or pays
	}
	required := t.InputSchema.Get("required")
	var named []string
	for name := range required.Elems() {
		s, _ := name.Text()
		named = append(named, s)
	}
	if len(named) == 0 {
		return false // whoever wrote the schema does not say what may be left out
	}
	return !slices.ContainsFunc(r.SinkParams, func(path string) bool {
		top, _, _ := strings.Cut(path, ".")
		return slices.Contains(named, top) || slices.Contains(named, path) || t.InputSchema.At("properties", top) == nil
	})
}

// maxNamed bounds how many arguments of one call are looked up by name. A call with more is judged as a whole.
const maxNamed = 256

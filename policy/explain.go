package policy

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// Explanation is everything that a Set says of one tool, and why. Its JSON form is a promise.
type Explanation struct {
	Tool     string    `json:"tool"`
	Server   string    `json:"server,omitempty"`
	Package  string    `json:"package,omitempty"`
	Profile  string    `json:"profile,omitempty"`  // that calls of the tool are judged under
	Observed bool      `json:"observed,omitempty"` // they pass, whatever is found
	Traits   []Trait   `json:"traits"`
	Params   []Param   `json:"params"`
	Settings []Setting `json:"settings"`
	Layers   []string  `json:"layers"`
	Adding   []string  `json:"adding,omitempty"` // entries of packs for other servers: they make the rule stricter, and nothing else
}

// Trait is something that the tool is, or is not: exfiltrating, fetch, changing, irreversible, directory, identity,
// sensitive or untrusted, always in this order.
type Trait struct {
	Name string `json:"name"`
	Is   bool   `json:"is"`
	Why  string `json:"why"`
}

// Param is one argument, by its path, and what it is: a destination, an object, a path, several of these, or content.
type Param struct {
	Path   string `json:"path"`
	Roles  []Role `json:"roles"`
	Absent bool   `json:"absent,omitempty"` // a policy names it, and the tool's schema does not
}

// Role is what an argument is taken for.
type Role struct {
	Is  string `json:"is"`
	Why string `json:"why"`
}

// Setting is a field of the rule that is no trait and no role, such as max_calls, with its values as text.
type Setting struct {
	Field  string   `json:"field"`
	Values []string `json:"values"`
	Why    string   `json:"why"`
}

// Arguments ranges over the arguments of the tool that have a role, and tells why they have it.
func (e Explanation) Arguments(role string) iter.Seq2[string, string] {
	return func(yield func(path, why string) bool) {
		for _, p := range e.Params {
			for _, r := range p.Roles {
				if r.Is == role && !p.Absent && !yield(p.Path, r.Why) {
					return
				}
			}
		}
	}
}

// Explain says what the set makes of a tool, and why.
func Explain(s *Set, t Tool) Explanation {
	x := explaining{resolving: s.resolve(t), tool: t, listed: topParams(t)}
	s = s.clone()
	return Explanation{
		Tool: t.Name, Server: s.server.Name, Package: s.server.Package, Profile: cmp.Or(x.Profile, ProfileBalanced), Observed: x.Observed,
		Traits: x.traits(), Params: x.params(), Settings: x.settings(), Layers: append([]string{}, x.Layers...),
		Adding: x.adding(),
	}
}

type explaining struct {
	*resolving
	tool   Tool
	listed map[string]bool // names of the arguments in its schema; none when that is not known
}

// lacks reports whether a path leads to no argument that the tool has.
func (x explaining) lacks(path string) bool { return len(x.listed) > 0 && !leads(path, x.listed) }

// because returns the reason that the definition gives for a trait.
func (x explaining) because(trait string) string {
	i := slices.IndexFunc(x.notes, func(n note) bool { return n.trait == trait && n.param == "" })
	if i < 0 {
		return ""
	}
	return x.notes[i].why
}

// says returns the place that an entry stands at.
func (x explaining) says(by source) string {
	text := by.label
	if by.line > 0 {
		text += " line " + strconv.Itoa(by.line)
	}
	if by.pattern != "" && by.pattern != x.tool.Name {
		text += " (" + shown(by.pattern) + ")"
	}
	return text
}

// declared reports whether a policy set a field.
func (s source) declared() bool { return s.label != "" && s.label != inferred }

// reason is the one that the definition gives for a trait that no entry sets.
func (x explaining) reason(trait, otherwise string) string {
	return cmp.Or(x.because(trait), otherwise)
}

// why is the place of the entry that set a field, or else the reason that the definition gives. What it gives already, nobody adds.
func (x explaining) why(field int, already bool, trait, otherwise string) string {
	if by := x.from[field]; by.declared() && (!by.adds || !already) {
		return x.says(by)
	}
	return x.reason(trait, otherwise)
}

func (x explaining) traits() []Trait {
	return []Trait{
		{traitSends, x.Exfiltrating, x.why(gateField, x.rule.Exfiltrating, traitSends, when(x.Exfiltrating, "it has a parameter that is a destination", "no parameter is a destination"))},
		{traitFetch, x.Fetch, when(x.Fetch, x.because(traitFetch), "it is not known to read from addresses and do nothing else")},
		{traitChanging, x.Changing, x.whyChanging()},
		{traitIrreversible, x.Irreversible, x.why(lastingField, x.rule.Irreversible, traitIrreversible, "nothing says so")},
		{traitDirectory, x.Directory, x.vouches(x.Directory, traitDirectory, "its name is not that of a lookup of persons or places to reach")},
		{traitIdentity, x.Identity, x.vouches(x.Identity, traitIdentity, "its definition leaves open whose account it tells of")},
		{traitSensitive, x.Sensitive, x.reason(traitSensitive, "no name word is that of something private")},
		{traitUntrusted, !x.Identity, when(x.Identity, "it tells of the person's own account", "what a server returns may come from anybody")},
	}
}

// vouches says why a tool's results vouch for anything, or who says that they don't.
func (x explaining) vouches(is bool, trait, otherwise string) string {
	if why := x.because(trait); why != "" && !is {
		return x.says(x.from[untrustedOutField])
	}
	return x.reason(trait, otherwise)
}

func (x explaining) whyChanging() string {
	switch why := x.because(traitChanging); {
	case why != "":
		return why
	case x.Changing:
		for _, field := range []int{gateField, objectField, lastingField} {
			if by := x.from[field]; by.declared() {
				return x.says(by)
			}
		}
	case x.Fetch:
		return x.because(traitFetch)
	}
	for _, w := range words(x.tool.Name) {
		if meaningOf(w)&(reading|fetching) != 0 {
			return "name word " + w
		}
	}
	return "its name says that it only reads"
}

// adding lists the entries that do no more than add.
func (x explaining) adding() []string {
	var all []string
	for _, a := range x.applied {
		if a.adds {
			all = append(all, x.says(a.source))
		}
	}
	return all
}

func (x explaining) settings() []Setting {
	all := []Setting{}
	set := func(field string, at int, values []string) {
		if x.from[at].label != "" && values != nil {
			all = append(all, Setting{field, values, x.says(x.from[at])})
		}
	}
	set("trusted_destinations", trustedField, x.TrustedDestinations)
	set("allowed_path_prefixes", prefixField, x.AllowedPathPrefixes)
	if patterns := []string{}; x.from[patternField].label != "" {
		for _, p := range x.ArgPatterns {
			patterns = append(patterns, p.Param+": "+p.Source)
		}
		set("arg_patterns", patternField, patterns)
	}
	if x.Limited {
		set("max_calls", callsField, []string{strconv.Itoa(x.MaxCalls)})
		if x.from[callsField].label == inferred {
			all[len(all)-1].Why = "profile " + ProfileStrict + ", for a tool that deletes"
		}
	}
	set("trusted_outputs", trustedOutField, x.TrustedOutputs)
	set("untrusted_outputs", untrustedOutField, x.UntrustedOutputs)
	set("profile", profileField, x.ownProfile())
	return all
}

// ownProfile is what the tool's own entry chooses.
func (x explaining) ownProfile() []string {
	if x.Observed {
		return []string{ProfileObserve}
	}
	return []string{x.Profile}
}

// params lists every argument that the schema or the rule names.
func (x explaining) params() []Param {
	all := []Param{}
	at := map[string]int{}
	param := func(path string) *Param {
		i, ok := at[path]
		if !ok {
			i = len(all)
			at[path] = i
			all = append(all, Param{Path: path, Absent: x.lacks(path)})
		}
		return &all[i]
	}
	s := newSchema(x.tool.InputSchema)
	for name := range s.names(s.shapes(x.tool.InputSchema)) {
		param(name)
	}
	for _, r := range x.roles() {
		p := param(r.path)
		if !slices.ContainsFunc(p.Roles, func(known Role) bool { return known.Is == r.Is }) {
			p.Roles = append(p.Roles, r.Role)
		}
	}
	return slices.DeleteFunc(x.withContent(all), func(p Param) bool { return p.Path == "" })
}

// withContent calls content what has no other role, unless only its parts have one.
func (x explaining) withContent(all []Param) []Param {
	for i, p := range all {
		if len(p.Roles) > 0 {
			continue
		}
		all[i].Roles = []Role{{roleContent, x.whyContent(p.Path)}}
		if slices.ContainsFunc(all, func(o Param) bool { return strings.HasPrefix(o.Path, p.Path+".") }) {
			all[i].Path = "" // stands there with its parts
		}
	}
	return all
}

// whyContent says who has overruled the definition, or that it is as the definition has it.
func (x explaining) whyContent(path string) string {
	for _, f := range []struct {
		role  string
		paths []string
		by    source
	}{
		{roleDestination, x.rule.SinkParams, x.from[gateField]},
		{roleObject, x.rule.ObjectParams, x.from[objectField]},
		{rolePath, x.rule.WriteParams, x.from[writeField]},
	} {
		switch {
		case !slices.Contains(f.paths, path):
		case f.by.declared():
			return x.says(f.by) + " leaves it out of the " + f.role + "s"
		case f.role == rolePath:
			return "it holds a path, which nothing confines and the tool only reads"
		}
	}
	return "its name is that of no destination, object or path"
}

type roleOf struct {
	path string
	Role
}

func (x explaining) roles() []roleOf {
	var all []roleOf
	list := func(is string, paths []string, field int) {
		for _, path := range paths {
			if x.from[field].adds && x.lacks(path) {
				continue // it is another server's
			}
			all = append(all, roleOf{path, Role{is, x.whyParam(is, path, field)}})
		}
	}
	if x.Exfiltrating {
		list(roleDestination, x.SinkParams, sinkField)
		if !slices.ContainsFunc(x.SinkParams, func(path string) bool { return !x.lacks(path) }) {
			for _, name := range openParams(x.tool) {
				all = append(all, roleOf{name, Role{roleDestination, "no parameter is declared to be one, so that every argument is"}})
			}
		}
	}
	list(roleObject, x.ObjectParams, objectField)
	if x.from[writeField].label != "" || x.Changing {
		list(rolePath, x.WriteParams, writeField)
	}
	for _, n := range x.notes {
		if n.trait == roleDestination && !x.Open {
			all = append(all, roleOf{n.param, Role{roleDestination, n.why + ", beside those that are declared"}})
		}
	}
	return all
}

func (x explaining) whyParam(role, path string, field int) string {
	by := x.from[field]
	if by.declared() && !by.adds {
		return x.says(by)
	}
	if i := slices.IndexFunc(x.notes, func(n note) bool { return n.trait == role && n.param == path }); i >= 0 {
		return x.notes[i].why
	}
	for _, a := range x.applied { // the first that has it has added it
		if a.adds && slices.Contains([fields][]string{sinkField: a.sinks, writeField: a.writes, objectField: a.objects}[field], path) {
			return x.says(a.source)
		}
	}
	return "every argument may be one"
}

// String prints the explanation for people.
func (e Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", shown(e.Tool))
	if e.Observed {
		fmt.Fprintf(&b, "  observed: its calls pass, and the log says what %s would have made of them\n", e.Profile)
	}
	for _, t := range e.Traits {
		fmt.Fprintf(&b, "  %-13s %-4s %s\n", t.Name, when(t.Is, "yes", "no"), t.Why)
	}
	for _, p := range e.Params {
		for _, r := range p.Roles {
			fmt.Fprintf(&b, "  argument %s: %s, %s%s\n", shown(p.Path), r.Is, r.Why, when(p.Absent, "; the tool lists no such argument", ""))
		}
	}
	for _, s := range e.Settings {
		quoted := make([]string, len(s.Values))
		for i, v := range s.Values {
			quoted[i] = shown(v)
		}
		fmt.Fprintf(&b, "  %s: [%s], %s\n", s.Field, strings.Join(quoted, ", "), s.Why)
	}
	for _, place := range e.Adding {
		fmt.Fprintf(&b, "  %s is for other servers, and only adds to this\n", place)
	}
	return b.String()
}

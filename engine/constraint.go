package engine

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

// checkConstraints holds arguments to the folders and forms that the policy allows. Its reasons tell what is wrong,
// not what would be right: they are read by a model that may be acting for somebody else.
func (j *judgement) checkConstraints() (Verdict, bool) {
	if v, spoke := j.confine(); spoke {
		return v, true
	}
	for _, p := range j.rule.ArgPatterns {
		if v, spoke := j.matchPattern(p); spoke {
			return v, true
		}
	}
	return Verdict{}, false
}

// confine denies unless every path that the call writes to lies below an allowed prefix, and there is one.
func (j *judgement) confine() (Verdict, bool) {
	if len(j.rule.WriteParams) == 0 || len(j.rule.AllowedPathPrefixes) == 0 {
		return Verdict{}, false
	}
	dirs := j.allowedDirs()
	any := false
	for _, param := range j.rule.WriteParams {
		if v, spoke := j.refuseShadow(param); spoke {
			return v, true
		}
		for _, value := range policy.Select(j.call.Args, param) {
			for s, ok := range j.pathsIn(value) {
				if !ok || !j.inside(dirs, s) {
					return denyPair(Pair{Param: param, Value: s}, "lies outside the folders that this tool may use"), true
				}
				any = true
			}
		}
	}
	if !any {
		return Verdict{Reason: "the call names no path, and this tool may use certain folders only"}, true
	}
	return Verdict{}, false
}

// allowedDirs resolves the prefixes now, since what they lead to may have changed. A blank one allows nothing.
func (j *judgement) allowedDirs() []string {
	var dirs []string
	for _, prefix := range j.rule.AllowedPathPrefixes {
		if strings.TrimSpace(prefix) == "" {
			continue
		}
		if uri, ok := cutScheme(prefix); ok {
			var err error
			if prefix, err = fromFileURI(uri); err != nil {
				continue
			}
		}
		if places, err := j.resolveReading(prefix); err == nil && len(places) == 1 {
			dirs = append(dirs, places[0])
		}
	}
	return dirs
}

// pathsIn yields every scalar inside a value; ok is false for one that is no string. The names of an object's members
// are paths too, unless the schema knows them as names.
func (j *judgement) pathsIn(v wire.Value) func(yield func(s string, ok bool) bool) {
	return func(yield func(string, bool) bool) {
		for leaf := range v.Leaves() {
			s, ok := leaf.Value.Text()
			if !ok {
				s = string(leaf.Value)
			}
			if leaf.IsKey && j.properties[s] {
				continue
			}
			if !yield(s, ok) {
				return
			}
		}
	}
}

// inside reports whether a path lies in one of the directories, whichever way a server reads it.
func (j *judgement) inside(dirs []string, s string) bool {
	all, err := readings(s)
	if err != nil {
		return false
	}
	for _, reading := range all {
		places, err := j.resolveReading(reading)
		outside := func(place string) bool { return !j.config.Paths.Within(place, dirs) }
		if err != nil || slices.ContainsFunc(places, outside) {
			return false
		}
	}
	return true
}

// matchPattern denies unless every value of the argument has the required form. An argument that is left out counts as
// the empty string: the server's default is nobody's approved value.
func (j *judgement) matchPattern(p policy.Pattern) (Verdict, bool) {
	if v, spoke := j.refuseShadow(p.Param); spoke {
		return v, true
	}
	values := policy.Select(j.call.Args, p.Param)
	if len(values) == 0 {
		values = []wire.Value{nil}
	}
	for _, v := range values {
		if s, ok := matches(p, v); !ok {
			return denyPair(Pair{Param: p.Param, Value: s}, "does not have the form that the policy requires"), true
		}
	}
	return Verdict{}, false
}

// matches reports whether a value has the form of a pattern, and if not, what has not. Strings are matched decoded,
// numbers, flags and null as JSON spells them, lists element by element; an object has no form.
func matches(p policy.Pattern, v wire.Value) (failed string, ok bool) {
	text := string(v)
	switch v.Kind() {
	case '{':
		return text, false
	case '[':
		any := false
		for elem := range v.Elems() {
			if failed, ok := matches(p, elem); !ok {
				return failed, false
			}
			any = true
		}
		if any {
			return "", true
		}
		text = ""
	case '"':
		text, _ = v.Text()
	}
	return text, p.Regexp != nil && p.Regexp.MatchString(text)
}

// refuseShadow denies a call that carries an argument twice, in spellings that differ only in case: which one a server
// takes is its own affair, so neither can be judged for the other.
func (j *judgement) refuseShadow(param string) (Verdict, bool) {
	name, found := shadow(j.call.Args, param)
	if !found {
		return Verdict{}, false
	}
	return Verdict{Reason: "the argument " + quote(name) + " differs from " + taint.Visible(param, 60) + " only in case"}, true
}

func shadow(v wire.Value, path string) (name string, found bool) {
	for elem := range v.Elems() {
		if name, found := shadow(elem, path); found {
			return name, true
		}
	}
	for name, val := range v.Members() {
		if strings.EqualFold(name, path) && name != path {
			return name, true
		}
		for dot := range len(path) {
			if head := path[:dot]; path[dot] == '.' && strings.EqualFold(name, head) {
				if name != head {
					return name, true
				}
				if name, found := shadow(val, path[dot+1:]); found {
					return name, true
				}
			}
		}
	}
	return "", false
}

func denyPair(p Pair, what string) Verdict {
	return Verdict{Reason: p.String() + " " + what, Findings: []Finding{{Pair: p}}}
}

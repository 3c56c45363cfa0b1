package engine

import (
	"path"
	"slices"
	"strings"
)

// maxPath is what no file system goes beyond; a longer string is a path only if cleaning makes it one.
const maxPath = 4096

// protectSelf denies a call that names one of bouncer's own files or a client's configuration. Nothing switches it off.
// Only strings that are a path as a whole are taken for one: a text may speak of such a file. A command line is such a
// text, so this is no protection against a shell.
func (j *judgement) protectSelf() (Verdict, bool) {
	if len(j.protected) == 0 {
		return Verdict{}, false
	}
	for i, text := range j.args.texts() {
		if j.looksLikePath(text) && j.isProtected(text) {
			return j.selfVerdict(Pair{Param: j.args.Path(i), Value: text}), true
		}
	}
	// Where a path is expected, a bare name may be a symbolic link, too.
	for _, p := range j.at(j.rule.WriteParams).list {
		if len(p.Value) <= maxPath && !j.looksLikePath(p.Value) && j.isProtected(p.Value) {
			return j.selfVerdict(p), true
		}
	}
	return Verdict{}, false
}

func (j *judgement) selfVerdict(p Pair) Verdict {
	return Verdict{Reason: p.String() + " belongs to bouncer or configures a client", Findings: []Finding{{Pair: p}}}
}

// looksLikePath picks the strings that are worth asking the file system about.
func (e *Engine) looksLikePath(s string) bool {
	if len(s) > maxPath && !strings.Contains(s, "..") {
		return false
	}
	if strings.IndexByte(s, '/') >= 0 || strings.IndexByte(s, '\\') >= 0 || strings.IndexByte(s, '~') >= 0 || s == "." || s == ".." {
		return true
	}
	if _, ok := cutScheme(s); ok {
		return true
	}
	name := strings.TrimSpace(s)
	return slices.ContainsFunc(e.names, func(n string) bool { return strings.EqualFold(n, name) })
}

func (e *Engine) isProtected(s string) bool {
	all, _ := readings(s)
	return slices.ContainsFunc(all, func(reading string) bool {
		if len(reading) > maxPath {
			return false
		}
		places, err := e.resolveReading(reading)
		if err != nil {
			return e.resembles(reading)
		}
		return slices.ContainsFunc(places, func(place string) bool { return e.config.Paths.Within(place, e.protected) })
	})
}

// resembles judges what can't be resolved by its names alone. Behind a ~ it is protected if its leading names are how a
// protected path ends, whoever's home that may be; an absolute path, if it begins with a protected one.
func (e *Engine) resembles(reading string) bool {
	reading = strings.ToLower(path.Clean(slashed(reading)))
	start, names, _ := strings.Cut(reading, "/")
	return slices.ContainsFunc(e.protected, func(p string) bool {
		p = strings.ToLower(slashed(p))
		if !strings.HasPrefix(start, "~") {
			return reading == p || strings.HasPrefix(reading, p+"/")
		}
		end := ""
		for name := range strings.SplitSeq(names, "/") {
			if end += "/" + name; len(end) > len(p) {
				return false
			}
			if name != "" && strings.HasSuffix(p, end) {
				return true
			}
		}
		return false
	})
}

func base(p string) string { return path.Base(slashed(p)) }

// protectedPaths returns the paths as given and as they resolve, since either may be what an argument leads to. Each is looked
// up for every path in a call, so none of them stands there twice.
func (e *Engine) protectedPaths() []string {
	var all []string
	for _, p := range e.config.Protected {
		if p == "" {
			continue
		}
		places, _ := e.resolvePath(p) // what can't be resolved is protected as it is given
		for _, place := range append([]string{p}, places...) {
			if !slices.Contains(all, place) {
				all = append(all, place)
			}
		}
	}
	return all
}

package packs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/policy"
)

// Report is what came of holding a pack against what a server lists.
type Report struct {
	Package  string // what the pack was taken to be applied to
	Version  string // of the package that the pack was written from
	Listed   int    // tools that the server lists
	Named    int    // tools among them that the pack has an entry for
	Problems []Difference
	Notes    []Difference // what a person may want to know, and no reason to mistrust the pack
}

// Difference is one thing in which a pack and a listing differ.
type Difference struct {
	Tool  string // empty where the pack as a whole is meant
	Param string // a dotted path, where it is about an argument
	Says  string // of the tool or the argument, or of the whole
}

func (d Difference) String() string {
	switch {
	case d.Param != "":
		return d.Tool + ": " + d.Param + " " + d.Says
	case d.Tool != "":
		return d.Tool + ": " + d.Says
	}
	return d.Says
}

// Gathered returns the notes as sentences, one for all tools of which the same is to be said.
func (r Report) Gathered() []string {
	var all []string
	for i, d := range r.Notes {
		if d.Tool == "" || d.Param != "" {
			all = append(all, d.String())
			continue
		}
		same := func(o Difference) bool { return o.Says == d.Says && o.Tool != "" && o.Param == "" }
		if slices.ContainsFunc(r.Notes[:i], same) {
			continue
		}
		var tools []string
		for _, o := range r.Notes[i:] {
			if same(o) {
				tools = append(tools, o.Tool)
			}
		}
		all = append(all, strings.Join(tools, ", ")+": "+d.Says)
	}
	return all
}

// Verify holds a pack against what a server lists. For a listing of unknown origin the pack's first server is meant.
func Verify(pack *policy.Layer, l Listing) Report {
	v := verifying{pack: pack, listing: l}
	v.bind()
	v.set = policy.NewSet(pack).For(policy.Server{Package: v.Package})
	named := pack.Tools()
	for _, name := range named {
		if t, ok := l.tool(name); ok {
			v.Named++
			v.compare(t)
		} else {
			v.missing(Difference{Tool: name, Says: "not listed here"})
		}
	}
	if v.Listed = len(l.Tools); v.Named == 0 {
		v.problem(Difference{Says: "none of the pack's tools is listed"})
	}
	for _, t := range l.Tools {
		if !slices.Contains(named, t.Name) && v.unjudged(t) {
			v.note(Difference{Tool: t.Name, Says: "changes something, and no rule says what"})
		}
	}
	return v.Report
}

type verifying struct {
	Report
	pack    *policy.Layer
	set     *policy.Set
	listing Listing
}

func (v *verifying) problem(d Difference) { v.Problems = append(v.Problems, d) }
func (v *verifying) note(d Difference)    { v.Notes = append(v.Notes, d) }

// missing says that the server lacks something that the pack names. A pack for several servers names what only some of
// them have.
func (v *verifying) missing(d Difference) {
	if len(v.pack.Header().Servers) > 1 {
		v.note(d)
		return
	}
	v.problem(d)
}

// bind finds the server of the pack that the listing is of.
func (v *verifying) bind() {
	servers := v.pack.Header().Servers
	if len(servers) == 0 {
		v.problem(Difference{Says: "the pack names no server"})
		return
	}
	i := 0
	if v.listing.Package != "" {
		i = slices.IndexFunc(servers, func(s policy.PackServer) bool { return s.Package == v.listing.Package })
	}
	if i < 0 {
		v.Package = v.listing.Package
		v.problem(Difference{Says: "the pack is not written for " + v.listing.Package + ", so only what makes rules stricter would count"})
		return
	}
	v.Package, v.Version = servers[i].Package, servers[i].Version
	if was := servers[i].Tools; was > 0 && was != len(v.listing.Tools) {
		v.note(Difference{Says: fmt.Sprintf("lists %d tools, and %d when the pack was checked", len(v.listing.Tools), was)})
	}
}

// compare looks for the arguments that the pack names in the definition of a tool.
func (v *verifying) compare(t policy.Tool) {
	rule := v.set.Resolve(t)
	var patterns []string
	for _, p := range rule.ArgPatterns {
		patterns = append(patterns, p.Param)
	}
	for _, params := range [][]string{rule.SinkParams, rule.ObjectParams, rule.WriteParams, patterns} {
		var absent []string
		for _, path := range params {
			if !Takes(t, path) {
				absent = append(absent, path)
			}
		}
		for _, path := range absent {
			d := Difference{Tool: t.Name, Param: path, Says: "is no argument of the tool"}
			if len(absent) == len(params) { // the rule does not hold here at all
				v.problem(d)
			} else {
				v.missing(d)
			}
		}
	}
}

// unjudged reports whether a tool changes something and no part of its rule says what.
func (v *verifying) unjudged(t policy.Tool) bool {
	r := v.set.Resolve(t)
	return r.Changing && !r.Exfiltrating && !r.Irreversible && len(r.ObjectParams) == 0 && len(r.WriteParams) == 0
}

// Fits returns the names of the packs that are written for what a server is started from.
func Fits(pkg string) []string {
	return slices.DeleteFunc(Names(), func(name string) bool {
		text, _ := Source(name)
		return !slices.ContainsFunc(policy.NewPack(name, text).Header().Servers, func(s policy.PackServer) bool {
			return s.Package == pkg
		})
	})
}

package policy

import (
	"slices"
	"strings"
)

// NearMisses returns a fault for each entry of a policy file that names no tool among these, but nearly does:
// such an entry guards nothing. An entry that resembles no tool belongs to another server.
func (s *Set) NearMisses(tools []Tool) []*Error {
	if s == nil {
		return nil
	}
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	var all []*Error
	for _, l := range s.layers {
		if l.Pack {
			continue
		}
		for _, r := range l.parsed().rules {
			name, ours := r.nameFor(s.server)
			if like := nearest(name, names); ours && like != "" {
				all = append(all, &Error{l.Name, r.line, r.col, "no tool is named " + quote(name) + "; did you mean " + quote(like) + "?"})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *Error) int { return strings.Compare(a.File, b.File) })
	return all
}

// nameFor returns the name of the one tool that an entry is for, if it may be one of this server's.
func (s scoped) nameFor(of Server) (name string, ours bool) {
	name = s.tool
	if s.server != "" {
		return name, glob(s.server, of.Name) && !isGlob(name)
	}
	if server, tool, qualified := strings.Cut(name, "/"); qualified && glob(server, of.Name) {
		name = tool
	}
	return name, !isGlob(name)
}

// nearest returns the name that differs from the given one by no more than a slip; nothing when one is equal.
func nearest(name string, names []string) string {
	if slices.Contains(names, name) {
		return ""
	}
	for _, n := range names {
		if d := distance(plain(name), plain(n)); d == 0 || d == 1 && len(n) > 5 {
			return n
		}
	}
	return ""
}

// CheckTools says which arguments the entries of a policy name that the tools of the set's server don't have.
func CheckTools(s *Set, tools []Tool) []Warning {
	var all []Warning
	for _, l := range s.clone().layers {
		if l.Pack {
			continue
		}
		for _, t := range tools {
			if t.InputSchema == nil {
				continue
			}
			c := checker{layer: l}
			for _, r := range l.entries(s.server, t.Name) {
				c.arguments(r, t)
			}
			all = append(all, c.found...)
		}
	}
	return all
}

// arguments warns of the paths whose first name is no argument of the tool.
func (c *checker) arguments(r scoped, t Tool) {
	params := topParams(t)
	for _, field := range r.arguments() {
		for _, path := range field.paths {
			if len(params) == 0 || leads(path, params) || isGlob(r.tool) {
				continue
			}
			top, _, _ := strings.Cut(path, ".")
			known := make([]string, 0, len(params))
			for name := range params {
				known = append(known, name)
			}
			slices.Sort(known)
			c.warn(r, "bad_path", field.name+": the tool has no argument "+quote(top)+didYouMean(top, known...))
		}
	}
}

// CheckServers says which entries of the layers that are no packs name a server that is not among these, but nearly is.
func CheckServers(names []string, layers ...*Layer) []Warning {
	var all []Warning
	warn := func(l *Layer, line, col int, server string) {
		if like := nearest(server, names); like != "" && !isGlob(server) {
			w := Warning{l.Name, line, col, "unknown_server", "no server is named " + quote(server) + "; did you mean " + quote(like) + "?"}
			if !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	for _, l := range layers {
		if l == nil || l.Pack {
			continue
		}
		for _, s := range l.parsed().sections {
			warn(l, s.line, s.col, s.server)
		}
		for _, r := range l.parsed().rules {
			server, _, qualified := strings.Cut(r.tool, "/")
			switch {
			case r.server != "":
				warn(l, r.line, r.col, r.server)
			case qualified:
				warn(l, r.line, r.col, server)
			}
		}
		for _, k := range l.parsed().links {
			warn(l, k.line, k.col, k.a)
			warn(l, k.line, k.col, k.b)
		}
	}
	return all
}

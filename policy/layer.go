package policy

import (
	"bytes"
	"slices"
	"strings"
	"sync"
)

// Layer is one policy file or pack: partial rules by tool name.
type Layer struct {
	Name    string
	Profile string // of the whole file; empty when it names none
	Pack    bool   // speaks of certain servers; of others only what is stricter, where a tool's schema fits

	source []byte    // of a pack that is not parsed yet
	parse  sync.Once // guards body of a pack
	scan   sync.Once // guards globs
	globs  bool      // the source has entries for patterns of names
	body   body
}

// body is what a file says.
type body struct {
	header   Header // of a pack
	rules    []scoped
	sections []section
	links    []link
	askings  []asking
}

// scoped is an entry with the tools that it is for.
type scoped struct {
	server string // pattern of the section that it stands in; empty outside of one
	tool   string // name or pattern; outside of a section also server/tool
	entry
}

// section is what a file says of a server beside its tools.
type section struct {
	server, profile string
	line, col       int
}

// link is a pair of patterns: servers of the two trust each other's lookup tools.
type link struct {
	a, b      string
	line, col int
}

// Header is what a pack says about itself.
type Header struct {
	Summary string
	Servers []PackServer
}

// PackServer is one server that a pack was written for.
type PackServer struct {
	Package string // as a Server names it; * and ? stand for anything
	Version string // that was looked at
	Checked string // the day, as 2006-01-02
	Tools   int    // how many it listed; 0 when it was not started
}

// entry is what one layer says of one tool. Each field tells "not named" (nil) from "named, and empty", which
// switches off what lower layers say.
type entry struct {
	line, col    int
	exfiltrating *bool
	sinks        []string
	trusted      []string
	writes       []string
	prefixes     []string
	patterns     []Pattern
	maxCalls     *int
	objects      []string
	irreversible *bool
	trustedOut   []string
	untrustedOut []string
	profile      string
}

// NewPack returns a layer for a policy that comes with the program. It is parsed when a tool that stands in it is
// resolved for the first time, since most servers need no pack and start-up counts. Its source must parse, and must
// give each tool a line of its own, without quotes; one that does not parse says nothing.
func NewPack(name string, source []byte) *Layer {
	return &Layer{Name: "pack " + name, Pack: true, source: source}
}

// ParsePack reads a pack at once, and says what is wrong with it.
func ParsePack(name string, source []byte) (*Layer, error) {
	l, err := parse("pack "+name, source, true)
	if err != nil {
		return nil, err
	}
	l.Pack = true
	return l, nil
}

// Header returns what a pack says about itself; nothing for a policy.
func (l *Layer) Header() Header { return l.parsed().header }

// Tools returns the names and patterns that the layer has entries for, sorted.
func (l *Layer) Tools() []string {
	var names []string
	for _, r := range l.parsed().rules {
		names = append(names, r.tool)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (l *Layer) parsed() *body {
	l.parse.Do(func() {
		if l.source == nil {
			return
		}
		if p, err := parse(l.Name, l.source, true); err == nil {
			l.body = p.body
		}
	})
	return &l.body
}

// mentions reports whether a tool may have an entry, as far as can be told without parsing.
func (l *Layer) mentions(tool string) bool {
	if l.source == nil {
		return true
	}
	l.scan.Do(func() { l.globs = hasPatternKey(l.source) })
	return l.globs || hasKey(l.source, tool)
}

// hasKey reports whether a line of a YAML text begins with this key.
func hasKey(source []byte, name string) bool {
	key := []byte(name + ":")
	for at := 0; ; at++ {
		i := bytes.Index(source[at:], key)
		if i < 0 {
			return false
		}
		at += i
		if before := bytes.TrimRight(source[:at], " "); len(before) == 0 || before[len(before)-1] == '\n' {
			return true
		}
	}
}

// hasPatternKey reports whether the key of a line holds a * or a ?.
func hasPatternKey(source []byte) bool {
	for line := range bytes.Lines(source) {
		key, _, isKey := bytes.Cut(bytes.TrimLeft(line, " "), []byte(":"))
		if isKey && len(key) > 0 && key[0] != '#' && key[0] != '-' && bytes.ContainsAny(key, "*?") {
			return true
		}
	}
	return false
}

// entries returns what the layer says of one tool of a server, the most specific last.
func (l *Layer) entries(of Server, tool string) []scoped {
	if !l.mentions(tool) {
		return nil
	}
	var found []scoped
	var ranks []rank
	for _, r := range l.parsed().rules {
		k, ok := r.matches(of, tool)
		if !ok {
			continue
		}
		// Few match: in practice one or two. Of equals, the later one goes on top.
		i := len(found)
		for i > 0 && ranks[i-1].compare(k) > 0 {
			i--
		}
		found, ranks = slices.Insert(found, i, r), slices.Insert(ranks, i, k)
	}
	return found
}

// about reports whether a pack was written for a server.
func (l *Layer) about(of Server) bool {
	return of.Package != "" && slices.ContainsFunc(l.Header().Servers, func(p PackServer) bool { return glob(p.Package, of.Package) })
}

// label is how the layer is named in Rule.Layers.
func (l *Layer) label() string {
	if l.Pack {
		return l.Name
	}
	return "policy " + l.Name
}

// rank says how specific an entry is: compared number by number.
type rank [4]int

func (r rank) compare(o rank) int { return slices.Compare(r[:], o[:]) }

// matches reports whether an entry is for a tool of a server, and how specifically: the section of the one server comes
// before the tool's own name anywhere else, and names come before patterns; then one that names a server comes first, and
// then the one that spells out more.
func (s scoped) matches(of Server, tool string) (rank, bool) {
	if s.server != "" {
		if of.Name == "" || !glob(s.server, of.Name) || !glob(s.tool, tool) {
			return rank{}, false
		}
		return rankOf(s.server, s.tool, !isGlob(s.server)), true
	}
	server, name, qualified := strings.Cut(s.tool, "/")
	if qualified && of.Name != "" && glob(server, of.Name) && glob(name, tool) {
		return rankOf(server, name, false), true
	}
	if glob(s.tool, tool) {
		return rankOf("", s.tool, false), true
	}
	return rank{}, false
}

func rankOf(server, tool string, own bool) rank {
	r := rank{1: weight(tool), 2: weight(server)}
	switch {
	case own:
		r[0] = 3
	case !isGlob(tool):
		r[0] = 2
	case server != "":
		r[0] = 1
	}
	return r
}

// weight orders patterns of one kind: a name before all patterns, and those by how much they spell out; none at all is last.
func weight(pattern string) int {
	switch {
	case pattern == "":
		return -1
	case !isGlob(pattern):
		return 1 << 20
	}
	return len(pattern) - strings.Count(pattern, "*") - strings.Count(pattern, "?")
}

func isGlob(pattern string) bool { return strings.ContainsAny(pattern, "*?") }

// glob reports whether a name matches a pattern, in which * stands for any text and ? for one character.
func glob(pattern, name string) bool {
	if !isGlob(pattern) {
		return pattern == name
	}
	p, n := []rune(pattern), []rune(name)
	star, from := -1, 0 // where to go back to: each * takes as little as it can, and more when the rest does not fit
	i, j := 0, 0
	for j < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, from = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[j]):
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

package policy

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// Warning is something in a policy that is allowed, and probably not what was meant.
type Warning struct {
	File      string `json:"file"`
	Line, Col int    `json:"-"`
	Code      string `json:"code"` // gate_off, trust_unmatched, trust_wide, matches_all, shadowed, bad_path or unknown_server
	Msg       string `json:"message"`
}

func (w Warning) String() string { return (&Error{w.File, w.Line, w.Col, w.Msg}).Error() }

// Check looks for what is probably not meant in layers, highest first, packs included. It returns the warnings about those that are
// no packs, in their order and by line.
func Check(layers ...*Layer) []Warning {
	var all []Warning
	for i, l := range layers {
		if l == nil || l.Pack {
			continue
		}
		c := checker{layer: l, below: layers[i+1:]}
		for _, r := range l.parsed().rules {
			c.rule(r)
		}
		c.shadows()
		slices.SortStableFunc(c.found, func(a, b Warning) int { return slices.Compare([]int{a.Line, a.Col}, []int{b.Line, b.Col}) })
		all = append(all, c.found...)
	}
	return all
}

type checker struct {
	layer *Layer
	below []*Layer
	found []Warning
}

func (c *checker) warn(r scoped, code, msg string) {
	c.found = append(c.found, Warning{c.layer.Name, r.line, r.col, code, shown(r.tool) + ": " + msg})
}

func (c *checker) rule(r scoped) {
	c.gates(r)
	c.trusted(r)
	c.paths(r)
	c.overrides(r)
	for _, p := range r.patterns {
		if matchesAll(p.Source) {
			c.warn(r, "matches_all", "arg_patterns: "+shown(p.Param)+": the pattern matches every value")
		}
	}
	for _, p := range r.prefixes {
		if strings.Trim(p, "/") == "" || p == "~" || len(p) <= 3 && strings.HasSuffix(strings.TrimRight(p, `\/`), ":") {
			c.warn(r, "matches_all", "allowed_path_prefixes: "+quote(p)+" allows nearly every path")
		}
	}
}

// gates warns of what a rule switches off that packs or names switch on.
func (c *checker) gates(r scoped) {
	name := r.tool
	if _, tool, qualified := strings.Cut(name, "/"); qualified {
		name = tool
	}
	off := map[string]bool{
		"exfiltrating: false":   r.exfiltrating != nil && !*r.exfiltrating,
		"irreversible: false":   r.irreversible != nil && !*r.irreversible,
		"object_params: []":     r.objects != nil && len(r.objects) == 0,
		"untrusted_outputs: []": r.untrustedOut != nil && len(r.untrustedOut) == 0,
	}
	for _, field := range []string{"exfiltrating: false", "irreversible: false", "object_params: []", "untrusted_outputs: []"} {
		if !off[field] {
			continue
		}
		if isGlob(name) {
			c.warn(r, "matches_all", field+" switches something off for every tool that the pattern matches")
		} else if who := c.switchedOn(name, field); who != "" {
			c.warn(r, "gate_off", field+" switches off what "+who+" switches on")
		}
	}
	if strings.Trim(name, "*") == "" && len(r.trusted) > 0 {
		c.warn(r, "matches_all", "trusted_destinations hold for every tool")
	}
}

// switchedOn names the lower layer, or the inference, that has what a field switches off.
func (c *checker) switchedOn(tool, field string) string {
	for _, l := range c.below {
		if l == nil {
			continue
		}
		for _, e := range l.entries(Server{}, tool) {
			switch {
			case field == "exfiltrating: false" && (e.exfiltrating != nil && *e.exfiltrating || len(e.sinks) > 0),
				field == "irreversible: false" && e.irreversible != nil && *e.irreversible,
				field == "object_params: []" && len(e.objects) > 0,
				field == "untrusted_outputs: []" && len(e.untrustedOut) > 0:
				return l.label()
			}
		}
	}
	in := intentOf(tool)
	switch r := Infer(Tool{Name: tool}); {
	case field == "exfiltrating: false" && r.Exfiltrating, field == "irreversible: false" && r.Irreversible, field == "object_params: []" && in.alters && !in.reads:
		return "the tool's name"
	}
	return ""
}

// trusted warns of destinations that never match, and of those that match strangers.
func (c *checker) trusted(r scoped) {
	for _, item := range r.trusted {
		switch domain, isDomain := strings.CutPrefix(strings.TrimPrefix(trim(item), "*"), "@"); {
		case isDomain && freeMail(strings.ToLower(domain)):
			c.warn(r, "trust_wide", "trusted_destinations: everybody can have an address at "+domain)
		case strings.Count(item, "@") > 1 && !strings.Contains(item, "://"):
			c.warn(r, "trust_unmatched", "trusted_destinations: "+quote(item)+" is more than one address, and a value is only ever one")
		case strings.ContainsAny(item, "<>"):
			c.warn(r, "trust_unmatched", "trusted_destinations: "+quote(item)+" holds a display name; write the address alone")
		case strings.HasPrefix(strings.ToLower(item), "mailto:"):
			c.warn(r, "trust_unmatched", "trusted_destinations: "+quote(item)+" is a link; write the address alone")
		}
	}
}

// freeMail lists the largest providers whose domains are nobody's own.
func freeMail(domain string) bool {
	switch domain {
	case "gmail.com", "googlemail.com", "outlook.com", "hotmail.com", "live.com", "msn.com", "yahoo.com", "ymail.com", "icloud.com", "me.com",
		"mac.com", "aol.com", "proton.me", "protonmail.com", "pm.me", "gmx.com", "gmx.net", "gmx.de", "web.de", "mail.com", "mail.ru", "yandex.ru",
		"yandex.com", "qq.com", "163.com", "126.com", "zoho.com", "fastmail.com", "tutanota.com", "tuta.com", "hey.com":
		return true
	}
	return false
}

// paths warns of argument paths that lead nowhere, whatever the tool.
func (c *checker) paths(r scoped) {
	for _, field := range r.arguments() {
		for _, path := range field.paths {
			if strings.HasPrefix(path, "$") || strings.ContainsAny(path, "[] \t") || slices.Contains(strings.Split(path, "."), "") {
				c.warn(r, "bad_path", field.name+": "+quote(path)+" is no path of an argument, such as message.to")
			}
		}
	}
	for _, path := range slices.Concat(r.trustedOut, r.untrustedOut) {
		plain := strings.TrimPrefix(strings.TrimPrefix(strings.ReplaceAll(path, "[*]", ""), "$"), ".")
		if path != "*" && path != "$" && (strings.ContainsAny(plain, "[]") || slices.Contains(strings.Split(plain, "."), "")) {
			c.warn(r, "bad_path", quote(path)+" is no path in a result, such as items.email")
		}
	}
}

type argumentField struct {
	name  string
	paths []string
}

func (e entry) arguments() []argumentField {
	patterns := argumentField{name: "arg_patterns"}
	for _, p := range e.patterns {
		patterns.paths = append(patterns.paths, p.Param)
	}
	return []argumentField{{"sink_params", e.sinks}, {"write_params", e.writes}, {"object_params", e.objects}, patterns}
}

// shadows warns of the fields of an entry for one tool that a section of the server overrides with a pattern.
func (c *checker) shadows() {
	rules := c.layer.parsed().rules
	for _, own := range rules {
		if own.server == "" || isGlob(own.server) || !isGlob(own.tool) {
			continue
		}
		for _, r := range rules {
			if r.server != "" || isGlob(r.tool) {
				continue
			}
			name := strings.TrimPrefix(r.tool, own.server+"/")
			if both := shared(r.entry, own.entry); both != "" && glob(own.tool, name) {
				c.warn(r, "shadowed", both+" has no effect for "+shown(own.server)+", where "+quote(own.tool)+" at line "+strconv.Itoa(own.line)+" says otherwise")
			}
		}
	}
}

// overrides warns of a pattern in a higher file that undoes what a lower one says of a single tool.
func (c *checker) overrides(r scoped) {
	if !isGlob(r.tool) {
		return
	}
	for _, l := range c.below {
		if l == nil || l.Pack {
			continue
		}
		for _, e := range l.parsed().rules {
			if both := shared(r.entry, e.entry); both != "" && !isGlob(e.tool) && r.server == e.server && glob(r.tool, e.tool) {
				c.warn(r, "shadowed", both+" takes the place of what "+l.label()+" says of "+shown(e.tool)+" at line "+strconv.Itoa(e.line))
			}
		}
	}
}

// shared returns a field that both entries name.
func shared(a, b entry) string {
	switch {
	case a.exfiltrating != nil && b.exfiltrating != nil:
		return "exfiltrating"
	case a.sinks != nil && b.sinks != nil:
		return "sink_params"
	case a.trusted != nil && b.trusted != nil:
		return "trusted_destinations"
	case a.writes != nil && b.writes != nil:
		return "write_params"
	case a.prefixes != nil && b.prefixes != nil:
		return "allowed_path_prefixes"
	case a.patterns != nil && b.patterns != nil:
		return "arg_patterns"
	case a.maxCalls != nil && b.maxCalls != nil:
		return "max_calls"
	case a.objects != nil && b.objects != nil:
		return "object_params"
	case a.irreversible != nil && b.irreversible != nil:
		return "irreversible"
	case a.trustedOut != nil && b.trustedOut != nil:
		return "trusted_outputs"
	case a.untrustedOut != nil && b.untrustedOut != nil:
		return "untrusted_outputs"
	case a.profile != "" && b.profile != "":
		return "profile"
	}
	return ""
}

// matchesAll reports whether a pattern is nothing but any text.
func matchesAll(src string) bool {
	re, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return false
	}
	re = re.Simplify()
	for re.Op == syntax.OpCapture {
		re = re.Sub[0]
	}
	return (re.Op == syntax.OpStar || re.Op == syntax.OpPlus) && (re.Sub[0].Op == syntax.OpAnyChar || re.Sub[0].Op == syntax.OpAnyCharNotNL)
}

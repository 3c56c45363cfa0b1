package policy

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// Parse reads one policy file, flat or full form (docs/policy.md). name is used in errors and as the layer's name.
// The error is a *Error, or several joined with errors.Join.
func Parse(name string, data []byte) (*Layer, error) { return parse(name, data, false) }

func parse(name string, data []byte, pack bool) (*Layer, error) {
	p := &parser{file: name, pack: pack}
	layer := &Layer{Name: name}
	if root := p.document(data); root != nil {
		p.layer(layer, root)
	}
	if len(p.errs) > 0 {
		return nil, p.err()
	}
	return layer, nil
}

func (p *parser) layer(l *Layer, root *yaml.Node) {
	if root.Kind != yaml.MappingNode {
		p.fail(root, "a policy file is a mapping from tool names to rules, and this is %s", kind(root))
		return
	}
	top := p.pairs(root)
	for _, f := range top {
		if f.name == "version" {
			p.full(l, top)
			return
		}
	}
	p.flat(l, top)
}

// flat reads the form that is nothing but tools.
func (p *parser) flat(l *Layer, tools []pair) {
	var good []pair
	for _, f := range tools {
		switch {
		case isGlob(f.name):
			p.fail(f.key, "%s: patterns stand in a file of the full form, which also has the line version: 1", quote(f.name))
		case f.val.Kind != yaml.MappingNode && (f.name == "profile" || f.name == "tools" || f.name == "servers" || f.name == "pack"):
			p.fail(f.key, "%s stands in a file of the full form, which also has the line version: 1", quote(f.name))
		default:
			good = append(good, f)
		}
	}
	p.tools(l, "", good)
}

// full reads the form that begins with version: 1.
func (p *parser) full(l *Layer, top []pair) {
	for _, f := range top {
		switch f.name {
		case "version":
			if f.val.ShortTag() != "!!int" || f.val.Value != "1" {
				p.fail(f.val, "version must be the whole number 1")
			}
		case "tools":
			p.toolMap(l, "", f)
		case "pack":
			p.header(l, f)
		case "profile", "servers", "taint", "approval":
			if p.pack {
				p.fail(f.key, "a pack has no %s: it does not know whose servers it is used with", f.name)
				continue
			}
			p.local(l, f)
		case "rules", "labels", "inspect", "audit":
			p.fail(f.key, "this build does not have %s in a policy file", quote(f.name))
		default:
			p.fail(f.key, "unknown key %s%s", quote(f.name), didYouMean(f.name, "version", "profile", "tools", "servers", "taint", "approval"))
		}
	}
}

// local reads what only the person can say, who knows which servers there are.
func (p *parser) local(l *Layer, f pair) {
	switch f.name {
	case "profile":
		l.Profile = p.profile("profile", f.val)
	case "servers":
		p.servers(l, f)
	case "taint":
		p.taint(l, f)
	case "approval":
		p.approval(l, f)
	}
}

func (p *parser) profile(where string, n *yaml.Node) string {
	switch {
	case n.ShortTag() != "!!str" || n.Kind != yaml.ScalarNode:
		p.fail(n, "%s must be balanced, strict or observe, and this is %s", where, kind(n))
	case slices.Contains(Profiles(), n.Value):
		return n.Value
	default:
		p.fail(n, "unknown profile %s%s", quote(n.Value), didYouMean(n.Value, Profiles()...))
	}
	return ""
}

// mapping returns the members of a mapping, or says what should be in it.
func (p *parser) mapping(f pair, where, what string) []pair {
	if f.val.Kind != yaml.MappingNode {
		p.fail(f.val, "%s must be a mapping %s, and this is %s", where, what, kind(f.val))
		return nil
	}
	return p.pairs(f.val)
}

func (p *parser) servers(l *Layer, f pair) {
	for _, s := range p.mapping(f, "servers", "from server names to what holds for them") {
		name := shown(s.name)
		if strings.TrimSpace(s.name) != s.name || s.name == "" {
			p.fail(s.key, "%s is no server name: it is empty, or has space around it", quote(s.name))
			continue
		}
		for _, f := range p.mapping(s, name, "with tools, profile or both") {
			switch f.name {
			case "tools":
				p.toolMap(l, s.name, f)
			case "profile":
				l.body.sections = append(l.body.sections, section{s.name, p.profile(name+": profile", f.val), s.key.Line, s.key.Column})
			default:
				p.fail(f.key, "%s: unknown key %s%s", name, quote(f.name), didYouMean(f.name, "tools", "profile"))
			}
		}
	}
}

func (p *parser) taint(l *Layer, f pair) {
	for _, f := range p.mapping(f, "taint", "with links") {
		switch {
		case f.name != "links":
			p.fail(f.key, "taint: unknown key %s%s", quote(f.name), didYouMean(f.name, "links"))
		case f.val.Kind != yaml.SequenceNode:
			p.fail(f.val, "taint: links must be a list of pairs of server names, and this is %s", kind(f.val))
		default:
			for _, n := range f.val.Content {
				p.link(l, p.deref(n))
			}
		}
	}
}

func (p *parser) link(l *Layer, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode || len(n.Content) != 2 {
		p.fail(n, "taint: links: a link is a list of two server names, as in [contacts, mail]")
		return
	}
	if ends := p.list("taint: links", n); len(ends) == 2 {
		l.body.links = append(l.body.links, link{ends[0], ends[1], n.Line, n.Column})
	}
}

func (p *parser) toolMap(l *Layer, server string, f pair) {
	where := "tools"
	if server != "" {
		where = shown(server) + ": tools"
	}
	p.tools(l, server, p.mapping(f, where, "from tool names to rules"))
}

func (p *parser) tools(l *Layer, server string, tools []pair) {
	for _, f := range tools {
		switch {
		case strings.TrimSpace(f.name) != f.name || f.name == "":
			p.fail(f.key, "%s is no tool name: it is empty, or has space around it", quote(f.name))
		case f.val.Kind != yaml.MappingNode:
			p.fail(f.val, "%s: a rule is a mapping of fields, and this is %s; write {} to change nothing", shown(f.name), kind(f.val))
		default:
			l.body.rules = append(l.body.rules, scoped{server, f.name, p.entry(f)})
		}
	}
}

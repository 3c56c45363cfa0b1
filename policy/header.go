package policy

import (
	"strings"

	"gopkg.in/yaml.v3"
)

// header reads what a pack says about itself.
func (p *parser) header(l *Layer, f pair) {
	if !p.pack {
		p.fail(f.key, "\"pack\" stands only in the packs that come with the program")
		return
	}
	h := &l.body.header
	for _, f := range p.mapping(f, "pack", "with summary and servers") {
		switch f.name {
		case "summary":
			h.Summary = p.line("pack: summary", f.val)
		case "servers":
			if f.val.Kind != yaml.SequenceNode {
				p.fail(f.val, "pack: servers must be a list, and this is %s", kind(f.val))
				continue
			}
			for _, n := range f.val.Content {
				h.Servers = append(h.Servers, p.packServer(pair{key: n, val: p.deref(n)}))
			}
		default:
			p.fail(f.key, "pack: unknown key %s%s", quote(f.name), didYouMean(f.name, "summary", "servers"))
		}
	}
}

func (p *parser) packServer(f pair) PackServer {
	var s PackServer
	for _, f := range p.mapping(f, "pack: servers", "with package, version, checked and tools") {
		where := "pack: servers: " + f.name
		switch f.name {
		case "package":
			s.Package = p.line(where, f.val)
		case "version":
			s.Version = p.version(where, f.val)
		case "checked":
			s.Checked = p.day(where, f.val)
		case "tools":
			if n := p.count(where, f.val); n != nil {
				s.Tools = *n
			}
		default:
			p.fail(f.key, "pack: servers: unknown key %s%s", quote(f.name), didYouMean(f.name, "package", "version", "checked", "tools"))
		}
	}
	if kind, name, ok := strings.Cut(s.Package, ":"); f.val.Kind == yaml.MappingNode && (!ok || kind == "" || strings.Trim(name, "*?") == "") {
		p.fail(f.key, "pack: servers: package must name where a server comes from and what it is called, as in npm:@scope/server")
	}
	return s
}

// line reads a text of one line.
func (p *parser) line(where string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || strings.TrimSpace(n.Value) == "" || strings.Contains(n.Value, "\n") {
		p.fail(n, "%s must be a line of text", where)
		return ""
	}
	return n.Value
}

// version takes 1.2 for the text that it is, not for a number.
func (p *parser) version(where string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" || n.Value == "" {
		p.fail(n, "%s must be a version", where)
		return ""
	}
	return n.Value
}

func (p *parser) day(where string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || !isDay(n.Value) {
		p.fail(n, "%s must be a day, as in 2006-01-02", where)
		return ""
	}
	return n.Value
}

// isDay reports whether a text is a date of the form that sorts.
func isDay(s string) bool {
	if len(s) != len("2006-01-02") {
		return false
	}
	for i, r := range s {
		if (i == 4 || i == 7) != (r == '-') || r != '-' && (r < '0' || r > '9') {
			return false
		}
	}
	return s[5:7] >= "01" && s[5:7] <= "12" && s[8:] >= "01" && s[8:] <= "31"
}

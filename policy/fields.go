package policy

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// entry reads the fields of one rule.
func (p *parser) entry(tool pair) entry {
	e := entry{line: tool.key.Line, col: tool.key.Column}
	name := shown(tool.name)
	for _, f := range p.pairs(tool.val) {
		where := name + ": " + f.name
		switch f.name {
		case "exfiltrating":
			e.exfiltrating = p.boolean(where, f.val)
		case "sink_params":
			e.sinks = p.list(where, f.val)
		case "trusted_destinations":
			e.trusted = p.list(where, f.val, trustFault)
		case "write_params":
			e.writes = p.list(where, f.val)
		case "allowed_path_prefixes":
			e.prefixes = p.list(where, f.val)
		case "arg_patterns":
			e.patterns = p.patterns(where, f.val)
		case "max_calls":
			e.maxCalls = p.count(where, f.val)
		case "object_params":
			e.objects = p.list(where, f.val)
		case "irreversible":
			e.irreversible = p.boolean(where, f.val)
		case "trusted_outputs":
			e.trustedOut = p.list(where, f.val)
		case "untrusted_outputs":
			e.untrustedOut = p.list(where, f.val)
		case "profile":
			if p.pack {
				p.fail(f.key, "a pack has no profile: it does not know whose servers it is used with")
				continue
			}
			e.profile = p.profile(where, f.val)
		default:
			p.fail(f.key, "%s: unknown field %s%s", name, quote(f.name), didYouMean(f.name,
				"exfiltrating", "sink_params", "trusted_destinations", "write_params", "allowed_path_prefixes", "arg_patterns", "max_calls",
				"object_params", "irreversible", "trusted_outputs", "untrusted_outputs", "profile"))
		}
	}
	return e
}

// field returns the last part of a place such as "send_email: sink_params".
func field(where string) string { return where[strings.LastIndexByte(where, ' ')+1:] }

func (p *parser) boolean(where string, n *yaml.Node) *bool {
	if n.ShortTag() == "!!bool" {
		switch strings.ToLower(n.Value) {
		case "true":
			return new(true)
		case "false":
			return new(false)
		}
	}
	like := ""
	switch strings.ToLower(n.Value) {
	case "yes", "on", "y", "true":
		like = "; write " + field(where) + ": true"
	case "no", "off", "n", "false":
		like = "; write " + field(where) + ": false"
	}
	is := "this"
	if n.Value != "" {
		is = quote(n.Value)
	}
	p.fail(n, "%s must be true or false, and %s is %s%s", where, is, kind(n), like)
	return nil
}

// list reads texts. faults say what is wrong with one that would never match, before somebody relies on it.
func (p *parser) list(where string, n *yaml.Node, faults ...func(string) string) []string {
	if n.Kind != yaml.SequenceNode {
		fix := "[] for none"
		if n.ShortTag() == "!!str" {
			fix = "[" + quote(n.Value) + "]"
		}
		p.fail(n, "%s must be a list, and this is %s; write %s: %s", where, kind(n), field(where), fix)
		return nil
	}
	items := make([]string, 0, len(n.Content))
	for _, item := range n.Content {
		if p.exhausted() {
			break
		}
		item = p.deref(item)
		switch {
		case item.Kind != yaml.ScalarNode || item.ShortTag() == "!!null":
			p.fail(item, "%s must hold text, and this is %s", where, kind(item))
		case item.ShortTag() != "!!str":
			p.fail(item, "%s must hold text, and this is %s; put it in quotes: %s", where, kind(item), quote(item.Value))
		case strings.TrimSpace(item.Value) == "":
			p.fail(item, "%s holds an empty text", where)
		default:
			items = append(items, item.Value)
			for _, fault := range faults {
				if why := fault(item.Value); why != "" {
					p.fail(item, "%s: %s %s", where, quote(item.Value), why)
				}
			}
		}
	}
	return items
}

func (p *parser) count(where string, n *yaml.Node) *int {
	if n.ShortTag() != "!!int" {
		p.fail(n, "%s must be a whole number, and this is %s", where, kind(n))
		return nil
	}
	if strings.HasPrefix(n.Value, "-") {
		p.fail(n, "%s must not be negative; 0 forbids every call", where)
		return nil
	}
	// Only plain decimals: YAML versions disagree about what 010 and 1:30 mean.
	v, err := strconv.ParseInt(n.Value, 10, 32)
	if err != nil || strconv.FormatInt(v, 10) != n.Value {
		p.fail(n, "%s must be a plain decimal number up to %d", where, 1<<31-1)
		return nil
	}
	return new(int(v))
}

func (p *parser) patterns(where string, n *yaml.Node) []Pattern {
	if n.Kind != yaml.MappingNode {
		p.fail(n, "%s must be a mapping from arguments to regular expressions, and this is %s", where, kind(n))
		return nil
	}
	all := []Pattern{}
	for _, f := range p.pairs(n) {
		if f.val.ShortTag() != "!!str" || f.val.Kind != yaml.ScalarNode {
			p.fail(f.val, "%s: %s must be a regular expression, and this is %s", where, shown(f.name), kind(f.val))
			continue
		}
		re, err := compile(f.val.Value)
		if err != nil {
			p.fail(f.val, "%s: %s: %v%s", where, shown(f.name), err, hint(err))
			continue
		}
		all = append(all, Pattern{Param: f.name, Source: f.val.Value, Regexp: re})
	}
	return all
}

// compile anchors a pattern at both ends. The pattern must be good alone: anchored, a)|(b would be, too.
func compile(src string) (*regexp.Regexp, error) {
	if _, err := syntax.Parse(src, syntax.Perl); err != nil {
		return nil, err
	}
	if openQuote(src) {
		src += `\E`
	}
	return regexp.Compile(`\A(?:` + src + `)\z`)
}

// openQuote reports whether a good pattern ends inside \Q, which would swallow the anchor.
func openQuote(src string) bool {
	for i := 0; i+1 < len(src); i++ {
		if src[i] != '\\' {
			continue
		}
		if i++; src[i] == 'Q' {
			n := strings.Index(src[i:], `\E`)
			if n < 0 {
				return true
			}
			i += n + 1
		}
	}
	return false
}

// hint says what a pattern from another dialect could be instead.
func hint(err error) string {
	fault, ok := errors.AsType[*syntax.Error](err)
	if !ok {
		return ""
	}
	switch expr := fault.Expr; {
	case strings.HasPrefix(expr, "(?=") || strings.HasPrefix(expr, "(?!") ||
		strings.HasPrefix(expr, "(?<=") || strings.HasPrefix(expr, "(?<!"):
		return "; RE2 has no look-around, and a pattern always matches the whole value"
	case strings.HasPrefix(expr, "(?>") || fault.Code == syntax.ErrInvalidRepeatOp && strings.HasSuffix(expr, "+"):
		return "; RE2 never backtracks, so it needs and has no atomic groups and possessive quantifiers"
	case len(expr) == 2 && expr[0] == '\\' && expr[1] >= '1' && expr[1] <= '9':
		return "; RE2 has no back-references"
	case expr == `\Z`:
		return `; leave it out: a pattern always matches the whole value`
	}
	return ""
}

package policy

import (
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Approval says how a person is asked. What is nil or zero no layer has named.
type Approval struct {
	Channels []string // in the order in which they are tried; empty and not nil: nobody is asked
	Timeout  int      // seconds that a call waits for an answer
}

// The channels that approval.channels may name.
const (
	ChannelElicitation = "elicitation" // the client asks
	ChannelDialog      = "dialog"      // a window of the system's
	ChannelTerminal    = "terminal"    // whoever looks at the open questions
)

// Channels are all of them, in the order in which they are tried unless a policy says otherwise.
func Channels() []string { return []string{ChannelElicitation, ChannelDialog, ChannelTerminal} }

const maxTimeout = 3600

// asking is what a file says of the asking, for all clients or for one.
type asking struct {
	client    string // pattern of its name; empty for all
	line, col int
	Approval
}

// Approval returns how the person is asked who uses a client, by the client's name and version.
func (s *Set) Approval(client string) Approval {
	var a Approval
	if s == nil {
		return a
	}
	for _, l := range s.layers {
		if l.Pack {
			continue // knows nothing of the person
		}
		for _, k := range l.askings(client) {
			if a.Channels == nil {
				a.Channels = slices.Clone(k.Channels)
			}
			if a.Timeout == 0 {
				a.Timeout = k.Timeout
			}
		}
	}
	return a
}

// askings returns what the layer says for a client, the most specific first.
func (l *Layer) askings(client string) []asking {
	var found []asking
	for _, k := range l.parsed().askings {
		if k.client == "" || client != "" && (glob(k.client, client) || glob(k.client+" *", client)) {
			found = append(found, k)
		}
	}
	slices.SortStableFunc(found, func(a, b asking) int { return weight(b.client) - weight(a.client) })
	return found
}

// approval reads the section of that name.
func (p *parser) approval(l *Layer, f pair) {
	const where = "approval"
	all := asking{line: f.key.Line, col: f.key.Column}
	for _, f := range p.mapping(f, where, "with channels, timeout or clients") {
		if f.name != "clients" {
			p.askingField(&all, where, f, "channels", "timeout", "clients")
			continue
		}
		for _, c := range p.mapping(f, where+": clients", "from names of clients to channels and timeout") {
			if strings.TrimSpace(c.name) != c.name || c.name == "" {
				p.fail(c.key, "%s is no client name: it is empty, or has space around it", quote(c.name))
				continue
			}
			one := asking{client: c.name, line: c.key.Line, col: c.key.Column}
			for _, f := range p.mapping(c, shown(c.name), "with channels, timeout or both") {
				p.askingField(&one, where+": "+shown(c.name), f, "channels", "timeout")
			}
			l.body.askings = append(l.body.askings, one)
		}
	}
	l.body.askings = append(l.body.askings, all)
}

func (p *parser) askingField(a *asking, where string, f pair, known ...string) {
	switch f.name {
	case "channels":
		a.Channels = p.channels(where+": channels", f.val)
	case "timeout":
		a.Timeout = p.timeout(where+": timeout", f.val)
	default:
		p.fail(f.key, "%s: unknown key %s%s", where, quote(f.name), didYouMean(f.name, known...))
	}
}

func (p *parser) channels(where string, n *yaml.Node) []string {
	named := p.list(where, n)
	for i, c := range named {
		if !slices.Contains(Channels(), c) {
			p.fail(n, "%s: unknown channel %s%s", where, quote(c), didYouMean(c, Channels()...))
		} else if slices.Contains(named[:i], c) {
			p.fail(n, "%s: %s is named twice", where, c)
		}
	}
	return named
}

func (p *parser) timeout(where string, n *yaml.Node) int {
	v, err := strconv.Atoi(n.Value)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || strconv.Itoa(v) != n.Value || v < 1 || v > maxTimeout {
		p.fail(n, "%s must be a whole number of seconds from 1 to %d, and this is %s", where, maxTimeout, shownValue(n))
		return 0
	}
	return v
}

// shownValue is a value as it stands, or what it is.
func shownValue(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode && n.Value != "" {
		return quote(n.Value)
	}
	return kind(n)
}

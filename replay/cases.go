package replay

import (
	"fmt"
	"strings"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

// Outcome is what became of one call of a case.
type Outcome struct {
	Tool    string
	Line    int
	Got     engine.Verdict
	Want    string
	Because string // what the reason had to hold
}

// OK reports whether the call came out as it had to.
func (o Outcome) OK() bool {
	return o.Got.Action.String() == o.Want && strings.Contains(o.Got.Reason, o.Because)
}

// Setting is what a case is played in.
type Setting struct {
	Policy  *policy.Set
	Profile string // of the command line; the case's own counts next
	Server  Server // for every server of the case
	Paths   engine.Paths
}

// Play goes through the session of a case and returns what became of each call.
func Play(c policy.Case, in Setting) ([]Outcome, error) {
	p := &play{in: in, profile: c.Profile, said: c.Prompts, engines: map[string]*engine.Engine{}}
	// All servers run from the beginning, as they do behind one client.
	for _, o := range c.Outputs {
		p.server(o.Server)
	}
	for _, call := range c.Calls {
		p.server(call.Server)
	}
	for _, o := range c.Outputs {
		if err := p.observe(o); err != nil {
			return nil, err
		}
	}
	var all []Outcome
	for _, call := range c.Calls {
		o, err := p.call(call)
		if err != nil {
			return nil, err
		}
		all = append(all, o)
	}
	return all, nil
}

// play is the session of a case: one engine for each server, which tell each other what they know.
type play struct {
	in      Setting
	profile string
	said    []string
	engines map[string]*engine.Engine
	names   []string // of the servers, in order
}

func (p *play) server(name string) {
	if p.engines[name] != nil {
		return
	}
	flag := p.in.Profile
	if flag == "" {
		flag = p.profile
	}
	set, profile := engine.Bind(p.in.Policy, policy.Server{Name: name, Package: p.in.Server.Package}, flag)
	e := engine.New(engine.Config{
		Server: name, Identity: p.identity(name), Policy: set, Profile: profile, Paths: p.in.Paths, Shared: true,
	})
	for _, text := range p.said {
		e.Say(text)
	}
	e.Facts() // everybody has heard the person
	p.engines[name] = e
	p.names = append(p.names, name)
}

func (p *play) identity(name string) string { return p.in.Server.Package + "#" + name }

func (p *play) observe(o policy.CaseOutput) error {
	tool, _ := p.in.Server.tool(o.Tool)
	p.engines[o.Server].Observe(engine.Output{
		Source: taint.Source{Server: o.Server, Tool: o.Tool, Call: 1},
		Tool:   tool, Output: result(o.Text), Args: o.Args,
	})
	return p.publish(o.Server)
}

// result is what a server sends for the text of an output. A document that already is such a result stands for itself.
func result(text string) wire.Value {
	if v, err := wire.ParseValue([]byte(text)); err == nil && v.Get("content").Kind() == '[' {
		return v
	}
	return textResult(text)
}

// publish tells the others what one server's engine has learned.
func (p *play) publish(from string) error {
	facts := p.engines[from].Facts()
	for _, name := range p.names {
		if name == from {
			continue
		}
		for _, fact := range facts {
			if err := p.engines[name].Learn(engine.Peer{Server: from, Identity: p.identity(from)}, fact); err != nil {
				return fmt.Errorf("what %s has learned: %w", from, err)
			}
		}
	}
	return nil
}

func (p *play) call(c policy.CaseCall) (Outcome, error) {
	e := p.engines[c.Server]
	tool, _ := p.in.Server.tool(c.Tool)
	call := engine.Call{Tool: tool, Pin: engine.PinHeld, Args: c.Args}
	v := e.Decide(call)
	passed := v.Action == engine.Allow
	if v.Action == engine.Ask && c.Approve != "" {
		if c.Approve == "session" {
			e.Approve(c.Tool, v.Pairs)
		}
		call.Approved, call.Counted = v.Pairs, true
		passed = e.Decide(call).Action == engine.Allow
	}
	if err := p.publish(c.Server); err != nil {
		return Outcome{}, err
	}
	if passed && c.Result != nil {
		if err := p.observe(*c.Result); err != nil {
			return Outcome{}, err
		}
	}
	return Outcome{Tool: c.Tool, Line: c.Line, Got: v, Want: c.Expect, Because: c.Because}, nil
}

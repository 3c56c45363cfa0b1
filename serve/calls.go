package serve

import (
	"context"
	"errors"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

func (s *service) addCallTools(to *mcp.Server) error {
	profiles := []any{engine.Balanced.String(), engine.Strict.String()}
	return errors.Join(
		add(to, tool{
			name: "bouncer_check_verdict", title: "Judge a call that nobody makes",
			about: "Says whether bouncer would allow, deny or ask about a call to a tool, after the agent has read the given untrusted texts. Nothing is called, counted, approved or logged. bouncer_evaluate_call takes more of a session into account.",
		}, s.checkVerdict),
		add(to, tool{
			name: "bouncer_evaluate_call", title: "Judge a call at the end of a session that nobody had",
			about: "Says whether bouncer would allow, deny or ask about a call, given what the person has typed and what earlier calls returned: with the values that decided it and where each came from. Any profile and policy can be tried. Nothing is called, counted, approved or logged.",
			words: map[string][]any{"profile": profiles},
		}, s.evaluateCall),
	)
}

type checkInput struct {
	Tool   string         `json:"tool" jsonschema:"name of the tool"`
	Args   map[string]any `json:"args,omitempty" jsonschema:"the arguments of the call"`
	Texts  []string       `json:"untrusted_context,omitempty" jsonschema:"texts that the agent has read before, such as results of tools"`
	Policy string         `json:"user_policy_yaml,omitempty" jsonschema:"a policy in the place of the person's own; the packs stay below it"`
}

type evaluateInput struct {
	Tool    string           `json:"tool" jsonschema:"name of the tool"`
	Server  string           `json:"server,omitempty" jsonschema:"name of its server in the client's config, or its identity, such as npm:mail-server#mail"`
	Args    map[string]any   `json:"args,omitempty" jsonschema:"the arguments of the call"`
	Prompt  string           `json:"prompt,omitempty" jsonschema:"what the person has typed before; of a long or pasted text nothing counts as their own words"`
	History []history        `json:"outputs,omitempty" jsonschema:"what calls before this one returned, in their order"`
	Tools   []map[string]any `json:"tools,omitempty" jsonschema:"definitions of the server's tools, as it lists them; default: those that bouncer has recorded"`
	Package string           `json:"package,omitempty" jsonschema:"what the server is started from, such as npm:@scope/name, which decides about its pack; default: what is recorded"`
	Profile string           `json:"profile,omitempty" jsonschema:"default: that of the server's config, or the policy's, or else balanced"`
	Policy  string           `json:"policy_yaml,omitempty" jsonschema:"a policy in the place of the person's own; the packs stay below it"`
}

type history struct {
	Tool   string         `json:"tool" jsonschema:"name of the tool"`
	Server string         `json:"server,omitempty" jsonschema:"default: the server of the call in question"`
	Args   map[string]any `json:"args,omitempty" jsonschema:"what it was called with"`
	Text   string         `json:"text,omitempty" jsonschema:"the text that it returned"`
	JSON   any            `json:"json,omitempty" jsonschema:"the document that it returned, in the place of text"`
}

type verdict struct {
	Notice      string    `json:"notice"`
	Tool        string    `json:"tool"`
	Server      string    `json:"server"`
	Verdict     string    `json:"verdict" jsonschema:"allow, ask or deny; ask means that a person would be asked, and without one it is deny"`
	Contract    string    `json:"contract" jsonschema:"the rule that decided: self_protection, pinning, budget, constraint, sink_gate, toxic_flow, or default when none objects"`
	Reason      string    `json:"reason" jsonschema:"why, in a sentence; empty when no rule objects"`
	Profile     string    `json:"profile"`
	Observed    bool      `json:"observed,omitempty" jsonschema:"true when the call passes all the same, because its tool is only observed; the log keeps the verdict"`
	Findings    []finding `json:"findings" jsonschema:"the values that the rule looked at, worst first"`
	Layers      []string  `json:"layers" jsonschema:"the policies that have a say about the tool"`
	Definitions string    `json:"definitions" jsonschema:"where the tool's definition is from: given, recorded, or name when nothing but its name is known"`
}

type finding struct {
	Role   string  `json:"role,omitempty" jsonschema:"what the value is to the call: destination, object, content or action"`
	Param  string  `json:"param,omitempty"`
	Value  string  `json:"value,omitempty"`
	Class  string  `json:"class" jsonschema:"where it is from: trusted, said, directory, field, unseen, text or aimed"`
	Server string  `json:"server,omitempty" jsonschema:"whose output it was first seen in"`
	Tool   string  `json:"tool_before,omitempty" jsonschema:"that returned this output"`
	Path   string  `json:"path,omitempty" jsonschema:"the place in it"`
	Around *quoted `json:"around,omitempty" jsonschema:"the text around it"`
}

// defaultServer is the server of a call that names none.
const defaultServer = "server"

// Bounds on what a question may bring.
const (
	maxHistory = 1000 // outputs
	maxServers = 20   // that they are of
)

func (s *service) checkVerdict(_ context.Context, c call, in checkInput) (verdict, *question, error) {
	r, err := s.rehearse(scene{server: meant{name: defaultServer}, policy: c.args.Get("user_policy_yaml"), tool: in.Tool})
	if err != nil {
		return verdict{}, nil, err
	}
	for _, text := range in.Texts[:min(len(in.Texts), maxHistory)] {
		r.read("untrusted_context", text)
	}
	return r.judge(c.args.Get("args")), nil, nil
}

func (s *service) evaluateCall(_ context.Context, c call, in evaluateInput) (verdict, *question, error) {
	if len(in.History) > maxHistory {
		return verdict{}, nil, fmt.Errorf("more than %d outputs", maxHistory)
	}
	server := meant{name: defaultServer}
	if in.Server != "" {
		server = s.meant(in.Server)
	}
	r, err := s.rehearse(scene{
		server: server, pkg: in.Package, profile: in.Profile, policy: c.args.Get("policy_yaml"), tools: c.args.Get("tools"), tool: in.Tool,
	})
	if err != nil {
		return verdict{}, nil, err
	}
	own, pasted := s.Words(in.Prompt)
	r.say(own, pasted)
	i := 0
	for o := range c.args.Get("outputs").Elems() {
		if err := r.live(o); err != nil {
			return verdict{}, nil, fmt.Errorf("outputs[%d]: %w", i, err)
		}
		i++
	}
	return r.judge(c.args.Get("args")), nil, nil
}

// scene is what is known of a server before anything happens.
type scene struct {
	server       meant
	pkg, profile string
	policy       wire.Value // text; nil for the person's own
	tools        wire.Value // a list; nil for the recorded ones
	tool         string
}

// rehearsal is a session that nobody had: the engine of the server in question, and one for each other server, which tell it what
// they have learned.
type rehearsal struct {
	s       *service
	scene   scene
	subject known
	layers  []*policy.Layer
	engine  *engine.Engine
	others  map[meant]*neighbour
	profile engine.Profile
	outputs uint64
}

// neighbour is another server of the session.
type neighbour struct {
	known
	engine *engine.Engine
}

func (s *service) rehearse(at scene) (*rehearsal, error) {
	r := &rehearsal{s: s, scene: at, others: map[meant]*neighbour{}}
	var err error
	if r.subject, err = s.known(at.server, at.tools); err != nil {
		return nil, err
	}
	if at.pkg != "" {
		r.subject.pkg = at.pkg
	}
	if r.layers, r.scene.profile, err = s.policiesFor(at.server, at.policy, at.profile); err != nil {
		return nil, err
	}
	r.engine, r.profile = r.start(at.server.name, r.subject.pkg)
	return r, nil
}

// start makes the engine that stands in front of a server.
func (r *rehearsal) start(server, pkg string) (*engine.Engine, engine.Profile) {
	set, profile := engine.Bind(layered(r.layers), policy.Server{Name: server, Package: pkg}, r.scene.profile)
	return engine.New(engine.Config{
		Server: server, Identity: pkg + "#" + server, Policy: set, Profile: profile,
		Paths: r.s.Paths, Protected: r.s.Protected, Shared: true,
	}), profile
}

func (r *rehearsal) say(own, pasted string) {
	if own != "" {
		r.engine.Say(own)
	}
	if pasted != "" {
		r.engine.ObserveDefinition(taint.Source{Tool: "a text in your message"}, quotedJSON(pasted))
	}
}

// read shows the agent a text that is no tool's.
func (r *rehearsal) read(source, text string) {
	r.outputs++
	r.engine.Observe(engine.Output{Source: taint.Source{Server: r.scene.server.name, Tool: source, Call: r.outputs}, Output: textResult(text)})
}

// live makes a call happen, and shows the agent what it returned. The call counts against its budget and makes its arguments the
// agent's own, as it would have.
func (r *rehearsal) live(h wire.Value) error {
	called, _ := h.Get("tool").Text()
	server := r.scene.server
	if other, _ := h.Get("server").Text(); other != "" {
		server = r.s.meant(other)
	}
	output, err := returned(h)
	if err != nil {
		return err
	}
	at := &neighbour{r.subject, r.engine}
	if !server.is(r.scene.server.name, r.subject.pkg) {
		if at, err = r.other(server); err != nil {
			return err
		}
	}
	r.outputs++
	t, args := at.tool(called), h.Get("args")
	at.engine.Decide(engine.Call{Tool: t, Pin: engine.PinHeld, Args: args})
	at.engine.Observe(engine.Output{Source: taint.Source{Server: server.name, Tool: called, Call: r.outputs}, Tool: t, Output: output, Args: args})
	if at.engine == r.engine {
		return nil
	}
	for _, fact := range at.engine.Facts() {
		if err := r.engine.Learn(engine.Peer{Server: server.name, Identity: at.pkg + "#" + server.name}, fact); err != nil {
			return err
		}
	}
	return nil
}

// returned is the result of an earlier call.
func returned(h wire.Value) (wire.Value, error) {
	text, hasText := h.Get("text").Text()
	doc := h.Get("json")
	switch {
	case hasText && doc != nil:
		return nil, errors.New("either text or json")
	case doc.Get("content").Kind() == '[':
		return doc, nil // a whole result
	case doc != nil:
		text = string(doc)
	}
	return textResult(text), nil
}

func (r *rehearsal) other(server meant) (*neighbour, error) {
	if n := r.others[server]; n != nil {
		return n, nil
	}
	if len(r.others) == maxServers {
		return nil, fmt.Errorf("more than %d servers", maxServers)
	}
	k, err := r.s.known(server, nil)
	if err != nil {
		return nil, err
	}
	one := meant{server.name, k.pkg} // whatever it is called
	n := r.others[one]
	if n == nil {
		n = &neighbour{known: k}
		n.engine, _ = r.start(one.name, one.pkg)
	}
	r.others[one], r.others[server] = n, n
	return n, nil
}

func (r *rehearsal) judge(args wire.Value) verdict {
	pin := engine.PinHeld
	if r.subject.from != fromNothing && r.subject.index(r.scene.tool) < 0 {
		pin = engine.PinUnknown // the server lists others, so that this one would have to appear first
	}
	v := r.engine.Decide(engine.Call{Tool: r.subject.tool(r.scene.tool), Pin: pin, Args: args})
	out := verdict{
		Notice: notice, Tool: name(r.scene.tool), Server: name(r.scene.server.name), Verdict: v.Action.String(), Contract: v.Contract, Reason: v.Reason,
		Profile: r.profile.String(), Observed: v.Observed, Findings: []finding{}, Layers: append([]string{}, v.Layers...), Definitions: r.subject.fromFor(r.scene.tool),
	}
	for _, f := range v.Findings {
		shown := finding{
			Role: f.Role.String(), Param: name(f.Param), Value: taint.Visible(f.Value, maxValue), Class: f.Class.String(),
			Server: name(f.Origin.Server), Tool: name(f.Origin.Tool), Path: name(f.Origin.Path),
		}
		if f.Origin.Snippet != "" {
			q := quote(f.Origin.Snippet, maxQuote)
			shown.Around = &q
		}
		out.Findings = append(out.Findings, shown)
	}
	return out
}

// textResult is what a server sends for a text.
func textResult(text string) wire.Value {
	return wire.Value(`{"content":[{"type":"text","text":` + string(quotedJSON(text)) + `}]}`)
}

func quotedJSON(text string) wire.Value { return wire.Value(wire.AppendQuoted(nil, text)) }

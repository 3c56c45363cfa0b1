package serve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
)

const inspectName = "bouncer_inspect_server"

func (s *service) addServerTools(to *mcp.Server) error {
	return add(to, tool{
		name: inspectName, title: "See what a server's tools can do",
		about:  "Says of each tool of an MCP server what bouncer makes of it: where it can send things, what it can change or delete, which arguments no rule looks at. The definitions are those you give, or those recorded when bouncer met the server. With start the configured server is started and asked, after its person has agreed; no tool of it is called.",
		words:  map[string][]any{"profile": {engine.Balanced.String(), engine.Strict.String()}},
		starts: true,
	}, s.inspectServer)
}

type inspectInput struct {
	Server  string           `json:"server,omitempty" jsonschema:"name of the server in a client's config, or its identity, such as npm:mail-server#mail"`
	Client  string           `json:"client,omitempty" jsonschema:"id of the client whose config is meant, such as claude-code; needed when servers of one name differ"`
	Start   bool             `json:"start,omitempty" jsonschema:"start the server to ask it; its person is asked first"`
	Tools   []map[string]any `json:"tools,omitempty" jsonschema:"definitions of its tools, as it lists them"`
	Tool    string           `json:"tool,omitempty" jsonschema:"only this tool, with every argument and setting"`
	Package string           `json:"package,omitempty" jsonschema:"what the server is started from, such as npm:@scope/name, which decides about its pack"`
	Profile string           `json:"profile,omitempty" jsonschema:"default: that of the server's config, or the policy's, or else balanced"`
	Policy  string           `json:"policy_yaml,omitempty" jsonschema:"a policy in the place of the person's own"`
}

type inspection struct {
	Notice      string      `json:"notice"`
	Server      string      `json:"server,omitempty"`
	Package     string      `json:"package,omitempty"`
	Definitions string      `json:"definitions" jsonschema:"where the definitions are from: given, recorded or started"`
	Profile     string      `json:"profile"`
	Packs       []string    `json:"packs" jsonschema:"the packs that are written for what the server is started from"`
	Tools       []inspected `json:"tools"`
}

type inspected struct {
	Name        string              `json:"name"`
	Description quoted              `json:"description"`
	Privileges  []string            `json:"privileges" jsonschema:"what it can do: send, fetch, change, irreversible, read_private, files, commands"`
	Sinks       []param             `json:"sinks" jsonschema:"arguments that are judged as destinations"`
	Objects     []param             `json:"objects" jsonschema:"arguments that name what it changes, judged too"`
	Undeclared  []param             `json:"undeclared_destinations" jsonschema:"arguments that look like destinations and that the rule leaves out"`
	Unsanitised []param             `json:"unsanitised_parameters" jsonschema:"arguments that reach files, commands or queries without any constraint"`
	MaxCalls    *int                `json:"max_calls,omitempty" jsonschema:"attempts per session"`
	Layers      []string            `json:"layers" jsonschema:"the policies that have a say, highest first"`
	Explanation *policy.Explanation `json:"explanation,omitempty" jsonschema:"everything, when one tool was asked for"`
}

type param struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

func (s *service) inspectServer(ctx context.Context, c call, in inspectInput) (inspection, *question, error) {
	server := s.meant(in.Server)
	k, q, err := s.definitions(ctx, c, in, server)
	if err != nil || q != nil {
		return inspection{}, q, err
	}
	if in.Package != "" {
		k.pkg = in.Package
	}
	layers, profile, err := s.policiesFor(server, c.args.Get("policy_yaml"), in.Profile)
	if err != nil {
		return inspection{}, nil, err
	}
	set, bound := engine.Bind(layered(layers), policy.Server{Name: server.name, Package: k.pkg}, profile)
	out := inspection{
		Notice: notice, Server: name(server.name), Package: name(k.pkg), Definitions: k.from, Profile: bound.String(),
		Packs: append([]string{}, packs.Fits(k.pkg)...), Tools: []inspected{},
	}
	for _, t := range k.tools {
		if in.Tool == "" || in.Tool == t.Name {
			out.Tools = append(out.Tools, inspectTool(set, t, in.Tool != ""))
		}
	}
	if in.Tool != "" && len(out.Tools) == 0 {
		return out, nil, fmt.Errorf("the server lists no tool %q", name(in.Tool))
	}
	return out, nil, nil
}

// definitions finds the tools to look at, or the question that must be answered first.
func (s *service) definitions(ctx context.Context, c call, in inspectInput, server meant) (known, *question, error) {
	given := c.args.Get("tools")
	switch {
	case given != nil && in.Start:
		return known{}, nil, errors.New("either tools or start")
	case given == nil && in.Server == "":
		return known{}, nil, errors.New("name a server, or give the definitions of its tools")
	case in.Start:
		return s.startServer(ctx, c, in, server)
	}
	k, err := s.known(server, given)
	if err == nil && k.from == fromNothing {
		err = fmt.Errorf("nothing is recorded of a server %q: give the definitions of its tools, or have it started. The servers that are known are %q",
			name(in.Server), names(s.serverNames()))
	}
	return k, nil, err
}

// startServer starts a configured server when its person has agreed to this very command line.
func (s *service) startServer(ctx context.Context, c call, in inspectInput, m meant) (known, *question, error) {
	server, err := s.configured(m, in.Client)
	if err != nil {
		return known{}, nil, err
	}
	q, err := s.consent(c, server)
	if err != nil || q != nil {
		return known{}, q, err
	}
	tools, err := server.Tools(ctx)
	if err != nil {
		return known{}, nil, fmt.Errorf("%s was started and did not list its tools; bouncer doctor --probe tells what it said", name(server.Name))
	}
	return known{server.Package, tools, fromServer}, nil, nil
}

// configured finds the one server that may be started by a name.
func (s *service) configured(m meant, client string) (Server, error) {
	servers, err := s.Servers()
	if err != nil {
		return Server{}, err
	}
	servers = slices.DeleteFunc(slices.Clone(servers), func(c Server) bool {
		return !m.is(c.Name, c.Package) || client != "" && c.Client != client
	})
	if len(servers) == 0 {
		return Server{}, fmt.Errorf("no client's config has a server %q", name(m.name))
	}
	free := slices.DeleteFunc(slices.Clone(servers), func(c Server) bool { return c.Barred != "" })
	switch {
	case len(free) == 0:
		return Server{}, fmt.Errorf("%s can't be started: %s", name(m.name), servers[0].Barred)
	case slices.ContainsFunc(free, func(c Server) bool { return c.Command != free[0].Command }):
		return Server{}, fmt.Errorf("several servers are named %q: say which client's is meant", name(m.name))
	}
	return free[0], nil
}

// inspectTool says what bouncer makes of a tool.
func inspectTool(set *policy.Set, t policy.Tool, whole bool) inspected {
	x, rule := policy.Explain(set, t), set.Resolve(t)
	out := inspected{
		Name: name(t.Name), Description: quote(t.Description, maxBrief), Layers: append([]string{}, rule.Layers...),
		Sinks: params(x, "destination"), Objects: params(x, "object"), Undeclared: undeclared(t, rule), Unsanitised: unsanitised(x, rule, t),
	}
	if whole || out.Description.Addresses {
		out.Description = quote(t.Description, maxQuote)
	}
	if rule.Limited {
		out.MaxCalls = &rule.MaxCalls
	}
	out.Privileges = privileges(rule, out.Unsanitised, len(params(x, "path")) > 0)
	if whole {
		visible(&x)
		out.Explanation = &x
	}
	return out
}

func params(x policy.Explanation, role string) []param {
	all := []param{}
	for path, why := range x.Arguments(role) {
		all = append(all, param{name(path), why})
	}
	return all
}

// undeclared lists what looks like a destination by name and schema, and is not judged as one.
func undeclared(t policy.Tool, rule policy.Rule) []param {
	all := []param{}
	if rule.Exfiltrating && len(rule.SinkParams) == 0 {
		return all // every argument is judged
	}
	for _, path := range policy.Infer(t).SinkParams {
		declared := slices.ContainsFunc(rule.SinkParams, func(other string) bool {
			return other == path || strings.HasPrefix(path, other+".") || strings.HasPrefix(other, path+".")
		})
		switch {
		case rule.Open:
			all = append(all, param{name(path), "the gate of this tool is switched off"})
		case !declared:
			all = append(all, param{name(path), "no policy names it; it is judged by its name"})
		}
	}
	return all
}

// unsanitised lists arguments that reach something which interprets them, and that nothing constrains.
func unsanitised(x policy.Explanation, rule policy.Rule, t policy.Tool) []param {
	all := []param{}
	constrained := func(path string) bool {
		return slices.ContainsFunc(rule.ArgPatterns, func(p policy.Pattern) bool { return p.Param == path }) || closedBySchema(t.InputSchema, path)
	}
	for _, p := range x.Params {
		is := func(role string) bool {
			return slices.ContainsFunc(p.Roles, func(r policy.Role) bool { return r.Is == role })
		}
		switch {
		case p.Absent, constrained(p.Path):
		case is("path") && len(rule.AllowedPathPrefixes) == 0:
			all = append(all, param{name(p.Path), "a file path that may lead anywhere: no allowed_path_prefixes"})
		case interprets(p.Path) != "":
			all = append(all, param{name(p.Path), interprets(p.Path) + " that may say anything: no arg_patterns"})
		}
	}
	return all
}

// closedBySchema reports whether a schema itself allows only some values of a top-level argument.
func closedBySchema(schema wire.Value, path string) bool {
	p := schema.At("properties", path)
	return p.Get("enum") != nil || p.Get("const") != nil || p.Get("pattern") != nil
}

const (
	aCommand = "a command"
	aQuery   = "a query"
)

// interprets names what an argument is read as, going by the last word of its name.
func interprets(path string) string {
	last := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	last = last[strings.LastIndexAny(last, "_-")+1:]
	switch last {
	case "command", "cmd", "commandline", "script", "code", "shell", "exec", "program", "expression":
		return aCommand
	case "sql", "query", "statement", "filter", "aggregate", "pipeline":
		return aQuery
	}
	return ""
}

func privileges(rule policy.Rule, loose []param, paths bool) []string {
	commands := slices.ContainsFunc(loose, func(p param) bool { return strings.HasPrefix(p.Why, aCommand) })
	all := []string{}
	for _, p := range []struct {
		name string
		has  bool
	}{
		{"send", rule.Exfiltrating && !rule.Fetch},
		{"fetch", rule.Fetch},
		{"change", rule.Changing},
		{"irreversible", rule.Irreversible},
		{"read_private", rule.Sensitive},
		{"files", paths || len(rule.WriteParams) > 0},
		{"commands", commands},
	} {
		if p.has {
			all = append(all, p.name)
		}
	}
	return all
}

// visible shows the names in an explanation.
func visible(x *policy.Explanation) {
	x.Tool, x.Server, x.Package = name(x.Tool), name(x.Server), name(x.Package)
	for i := range x.Params {
		x.Params[i].Path = name(x.Params[i].Path)
		for j := range x.Params[i].Roles {
			x.Params[i].Roles[j].Why = name(x.Params[i].Roles[j].Why)
		}
	}
	for i := range x.Traits {
		x.Traits[i].Why = name(x.Traits[i].Why)
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/link"
	"github.com/bouncer-mcp/bouncer/internal/term"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/probe"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// probeFor is how long a server may take to list its tools. Package runners may have to fetch it first.
const probeFor = 30 * time.Second

// probing is one server to be asked for its tools.
type probing struct {
	entry  *doctor.Entry
	server wrap.Server
	spec   link.Spec
}

// probe starts the servers that their clients would start too, and adds what they list to the facts. Nothing stands between
// bouncer and them, and no tool is called.
func (a *app) probe(ctx context.Context, o doctorOptions, facts doctor.Facts, servers map[*doctor.Entry]wrap.Server) error {
	var list []probing
	for i := range facts.Files {
		for j := range facts.Files[i].Entries {
			e := &facts.Files[i].Entries[j]
			s, ok := servers[e]
			if !ok || e.State != wrap.Plain && e.State != wrap.Wrapped && e.State != wrap.Listed {
				continue
			}
			spec, why := a.specOf(s)
			if why != "" {
				e.Probe = &doctor.Probe{Skipped: why}
				continue
			}
			list = append(list, probing{e, s, spec})
		}
	}
	if len(list) == 0 {
		return nil
	}
	if !o.yes {
		if err := a.mayProbe(list); err != nil {
			return err
		}
	}
	for i, p := range list {
		a.progress("Asking server %d of %d for its tools: %s", i+1, len(list), shownName(p.entry.Name))
		p.entry.Probe = a.probeOne(ctx, p)
	}
	a.progress("")
	return nil
}

// mayProbe asks before anything is started.
func (a *app) mayProbe(list []probing) error {
	if !a.interactive {
		return misuse("--yes starts the servers without asking", "there is no terminal to ask for a yes")
	}
	a.printf("Servers that would be started:\n")
	rows := [][]string{{"CLIENT", "SERVER", "STARTS"}}
	for _, p := range list {
		words := append([]string{p.spec.Command}, wrap.MaskArgs(p.server.Args)...)
		rows = append(rows, []string{p.server.File.Client, shownName(p.entry.Name), strings.Join(words, " ")})
	}
	a.printTable("  ", rows, 2)
	yes, err := a.ask("Start them?")
	if err != nil {
		return err
	}
	if !yes {
		return advise(errors.New("nothing was started"))
	}
	return nil
}

// progress writes a line over the last one, where standard error shows that; an empty one clears it.
func (a *app) progress(format string, args ...any) {
	if !a.live {
		return
	}
	line := term.Shorten(oneLine(fmt.Sprintf(format, args...)), lineWidth-1)
	if a.shown > 0 {
		fmt.Fprintf(a.err, "\r%s\r", strings.Repeat(" ", a.shown))
	}
	fmt.Fprint(a.err, line)
	a.shown = term.Width(line)
}

// specOf is the command line that a client would start a server by. why says why it is not started.
func (a *app) specOf(s wrap.Server) (spec link.Spec, why string) {
	switch s.Effect {
	case wrap.Off:
		return spec, "it is switched off"
	case wrap.Pending:
		return spec, "it belongs to a project, and nobody has approved it in its client"
	case wrap.Unsure:
		return spec, "it belongs to a project, and whether its client has approved it can't be told"
	case wrap.Hidden:
		return spec, "an organisation's file stands in its place"
	}
	if s.Scope == clients.Project && s.Effect != wrap.Approved && s.Effect != wrap.Shadowed {
		return spec, "it belongs to a project"
	}
	if s.Effect == wrap.Shadowed {
		return spec, "another server of its name is started in its place"
	}
	if s.Scope == clients.Local && !isFolder(s.Project) {
		return spec, "the folder of its project is not there"
	}
	x := expander{lookup: a.lookupVariable, folder: s.Project, home: a.getenv("HOME")}
	spec = link.Spec{Command: x.expand(s.Command), Env: link.Environ(os.Environ())}
	if s.Scope == clients.Local {
		spec.Dir = s.Project
	}
	for _, arg := range s.Args {
		spec.Args = append(spec.Args, x.expand(arg))
	}
	c, _ := clients.ByID(s.File.Client)
	if path, sure := c.Start.Path(clients.Env{OS: a.goos}); sure {
		spec.Env = append(spec.Env, "PATH="+path)
	}
	for name, value := range s.Env {
		spec.Env = append(spec.Env, name+"="+x.expand(value))
	}
	if x.unknown != "" {
		return spec, "only its client knows what ${" + x.unknown + "} stands for"
	}
	return spec, ""
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func (a *app) lookupVariable(name string) (string, bool) {
	if value := a.getenv(name); value != "" {
		return value, true
	}
	return os.LookupEnv(name)
}

// expander puts in what clients put in before they start a server.
type expander struct {
	lookup  func(string) (string, bool)
	folder  string
	home    string
	unknown string // the first variable that nobody here knows
}

// expand replaces ${NAME}, ${NAME:-default}, ${env:NAME} and the folders that Cursor has names for.
func (x *expander) expand(s string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		name, after, closed := strings.Cut(rest, "}")
		b.WriteString(before)
		if !ok || !closed {
			b.WriteString(s[len(before):])
			return b.String()
		}
		b.WriteString(x.value(name))
		s = after
	}
}

func (x *expander) value(name string) string {
	variable, fallback, hasFallback := strings.Cut(name, ":-")
	value, set := x.lookup(strings.TrimPrefix(variable, "env:"))
	switch {
	case set:
		return value
	case hasFallback:
		return fallback
	case name == "userHome" && x.home != "":
		return x.home
	case name == "workspaceFolder" && x.folder != "":
		return x.folder
	case name == "pathSeparator" || name == "/":
		return string(os.PathSeparator)
	}
	if x.unknown == "" {
		x.unknown = name
	}
	return ""
}

// probeOne asks one server, and says what the rules make of its tools.
func (a *app) probeOne(ctx context.Context, p probing) *doctor.Probe {
	set, err := a.policyFor(p.entry.Entry, p.spec)
	if err != nil { // told once, as a finding about the file
		return &doctor.Probe{Skipped: "it does not start under a policy that does not load"}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, probeFor, fmt.Errorf("none within %s", probeFor))
	defer cancel()
	tools, err := probe.Tools(ctx, p.spec)
	if err != nil {
		return &doctor.Probe{Err: err}
	}
	result := &doctor.Probe{}
	for _, tool := range tools {
		rule := set.Resolve(tool)
		result.Tools = append(result.Tools, toolOf(tool, rule))
		result.Loose = append(result.Loose, loose(tool, rule)...)
	}
	return result
}

// policyFor is what `bouncer run` would judge a server's calls by, if it is started by this command line.
func (a *app) policyFor(e wrap.Entry, spec link.Spec) (*policy.Set, error) {
	own, err := policyOf(e.Home)
	if e.Home == "" {
		var at places
		at, err = a.places()
		own = at.Policy
	}
	if err != nil {
		return nil, err
	}
	set, err := loadPolicies(e.Policies, own)
	if err != nil {
		return nil, err
	}
	set, _ = engine.Bind(set, policy.Server{Name: e.Name, Package: packageOf(commandLine(spec))}, e.Profile)
	return set, nil
}

func toolOf(tool policy.Tool, rule policy.Rule) doctor.Tool {
	t := doctor.Tool{Name: tool.Name, Sink: rule.Exfiltrating, Params: []string{}, Sources: append([]string{}, rule.Layers...)}
	if rule.Exfiltrating {
		t.Params = append(t.Params, rule.SinkParams...)
	}
	if rule.Limited {
		t.Limit = &rule.MaxCalls
	}
	return t
}

// loose lists the parameters that name and schema make look like destinations and that a declared rule leaves out. A rule
// without any is judged by all arguments, and leaves nothing out unless it switches the gate off.
func loose(tool policy.Tool, rule policy.Rule) []doctor.Loose {
	if rule.Exfiltrating && len(rule.SinkParams) == 0 || len(rule.Layers) == 0 {
		return nil
	}
	var list []doctor.Loose
	for _, param := range policy.Infer(tool).SinkParams {
		declared := slices.ContainsFunc(rule.SinkParams, func(other string) bool {
			return other == param || strings.HasPrefix(param, other+".") || strings.HasPrefix(other, param+".")
		})
		if !rule.Exfiltrating || !declared {
			list = append(list, doctor.Loose{Tool: tool.Name, Param: param, Source: rule.Layers[0]})
		}
	}
	return list
}

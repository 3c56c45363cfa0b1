package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/link"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/probe"
	"github.com/bouncer-mcp/bouncer/replay"
	"github.com/bouncer-mcp/bouncer/serve"
	"github.com/bouncer-mcp/bouncer/session"
)

type explainOptions struct {
	tool     string // empty for all of them
	server   string
	policies []string
	profile  string
	tools    string
	probe    bool
	yes      bool
	argv     []string
	asJSON   bool
}

func newPolicyExplainCmd(a *app) *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain [TOOL] [--server NAME] [--tools FILE | --probe | -- COMMAND [ARG]...]",
		Short: "Say what bouncer makes of a tool, and why",
		Long: `explain says what TOOL is under your policy, which of its arguments are destinations,
objects or paths, and for each of that, why. Without TOOL it lists all tools of a server.

The tool's definition is the one that bouncer has recorded of the server NAME, the one in
FILE, a saved answer to tools/list, or what the server answers that COMMAND starts. With
--probe the server NAME is started as its client would start it. No tool is called.
Without any of these only the name is known, and the schema decides much.
` + codes(exitDone, exitFailed, exitMisused),
		RunE: func(cmd *cobra.Command, args []string) error {
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				args, o.argv = args[:dash], args[dash:]
			}
			if len(args) > 1 {
				return misuse("put a server's command behind --", "explain takes one tool, not %d", len(args))
			}
			if len(args) == 1 {
				o.tool = args[0]
			}
			return a.policyExplain(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.server, "server", "", "`NAME` of the server in your clients' configs")
	f.StringArrayVar(&o.policies, "policy", nil, "policy `FILE` above your own; may be repeated, the first is the highest")
	f.StringVar(&o.profile, "profile", "", "`PROFILE` of the decisions: "+choices()+"; default: the policy's, or else balanced")
	f.StringVar(&o.tools, "tools", "", "read what the server lists from `FILE`, a saved answer to tools/list")
	f.BoolVar(&o.probe, "probe", false, "start the server NAME and list its tools, after asking")
	f.BoolVar(&o.yes, "yes", false, "with --probe: don't ask")
	f.BoolVar(&o.asJSON, "json", false, "print JSON instead of text")
	return cmd
}

func (o explainOptions) check() error {
	sources := 0
	for _, given := range []bool{o.tools != "", o.probe, len(o.argv) > 0} {
		if given {
			sources++
		}
	}
	switch {
	case sources > 1:
		return misuse("", "the tools come from one place: --tools, --probe or the command behind --")
	case o.probe && o.server == "":
		return misuse("--server=NAME names it", "--probe needs to know which server to start")
	case o.yes && !o.probe:
		return misuse("", "--yes makes sense with --probe only")
	case o.probe && o.asJSON && !o.yes:
		return misuse("--yes goes on without asking", "a report for programs can't ask for a yes")
	case o.tool == "" && o.server == "" && sources == 0:
		return misuse("bouncer policy explain --server=NAME lists the tools of a server", "explain needs the name of a tool or a server")
	}
	return checkProfile(o.profile)
}

// explained is a server and where its tools are known from.
type explained struct {
	replay.Server
	name  string   // that policies know it by; empty for the one of --server
	from  string   // recorded, listed, started or name
	entry *probing // that a client's config has for it; nil when none is known
}

// explainReport is what explain prints with --json. The names are a promise: fields are added, never renamed.
type explainReport struct {
	Definitions string               `json:"definitions"` // where they are from: recorded, listed, started or name
	Tools       []policy.Explanation `json:"tools"`
}

func (a *app) policyExplain(ctx context.Context, o explainOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	at, err := a.places()
	if err != nil {
		return err
	}
	s, err := a.explainable(ctx, o, at)
	if err != nil {
		return err
	}
	set, err := a.policyExplained(o, s, at)
	if err != nil {
		return err
	}
	report := explainReport{Definitions: s.from, Tools: []policy.Explanation{}}
	for _, t := range s.Tools {
		if o.tool == "" || t.Name == o.tool {
			report.Tools = append(report.Tools, policy.Explain(set, t))
		}
	}
	switch {
	case len(report.Tools) == 0 && o.tool != "":
		return advise(fmt.Errorf("no tool is named %q", o.tool), toolsOf(s.Tools), "without a name, explain lists them with what they are")
	case o.asJSON:
		return a.printJSON(report)
	case o.tool == "":
		a.printExplained(report.Tools)
		return nil
	}
	a.printf("%s", report.Tools[0])
	if s.from == "name" {
		a.printFilled("", "Only the name is known. --server=NAME, --tools=FILE or the server's command behind -- tells the rest.")
	}
	return nil
}

// toolsOf names the tools of a server for whoever has mistyped one.
func toolsOf(tools []policy.Tool) string {
	const most = 20
	var names []string
	for _, t := range tools[:min(len(tools), most)] {
		names = append(names, t.Name)
	}
	if len(tools) > most {
		names = append(names, fmt.Sprintf("and %d more", len(tools)-most))
	}
	return "tools found: " + list(names)
}

// policyExplained is what the calls of a server are judged by: the flags of its entry count unless the command line has its own.
func (a *app) policyExplained(o explainOptions, s explained, at places) (*policy.Set, error) {
	if s.entry != nil && len(o.policies) == 0 && o.profile == "" {
		return a.policyFor(s.entry.entry.Entry, s.entry.spec)
	}
	set, err := loadPolicies(o.policies, at.Policy)
	if err != nil {
		return nil, err
	}
	set, _ = engine.Bind(set, policy.Server{Name: cmp.Or(s.name, o.server), Package: s.Package}, o.profile)
	return set, nil
}

// explainable finds the definitions to be explained.
func (a *app) explainable(ctx context.Context, o explainOptions, at places) (explained, error) {
	switch {
	case len(o.argv) > 0:
		return start(ctx, link.Spec{Command: o.argv[0], Args: o.argv[1:], Env: link.Environ(os.Environ())})
	case o.tools != "":
		l, err := readListing(o.tools)
		return explained{Server: replay.Server{Package: l.Package, Tools: l.Tools}, from: "listed"}, err
	case o.probe:
		return a.probeNamed(ctx, o)
	case o.server != "":
		if _, err := a.kept(); err != nil {
			return explained{}, err
		}
		known, err := recorded(at.State)
		if err != nil {
			return explained{}, err
		}
		name, found := o.server, known[o.server]
		if of := session.Name(o.server); len(found) == 0 { // it may be an identity, which tells servers of one name apart
			found = slices.DeleteFunc(known[of], func(s replay.Server) bool { return s.Package+"#"+of != o.server })
			name = of
		}
		switch found = a.current(name, found); len(found) {
		case 0:
			hints := []string{"--probe starts it and lists its tools"}
			if len(known) > 0 {
				hints = append(hints, "recorded: "+list(slices.Sorted(maps.Keys(known))))
			}
			return explained{}, advise(fmt.Errorf("nothing is recorded of a server %q", o.server), hints...)
		case 1:
			s := explained{Server: found[0], from: "recorded"}
			if entries, _, err := a.entriesOf(name); err == nil && len(entries) == 1 && packageOf(entries[0].argv()) == s.Package {
				s.entry = &entries[0]
			}
			s.name = name
			return s, nil
		default:
			var all []string
			for _, s := range found {
				all = append(all, s.Package+"#"+name)
			}
			return explained{}, misuse("--server takes one of them: "+list(all), "%d servers named %q are recorded", len(found), o.server)
		}
	}
	return explained{Server: replay.Server{Tools: []policy.Tool{{Name: o.tool}}}, from: "name"}, nil
}

// start asks a server for its tools.
func start(ctx context.Context, spec link.Spec) (explained, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, probeFor, fmt.Errorf("none within %s", probeFor))
	defer cancel()
	tools, err := probe.Tools(ctx, spec)
	if err != nil {
		return explained{}, fmt.Errorf("%s did not list its tools: %w", spec.Command, err)
	}
	return explained{Server: replay.Server{Package: packageOf(commandLine(spec)), Tools: tools}, from: "started"}, nil
}

func commandLine(spec link.Spec) []string { return append([]string{spec.Command}, spec.Args...) }

func (p probing) argv() []string { return commandLine(p.spec) }

// current narrows recorded servers of one name down to the one that a client's config starts now, if that leaves one.
func (a *app) current(name string, found []replay.Server) []replay.Server {
	if len(found) < 2 {
		return found
	}
	servers, err := a.servable()
	if err != nil {
		return found // doctor tells why the configs can't be read
	}
	return serve.Current(name, found, servers)
}

// entriesOf finds the servers of a name in the clients' configs, each command line once. why says why others can't be started.
func (a *app) entriesOf(name string) (found []probing, why string, err error) {
	facts, servers, err := a.gather(selection{})
	if err != nil {
		return nil, "", err
	}
	why = "no client has it"
	for i := range facts.Files {
		for j := range facts.Files[i].Entries {
			e := &facts.Files[i].Entries[j]
			s, ok := servers[e]
			if !ok || e.Name != name || e.Command == "" {
				continue
			}
			spec, skipped := a.specOf(s)
			if skipped != "" {
				why = skipped
				continue
			}
			p := probing{e, s, spec}
			if !slices.ContainsFunc(found, func(o probing) bool { return slices.Equal(o.argv(), p.argv()) }) {
				found = append(found, p)
			}
		}
	}
	return found, why, nil
}

// probeNamed starts the server of a name in the clients' configs.
func (a *app) probeNamed(ctx context.Context, o explainOptions) (explained, error) {
	found, why, err := a.entriesOf(o.server)
	switch {
	case err != nil:
		return explained{}, err
	case len(found) == 0:
		return explained{}, advise(fmt.Errorf("the server %q can't be started: %s", o.server, why), "the command behind -- starts any")
	case len(found) > 1:
		return explained{}, misuse("the command behind -- starts the one that you mean", "several servers are named %q", o.server)
	}
	if !o.yes {
		if err := a.mayProbe(found); err != nil {
			return explained{}, err
		}
	}
	s, err := start(ctx, found[0].spec)
	s.entry = &found[0]
	return s, err
}

// printExplained lists tools with what they are.
func (a *app) printExplained(tools []policy.Explanation) {
	rows := [][]string{{"TOOL", "IS", "DESTINATIONS", "OBJECTS", "RULE"}}
	for _, t := range tools {
		var is []string
		for _, trait := range t.Traits {
			if trait.Is && trait.Name != "untrusted" {
				is = append(is, trait.Name)
			}
		}
		rows = append(rows, []string{
			shownName(t.Tool), orDash(is), orDash(paramsOf(t, "destination")), orDash(paramsOf(t, "object")), orDash(t.Layers),
		})
	}
	a.printTable("", rows, 4, 2, 3)
}

func paramsOf(t policy.Explanation, role string) []string {
	var names []string
	for path := range t.Arguments(role) {
		names = append(names, path)
	}
	return names
}

func orDash(words []string) string {
	if len(words) == 0 {
		return "-"
	}
	return strings.Join(words, ", ")
}

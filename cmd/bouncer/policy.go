package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/replay"
	"github.com/bouncer-mcp/bouncer/session"
)

func newPolicyCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Write a policy of your own: check, explain, test, replay and learn",
		Long: `A policy says what your servers' tools may be called with. These commands only read:
they check a policy, say what becomes of a tool under it, play cases that you have
written down, judge the calls of the audit log again, and learn rules from them.
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPolicyCheckCmd(a), newPolicyExplainCmd(a), newPolicyTestCmd(a), newPolicyReplayCmd(a), newPolicyLearnCmd(a))
	return cmd
}

func newPolicyCheckCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "check [FILE]...",
		Short: "Find what is wrong with a policy, and what is probably not meant",
		Long: `check reads your policy, or the FILEs in its place, the first one being the highest. It
reports every fault with line and column, and warns of what is allowed and probably not
meant: a gate that is switched off, a destination that can never match, a pattern that
matches everything, a tool's argument or a server that does not exist.
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		RunE: func(_ *cobra.Command, files []string) error { return a.policyCheck(files, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	return cmd
}

// policyReport is what check prints with --json. The names are a promise: fields are added, never renamed.
type policyReport struct {
	Files    []policyFile    `json:"files"`
	Problems []policyProblem `json:"problems"`
}

type policyFile struct {
	File  string `json:"file"`
	Valid bool   `json:"valid"`
	Tools int    `json:"tools"` // entries: names and patterns
}

type policyProblem struct {
	Severity string `json:"severity"` // error or warning
	Code     string `json:"code"`     // invalid, or what kind of warning it is
	File     string `json:"file"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Message  string `json:"message"`
}

func (p policyProblem) String() string {
	return p.Severity + ": " + (&policy.Error{File: p.File, Line: p.Line, Col: p.Column, Msg: p.Message}).Error()
}

func (a *app) policyCheck(files []string, asJSON bool) error {
	at, err := a.places()
	if err != nil {
		return err
	}
	if len(files) == 0 {
		if !exists(at.Policy) {
			return advise(fmt.Errorf("there is no policy at %s", at.Policy), "bouncer policy check FILE checks another file")
		}
		files = []string{at.Policy}
	}
	report, layers := policyReport{Files: []policyFile{}, Problems: []policyProblem{}}, []*policy.Layer(nil)
	for _, file := range files {
		layer, err := readPolicy(file)
		faults := faultsOf(err)
		if err != nil && faults == nil {
			return err
		}
		f := policyFile{File: file, Valid: err == nil}
		if layer != nil {
			f.Tools = len(layer.Tools())
			layers = append(layers, layer)
		}
		for _, e := range faults {
			report.Problems = append(report.Problems, policyProblem{"error", "invalid", e.File, e.Line, e.Col, e.Msg})
		}
		report.Files = append(report.Files, f)
	}
	known, err := recorded(at.State)
	if err != nil {
		return err
	}
	for _, w := range warnings(layers, known) {
		report.Problems = append(report.Problems, policyProblem{"warning", w.Code, w.File, w.Line, w.Col, w.Msg})
	}
	if asJSON {
		if err := a.printJSON(report); err != nil {
			return err
		}
	} else {
		a.printCheck(report)
	}
	return quietly(exitIf(len(report.Problems) > 0, exitFound))
}

// warnings gathers all there are about layers, which the packs lie below. known are the servers that bouncer has met.
func warnings(layers []*policy.Layer, known map[string][]replay.Server) []policy.Warning {
	all := policy.Check(slices.Concat(layers, packs.All())...)
	var names []string
	var tools []policy.Tool
	set := policy.NewSet(layers...)
	for name, servers := range known {
		names = append(names, name)
		for _, s := range servers {
			tools = append(tools, s.Tools...)
			all = append(all, policy.CheckTools(set.For(policy.Server{Name: name, Package: s.Package}), s.Tools)...)
		}
	}
	slices.Sort(names)
	all = append(all, policy.CheckServers(names, layers...)...)
	for _, miss := range set.NearMisses(tools) {
		all = append(all, policy.Warning{File: miss.File, Line: miss.Line, Col: miss.Col, Code: "unknown_tool", Msg: miss.Msg})
	}
	order := func(w policy.Warning) int {
		return slices.IndexFunc(layers, func(l *policy.Layer) bool { return l.Name == w.File })
	}
	slices.SortFunc(all, func(a, b policy.Warning) int {
		if c := slices.Compare([]int{order(a), a.Line, a.Col}, []int{order(b), b.Line, b.Col}); c != 0 {
			return c
		}
		return strings.Compare(a.Msg, b.Msg)
	})
	return slices.Compact(all)
}

// faultsOf returns the faults of a policy file that does not parse.
func faultsOf(err error) []*policy.Error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []*policy.Error
		for _, e := range joined.Unwrap() {
			all = append(all, faultsOf(e)...)
		}
		return all
	}
	if fault, ok := errors.AsType[*policy.Error](err); ok {
		return []*policy.Error{fault}
	}
	return nil
}

func (a *app) printCheck(r policyReport) {
	for _, p := range r.Problems {
		a.printf("%s\n", p)
	}
	for _, f := range r.Files {
		if !slices.ContainsFunc(r.Problems, func(p policyProblem) bool { return p.File == f.File }) {
			a.printf("ok: %s: %s\n", f.File, counted(f.Tools, "tool"))
		}
	}
}

// recorded returns the servers that bouncer has met, by name, with their tools as they were last accepted. A record that can't be
// read is left out: `bouncer pins list` names it.
func recorded(state string) (map[string][]replay.Server, error) {
	store := session.Open(state)
	list, err := store.List()
	if err != nil {
		return nil, err
	}
	known := map[string][]replay.Server{}
	for _, s := range list {
		if s.Err != nil {
			continue
		}
		server, err := recordedServer(store, s.Identity)
		if err != nil {
			return nil, err
		}
		name := session.Name(s.Identity)
		known[name] = append(known[name], server)
	}
	return known, nil
}

func recordedServer(store *session.Store, identity string) (replay.Server, error) {
	program, _, _ := strings.Cut(identity, "#")
	definitions, err := store.Server(identity).Definitions()
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return replay.Server{}, err
	}
	text := []byte(`{"tools":[`)
	for _, name := range slices.Sorted(maps.Keys(definitions)) {
		if len(text) > len(`{"tools":[`) {
			text = append(text, ',')
		}
		text = append(text, definitions[name]...)
	}
	l, err := packs.ReadListing(append(text, "]}"...))
	if err != nil {
		return replay.Server{}, fmt.Errorf("the recorded tools of %s: %w", identity, err)
	}
	return replay.Server{Package: program, Tools: l.Tools}, nil
}

// packageOf is what a command line starts, as policies name it.
func packageOf(argv []string) string {
	program, _, _ := strings.Cut(session.Identity("", argv), "#")
	return program
}

// readListing reads a saved answer to tools/list.
func readListing(file string) (packs.Listing, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return packs.Listing{}, err
	}
	l, err := packs.ReadListing(text)
	if err != nil {
		return packs.Listing{}, fmt.Errorf("%s: %w", file, err)
	}
	return l, nil
}

// beside is a path that a file names, which is relative to that file.
func beside(file, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
}

// placeOf names where in a file something stands.
func placeOf(file string, line int) string { return file + ":" + strconv.Itoa(line) }

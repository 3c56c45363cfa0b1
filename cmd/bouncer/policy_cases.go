package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/replay"
)

type casesOptions struct {
	policies []string
	profile  string
	asJSON   bool
}

func newPolicyTestCmd(a *app) *cobra.Command {
	var o casesOptions
	cmd := &cobra.Command{
		Use:   "test FILE...",
		Short: "Play cases: what a session has seen, what is called, what must become of it",
		Long: `test plays the cases in each FILE (YAML) and compares the verdicts with those that they
expect. The policy is your own, or the one that FILE names; the packs lie below it.
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		RunE: func(_ *cobra.Command, files []string) error {
			if len(files) == 0 {
				return misuse("docs/policy-tools.md shows how cases are written", "test needs a file of cases")
			}
			if err := checkProfile(o.profile); err != nil {
				return err
			}
			return a.policyTest(files, o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.policies, "policy", nil, "policy `FILE` above the others; may be repeated, the first is the highest")
	f.StringVar(&o.profile, "profile", "", "`PROFILE` of the decisions, in the place of the cases': "+choices())
	f.BoolVar(&o.asJSON, "json", false, "print JSON instead of text")
	return cmd
}

// casesReport is what test prints with --json. The names are a promise: fields are added, never renamed.
type casesReport struct {
	Passed int         `json:"passed"`
	Failed int         `json:"failed"`
	Calls  []caseCalls `json:"calls"`
}

type caseCalls struct {
	File     string `json:"file"`
	Line     int    `json:"line"`
	Case     string `json:"case"`
	Tool     string `json:"tool"`
	OK       bool   `json:"ok"`
	Got      string `json:"got"`
	Want     string `json:"want"`
	Because  string `json:"because,omitempty"` // what the reason had to hold
	Contract string `json:"contract"`
	Reason   string `json:"reason,omitempty"`
}

func (a *app) policyTest(files []string, o casesOptions) error {
	report := casesReport{Calls: []caseCalls{}}
	for _, file := range files {
		calls, err := a.playFile(file, o)
		if err != nil {
			return err
		}
		failed := 0
		for _, c := range calls {
			if c.OK {
				continue
			}
			failed++
			if !o.asJSON {
				a.printFailed(c)
			}
		}
		report.Passed, report.Failed = report.Passed+len(calls)-failed, report.Failed+failed
		report.Calls = append(report.Calls, calls...)
		switch {
		case o.asJSON:
		case failed > 0:
			a.printf("FAIL  %s  %d of %s\n", file, failed, counted(len(calls), "call"))
		default:
			a.printf("ok    %s  %s\n", file, counted(len(calls), "call"))
		}
	}
	if o.asJSON {
		if err := a.printJSON(report); err != nil {
			return err
		}
	}
	return quietly(exitIf(report.Failed > 0, exitFound))
}

func (a *app) printFailed(c caseCalls) {
	a.printf("--- FAIL: %s (%s)\n", c.Case, placeOf(c.File, c.Line))
	a.printf("    %s: got %s, want %s\n", shownName(c.Tool), c.Got, c.Want)
	switch {
	case c.Got == c.Want:
		a.printFilled("    ", fmt.Sprintf("the reason does not hold %q: %s", c.Because, c.Reason))
	case c.Reason != "":
		a.printFilled("    ", c.Contract+": "+c.Reason)
	}
}

// playFile plays the cases of one file.
func (a *app) playFile(file string, o casesOptions) ([]caseCalls, error) {
	data, err := readBounded(file)
	if err != nil {
		return nil, err
	}
	cases, err := policy.ParseCases(file, data)
	if err != nil {
		return nil, err
	}
	set, err := a.policyOfCases(file, cases, o)
	if err != nil {
		return nil, err
	}
	paths, err := a.paths()
	if err != nil {
		return nil, err
	}
	var all []caseCalls
	for _, c := range cases.Cases {
		server := replay.Server{Tools: c.Tools.Inline}
		if c.Tools.File != "" {
			l, err := readListing(beside(file, c.Tools.File))
			if err != nil {
				return nil, err
			}
			server = replay.Server{Package: l.Package, Tools: l.Tools}
		}
		outcomes, err := replay.Play(c, replay.Setting{Policy: set, Profile: o.profile, Server: server, Paths: paths})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", placeOf(file, c.Line), err)
		}
		for _, out := range outcomes {
			all = append(all, caseCalls{
				File: file, Line: out.Line, Case: c.Name, Tool: out.Tool, OK: out.OK(),
				Got: out.Got.Action.String(), Want: out.Want, Because: out.Because, Contract: out.Got.Contract, Reason: out.Got.Reason,
			})
		}
	}
	return all, nil
}

// policyOfCases is what the cases of a file are played under.
func (a *app) policyOfCases(file string, cases *policy.Cases, o casesOptions) (*policy.Set, error) {
	if cases.Policies == nil {
		at, err := a.places()
		if err != nil {
			return nil, err
		}
		return loadPolicies(o.policies, at.Policy)
	}
	files := o.policies
	for _, p := range cases.Policies {
		files = append(files[:len(files):len(files)], beside(file, p))
	}
	return inThePlaceOf(files)
}

// inThePlaceOf layers policy files over the packs, without the person's own.
func inThePlaceOf(files []string) (*policy.Set, error) {
	var layers []*policy.Layer
	for _, file := range files {
		layer, err := readPolicy(file)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	return policy.NewSet(append(layers, packs.All()...)...), nil
}

// readBounded reads a file that is not larger than a policy may be, and one byte more, which is enough to refuse it.
func readBounded(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, policy.MaxSize+1))
}

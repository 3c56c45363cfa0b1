package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/wrap"
)

func newSelfCheckCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "self-check",
		Short: "Sum up this installation for a bug report",
		Long: `self-check says which bouncer this is, where its files are, how many servers of which
clients start through it, and which of doctor's findings there are. It names no server,
no command and no value, and writes ~ for your home, so that its output may be shown to
others.
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.selfCheck(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of text")
	return cmd
}

// selfReport is what self-check prints with --json. The names are a promise: fields are added, never renamed.
type selfReport struct {
	Build    build          `json:"build"`
	Program  string         `json:"program"`  // the running executable
	Launcher string         `json:"launcher"` // what configs start it by; empty when it has no path that lasts
	State    string         `json:"state"`
	Backups  int            `json:"backups"`
	Policy   policyStatus   `json:"policy"`
	Audit    auditStanding  `json:"audit"`
	Clients  []clientCounts `json:"clients"`
	Findings []codeCount    `json:"findings"`
	Trouble  string         `json:"trouble,omitempty"` // what kept it from looking at the rest
}

// auditStanding is what verifying the audit log has found.
type auditStanding struct {
	Records uint64 `json:"records"`
	Whole   bool   `json:"whole"` // nothing in it was altered or cut, as far as that can be told
}

// clientCounts says how many servers of a client there are in files that bouncer edits.
type clientCounts struct {
	Client  string `json:"client"`
	Configs int    `json:"configs"`
	Servers int    `json:"servers"`
	Wrapped int    `json:"wrapped"`
	Remote  int    `json:"remote"`
	Hook    bool   `json:"hook"` // it tells bouncer what the person types
}

// codeCount says how often doctor found something.
type codeCount struct {
	Code     string          `json:"code"`
	Severity doctor.Severity `json:"severity"`
	Count    int             `json:"count"`
}

func (a *app) selfCheck(asJSON bool) error {
	r, err := a.selfReport()
	if err != nil {
		r.Trouble = tilde(err.Error())
	}
	if asJSON {
		if err := a.printJSON(r); err != nil {
			return err
		}
	} else {
		a.printSelfReport(r)
	}
	if err != nil {
		return quietly(exitFailed)
	}
	wrong := func(c codeCount) bool { return c.Severity != doctor.Info }
	return quietly(exitIf(slices.ContainsFunc(r.Findings, wrong), exitFound))
}

// selfReport sums up. What it has found out before an error is in the report.
func (a *app) selfReport() (selfReport, error) {
	r := selfReport{Build: thisBuild(), Clients: []clientCounts{}, Findings: []codeCount{}}
	if self, err := os.Executable(); err == nil {
		r.Program = tilde(self)
	}
	p, err := a.places()
	if err != nil {
		return r, err
	}
	r.State, r.Policy = tilde(p.State), policyStatus{Path: tilde(p.Policy), There: exists(p.Policy)}
	facts, _, err := a.gather(selection{})
	if err != nil {
		return r, err
	}
	r.Launcher, r.Backups = tilde(facts.Launcher), facts.State.Generations
	r.Audit = auditStanding{facts.Audit.Report.Records, facts.Audit.Err == nil && facts.Audit.Report.Fault == nil}
	for _, c := range facts.Clients {
		r.Clients = append(r.Clients, countsOf(facts, c.ID))
	}
	for _, f := range doctor.Diagnose(facts) {
		same := func(c codeCount) bool { return c.Code == f.Code && c.Severity == f.Severity }
		i := slices.IndexFunc(r.Findings, same)
		if i < 0 {
			i = len(r.Findings)
			r.Findings = append(r.Findings, codeCount{Code: f.Code, Severity: f.Severity})
		}
		r.Findings[i].Count++
	}
	return r, nil
}

func countsOf(facts doctor.Facts, id string) clientCounts {
	c := clientCounts{Client: id}
	for _, file := range facts.Files {
		if file.Client != id && !slices.Contains(file.Also, id) || file.Bare {
			continue
		}
		c.Configs++
		for _, e := range file.Entries {
			c.Servers++
			switch e.State {
			case wrap.Wrapped:
				c.Wrapped++
			case wrap.Remote:
				c.Remote++
			}
		}
	}
	c.Hook = slices.ContainsFunc(facts.Hooks, func(h doctor.Hook) bool { return h.Client.ID == id && h.State == wrap.Wrapped })
	return c
}

func (a *app) printSelfReport(r selfReport) {
	fmt.Fprint(a.out, r.Build.line())
	there := ""
	if !r.Policy.There {
		there = " (not there)"
	}
	standing := "whole"
	if !r.Audit.Whole {
		standing = "not whole"
	}
	rows := [][]string{{"commit", r.Build.Commit}, {"program", r.Program}, {"launcher", r.Launcher}, {"state", r.State}, {"policy", r.Policy.Path + there}}
	if r.Trouble == "" {
		rows = append(rows,
			[]string{"backups", counted(r.Backups, "generation")},
			[]string{"audit log", fmt.Sprintf("%s, %s", counted(int(r.Audit.Records), "record"), standing)})
	}
	for _, row := range rows {
		if row[1] == "" {
			row[1] = "none"
		}
	}
	a.printTable("", rows)
	if r.Trouble != "" {
		a.printf("\nThe rest is unknown: %s\n", r.Trouble)
		return
	}
	a.printf("\n")
	if len(r.Clients) > 0 {
		a.printClientCounts(r.Clients)
	}
	findings := [][]string{{"SEVERITY", "FINDING", "COUNT"}}
	for _, c := range r.Findings {
		findings = append(findings, []string{string(c.Severity), c.Code, fmt.Sprint(c.Count)})
	}
	a.printTable("", findings)
	a.printf("\nbouncer doctor says more about each finding.\n")
}

func (a *app) printClientCounts(list []clientCounts) {
	rows := [][]string{{"CLIENT", "CONFIGS", "SERVERS", "THROUGH BOUNCER", "REMOTE", "HOOK"}}
	for _, c := range list {
		hook := "-"
		if client, _ := clients.ByID(c.Client); client.Hook.Event != "" {
			hook = "no"
		}
		if c.Hook {
			hook = "yes"
		}
		rows = append(rows, []string{c.Client, fmt.Sprint(c.Configs), fmt.Sprint(c.Servers), fmt.Sprint(c.Wrapped), fmt.Sprint(c.Remote), hook})
	}
	a.printTable("", rows)
	a.printf("\n")
}

// tilde writes the person's home as ~ wherever it stands in a text.
func tilde(text string) string {
	home, err := systemHome()
	if err != nil || filepath.Dir(home) == home {
		return text
	}
	return strings.ReplaceAll(text, home, "~")
}

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/term"
	"github.com/bouncer-mcp/bouncer/wrap"
)

type statusOptions struct {
	selection
	json bool
}

func newStatusCmd(a *app) *cobra.Command {
	var o statusOptions
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show which servers start through bouncer",
		Long: `status lists the servers in your clients' configs: which of them start through
bouncer, and the policies that their calls are judged by.
` + codes(exitDone, exitFailed, exitMisused),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.status(o) },
	}
	o.clientFlag(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON instead of a table")
	return cmd
}

// statusReport is what status prints with --json. The names are a promise: fields are added, never renamed.
type statusReport struct {
	Servers []serverStatus `json:"servers"`
	Errors  []errorReport  `json:"errors"`
}

type serverStatus struct {
	Client    string        `json:"client"`
	Scope     clients.Scope `json:"scope"`
	Project   string        `json:"project"` // the folder the server belongs to, or empty
	Path      string        `json:"path"`
	Name      string        `json:"name"`
	Transport string        `json:"transport"` // stdio, remote, or empty for an invalid entry
	State     wrap.State    `json:"state"`
	Reason    string        `json:"reason"`
	Policies  []string      `json:"policies"` // files, highest first; empty for a server that bouncer does not judge
	Profile   string        `json:"profile"`
}

func (a *app) status(o statusOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	found, err := a.find(o.selection)
	if err != nil {
		return err
	}
	own, err := a.ownPolicy()
	if err != nil {
		return err
	}
	report := statusReport{Servers: []serverStatus{}}
	refused := faults(found)
	for _, f := range append(found.Files, found.Managed...) {
		entries, err := wrap.Entries(f, known()...)
		if err != nil {
			refused = append(refused, err)
			continue
		}
		for _, e := range entries {
			report.Servers = append(report.Servers, describe(f, e, own))
		}
	}
	if o.json {
		report.Errors = reportErrors(refused)
		if err := a.printJSON(report); err != nil {
			return err
		}
		return quietly(exitIf(len(refused) > 0, exitFailed))
	}
	if len(report.Servers) > 0 {
		a.printTable("", a.statusRows(report.Servers))
	} else {
		a.printf("No servers found.\n")
	}
	return errors.Join(refused...)
}

// ownPolicy is the user's policy file, or empty when there is none.
func (a *app) ownPolicy() (string, error) {
	p, err := a.places()
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(p.Policy); err != nil {
		return "", nil // doctor tells why a policy that exists does not load
	}
	return p.Policy, nil
}

func describe(f wrap.File, e wrap.Entry, own string) serverStatus {
	s := serverStatus{
		Client: f.Client, Scope: e.Scope, Project: project(f, e), Path: f.Path,
		Name: e.Name, State: e.State, Reason: e.Reason, Policies: []string{}, Profile: e.Profile,
	}
	switch {
	case e.URL != "":
		s.Transport = "remote"
	case e.Command != "":
		s.Transport = "stdio"
	}
	if e.State == wrap.Wrapped {
		s.Policies = append(s.Policies, e.Policies...)
		if own != "" {
			s.Policies = append(s.Policies, own)
		}
	}
	return s
}

func (a *app) statusRows(servers []serverStatus) [][]string {
	rows := [][]string{{"CLIENT", "SCOPE", "SERVER", "TRANSPORT", "STATE", "POLICY"}}
	for _, s := range servers {
		scope := string(s.Scope)
		if s.Project != "" {
			scope += " " + shorten(s.Project)
		}
		rows = append(rows, []string{s.Client, scope, s.Name, s.Transport, stateWords(s.State), policyWords(s)})
	}
	return rows
}

// stateWords says how an entry stands in words that need no manual.
func stateWords(s wrap.State) string {
	switch s {
	case wrap.Wrapped:
		return "through bouncer"
	case wrap.Plain:
		return "direct"
	case wrap.Remote:
		return "direct, remote"
	case wrap.Stale:
		return "direct, stale record"
	case wrap.Own:
		return "bouncer itself"
	}
	return string(s)
}

// policyWords names the layers above the built-in rules, highest first.
func policyWords(s serverStatus) string {
	if s.State != wrap.Wrapped {
		return "-"
	}
	var words []string
	for _, path := range s.Policies {
		words = append(words, filepath.Base(path))
	}
	words = append(words, "built-in")
	if s.Profile != "" {
		words = append(words, s.Profile)
	}
	return strings.Join(words, " + ")
}

// shorten keeps the end of a path, which tells projects apart, so that a table stays narrow.
func shorten(path string) string {
	const enough = 20
	runes := []rune(term.Visible(path))
	if len(runes) <= enough {
		return string(runes)
	}
	return "..." + string(runes[len(runes)-enough+3:])
}

package main

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/clients"
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
		Long: `status lists the servers in your clients' configs, and those that their plugins, agents
and extensions bring along: which of them start through bouncer, and the policies that
their calls are judged by. A server that can't start, because bouncer is missing or a
policy does not load, is shown as such; bouncer doctor says how to mend it.
` + codes(exitDone, exitFailed, exitMisused),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.status(o) },
	}
	o.placeFlags(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON instead of a table")
	return cmd
}

// statusReport is what status prints with --json. The names are a promise: fields are added, never renamed.
type statusReport struct {
	Servers []serverStatus `json:"servers"`
	Hooks   []hookStatus   `json:"hooks"` // commands by which clients tell bouncer what the person types
	Policy  policyStatus   `json:"policy"`
	Errors  []errorReport  `json:"errors"`
}

// policyStatus is the user's own policy file, or where one would be looked for.
type policyStatus struct {
	Path  string `json:"path"`
	There bool   `json:"there"`
	Fault string `json:"fault,omitempty"` // why it does not load
}

type serverStatus struct {
	Client    string        `json:"client"`
	Also      []string      `json:"also,omitempty"`  // other clients that read this very file
	Scope     clients.Scope `json:"scope"`           // or plugin, agent, extension, organisation
	Owner     string        `json:"owner,omitempty"` // the plugin, agent or extension
	Project   string        `json:"project"`         // the folder the server belongs to, or empty
	Path      string        `json:"path"`
	Name      string        `json:"name"`
	Transport string        `json:"transport"` // stdio, remote, or empty for an invalid entry
	State     wrap.State    `json:"state"`
	Reason    string        `json:"reason"`
	Effect    wrap.Effect   `json:"effect"`       // whether the client starts it here: empty for yes
	By        string        `json:"by,omitempty"` // the file with what it starts instead
	Aside     bool          `json:"aside"`        // left alone, as init --skip was told
	Policies  []string      `json:"policies"`     // files, highest first; empty for a server that bouncer does not judge
	Profile   string        `json:"profile"`
	Observed  bool          `json:"observed"` // nothing is blocked, and the log has what would have been
	Waiting   int           `json:"waiting"`  // changes of its tools that nobody has accepted yet

	Missing    string   `json:"missing,omitempty"`    // the bouncer that it is to start through, when there is none: it does not start
	Unloadable []string `json:"unloadable,omitempty"` // those of its policies that do not load: it does not start

	winner clients.Scope // of By
	pins   string        // the state directory that Waiting is about, when it is not this command's
}

func (a *app) status(o statusOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	report, refused, err := a.survey(o.selection)
	if err != nil {
		return err
	}
	if o.json {
		report.Errors = reportErrors(refused)
		if err := a.printJSON(report); err != nil {
			return err
		}
		return quietly(exitIf(len(refused) > 0, exitFailed))
	}
	if len(report.Servers) > 0 {
		a.printStatus(report.Servers)
	} else {
		a.printf("No servers found.\n")
		for _, file := range o.configs {
			if o.key == nil && exists(file) {
				a.printFilled("", keyless(file))
			}
		}
	}
	a.printNotes(report)
	return errors.Join(refused...)
}

// survey describes every server of a selection. What could not be read is returned beside it.
func (a *app) survey(s selection) (statusReport, []error, error) {
	report := statusReport{Servers: []serverStatus{}, Hooks: []hookStatus{}}
	found, err := a.find(s)
	if err != nil {
		return report, nil, err
	}
	p, err := a.places()
	if err != nil {
		return report, nil, err
	}
	asides, err := wrap.NewStore(p.State).Asides()
	if err != nil {
		return report, nil, err
	}
	report.Policy = policyStatus{Path: p.Policy, There: exists(p.Policy)}
	if report.Policy.There {
		if _, err := readPolicy(p.Policy); err != nil {
			report.Policy.Fault = err.Error()
		}
	}
	programs, err := a.newLookup()
	if err != nil {
		return report, nil, err
	}
	pins, read := pinStores{}, policyFiles{}
	servers, refused := found.Survey(a.known()...)
	for _, server := range servers {
		d, err := describe(server, read)
		if err != nil { // of one server's own home, which is no reason to hide the others
			err = fmt.Errorf("server %q: %w", server.Name, err)
			refused = append(refused, &wrap.FileError{Client: server.File.Client, Path: server.File.Path, Err: err})
		}
		if launcher := server.Launcher; d.State == wrap.Wrapped || server.Serves {
			if p := programs.resolve(launcher, programs.path); p.Missing() {
				d.Missing = launcher
			}
		}
		d.Aside = slices.ContainsFunc(asides, func(a wrap.Aside) bool { return a.Of(server.File, server.Entry) })
		if d.Waiting, d.pins = pins.waiting(server.Entry); d.pins == p.State {
			d.pins = ""
		}
		report.Servers = append(report.Servers, d)
	}
	hooks, faulty := a.hookStates(found, servers)
	report.Hooks, refused = append(report.Hooks, hooks...), append(refused, faulty...)
	env, err := a.clientEnv()
	if err != nil {
		return report, nil, err
	}
	var sources []wrap.Uncovered
	if len(s.configs) == 0 {
		sources = wrap.Sources(env, s.clients...)
	}
	for _, u := range sources {
		if u.Err != nil {
			refused = append(refused, &wrap.FileError{Client: u.Client, Path: u.Path, Err: u.Err})
		}
		for _, e := range u.Entries {
			report.Servers = append(report.Servers, serverStatus{
				Client: u.Client, Scope: clients.Scope(u.Kind), Owner: u.Owner, Path: u.Path, Name: e.Name,
				Transport: transport(e), State: e.State, Reason: e.Reason, Policies: []string{},
			})
		}
	}
	return report, append(faults(found), refused...), nil
}

func describe(server wrap.Server, read policyFiles) (serverStatus, error) {
	e := server.Entry
	s := serverStatus{
		Client: server.File.Client, Also: server.File.Also, Scope: e.Scope, Project: server.Project, Path: server.File.Path,
		Name: e.Name, Transport: transport(e), State: e.State, Reason: e.Reason,
		Effect: server.Effect, By: server.By, winner: server.Winner,
		Policies: []string{}, Profile: e.Profile,
	}
	if e.State != wrap.Wrapped {
		return s, nil
	}
	var err error
	s.Policies, err = policiesOf(e)
	s.Observed = read.observe(e, s.Policies)
	s.Unloadable = read.unloadable(s.Policies)
	return s, err
}

func transport(e wrap.Entry) string {
	switch {
	case e.State == wrap.Remote:
		return "remote"
	case e.Command != "":
		return "stdio"
	}
	return ""
}

// printStatus prints the table for people. Where a server comes from is the folder of its project, or the plugin, agent or
// extension that brings it along; the column is left out when there is nothing in it.
func (a *app) printStatus(servers []serverStatus) {
	const where = 2
	rows := [][]string{{"CLIENT", "SCOPE", "WHERE", "SERVER", "STATE", "POLICY"}}
	somewhere := false
	for _, s := range servers {
		rows = append(rows, []string{
			cmp.Or(strings.Join(append([]string{s.Client}, s.Also...), ", "), "-"), string(s.Scope), s.where(), shownName(s.Name), stateWords(s), policyWords(s),
		})
		somewhere = somewhere || rows[len(rows)-1][where] != ""
	}
	if somewhere {
		a.printTable("", rows, where)
		return
	}
	for i, row := range rows {
		rows[i] = slices.Delete(row, where, where+1)
	}
	a.printTable("", rows)
}

// where is what a server belongs to: a plugin, agent or extension, a project's folder, or a file of no known client.
func (s serverStatus) where() string {
	if s.Client == "" {
		return s.Path
	}
	return cmp.Or(s.Owner, s.Project)
}

// printNotes says what the table has no column for.
func (a *app) printNotes(report statusReport) {
	a.printf("\n")
	for _, s := range report.Servers {
		if s.Waiting > 0 {
			home := ""
			if s.pins != "" {
				home = " --home=" + s.pins
			}
			a.printf("%s has changed its tools, waiting for you: bouncer pins diff %s%s\n", shownName(s.Name), bare(s.Name), home)
		}
	}
	for _, h := range report.Hooks {
		a.printf("%s\n", h.words())
	}
	state := ""
	switch {
	case !report.Policy.There:
		state = " (not there yet)"
	case report.Policy.Fault != "":
		state = " (does not load)"
	}
	a.printf("Your policy: %s%s\n", report.Policy.Path, state)
	if report.Policy.Fault != "" || slices.ContainsFunc(report.Servers, func(s serverStatus) bool { return !s.starts() }) {
		a.printf("bouncer doctor says more.\n")
	}
}

// starts reports whether bouncer is there and runs under the server's policies.
func (s serverStatus) starts() bool { return s.Missing == "" && len(s.Unloadable) == 0 }

// stateWords says how a server stands in words that need no manual.
func stateWords(s serverStatus) string {
	words := string(s.State)
	switch s.State {
	case wrap.Wrapped:
		words = "through bouncer"
		switch {
		case s.Missing == "" && !s.starts():
			words += ", does not start"
		case s.Observed && s.starts():
			words += ", only observed"
		}
	case wrap.Plain, wrap.Listed:
		words = "direct"
	case wrap.Remote:
		words = "direct, remote"
	case wrap.Stale:
		words = "direct, stale record"
	case wrap.Own:
		words = "bouncer itself"
	}
	if s.Missing != "" {
		words += ", which is missing"
	}
	if s.Aside {
		words += ", left alone"
	}
	switch s.Effect {
	case wrap.Off:
		words += ", off"
	case wrap.Pending:
		words += ", not approved"
	case wrap.Hidden:
		words += ", hidden"
	case wrap.Shadowed:
		winner := string(s.winner)
		if s.winner == s.Scope {
			winner = "nearer"
		}
		words += ", " + winner + " wins"
	}
	return words
}

// policyWords names the layers above the built-in rules, highest first.
func policyWords(s serverStatus) string {
	if s.State != wrap.Wrapped {
		return "-"
	}
	var words []string
	for _, path := range s.Policies {
		word := filepath.Base(path)
		if slices.Contains(s.Unloadable, path) {
			word += " (does not load)"
		}
		words = append(words, word)
	}
	words = append(words, "built-in")
	if s.Profile != "" {
		words = append(words, s.Profile)
	}
	return strings.Join(words, " + ")
}

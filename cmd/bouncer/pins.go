package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/session"
	"github.com/bouncer-mcp/bouncer/taint"
)

func newPinsCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "pins",
		Short: "See what servers have changed about their tools, and accept it",
		Long: `The first time bouncer meets a server it records the definition of every tool, and the
server's instructions. What is different in a later session waits here for you, and what
is recorded stays until you have it forgotten.
` + codes(exitDone, exitFailed, exitMisused),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPinsListCmd(a), newPinsDiffCmd(a), newPinsAcceptCmd(a), newPinsForgetCmd(a))
	return cmd
}

func newPinsListCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the servers whose tools are recorded",
		Long:  "list shows each recorded server with the number of its tools, and of changes that wait for you.\n" + codes(exitDone, exitFailed, exitMisused),
		Args:  noArgs,
		RunE:  func(*cobra.Command, []string) error { return a.pinsList(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of a table")
	return cmd
}

// pinsReport is what list and diff print with --json. The names are a promise: fields are added, never renamed.
type pinsReport struct {
	Servers []pinnedServer `json:"servers"`
	Errors  []errorReport  `json:"errors"`
}

type pinnedServer struct {
	Server   string       `json:"server"`
	Identity string       `json:"identity"`
	Path     string       `json:"path"`
	Since    time.Time    `json:"since"`
	Tools    int          `json:"tools"`
	Waiting  int          `json:"waiting"`
	Changes  []pinChanged `json:"changes,omitempty"` // of diff
}

type pinChanged struct {
	Kind     string         `json:"kind"` // changed, new or instructions
	Tool     string         `json:"tool"`
	Accepted *time.Time     `json:"accepted,omitempty"` // when the old form was
	Seen     time.Time      `json:"seen"`               // when the new form was first
	Old      string         `json:"old"`                // as the server wrote it; empty when there is none, or it was too large to be kept
	New      string         `json:"new"`
	Meaning  []session.Line `json:"meaning"`
}

// pins reads the whole store. What can't be read is an error, and no reason to hide the rest.
func (a *app) pins() (store *session.Store, list []session.Status, refused []error, err error) {
	at, err := a.kept()
	if err != nil {
		return nil, nil, nil, err
	}
	store = session.Open(at.State)
	all, err := store.List()
	if err != nil {
		return nil, nil, nil, err
	}
	for _, s := range all {
		if s.Err != nil {
			refused = append(refused, s.Err)
			continue
		}
		list = append(list, s)
	}
	return store, list, refused, nil
}

func (a *app) pinsList(asJSON bool) error {
	_, list, refused, err := a.pins()
	if err != nil {
		return err
	}
	if asJSON {
		return a.printPins(list, refused, false)
	}
	if len(list) == 0 && len(refused) == 0 {
		a.printf("No servers are recorded yet.\n")
		return nil
	}
	rows := [][]string{{"SERVER", "TOOLS", "WAITING", "SINCE", "IDENTITY"}}
	for _, s := range list {
		rows = append(rows, []string{
			bare(session.Name(s.Identity)), fmt.Sprint(s.Tools), fmt.Sprint(len(waiting(s.Pending))), date(s.Since), taint.Visible(s.Identity, 400),
		})
	}
	if len(list) > 0 {
		a.printTable("", rows)
	}
	return errors.Join(refused...)
}

func (a *app) printPins(list []session.Status, refused []error, changes bool) error {
	report := pinsReport{Servers: []pinnedServer{}, Errors: reportErrors(refused)}
	for _, s := range list {
		p := pinnedServer{Server: session.Name(s.Identity), Identity: s.Identity, Path: s.Path, Since: s.Since, Tools: s.Tools, Waiting: len(waiting(s.Pending))}
		if changes {
			p.Changes = describePins(s.Pending)
		}
		report.Servers = append(report.Servers, p)
	}
	if err := a.printJSON(report); err != nil {
		return err
	}
	return quietly(exitIf(len(refused) > 0, exitFailed))
}

func describePins(pending session.Differences) []pinChanged {
	var list []pinChanged
	for _, d := range waiting(pending) {
		c := pinChanged{Kind: "changed", Tool: d.Tool, Seen: d.Seen, Old: string(d.Old), New: string(d.New), Meaning: d.Explain()}
		switch {
		case d.Instructions:
			c.Kind = "instructions"
		case d.Accepted.IsZero():
			c.Kind = "new"
		}
		if !d.Accepted.IsZero() {
			c.Accepted = &d.Accepted
		}
		list = append(list, c)
	}
	return list
}

// waiting are the differences that need a person, instructions first: the model reads them before anything else.
func waiting(d session.Differences) []session.Difference {
	var list []session.Difference
	if d.Instructions != nil {
		list = append(list, *d.Instructions)
	}
	return slices.Concat(list, d.Changed, d.New)
}

func newPinsDiffCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff [SERVER]",
		Short: "Show what waits to be accepted, and what it means",
		Long: `diff shows how the tools and instructions of SERVER, or of every server, differ from what
was accepted. SERVER is its name in the client's config, or its identity as list shows it.
What the server wrote stands in quotes; what is normally invisible is spelled out, as in
<U+200B>. With --json both forms stand there as the server wrote them.
` + codes(exitDone, exitFailed, exitMisused),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return misuse("bouncer pins list shows the servers", "diff takes one server")
			}
			return a.pinsDiff(args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) pinsDiff(servers []string, asJSON bool) error {
	_, list, refused, err := a.pins()
	if err != nil {
		return err
	}
	if len(servers) == 1 {
		chosen, err := choose(list, servers[0])
		if err != nil {
			return errors.Join(append(refused, err)...)
		}
		list, refused = []session.Status{chosen}, nil
	}
	if asJSON {
		return a.printPins(list, refused, true)
	}
	quiet := true
	for _, s := range list {
		if changes := waiting(s.Pending); len(changes) > 0 {
			a.printChanges(s.Identity, changes)
			quiet = false
		}
	}
	if quiet && len(refused) == 0 {
		a.printf("Nothing waits to be accepted.\n")
	}
	return errors.Join(refused...)
}

// choose finds a server by its name or identity.
func choose(list []session.Status, server string) (session.Status, error) {
	var found []session.Status
	for _, s := range list {
		if s.Identity == server {
			return s, nil
		}
		if session.Name(s.Identity) == server {
			found = append(found, s)
		}
	}
	switch len(found) {
	case 0:
		return session.Status{}, advise(fmt.Errorf("no server %q is recorded", server), "bouncer pins list shows those that are")
	case 1:
		return found[0], nil
	}
	var names []string
	for _, s := range found {
		names = append(names, s.Identity)
	}
	return session.Status{}, misuse("name one of them: "+strings.Join(names, ", "), "%d servers are called %q", len(found), server)
}

// maxDiff is how much is shown of one tool.
const maxDiff = 16_000

func (a *app) printChanges(identity string, changes []session.Difference) {
	a.printf("%s (%s)\n", bare(session.Name(identity)), taint.Visible(identity, 400))
	for _, d := range changes {
		a.printf("  %s\n", headline(d))
		for row := range strings.SplitSeq(session.Text(d.Explain(), maxDiff), "\n") {
			a.printf("    %s\n", row)
		}
	}
}

func headline(d session.Difference) string {
	switch {
	case d.Instructions:
		return "instructions changed: accepted " + date(d.Accepted) + ", seen " + date(d.Seen)
	case d.Accepted.IsZero():
		return "tool " + bare(d.Tool) + " is new: seen " + date(d.Seen)
	}
	return "tool " + bare(d.Tool) + " changed: accepted " + date(d.Accepted) + ", seen " + date(d.Seen)
}

func date(t time.Time) string { return t.Local().Format(time.DateOnly) }

// bare shows a name that a server chose: as it is if it looks like one, else in quotes that it can't close.
func bare(name string) string {
	odd := func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/", r)
	}
	if name != "" && len(name) <= 80 && !strings.ContainsFunc(name, odd) {
		return name
	}
	return `"` + strings.ReplaceAll(taint.Visible(name, 80), `"`, `'`) + `"`
}

package main

import (
	"context"
	"maps"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/dashboard"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/term"
	"github.com/bouncer-mcp/bouncer/policy"
)

func newDashboardCmd(a *app) *cobra.Command {
	stay := false
	cmd := &cobra.Command{
		Use:   "dashboard",
		Short: "Show on a page what is decided, and answer what waits",
		Long: `dashboard serves a page to your browser alone, on this machine alone, until you press
Ctrl-C: what waits for your answer, every verdict as it falls, where a blocked value came
from and where it would have gone, and what bouncer makes of each server's tools.

Started from a terminal of yours it can allow calls. Started by anything else, such as an
agent, it only shows them.
` + codes(exitDone, exitFailed, exitMisused),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.dashboard(cmd.Context(), stay) },
	}
	cmd.Flags().BoolVar(&stay, "no-browser", false, "open no browser, only say how to get in")
	return cmd
}

func (a *app) dashboard(ctx context.Context, stay bool) error {
	at, err := a.kept()
	if err != nil {
		return err
	}
	store, err := approve.OpenStore(at.State)
	if err != nil {
		return err
	}
	page, err := dashboard.Listen(dashboard.Options{
		State: at.State, Store: store, ReadOnly: a.whyReadOnly(),
		Servers: func() ([]dashboard.Server, error) { return explainRecorded(at) },
	})
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	ticket, err := page.Ticket()
	if err != nil {
		return err
	}
	defer ticket.Remove()
	go func() {
		page.Entered(ctx.Done())
		ticket.Remove()
	}()
	a.lead(page, ticket, stay)
	return page.Serve(ctx)
}

// lead opens the browser, and says how else to get in: browsers in a sandbox often may not read the file.
func (a *app) lead(page *dashboard.Dashboard, ticket *dashboard.Ticket, stay bool) {
	opened := false
	if argv := dashboard.Browser(a.goos, a.getenv, ticket.Path); argv != nil && !stay {
		opened = dashboard.Open(argv) == nil
	}
	if opened {
		a.printf("Your browser opens. If it does not, or may not read the file, there are two ways, for two minutes.\n")
	} else {
		a.printf("There are two ways into the page, for two minutes.\n")
	}
	a.printf("Open this file in your browser:\n  %s\n", ticket.Path)
	a.printf("Or open %s and type %s there.\nCtrl-C ends it.\n", page.Address(), page.Code())
}

// whyReadOnly says why a page of this process may allow nothing; it is empty when it may.
func (a *app) whyReadOnly() string {
	if !a.interactive || !term.Controls() {
		return "bouncer dashboard was not started from a terminal"
	}
	return ""
}

// explainRecorded tells of every server that has been met what the policy makes of its tools.
func explainRecorded(at places) ([]dashboard.Server, error) {
	set, err := loadPolicies(nil, at.Policy)
	if err != nil {
		return nil, err
	}
	known, err := recorded(at.State)
	if err != nil {
		return nil, err
	}
	var list []dashboard.Server
	for _, name := range slices.Sorted(maps.Keys(known)) {
		for _, s := range known[name] {
			bound, _ := engine.Bind(set, policy.Server{Name: name, Package: s.Package}, "")
			server := dashboard.Server{Name: name, Package: s.Package}
			for _, t := range s.Tools {
				server.Tools = append(server.Tools, policy.Explain(bound, t))
			}
			list = append(list, server)
		}
	}
	return list, nil
}

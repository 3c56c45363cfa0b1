package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/session"
)

type pinsAcceptOptions struct {
	server       string
	tools        []string
	instructions bool
}

func newPinsAcceptCmd(a *app) *cobra.Command {
	var o pinsAcceptOptions
	cmd := &cobra.Command{
		Use:   "accept SERVER [TOOL]...",
		Short: "Accept what a server has changed",
		Long: `accept shows what waits for SERVER, asks, and records it as accepted: all of it, or the
tools that are named. A session that runs goes on with what it began with.

It needs a terminal to ask on, and there is no flag that answers for you: a program that
can run commands must not be able to accept what it has been told.
` + codes(exitDone, exitFailed, exitMisused),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return misuse("bouncer pins list shows the servers", "accept takes a server")
			}
			o.server, o.tools = args[0], args[1:]
			return a.pinsAccept(o)
		},
	}
	cmd.Flags().BoolVar(&o.instructions, "instructions", false, "accept the instructions, and of the tools only those that are named")
	return cmd
}

func (a *app) pinsAccept(o pinsAcceptOptions) error {
	if !a.interactive {
		return misuse("open a terminal and run it there", "accept needs a terminal: a person has to look at what changed")
	}
	server, chosen, err := a.pinned(o.server)
	if err != nil {
		return err
	}
	changes, err := o.pick(chosen.Pending)
	if err != nil {
		return err
	}
	if len(changes) == 0 {
		a.printf("Nothing waits to be accepted.\n")
		return nil
	}
	a.printChanges(chosen.Identity, changes)
	yes, err := a.ask("Accept " + counted(len(changes), "change") + "?")
	if err != nil {
		return err
	}
	if !yes {
		return errors.New("nothing was accepted")
	}
	if err := acceptChanges(server, changes); err != nil {
		return err
	}
	a.printf("Accepted %s.\n", counted(len(changes), "change"))
	return nil
}

// pinned finds a recorded server and what waits of it; from here on, a yes means this.
func (a *app) pinned(name string) (*session.Server, session.Status, error) {
	store, list, refused, err := a.pins()
	if err != nil {
		return nil, session.Status{}, err
	}
	chosen, err := choose(list, name)
	if err != nil {
		return nil, session.Status{}, errors.Join(append(refused, err)...)
	}
	server := store.Server(chosen.Identity)
	chosen.Pending, err = server.Pending()
	return server, chosen, err
}

// pick is what of all that waits was named.
func (o pinsAcceptOptions) pick(pending session.Differences) ([]session.Difference, error) {
	all := waiting(pending)
	if len(o.tools) == 0 && !o.instructions {
		return all, nil
	}
	var list []session.Difference
	if o.instructions {
		if pending.Instructions == nil {
			return nil, fmt.Errorf("no instructions wait to be accepted")
		}
		list = append(list, *pending.Instructions)
	}
	for _, name := range o.tools {
		i := slices.IndexFunc(all, func(d session.Difference) bool { return !d.Instructions && d.Tool == name })
		if i < 0 {
			return nil, advise(fmt.Errorf("no tool %q waits to be accepted", name), "bouncer pins diff shows those that do")
		}
		list = append(list, all[i])
	}
	return list, nil
}

func acceptChanges(server *session.Server, changes []session.Difference) error {
	now := time.Now()
	var tools []string
	for _, d := range changes {
		if !d.Instructions {
			tools = append(tools, d.Tool)
			continue
		}
		if err := server.AcceptInstructions(now); err != nil {
			return err
		}
	}
	return server.Accept(now, tools...)
}

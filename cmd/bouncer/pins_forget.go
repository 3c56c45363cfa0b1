package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/session"
)

func newPinsForgetCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "forget SERVER",
		Short: "Remove what is recorded of a server",
		Long: `forget shows what is recorded of SERVER, asks, and removes it. Whatever starts the server
after that meets it for the first time, and takes its tools as they are then: forget one
that you have no use for any more.

It needs a terminal to ask on, and there is no flag that answers for you: a program that
can run commands must not be able to clear away what waits for you.
` + codes(exitDone, exitFailed, exitMisused),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("bouncer pins list shows the servers", "forget takes one server")
			}
			return a.pinsForget(args[0])
		},
	}
}

func (a *app) pinsForget(name string) error {
	if !a.interactive {
		return misuse("open a terminal and run it there", "forget needs a terminal: a person has to look at what is forgotten")
	}
	server, chosen, err := a.pinned(name)
	if err != nil {
		return err
	}
	called := bare(session.Name(chosen.Identity))
	if changes := waiting(chosen.Pending); len(changes) > 0 {
		a.printChanges(chosen.Identity, changes)
		a.printf("Nobody has accepted that, and after this nobody will be asked.\n")
	}
	yes, err := a.ask(fmt.Sprintf("Forget %s, %s since %s?", called, counted(chosen.Tools, "tool"), date(chosen.Since)))
	if err != nil {
		return err
	}
	if !yes {
		return errors.New("nothing was forgotten")
	}
	err = server.Forget()
	if errors.Is(err, session.ErrUnseen) {
		return advise(err, "look at it first: bouncer pins diff "+called)
	}
	if err != nil {
		return err
	}
	a.printf("Forgot %s.\n", called)
	return nil
}

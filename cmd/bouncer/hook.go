package main

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/term"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/session"
	"github.com/bouncer-mcp/bouncer/taint"
)

const (
	maxHookInput = 1 << 20
	hookPatience = 2 * time.Second // that a person may have to wait for at worst
)

// newHookCmd is for clients to call, so help does not list it.
func newHookCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:    "hook",
		Short:  "What clients call to tell bouncer of the person",
		Long:   "hook holds what clients run by themselves.\n" + codes(exitDone),
		Hidden: true,
		Args:   noArgs,
		RunE:   func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "prompt",
		Short: "Read what the person has typed, as Claude Code's hook UserPromptSubmit gives it",
		Long: `prompt reads a hook's JSON from standard input. The addresses and names in what the
person has typed need no question afterwards. It prints nothing, and ends with 0
whatever happens.
` + codes(exitDone),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.hookPrompt() },
	})
	return cmd
}

// isHook reports whether a client calls, and not a person.
func isHook(args []string) bool { return len(args) >= 2 && args[0] == "hook" && args[1] == "prompt" }

// runHook runs a hook. Its client puts whatever it prints before the agent, and takes the exit code 2 for a refusal of the
// prompt. That is the code of a misused command and of a crash too, so whatever happens, nothing is printed and the code is 0.
func (a *app) runHook(args []string) int {
	a.out, a.err = io.Discard, io.Discard
	endsWithin(hookPatience, func() {
		root := newRootCmd(a)
		root.SetArgs(args)
		_ = root.ExecuteContext(context.Background()) // there is nobody to tell
	})
	return exitDone
}

// endsWithin returns when f does, or panics, or has taken too long. It is for what the process ends with.
func endsWithin(patience time.Duration, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() { _ = recover() }()
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// hookPrompt passes on what the person has typed. All of the input is read first: a client counts it as a failure of the hook
// when it can't write all.
func (a *app) hookPrompt() error {
	if term.Is(a.in) {
		return errors.New("a hook reads what its client writes")
	}
	input, err := io.ReadAll(io.LimitReader(a.in, maxHookInput+1))
	if err != nil {
		return err
	}
	if len(input) > maxHookInput {
		_, err = io.Copy(io.Discard, a.in)
		return errors.Join(err, errors.New("more than any person types"))
	}
	v, err := wire.ParseValue(input)
	if err != nil {
		return err
	}
	words := wordsIn(v, a.getenv)
	if words == (prompt{}) {
		return nil
	}
	p, err := a.places()
	if err != nil {
		return err
	}
	return passOn(p.State, words)
}

// passOn leaves word with the servers of the client that calls, if it has any.
func passOn(state string, words prompt) error {
	ledger, err := session.OpenHook(state)
	if err != nil {
		return err
	}
	facts := append(engine.Said(ledger.Key(), words.own), seen(ledger.Key(), words.pasted)...)
	return errors.Join(ledger.Append(facts...), ledger.Close())
}

// seen are the facts of a text of which nobody knows who has written it. Orders in it may well be the person's own, so what it
// names is asked about, and never refused for that.
func seen(key [16]byte, text string) [][]byte {
	v, err := wire.ParseValue(wire.AppendQuoted(nil, text))
	if err != nil || text == "" {
		return nil
	}
	e := engine.New(engine.Config{Key: key, Shared: true})
	e.ObservePasted(taint.Source{Tool: "a text in your message"}, v)
	return e.Facts()
}

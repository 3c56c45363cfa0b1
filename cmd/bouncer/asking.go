package main

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/proxy"
	"github.com/bouncer-mcp/bouncer/session"
)

// stillOpen goes to the agent with the refusal of a call that nobody has answered. It names no question: the agent has a shell, too.
const stillOpen = "the person can still allow it within ten minutes: ask them to open `bouncer approvals` in a terminal of their own, and then call the tool again"

// askPerson has a run ask through all that there is. An error leaves the client itself and its windows.
func (a *app) askPerson(o *proxy.Options, p *prepared) error {
	o.Asking = askingBy(p.config.Policy)
	o.Lasting, o.Hint, o.Process, o.Human = p.lasting, stillOpen, session.Client(), a.human
	if a.dialog != nil {
		o.Channels = []approve.Channel{a.dialog(filepath.Join(p.state, "dialog.lock"))}
	}
	store, err := approve.OpenStore(p.state)
	if err != nil {
		return err
	}
	o.Questions = store
	return nil
}

// askingBy is what a policy says of the asking.
func askingBy(set *policy.Set) func(client string) proxy.Asking {
	return func(client string) proxy.Asking {
		a := set.Approval(client)
		how := proxy.Asking{
			Channels: a.Channels, For: time.Duration(a.Timeout) * time.Second,
			Stay: slices.Contains(a.Channels, policy.ChannelTerminal), // somebody will look, or else why would they name it
		}
		if how.Channels == nil {
			how.Channels = policy.Channels()
		}
		return how
	}
}

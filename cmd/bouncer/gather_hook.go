package main

import (
	"slices"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// hooks describes the places for hooks. Settings that can't be read are added to the files.
func (g *gathering) hooks(found wrap.Found, facts *doctor.Facts) []doctor.Hook {
	var list []doctor.Hook
	for _, f := range found.Hooks {
		entries, err := wrap.Entries(f, g.known...)
		if err != nil {
			facts.Files = append(facts.Files, doctor.File{Client: f.Client, Path: f.Path, Bare: true, Err: err})
			continue
		}
		c, _ := clients.ByID(f.Client)
		h := doctor.Hook{
			Entry: entries[0], Client: doctor.Client{ID: c.ID, Name: c.Name}, File: f.Path, Barred: f.Hook.Barred,
			Wrapped: startsThroughBouncer(f.Client, g.servers),
			Aside:   slices.ContainsFunc(g.asides, func(a wrap.Aside) bool { return a.Of(f, entries[0]) }),
			Lost:    g.history.Hooked(f),
		}
		if h.State == wrap.Wrapped {
			h.Start = g.start(h.Launcher)
		}
		list = append(list, h)
	}
	return list
}

// startsThroughBouncer reports whether a client starts one of some servers through bouncer.
func startsThroughBouncer(client string, servers []wrap.Server) bool {
	return slices.ContainsFunc(servers, func(s wrap.Server) bool {
		return s.State == wrap.Wrapped && slices.Contains(readers(s.File), client)
	})
}

// hookStatus is a place for a hook in status. The JSON names are a promise.
type hookStatus struct {
	Client string `json:"client"`
	Event  string `json:"event"`
	Path   string `json:"path"`
	State  string `json:"state"` // installed, outdated, missing, barred
	Reason string `json:"reason"`

	of string // the client's name
}

// hookStates says how the hooks of clients stand that have servers behind bouncer, or have the hook.
func (a *app) hookStates(found wrap.Found, servers []wrap.Server) (list []hookStatus, faults []error) {
	p, err := a.places()
	if err != nil {
		return nil, []error{err}
	}
	launcher, _ := a.launcher() // without one, nothing can be out of date
	for _, f := range found.Hooks {
		entries, err := wrap.Entries(f, a.known()...)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		c, _ := clients.ByID(f.Client)
		s := hookStatus{Client: f.Client, Event: f.Hook.Event, Path: f.Path, State: "missing", of: c.Name}
		there := entries[0].State == wrap.Wrapped
		if !there && !startsThroughBouncer(f.Client, servers) {
			continue
		}
		if there {
			s.State = "installed"
		}
		options := wrap.Options{Known: a.known(), Launcher: launcher, Home: p.State, Homed: p.Chosen}
		plan, err := wrap.PlanWrap(f, options)
		switch {
		case err != nil || launcher == "":
		case f.Hook.Barred != "":
			s.State, s.Reason = "barred", f.Hook.Barred
		case plan.Steps[0].Action == wrap.MoveHook || there && plan.Steps[0].Action == wrap.Skip:
			s.State, s.Reason = "outdated", plan.Steps[0].Reason
		}
		list = append(list, s)
	}
	return list, faults
}

// words says how a hook stands, in a sentence.
func (s hookStatus) words() string {
	switch s.State {
	case "installed":
		return s.of + " tells bouncer what you type."
	case "outdated":
		return s.of + " tells bouncer what you type, by a command that is out of date: bouncer doctor"
	case "barred":
		return s.of + " does not tell bouncer what you type: " + s.Reason
	}
	return s.of + " does not tell bouncer what you type: bouncer init"
}

package main

import (
	"slices"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// offerHooks plans the hooks that tell bouncer what the person types, once it is settled which servers are wrapped. A client
// none of whose servers start through bouncer gets none: there would be nobody to tell. A plan from a file has settled that.
func (e *edit) offerHooks() {
	for _, f := range e.hooks {
		plan, err := e.plan(f)
		if err != nil {
			if e.concernsHook(f) {
				e.refused = append(e.refused, err)
			}
			continue
		}
		if !e.strict && slices.Contains([]wrap.Action{wrap.AddHook, wrap.Skip}, plan.Steps[0].Action) && e.verb != wrap.Unwrap &&
			!slices.Contains(e.covered(), f.Client) {
			continue
		}
		e.place(plan)
	}
}

// concernsHook reports whether settings that can't be read stand in the way of anything.
func (e *edit) concernsHook(f wrap.File) bool {
	hook := wrap.Entry{Name: f.Hook.Event, Scope: clients.User}
	return e.holds(hook) && (e.strict || slices.Contains(e.covered(), f.Client))
}

// covered are the ids of clients with a server that starts through bouncer, before or after this run.
func (e *edit) covered() []string {
	ids := slices.Clone(e.behind)
	for _, plan := range e.plans {
		ids = append(ids, covered(plan.File, plan.Steps, func(s wrap.Step) bool {
			return s.Action == wrap.Wrap || s.Entry.State == wrap.Wrapped
		})...)
	}
	return ids
}

func covered(f wrap.File, steps []wrap.Step, is func(wrap.Step) bool) []string {
	if f.Hook != nil || !slices.ContainsFunc(steps, is) {
		return nil
	}
	return readers(f)
}

func aboutHook(p wrap.Plan) bool { return p.File.Hook != nil }

// kind is what a plan's entries are.
func kind(p wrap.Plan) string {
	if aboutHook(p) {
		return "hook"
	}
	return "server"
}

// split tells plans about servers from those about hooks.
func split(plans []wrap.Plan) (servers, hooks []wrap.Plan) {
	for _, p := range plans {
		if aboutHook(p) {
			hooks = append(hooks, p)
		} else {
			servers = append(servers, p)
		}
	}
	return servers, hooks
}

// hookRows says what happens to hooks, in words: nobody knows them by name.
func hookRows(hooks []wrap.Plan) [][]string {
	var rows [][]string
	for _, plan := range hooks {
		for _, step := range plan.Steps {
			if changed(step) {
				rows = append(rows, []string{plan.File.Client, string(step.Entry.Scope), step.Entry.Name, hookNote(step.Action)})
			}
		}
	}
	return rows
}

func hookNote(action wrap.Action) string {
	switch action {
	case wrap.AddHook:
		return "tells bouncer what you type, so that it need not ask about addresses you have named yourself"
	case wrap.MoveHook:
		return "out of date, written anew"
	case wrap.DropHook:
		return "taken out"
	}
	return "put back as it was before"
}

// hookOutcome says what was done about hooks.
func (e *edit) hookOutcome(hooks []wrap.Plan) {
	for _, plan := range hooks {
		name := plan.File.Client
		if client, ok := clients.ByID(name); ok {
			name = client.Name
		}
		does := " tells bouncer what you type"
		switch plan.Steps[0].Action {
		case wrap.DropHook:
			does = " no longer tells bouncer what you type"
		case wrap.Restore:
			does = "'s settings have the hooks that they had before"
		}
		e.printf("%s%s (hook %s).\n", name, does, plan.File.Hook.Event)
	}
}

// hookReport is one hook that changes. The JSON names are a promise.
type hookReport struct {
	Event  string        `json:"event"`
	Scope  clients.Scope `json:"scope"`
	Action wrap.Action   `json:"action"`
}

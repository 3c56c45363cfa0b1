package main

import (
	"slices"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// aboutOwn reports whether a step is about bouncer as a server of its own, and not about one that it stands in front of.
func aboutOwn(s wrap.Step) bool {
	return slices.Contains([]wrap.Action{wrap.AddOwn, wrap.MoveOwn, wrap.DropOwn}, s.Action)
}

// ownNote says in words what happens to bouncer's own entry.
func ownNote(action wrap.Action) string {
	switch action {
	case wrap.AddOwn:
		return "bouncer itself, for the agent to ask what it would say (bouncer serve)"
	case wrap.MoveOwn:
		return "bouncer itself, out of date, written anew"
	}
	return "bouncer itself, taken out"
}

// ownRows are the rows of bouncer's own entries.
func ownRows(changes []wrap.Plan) [][]string {
	var rows [][]string
	for _, plan := range changes {
		for _, step := range plan.Steps {
			if aboutOwn(step) {
				rows = append(rows, []string{plan.File.Client, string(step.Entry.Scope), step.Entry.Name, ownNote(step.Action)})
			}
		}
	}
	return rows
}

// ownOutcome says what was done about bouncer's own entries.
func (e *edit) ownOutcome(changes []wrap.Plan) {
	for _, plan := range changes {
		name := plan.File.Client
		if client, ok := clients.ByID(name); ok {
			name = client.Name
		}
		if name == "" {
			name = plan.Path
		}
		for _, step := range plan.Steps {
			switch step.Action {
			case wrap.AddOwn:
				e.printf("%s can ask bouncer itself now (server %s).\n", name, step.Entry.Name)
			case wrap.MoveOwn:
				e.printf("%s asks this bouncer now (server %s).\n", name, step.Entry.Name)
			case wrap.DropOwn:
				e.printf("%s can't ask bouncer itself any more (server %s).\n", name, step.Entry.Name)
			}
		}
	}
}

// servesAlready reports whether bouncer itself is among the servers of a file.
func servesAlready(plans []wrap.Plan) bool {
	return slices.ContainsFunc(plans, func(p wrap.Plan) bool {
		return slices.ContainsFunc(p.Steps, func(s wrap.Step) bool { return s.Entry.Serves })
	})
}

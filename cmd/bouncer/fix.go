package main

import (
	"errors"
	"slices"

	"github.com/bouncer-mcp/bouncer/wrap"
)

// fix repairs what needs no decision: it drops stale records and points wrapped entries at this bouncer.
func (a *app) fix(o doctorOptions) error {
	launcher, err := a.launcher()
	if errors.Is(err, wrap.ErrShortLived) {
		return advise(err, "install bouncer where it stays, then run doctor --fix from there")
	}
	if err != nil {
		return err
	}
	e, err := a.newEdit(wrap.Rewrap, editOptions{selection: o.selection, yes: o.yes})
	if err != nil {
		return err
	}
	if o.json {
		quiet := *a
		quiet.out = a.err // standard output is for the findings
		e.app = &quiet
	}
	options := e.options()
	options.Launcher, options.Home = launcher, e.places.home()
	e.plan = func(f wrap.File) (wrap.Plan, error) { return planFix(f, options) }
	return e.run()
}

// planFix drops the stale records of a file, then renews its wrapped entries. Nothing that starts without bouncer is wrapped:
// that is init's to decide.
func planFix(f wrap.File, o wrap.Options) (wrap.Plan, error) {
	dropped, err := wrap.PlanDropStale(f, o)
	if err != nil {
		return wrap.Plan{}, err
	}
	entries, err := wrap.Entries(f, append(o.Known, o.Launcher)...)
	if err != nil {
		return wrap.Plan{}, err
	}
	o.Servers = onlyWrapped(entries)
	if len(o.Servers) == 0 {
		return dropped, nil
	}
	between := f
	between.Data = dropped.After
	renewed, err := wrap.PlanWrap(between, o)
	if err != nil {
		return wrap.Plan{}, err
	}
	plan := dropped
	plan.After = renewed.After
	for i, step := range renewed.Steps {
		if step.Action == wrap.Rewrap {
			plan.Steps[i].Action = wrap.Rewrap
		}
	}
	return plan, nil
}

// onlyWrapped lists the names that stand for wrapped servers everywhere in a file.
func onlyWrapped(entries []wrap.Entry) []string {
	var names, others []string
	for _, e := range entries {
		if e.State == wrap.Wrapped {
			names = append(names, e.Name)
		} else {
			others = append(others, e.Name)
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return slices.Contains(others, name) })
}

package main

import (
	"errors"
	"slices"

	"github.com/bouncer-mcp/bouncer/wrap"
)

// fix repairs what needs no decision: it drops stale records, writes lost and wrong ones anew, points wrapped entries at
// this bouncer, and wraps again what was wrapped and what came since.
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
	if err := e.leaveAside(nil); err != nil {
		return err
	}
	f := fixing{edit: e, options: e.options(), history: e.store.History()}
	f.options.Launcher, f.options.Home = launcher, e.places.State
	e.plan = f.plan
	return e.run()
}

// fixing plans repairs.
type fixing struct {
	*edit
	options wrap.Options
	history wrap.History
}

// plan puts the repairs of one file together, each on top of what the ones before it made of the file.
func (f fixing) plan(file wrap.File) (wrap.Plan, error) {
	options, err := f.repairable(file)
	if err == nil && file.Hook != nil {
		return wrap.PlanWrap(file, options)
	}
	if err != nil {
		return wrap.Plan{}, err
	}
	plan, err := wrap.PlanDropStale(file, f.options)
	if err != nil {
		return wrap.Plan{}, err
	}
	for _, next := range []func(wrap.File, wrap.Options) (wrap.Plan, error){wrap.PlanRecord, wrap.PlanWrap} {
		between := file
		between.Data = plan.After
		more, err := next(between, options)
		if err != nil {
			return wrap.Plan{}, err
		}
		plan.After = more.After
		for i, step := range more.Steps {
			if changed(step) {
				plan.Steps[i] = step
			}
		}
	}
	return plan, nil
}

// repairable chooses what may be wrapped: what is wrapped, what was, and what came into a file with wrapped servers.
// Everything else that starts without bouncer is init's to decide.
func (f fixing) repairable(file wrap.File) (wrap.Options, error) {
	entries, err := wrap.Entries(file, append(slices.Clip(f.options.Known), f.options.Launcher)...)
	if err != nil {
		return f.options, err
	}
	past := f.history.Past(file, f.options.Known...)
	options := f.options
	options.Aside = f.asides.of(f.edit, file)
	if options.Aside == nil {
		options.Aside = map[string]string{}
	}
	for _, e := range entries {
		key := wrap.PointerKey(e.Pointer)
		mine := e.State == wrap.Wrapped || e.Serves || !past.Undone(e).IsZero() || past.Came(e, entries) ||
			file.Hook != nil && !f.history.Hooked(file).IsZero()
		if !mine && options.Aside[key] == "" {
			options.Aside[key] = "starts without bouncer, which is init's to change"
		}
	}
	return options, nil
}

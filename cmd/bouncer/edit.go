package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/internal/term"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// editOptions are the flags that init and unwrap share.
type editOptions struct {
	selection
	dryRun, yes, json, whileRunning bool
}

// edit is one run of init or unwrap: what is planned, what is left alone, and what stood in the way.
type edit struct {
	*app
	editOptions
	verb wrap.Action // Wrap or Unwrap
	plan func(wrap.File) (wrap.Plan, error)

	logged wrap.Action // what the generation's record calls it

	asides asides // servers that stay out of it, and why

	planFile string                                     // that the plans come from, or go to
	keep     func([]wrap.Plan) error                    // instead of applying: keeps the plans for later
	apply    func([]wrap.Plan) (wrap.Generation, error) // otherwise than by wrap.Apply
	strict   bool                                       // all or nothing: a file that is left out stops the rest too

	store   *wrap.Store
	places  places
	plans   []wrap.Plan // of every file that was read and may be edited
	hooks   []wrap.File // settings in which a client can be told to pass on prompts
	behind  []string    // ids of clients with a server that starts through bouncer, in whatever file
	aside   []aside     // servers that stay as they are, and why
	refused []error     // files that were left out
	warned  bool        // of them, before a question
	hints   []string
}

// aside is a server, or a whole file, that the command leaves alone. The JSON names are a promise.
type aside struct {
	Client string        `json:"client"`
	Path   string        `json:"path"`
	Scope  clients.Scope `json:"scope,omitempty"`
	Server string        `json:"server,omitempty"`
	Reason string        `json:"reason"`
}

func (a *app) newEdit(verb wrap.Action, o editOptions) (*edit, error) {
	p, err := a.places()
	if err != nil {
		return nil, err
	}
	return &edit{app: a, editOptions: o, verb: verb, logged: verb, places: p, store: wrap.NewStore(p.State)}, nil
}

// options are those that both directions share.
func (e *edit) options() wrap.Options {
	return wrap.Options{Known: e.known(), Servers: e.servers, Scopes: e.clientScopes(), Homed: e.places.Chosen}
}

// answerable refuses to print JSON where a person would have to be asked.
func (o *editOptions) answerable() error {
	if o.json && !o.yes && !o.dryRun {
		return misuse("--yes applies the changes without asking, --dry-run only shows them", "--json can't ask for a yes")
	}
	return nil
}

// run plans, shows, asks and applies.
func (e *edit) run() error {
	if err := e.answerable(); err != nil {
		return err
	}
	if err := e.survey(); err != nil {
		return err
	}
	some, err := e.choose()
	if err != nil {
		return err
	}
	if !some {
		return e.declined("--skip=NAME leaves a server alone for good.")
	}
	e.offerHooks()
	return e.carryOut(e.changes())
}

// carryOut shows, asks and applies.
func (e *edit) carryOut(changes []wrap.Plan) error {
	switch {
	case e.strict && len(e.refused) > 0 && e.json:
		return e.finish(nil, wrap.Generation{})
	case e.strict && len(e.refused) > 0:
		return e.outcome()
	case e.keep != nil:
		if err := e.keep(changes); err != nil {
			return err
		}
		return e.finish(changes, wrap.Generation{})
	case e.dryRun:
		return e.finish(changes, wrap.Generation{})
	}
	if len(changes) == 0 {
		if err := e.remember(nil); err != nil {
			return err
		}
		return e.finish(changes, wrap.Generation{})
	}
	if !e.yes {
		if !e.interactive {
			return misuse("--yes applies the changes without asking, --dry-run only shows them", "there is no terminal to ask for a yes")
		}
		e.show(changes)
		e.showRefused()
		yes, err := e.ask("Apply these changes?")
		if err != nil {
			return err
		}
		if !yes {
			return e.declined()
		}
	}
	if err := e.remember(changes); err != nil {
		return err
	}
	if e.apply == nil {
		e.apply = func(changes []wrap.Plan) (wrap.Generation, error) {
			return wrap.Apply(e.store, changes, wrap.ApplyOptions{Command: string(e.logged), Replan: e.replan, Waiting: e.waiting})
		}
	}
	done, err := e.apply(changes)
	if err != nil {
		return e.unapplied(err)
	}
	return e.finish(changes, done)
}

// declined ends a command that a person has answered with a no, which is no failure.
func (e *edit) declined(hints ...string) error {
	e.printf("Nothing was changed.\n")
	for _, hint := range hints {
		e.printf("%s\n", hint)
	}
	return nil
}

// survey reads every file of the selection and plans it.
func (e *edit) survey() error {
	found, err := e.find(e.selection)
	if err != nil {
		return err
	}
	e.refused = append(e.refused, faults(found)...)
	for _, f := range found.Managed {
		e.leave(f, wrap.Entry{}, "managed by an organisation, never edited")
	}
	var known []string
	for _, f := range found.Files {
		plan, err := e.plan(f)
		if err != nil {
			e.refused = append(e.refused, err)
			continue
		}
		known = append(known, e.names(plan)...)
		e.place(plan)
	}
	e.hooks = found.Hooks
	for _, f := range e.hooks {
		known = append(known, f.Hook.Event)
	}
	if err := e.missing(known); err != nil {
		return err
	}
	return e.sparesRunning()
}

// place sorts a plan: to be applied, or only reported.
func (e *edit) place(plan wrap.Plan) {
	if plan.Unadded != "" {
		e.leave(plan.File, wrap.Entry{Name: wrap.OwnName, Scope: clients.User}, plan.Unadded)
	}
	for _, step := range plan.Steps {
		switch {
		case step.Action != wrap.Skip || !e.holds(step.Entry):
		case e.verb == wrap.Unwrap && step.Entry.State == wrap.Wrapped:
			e.refused = append(e.refused, &wrap.FileError{
				Client: plan.File.Client, Path: plan.Path, Err: fmt.Errorf("%s %q %s", kind(plan), step.Entry.Name, step.Reason),
			})
		case e.verb == wrap.Wrap && (step.Entry.State != wrap.Own || step.Entry.Reason != ""):
			e.leave(plan.File, step.Entry, step.Reason)
		}
	}
	if plan.File.Shared && !e.shared() {
		for _, step := range plan.Steps {
			if changed(step) {
				e.leave(plan.File, step.Entry, ofProject)
			}
		}
		e.behind = append(e.behind, covered(plan.File, plan.Steps, func(s wrap.Step) bool { return s.Entry.State == wrap.Wrapped })...)
		return
	}
	e.plans = append(e.plans, plan)
}

// ofProject is why a server is only reported that other people use too.
const ofProject = "in a project file; --client, --scope=project or --config includes it"

func (e *edit) leave(f wrap.File, entry wrap.Entry, reason string) {
	e.aside = append(e.aside, aside{Client: f.Client, Path: f.Path, Scope: entry.Scope, Server: entry.Name, Reason: reason})
}

// missing refuses server names that no file has: a typing mistake must not look like success.
func (e *edit) missing(known []string) error {
	for _, name := range slices.Concat(e.servers, e.asides.skip) {
		if slices.Contains(known, name) {
			continue
		}
		hint := "no servers were found"
		if e.verb == wrap.Unwrap {
			hint = e.words().nothing
		}
		if len(known) > 0 {
			slices.Sort(known)
			hint = "servers found: " + list(slices.Compact(known))
		}
		return advise(errors.Join(append([]error{fmt.Errorf("no server %q", name)}, e.refused...)...), hint)
	}
	return nil
}

// names are the servers of a plan that the command could be about: nobody can unwrap what is not wrapped.
func (e *edit) names(plan wrap.Plan) []string {
	var names []string
	for _, step := range plan.Steps {
		ours := slices.Contains([]wrap.State{wrap.Wrapped, wrap.Own, wrap.Stale}, step.Entry.State) || step.Entry.Restorable
		if e.verb == wrap.Unwrap && !ours && !slices.Contains(e.servers, step.Entry.Name) {
			continue
		}
		names = append(names, step.Entry.Name)
	}
	return names
}

// sparesRunning takes out the files of clients that run and would write over the change from memory.
func (e *edit) sparesRunning() error {
	if e.whileRunning {
		return nil
	}
	busy := map[string]error{}
	var spared []wrap.Plan
	for _, plan := range e.plans {
		if same(plan) {
			spared = append(spared, plan)
			continue
		}
		why, err := e.busy(readers(plan.File), busy)
		if err != nil {
			return err
		}
		if why != nil {
			e.refused = append(e.refused, &wrap.FileError{Client: plan.File.Client, Path: plan.Path, Err: why})
			e.hints = append(e.hints, "quit it and run the command again, or add --while-running")
			continue
		}
		spared = append(spared, plan)
	}
	e.plans = spared
	return nil
}

// readers are the ids of all clients that read a file.
func readers(f wrap.File) []string { return append([]string{f.Client}, f.Also...) }

// busy returns why the first of some clients that runs keeps its file from being written, or nil. It remembers what it has
// found out, so that nobody is asked twice.
func (e *edit) busy(ids []string, known map[string]error) (why, err error) {
	for _, id := range ids {
		if _, asked := known[id]; !asked {
			why, err := e.waitFor(id)
			if err != nil {
				return nil, err
			}
			known[id] = why
		}
		if known[id] != nil {
			return known[id], nil
		}
	}
	return nil, nil
}

// waiting tells what the command stands still for.
func (e *edit) waiting(lock string) {
	fmt.Fprintf(e.err, "bouncer: waiting for another program to release %s\n", term.Visible(lock))
}

// waitFor returns why a client's file must not be written now, or nil. A person at the terminal may quit the client meanwhile.
func (e *edit) waitFor(id string) (why, err error) {
	client, ok := clients.ByID(id)
	if !ok {
		return nil, nil
	}
	for {
		running, err := wrap.Running(client.Process)
		if err != nil {
			return fmt.Errorf("can't tell whether %s is running: %w", client.Name, err), nil
		}
		if !running {
			return nil, nil
		}
		why := fmt.Errorf("left out, because %s is running and writes this file from memory", client.Name)
		if !e.interactive || e.yes || e.dryRun {
			return why, nil
		}
		quit, err := e.ask(fmt.Sprintf("%s is running and would undo the change. Quit it completely; is it closed now?", client.Name))
		if err != nil {
			return nil, err
		}
		if !quit {
			return why, nil
		}
	}
}

// replan plans a file anew that was written between plan and apply. Nothing happens to it that was not agreed to.
func (e *edit) replan(f wrap.File) (wrap.Plan, error) {
	plan, err := e.plan(f)
	if err != nil {
		return plan, err
	}
	var agreed []string
	for _, old := range e.plans {
		if old.Path == f.Path {
			agreed = append(agreed, outline(old)...)
		}
	}
	for _, line := range outline(plan) {
		if !slices.Contains(agreed, line) {
			return plan, wrap.ErrChanged
		}
	}
	return plan, nil
}

// outline is what a plan does, without the bytes.
func outline(plan wrap.Plan) []string {
	var lines []string
	for _, step := range plan.Steps {
		if changed(step) {
			lines = append(lines, fmt.Sprintf("%s %q %q", step.Action, step.Entry.Scope, step.Entry.Pointer))
		}
	}
	return lines
}

// unapplied turns a failed apply into advice.
func (e *edit) unapplied(err error) error {
	all := errors.Join(append(e.refused, err)...)
	var hints []string
	switch {
	case errors.Is(err, wrap.ErrHalfDone):
		return all
	case errors.Is(err, wrap.ErrChanged):
		hints = append(hints, "another program wrote the file meanwhile; run the command again")
	case errors.Is(err, atomicfile.ErrLocked):
		hints = append(hints, "run the command again when that program is done")
	case errors.Is(err, atomicfile.ErrLeftover):
		hints = append(hints, "look what it is and remove it, then run the command again")
	}
	return advise(all, append(hints, "no config was changed")...)
}

// changes are the plans that do something.
func (e *edit) changes() []wrap.Plan {
	return slices.DeleteFunc(slices.Clone(e.plans), same)
}

func same(plan wrap.Plan) bool { return bytes.Equal(plan.Before, plan.After) }

func changed(step wrap.Step) bool { return step.Action != wrap.Keep && step.Action != wrap.Skip }

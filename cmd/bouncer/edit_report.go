package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// show prints what would happen: a diff for each file, then who is covered and who is not.
func (e *edit) show(changes []wrap.Plan) {
	for _, plan := range changes {
		e.printDiff(wrap.Diff(plan))
		e.printf("\n")
	}
	servers, hooks := split(changes)
	if rows := stepRows(servers); len(rows) > 0 {
		e.printf("Servers to %s:\n", e.words().verb)
		e.printTable("  ", rows)
		for _, plan := range servers {
			if len(plan.File.Also) > 0 {
				e.printf("  %s is also read by %s\n", plan.Path, list(plan.File.Also))
			}
		}
		e.printf("\n")
	}
	if rows := ownRows(servers); len(rows) > 0 {
		e.printf("Bouncer itself:\n")
		e.printReasons("  ", rows)
		e.printf("\n")
	}
	if len(hooks) > 0 {
		e.printf("Hooks:\n")
		e.printReasons("  ", hookRows(hooks))
		e.printf("\n")
	}
	e.showAside()
}

// showRefused says before the first question which files were left out. Whoever is not asked reads it as the error at the end.
func (e *edit) showRefused() {
	if len(e.refused) == 0 || e.warned {
		return
	}
	e.warned = true
	e.printf("Left out:\n")
	for _, err := range e.refused {
		e.printFilled("  ", err.Error())
	}
	if slices.ContainsFunc(e.refused, malformed) {
		e.printf("  Correct the file first if its servers are to be %s too.\n", e.words().past)
	}
	e.printf("\n")
}

func stepRows(changes []wrap.Plan) [][]string {
	var rows [][]string
	for _, plan := range changes {
		for _, step := range plan.Steps {
			if changed(step) && !aboutOwn(step) {
				rows = append(rows, []string{cmp.Or(plan.File.Client, plan.Path), string(step.Entry.Scope), shownName(step.Entry.Name), note(step)})
			}
		}
	}
	return rows
}

// note says what is special about a step.
func note(step wrap.Step) string {
	switch {
	case step.Reason != "":
		return step.Reason
	case step.Action == wrap.Rewrap:
		return "out of date, written anew"
	}
	return ""
}

func (e *edit) showAside() {
	if len(e.aside) == 0 {
		return
	}
	e.printf("Left as they are:\n")
	var rows [][]string
	for _, a := range e.aside {
		name := ""
		if a.Scope != "" {
			name = shownName(a.Server) // without a scope it is about a whole file
		}
		rows = append(rows, []string{cmp.Or(a.Client, a.Path), string(a.Scope), name, a.Reason})
	}
	e.printReasons("  ", rows)
	e.printf("\n")
}

// words are what a command calls its work.
type words struct{ verb, past, done, nothing string }

func (e *edit) words() words {
	switch e.verb {
	case wrap.Unwrap:
		return words{"unwrap", "unwrapped", "Unwrapped", "no server starts through bouncer"}
	case wrap.Restore:
		return words{"restore", "restored", "Restored", "every file has its old bytes"}
	case wrap.Rewrap:
		return words{"repair", "repaired", "Repaired", "records and launchers are right, and no wrapping was lost"}
	}
	return words{"wrap", "wrapped", "Wrapped", "no server that bouncer could stand in front of"}
}

// finish prints the outcome; done is zero when nothing was written.
func (e *edit) finish(changes []wrap.Plan, done wrap.Generation) error {
	if e.json {
		return e.finishJSON(changes, done)
	}
	if e.yes || e.dryRun || len(changes) == 0 {
		e.show(changes)
	}
	switch {
	case len(changes) == 0:
		e.printNothing()
		e.pointOut()
	case e.keep != nil:
		e.printf("Nothing was changed. The plan is in %s.\n", e.planFile)
	case done.Number == 0 && !e.dryRun:
		e.printf("Nothing was written: another program made the same changes meanwhile.\n")
	case e.dryRun:
		e.printf("Dry run: nothing was written.\n")
	default:
		e.told(changes, done)
	}
	return e.outcome()
}

// printNothing says why there is nothing to do. Of what is in files that were left out nobody knows.
func (e *edit) printNothing() {
	kept := 0
	servers, _ := split(e.plans)
	for _, plan := range servers {
		for _, step := range plan.Steps {
			if step.Action == wrap.Keep {
				kept++
			}
		}
	}
	lead := "Nothing to do"
	if len(e.refused) > 0 {
		lead = "Nothing else to do"
	}
	switch {
	case e.verb == wrap.Wrap && kept > 0:
		e.printf("%s: %s already wrapped.\n", lead, counted(kept, "server"))
	case len(e.refused) > 0:
	case e.verb == wrap.Wrap && servesAlready(servers):
		e.printf("%s: bouncer itself is there, and no server that it could stand in front of.\n", lead)
	default:
		e.printf("%s: %s.\n", lead, e.words().nothing)
	}
}

// pointOut says how to go on when there was nothing to do: with a config of which nobody knows where its servers stand, with
// servers that were only reported because they are a project's, and where no config was found at all.
func (e *edit) pointOut() {
	for _, plan := range e.plans {
		if plan.File.Client == "" && len(plan.Steps) == 0 && e.key == nil {
			e.printFilled("", keyless(plan.Path))
		}
	}
	switch {
	case slices.ContainsFunc(e.aside, func(a aside) bool { return a.Reason == ofProject }):
		command := "init"
		if e.verb == wrap.Unwrap {
			command = "unwrap"
		}
		e.printf("bouncer %s --scope=project includes the servers in project files.\n", command)
	case e.verb == wrap.Wrap && len(e.configs)+len(e.aside)+len(e.refused)+len(e.plans) == 0:
		e.lookedFor(e.clients)
	}
}

// keyless says how to go on with a file that has no servers where most clients have them.
func keyless(file string) string {
	return file + " has nothing at /mcpServers; --key says where its servers stand."
}

// lookedFor names the configs that would have been read, and what to do about a client that bouncer doesn't know.
func (a *app) lookedFor(ids []string) {
	env, err := a.clientEnv()
	if err != nil {
		return // then nothing was looked for
	}
	a.printf("\nNo config of a client was found. These would be read:\n")
	var rows [][]string
	for _, c := range clients.All() {
		if len(ids) > 0 && !slices.Contains(ids, c.ID) {
			continue
		}
		for _, config := range c.Configs {
			if config.Managed {
				continue
			}
			for _, file := range config.Paths(env) {
				rows = append(rows, []string{c.ID, file})
			}
		}
	}
	a.printTable("  ", rows)
	a.printf("\nAny other client: bouncer init --config=FILE --key=/where/its/servers/are (docs/clients.md has examples)\n")
}

// told says what was done, where the files' old bytes are, and what the person still has to do.
func (e *edit) told(changes []wrap.Plan, done wrap.Generation) {
	servers, hooks := split(changes)
	if rows := stepRows(servers); len(rows) > 0 {
		wrapped := slices.DeleteFunc(slices.Clone(servers), func(p wrap.Plan) bool { return len(stepRows([]wrap.Plan{p})) == 0 })
		e.printf("%s %s in %s.\n", e.words().done, counted(len(rows), "server"), counted(len(wrapped), "file"))
	}
	e.ownOutcome(servers)
	e.hookOutcome(hooks)
	e.printf("The files as they were: generation %d in %s\n", done.Number, e.places.State)
	if len(servers) == 0 {
		return // a client reads its settings again by itself
	}
	e.printf("\nTo make it effective:\n")
	var seen []string
	for _, plan := range servers {
		for _, id := range readers(plan.File) {
			client, ok := clients.ByID(id)
			if !ok || slices.Contains(seen, id) {
				continue
			}
			seen = append(seen, id)
			e.printf("  %s\n", client.Reload)
		}
	}
	if len(seen) == 0 {
		e.printf("  restart the programs that read %s\n", list(paths(servers)))
	}
}

// outcome is the error of a run in which files were left out.
func (e *edit) outcome() error {
	if len(e.refused) == 0 {
		return nil
	}
	hints := slices.Compact(slices.Clone(e.hints))
	if slices.ContainsFunc(e.refused, malformed) {
		hints = append(hints, "correct the file and run the command again")
	}
	return advise(errors.Join(e.refused...), hints...)
}

// malformed reports an error at some place of a file's text.
func malformed(err error) bool {
	_, ok := errors.AsType[*jsonc.Error](err)
	return ok
}

func paths(plans []wrap.Plan) []string {
	var paths []string
	for _, plan := range plans {
		paths = append(paths, plan.Path)
	}
	return paths
}

func list(words []string) string { return strings.Join(words, ", ") }

// editReport is what init and unwrap print with --json. The names are a promise: fields are added, never renamed.
type editReport struct {
	Changes    []fileReport  `json:"changes"`
	Uncovered  []aside       `json:"uncovered"`
	Errors     []errorReport `json:"errors"`
	Applied    bool          `json:"applied"`
	Generation int           `json:"generation"`
	Plan       string        `json:"plan,omitempty"`   // the file that the plan went to or came from
	Undoes     int           `json:"undoes,omitempty"` // the generation that was put back
}

type fileReport struct {
	Client  string          `json:"client"`
	Also    []string        `json:"also,omitempty"` // other clients that read this very file
	Path    string          `json:"path"`
	Scopes  []clients.Scope `json:"scopes"`
	Servers []serverReport  `json:"servers"`
	Hooks   []hookReport    `json:"hooks,omitempty"`
}

type serverReport struct {
	Name   string        `json:"name"`
	Scope  clients.Scope `json:"scope"`
	Action wrap.Action   `json:"action"`
	Reason string        `json:"reason"`
}

// errorReport is one file that could not be read or must not be written. Line and column are from 1, or 0 without a place.
type errorReport struct {
	Client  string `json:"client"`
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Message string `json:"message"`
}

func (e *edit) finishJSON(changes []wrap.Plan, done wrap.Generation) error {
	report := editReport{
		Changes: []fileReport{}, Uncovered: []aside{}, Errors: reportErrors(e.refused),
		Applied: done.Number > 0, Generation: done.Number, Plan: e.planFile, Undoes: done.Undoes,
	}
	report.Uncovered = append(report.Uncovered, e.aside...)
	for _, plan := range changes {
		report.Changes = append(report.Changes, reportFile(plan))
	}
	if err := e.printJSON(report); err != nil {
		return err
	}
	if len(e.refused) > 0 {
		return quietly(exitFailed)
	}
	return nil
}

func reportFile(plan wrap.Plan) fileReport {
	file := fileReport{Client: plan.File.Client, Also: plan.File.Also, Path: plan.Path, Scopes: []clients.Scope{}, Servers: []serverReport{}}
	for _, step := range plan.Steps {
		if !changed(step) {
			continue
		}
		if !slices.Contains(file.Scopes, step.Entry.Scope) {
			file.Scopes = append(file.Scopes, step.Entry.Scope)
		}
		if aboutHook(plan) {
			file.Hooks = append(file.Hooks, hookReport{Event: step.Entry.Name, Scope: step.Entry.Scope, Action: step.Action})
			continue
		}
		file.Servers = append(file.Servers, serverReport{
			Name: step.Entry.Name, Scope: step.Entry.Scope, Action: step.Action, Reason: step.Reason,
		})
	}
	return file
}

func reportErrors(refused []error) []errorReport {
	reports := []errorReport{}
	for _, err := range refused {
		r := errorReport{Message: err.Error()}
		if f, ok := errors.AsType[*wrap.FileError](err); ok {
			r.Client, r.Path, r.Message = f.Client, f.Path, f.Err.Error()
		}
		if at, ok := errors.AsType[*jsonc.Error](err); ok {
			r.Line, r.Column, r.Message = at.Line, at.Col, at.Msg
		}
		reports = append(reports, r)
	}
	return reports
}

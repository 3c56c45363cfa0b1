package main

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/wrap"
)

type undoOptions struct {
	editOptions
	list bool
}

func newUndoCmd(a *app) *cobra.Command {
	var o undoOptions
	cmd := &cobra.Command{
		Use:   "undo [GENERATION]",
		Short: "Put the exact bytes back that files had before a change of bouncer's",
		Long: `undo takes back what one init, apply, unwrap, doctor --fix or undo has written: the last
one that is still in force, or the one with the given number. Every file gets the bytes
it had before. If another program has changed a file since, undo shows what it changed
and leaves everything as it is; unwrap then takes out only what bouncer put in.
` + codes(exitDone, exitFailed, exitMisused),
		Example: `  bouncer undo --list
  bouncer undo 3 --dry-run`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 || o.list && len(args) > 0 {
				return misuse("bouncer undo --help shows how it is used", "undo takes one generation, and --list none")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if o.list {
				return a.listGenerations(o)
			}
			number, err := generationNumber(args)
			if err != nil {
				return err
			}
			return a.undo(number, o)
		},
	}
	o.applyFlags(cmd)
	cmd.Flags().BoolVar(&o.list, "list", false, "list what can be undone, the newest first")
	return cmd
}

// generationNumber reads the argument; without one it is 0, which stands for the newest.
func generationNumber(args []string) (int, error) {
	if len(args) == 0 {
		return 0, nil
	}
	number, err := strconv.Atoi(args[0])
	if err != nil || number < 1 {
		return 0, misuse("bouncer undo --list shows the numbers", "%q is no number of a generation", args[0])
	}
	return number, nil
}

func (a *app) undo(number int, o undoOptions) error {
	if err := o.answerable(); err != nil {
		return err
	}
	if _, err := a.kept(); err != nil {
		return err
	}
	e, err := a.newEdit(wrap.Restore, o.editOptions)
	if err != nil {
		return err
	}
	g, err := e.store.Find(number)
	if errors.Is(err, wrap.ErrNothingToUndo) {
		return advise(err, "bouncer undo --list shows what there is")
	}
	if err != nil {
		return err
	}
	e.plans, err = wrap.PlanUndo(e.store, g)
	if err != nil {
		return e.notUndone(g, err)
	}
	e.strict = true
	if err := e.sparesRunning(); err != nil {
		return err
	}
	e.apply = func([]wrap.Plan) (wrap.Generation, error) {
		return wrap.Undo(e.store, g.Number, wrap.ApplyOptions{Command: "undo", Waiting: e.waiting})
	}
	return e.carryOut(e.changes())
}

// notUndone shows what others have changed since.
func (e *edit) notUndone(g wrap.Generation, err error) error {
	if !errors.Is(err, wrap.ErrChanged) {
		return err
	}
	if e.json {
		e.refused = append(e.refused, err)
		return e.finishJSON(nil, wrap.Generation{})
	}
	logged, logErr := e.store.Log()
	if logErr != nil {
		return logErr
	}
	for _, l := range logged {
		if l.Number == g.Number && l.Standing == wrap.Covered {
			return advise(fmt.Errorf("generation %d came after generation %d and changed its files once more", l.By, g.Number),
				fmt.Sprintf("bouncer undo %d first", l.By))
		}
	}
	for _, plan := range e.store.Since(g) {
		e.printf("Changed since generation %d:\n", g.Number)
		e.printDiff(wrap.Diff(plan))
		e.printf("\n")
	}
	return advise(err, "bouncer unwrap takes out only what bouncer put in, and keeps these changes")
}

// generationReport is what undo --list prints with --json for each generation. The names are a promise.
type generationReport struct {
	Generation int                    `json:"generation"`
	Time       time.Time              `json:"time"`
	Command    string                 `json:"command"`
	State      wrap.Standing          `json:"state"`
	By         int                    `json:"by"`     // the generation that undid it, or that must be undone first; or 0
	Undoes     int                    `json:"undoes"` // the generation that it put back, or 0
	Files      []generationFileReport `json:"files"`
}

type generationFileReport struct {
	Client  string   `json:"client"`
	Path    string   `json:"path"`
	Servers []string `json:"servers"`
	Hook    string   `json:"hook,omitempty"`
}

func (a *app) listGenerations(o undoOptions) error {
	p, err := a.kept()
	if err != nil {
		return err
	}
	logged, err := wrap.NewStore(p.State).Log()
	if err != nil {
		return err
	}
	reports := []generationReport{}
	for i := len(logged) - 1; i >= 0; i-- {
		reports = append(reports, reportGeneration(logged[i]))
	}
	switch {
	case o.json:
		return a.printJSON(struct {
			Generations []generationReport `json:"generations"`
		}{reports})
	case len(reports) == 0:
		a.printf("Nothing to undo: bouncer has changed no file yet.\n")
		return nil
	}
	rows := [][]string{{"GENERATION", "WHEN", "COMMAND", "CHANGED", "STATE"}}
	for _, r := range reports {
		rows = append(rows, r.row())
	}
	a.printTable("", rows)
	return nil
}

func reportGeneration(l wrap.Logged) generationReport {
	r := generationReport{
		Generation: l.Number, Time: l.Time, Command: typed(l.Command), State: l.Standing, By: l.By, Undoes: l.Undoes,
		Files: []generationFileReport{},
	}
	for _, f := range l.Files {
		r.Files = append(r.Files, generationFileReport{Client: f.Client, Path: f.Path, Servers: f.Entries, Hook: f.Hook})
	}
	return r
}

// typed is the command that a record speaks of.
func typed(record string) string {
	switch wrap.Action(record) {
	case wrap.Wrap:
		return "init"
	case wrap.Rewrap:
		return "doctor --fix"
	}
	return record
}

func (r generationReport) row() []string {
	command := r.Command
	if r.Undoes != 0 {
		command = fmt.Sprintf("%s of %d", command, r.Undoes)
	}
	return []string{
		strconv.Itoa(r.Generation), r.Time.Local().Format("2006-01-02 15:04"), command,
		r.changed(), r.state(),
	}
}

// changed counts what a generation is about.
func (r generationReport) changed() string {
	servers, files, hooks := 0, 0, 0
	for _, f := range r.Files {
		if f.Hook != "" {
			hooks++
			continue
		}
		servers += len(f.Servers)
		files++
	}
	var words []string
	if files > 0 {
		words = append(words, counted(servers, "server")+" in "+counted(files, "file"))
	}
	if hooks > 0 {
		words = append(words, counted(hooks, "hook"))
	}
	return list(words)
}

// state says in words whether it can be undone.
func (r generationReport) state() string {
	switch r.State {
	case wrap.Undoable:
		return "can be undone"
	case wrap.Covered:
		return fmt.Sprintf("after %d is undone", r.By)
	case wrap.Changed:
		return "files changed since"
	case wrap.Failed:
		return "failed, was put back"
	}
	if r.By != 0 {
		return fmt.Sprintf("undone by %d", r.By)
	}
	return "undone"
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/wrap"
)

func newApplyCmd(a *app) *cobra.Command {
	var o editOptions
	cmd := &cobra.Command{
		Use:   "apply PLAN",
		Short: "Do what a plan of bouncer init --plan says",
		Long: `apply carries out a plan that bouncer init --plan has written: all of it or nothing. It
refuses when one of the files has changed since, or when the outcome would differ from
the planned one in a single byte.
` + codes(exitDone, exitFailed, exitMisused),
		Example: `  bouncer init --plan=plan.json
  bouncer apply plan.json --dry-run
  bouncer apply plan.json --yes`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("bouncer apply --help shows how it is used", "apply takes one plan")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error { return a.apply(args[0], o) },
	}
	o.applyFlags(cmd)
	return cmd
}

func (a *app) apply(file string, o editOptions) error {
	file, err := a.absolute(file)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	draft, err := wrap.ParseDraft(data)
	if err != nil {
		return advise(fmt.Errorf("%s: %w", file, err), "bouncer init --plan writes plans")
	}
	if _, err := a.loadable(draft.Policies); err != nil {
		return err
	}
	launcher, err := a.launcher()
	if err != nil {
		return err
	}
	o.configs, o.key = draft.Paths(), draft.Key
	e, err := a.newEdit(wrap.Wrap, o)
	if err != nil {
		return err
	}
	options := e.options()
	options.Launcher, options.Home = launcher, e.places.State
	e.planFile, e.strict, e.logged = file, true, wrap.FromPlan
	e.hints = []string{"bouncer init --plan makes a new plan"}
	e.plan = func(f wrap.File) (wrap.Plan, error) { return draft.Plan(f, options) }
	if len(o.configs) == 0 {
		return e.carryOut(nil)
	}
	return e.run()
}

// keepDraft writes plans down for apply. A file that is there already is never overwritten: it may be anything.
func (e *edit) keepDraft(changes []wrap.Plan, o wrap.Options) error {
	draft := wrap.NewDraft(changes, o, time.Now())
	draft.Key = e.key
	data, err := draft.Encode()
	if err != nil {
		return err
	}
	err = atomicfile.Create(e.planFile, data, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return advise(err, "name a file that does not exist yet")
	}
	return err
}

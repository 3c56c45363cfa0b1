package main

import (
	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/wrap"
)

func newUnwrapCmd(a *app) *cobra.Command {
	var o editOptions
	cmd := &cobra.Command{
		Use:   "unwrap",
		Short: "Take bouncer away again and restore the configs",
		Long: `unwrap gives the servers in your clients' configs their own command lines back. The
files hold all it needs: it works after bouncer's own folder is gone, and for entries
whose record a client has dropped.

Files that belong to a project are only reported unless --client, --scope=project or
--config includes them.
` + codes(exitDone, exitFailed, exitMisused),
		Example: `  bouncer unwrap --dry-run
  bouncer unwrap --client=cursor --server=mail`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.unwrap(o) },
	}
	o.flags(cmd)
	return cmd
}

func (a *app) unwrap(o editOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	e, err := a.newEdit(wrap.Unwrap, o)
	if err != nil {
		return err
	}
	options := e.options()
	e.plan = func(f wrap.File) (wrap.Plan, error) {
		options.Originals = e.store.Originals(f.Path)
		return wrap.PlanUnwrap(f, options)
	}
	return e.run()
}

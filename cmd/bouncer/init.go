package main

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/wrap"
)

type initOptions struct {
	editOptions
	policies []string
	profile  string
	observe  bool
	skip     []string
	plan     string
	serve    bool
}

func checkProfile(name string) error {
	if name == "" || slices.Contains(policy.Profiles(), name) {
		return nil
	}
	return misuse("known profiles: "+strings.Join(policy.Profiles(), ", "), "unknown profile %q", name)
}

// choices lists the values of --profile for its help.
func choices() string {
	all := policy.Profiles()
	return strings.Join(all[:len(all)-1], ", ") + " or " + all[len(all)-1]
}

func newInitCmd(a *app) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init",
		Short: "Put bouncer in front of the servers in your clients' configs",
		Long: `init rewrites the configs of your AI clients so that each server starts through
bouncer. Only the entries themselves change; comments, layout and everything else stay,
and unwrap gives back every byte.

At a terminal it lists the servers and asks which of them to wrap, if there is more than
one; Enter takes all, n none. Then it shows the changes and asks once whether to write
them. --plan only writes down what would change; bouncer apply does it later.

Claude Code also gets a hook that tells bouncer what you type, so that bouncer need not
ask about an address you have just named. --skip=UserPromptSubmit leaves it out.

--observe blocks nothing at first: the log says what would have been asked about or
refused. bouncer init --profile=balanced ends that.

--with-serve adds bouncer itself to the servers of each client, so that the agent can
ask what bouncer would say to a call, and why. unwrap takes it out again.

Without --client it takes every client it finds. Files that belong to a project are
then only reported, since other people use them too: --client, --scope=project and
--config include them, and --scope=user leaves them out again.
` + codes(exitDone, exitFailed, exitMisused),
		Example: `  bouncer init --dry-run
  bouncer init --client=cursor --server=mail --policy=mail.yaml
  bouncer init --config=settings.json --key=/context_servers`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.init(o) },
	}
	o.flags(cmd)
	cmd.Flags().StringArrayVar(&o.skip, "skip", nil, "leave the server of this `NAME` alone, now and later, until --server names it (repeatable)")
	cmd.Flags().StringArrayVar(&o.policies, "policy", nil, "judge the servers' calls by this policy `FILE` too (repeatable)")
	cmd.Flags().BoolVar(&o.serve, "with-serve", false, "also add bouncer itself as a server (bouncer serve)")
	cmd.Flags().StringVar(&o.plan, "plan", "", "write the plan into this new `FILE` instead of applying it")
	cmd.Flags().StringVar(&o.profile, "profile", "", "judge by this `PROFILE`: "+choices())
	cmd.Flags().BoolVar(&o.observe, "observe", false, "short for --profile=observe: block nothing, and log what would have been")
	return cmd
}

func (o *editOptions) flags(cmd *cobra.Command) {
	o.selection.flags(cmd)
	o.applyFlags(cmd)
}

// applyFlags are those of every command that writes to clients' files.
func (o *editOptions) applyFlags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "show the changes and write nothing")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "don't ask")
	cmd.Flags().BoolVar(&o.json, "json", false, "print a JSON report instead of text")
	cmd.Flags().BoolVar(&o.whileRunning, "while-running", false, "also write the file of a client that runs and may undo the change")
}

func (a *app) init(o initOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.observe {
		if o.profile != "" {
			return misuse("", "--observe is a profile, and goes with no --profile")
		}
		o.profile = policy.ProfileObserve
	}
	if err := checkProfile(o.profile); err != nil {
		return err
	}
	if o.plan != "" && (o.yes || o.dryRun) {
		return misuse("--plan applies nothing, so it needs neither --yes nor --dry-run", "--plan goes with neither --yes nor --dry-run")
	}
	policies, err := a.loadable(o.policies)
	if err != nil {
		return err
	}
	launcher, err := a.launcher()
	if errors.Is(err, wrap.ErrShortLived) {
		return advise(err, "install bouncer where it stays, then run it from there")
	}
	if err != nil {
		return err
	}
	e, err := a.newEdit(wrap.Wrap, o.editOptions)
	if err != nil {
		return err
	}
	options := e.options()
	options.Launcher, options.Home = launcher, e.places.State
	options.Policies, options.Profile, options.Serve = policies, o.profile, o.serve
	if err := e.leaveAside(o.skip); err != nil {
		return err
	}
	e.plan = func(f wrap.File) (wrap.Plan, error) {
		options := options
		options.Aside = e.asides.of(e, f)
		if f.Shared && !e.shared() { // only reported, so what is asked for does not concern it
			options.Policies, options.Profile = nil, ""
		}
		return wrap.PlanWrap(f, options)
	}
	if o.plan != "" {
		if e.planFile, err = a.absolute(o.plan); err != nil {
			return err
		}
		e.dryRun, e.whileRunning = true, true // nothing is written to a client's file now
		e.keep = func(changes []wrap.Plan) error { return e.keepDraft(changes, options) }
	}
	return e.run()
}

// loadable makes policy files absolute and refuses those that would keep servers from starting.
func (a *app) loadable(files []string) ([]string, error) {
	var absolute []string
	for _, file := range files {
		path, err := a.absolute(file)
		if err != nil {
			return nil, err
		}
		if _, err := readPolicy(path); err != nil {
			return nil, advise(err, "nothing was changed; servers do not start under a policy that does not load")
		}
		absolute = append(absolute, path)
	}
	return absolute, nil
}

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// subcommands lists every command in the order in which help shows them: set up, look, run, read.
func subcommands() []func(*app) *cobra.Command {
	return []func(*app) *cobra.Command{
		newInitCmd,
		newApplyCmd,
		newUnwrapCmd,
		newUndoCmd,
		newStatusCmd,
		newDoctorCmd,
		newRunCmd,
		newServeCmd,
		newApprovalsCmd,
		newDashboardCmd,
		newAuditCmd,
		newPinsCmd,
		newPolicyCmd,
		newPacksCmd,
		newDemoCmd,
		newHookCmd,
		newSelfCheckCmd,
		newVersionCmd,
		newManCmd,
	}
}

func newRootCmd(a *app) *cobra.Command {
	cobra.EnableCommandSorting = false // the order above tells a story
	cobra.MousetrapHelpText = ""       // looking at all processes for it slows every start on Windows

	version := false
	root := &cobra.Command{
		Use:   "bouncer",
		Short: "Judge what AI clients' MCP servers are asked to do",
		Long: `bouncer starts the MCP servers of your AI clients through itself and judges every
tool call by fixed rules: should this destination receive this value, given where
the value came from? No model is asked, and nothing leaves the machine.

  bouncer init      puts bouncer in front of the servers it finds
  bouncer unwrap    gives the original configs back
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return misuse(suggestion(cmd, args[0]), "unknown command %q", args[0])
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if version {
				fmt.Fprint(a.out, thisBuild().line())
				return nil
			}
			return cmd.Help()
		},
	}
	root.Flags().BoolVar(&version, "version", false, "say which bouncer this is, as the command version does")
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return misuse(fmt.Sprintf("%s --help lists the flags", cmd.CommandPath()), "%w", err)
	})
	root.PersistentFlags().StringVar(&a.home, "home", "", "keep state, audit log and policy under `DIR` (default $BOUNCER_HOME, then the system's places)")
	for _, newCmd := range subcommands() {
		root.AddCommand(newCmd(a))
	}
	return root
}

func suggestion(root *cobra.Command, name string) string {
	root.SuggestionsMinimumDistance = 2
	if names := root.SuggestionsFor(name); len(names) > 0 {
		return "did you mean " + strings.Join(names, " or ") + "?"
	}
	return "bouncer --help lists the commands"
}

// noArgs refuses words that are no flags.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return misuse(cmd.CommandPath()+" --help shows how it is used", "%s takes no argument %q", cmd.Name(), args[0])
}

// codes is the paragraph of a command's help that lists its exit codes.
func codes(used ...int) string {
	meaning := map[int]string{
		exitDone:    "done",
		exitFailed:  "failed",
		exitMisused: "used wrongly",
		exitFound:   "a check found problems",
	}
	var b strings.Builder
	b.WriteString("\nExit codes:\n")
	for _, code := range used {
		fmt.Fprintf(&b, "  %d  %s\n", code, meaning[code])
	}
	return strings.TrimSuffix(b.String(), "\n")
}

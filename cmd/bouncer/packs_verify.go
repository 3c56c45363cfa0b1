package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/internal/link"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/probe"
	"github.com/bouncer-mcp/bouncer/session"
)

type packsVerifyOptions struct {
	names  []string
	argv   []string
	tools  string
	asJSON bool
}

func newPacksVerifyCmd(a *app) *cobra.Command {
	var o packsVerifyOptions
	cmd := &cobra.Command{
		Use:   "verify [NAME] {-- COMMAND [ARG]... | --tools FILE}",
		Short: "Hold a pack against what a server lists",
		Long: `verify starts the server that you name, asks it for its tools, ends it, and says what a
pack names and the server does not have, and what is new. No tool is called. Without
NAME, the packs that are written for the server are meant.
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		ValidArgsFunction: completePacks,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			if dash := cmd.ArgsLenAtDash(); dash >= 0 {
				o.names, o.argv = args[:dash], args[dash:]
			}
			return a.packsVerify(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.tools, "tools", "", "read what a server lists from `FILE`, a saved answer to tools/list")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON instead of text")
	return cmd
}

// verifyReport is what verify prints with --json. The names are a promise: fields are added, never renamed.
type verifyReport struct {
	Pack     string       `json:"pack"`
	Package  string       `json:"package"` // that the pack is taken to be applied to
	Version  string       `json:"version"` // that the pack was written from
	Listed   int          `json:"listed"`
	Named    int          `json:"named"` // tools of these that the pack has entries for
	Problems []difference `json:"problems"`
	Notes    []difference `json:"notes"`
}

type difference struct {
	Tool  string `json:"tool,omitempty"`
	Param string `json:"param,omitempty"`
	Says  string `json:"says"`
}

func (a *app) packsVerify(ctx context.Context, o packsVerifyOptions) error {
	l, err := o.listing(ctx)
	if err != nil {
		return err
	}
	if len(o.names) == 0 {
		if l.Package == "" {
			return misuse("bouncer packs list shows the names", "%s does not say which package lists this; name a pack", o.tools)
		}
		if o.names = packs.Fits(l.Package); len(o.names) == 0 {
			return advise(fmt.Errorf("no pack is written for %s", l.Package), "name a pack to compare it all the same")
		}
	}
	reports, found := []verifyReport{}, false
	for _, name := range o.names {
		p, _, err := pack(name)
		if err != nil {
			return err
		}
		r := packs.Verify(p, l)
		found = found || len(r.Problems) > 0
		if o.asJSON {
			reports = append(reports, verifyReport{name, r.Package, r.Version, r.Listed, r.Named, differences(r.Problems), differences(r.Notes)})
			continue
		}
		a.printVerified(name, r)
	}
	if o.asJSON {
		err = a.printJSON(struct {
			Packs []verifyReport `json:"packs"`
		}{reports})
		if err != nil {
			return err
		}
	}
	return quietly(exitIf(found, exitFound))
}

// listing is what the server lists, or what the file says that one did.
func (o packsVerifyOptions) listing(ctx context.Context) (packs.Listing, error) {
	const hint = "bouncer packs verify NAME -- COMMAND"
	switch {
	case len(o.names) > 1:
		return packs.Listing{}, misuse("put the server's command behind --", "verify takes one pack, not %d", len(o.names))
	case (o.tools == "") == (len(o.argv) == 0):
		return packs.Listing{}, misuse(hint, "verify takes either the server's command behind -- or --tools")
	case o.tools != "":
		text, err := os.ReadFile(o.tools)
		if err != nil {
			return packs.Listing{}, err
		}
		l, err := packs.ReadListing(text)
		if err != nil {
			err = fmt.Errorf("%s: %w", o.tools, err)
		}
		return l, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, probeFor, fmt.Errorf("none within %s", probeFor))
	defer cancel()
	tools, err := probe.Tools(ctx, link.Spec{Command: o.argv[0], Args: o.argv[1:], Env: link.Environ(os.Environ())})
	if err != nil {
		return packs.Listing{}, fmt.Errorf("%s did not list its tools: %w", o.argv[0], err)
	}
	pkg, _, _ := strings.Cut(session.Identity("", o.argv), "#")
	return packs.Listing{Package: pkg, Tools: tools}, nil
}

func (a *app) printVerified(name string, r packs.Report) {
	against := ""
	if r.Version != "" {
		against = " (written from " + r.Version + ")"
	}
	a.printFilled("", fmt.Sprintf("%s for %s%s: %s listed, %d of them in the pack", name, r.Package, against, counted(r.Listed, "tool"), r.Named))
	for _, d := range r.Problems {
		a.printFilled("  ", "problem: "+d.String())
	}
	for _, n := range r.Gathered() {
		a.printFilled("  ", "note: "+n)
	}
	if len(r.Problems) == 0 {
		a.printf("  no problems\n")
	}
}

func differences(list []packs.Difference) []difference {
	all := []difference{}
	for _, d := range list {
		all = append(all, difference(d))
	}
	return all
}

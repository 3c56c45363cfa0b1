package main

import (
	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
)

func newPacksCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "packs",
		Short: "See the policies that come with bouncer for well-known servers",
		Long: `A pack is a policy for servers of one kind, written from what they list. It holds for
every server that is started from one of its packages, below your own policy.
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newPacksListCmd(a), newPacksShowCmd(a), newPacksVerifyCmd(a))
	return cmd
}

func newPacksListCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the packs and the packages that they are for",
		Long: "list shows each pack with the packages that it is for, and the day it was checked against them.\n" +
			codes(exitDone, exitFailed, exitMisused),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.packsList(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON instead of a table")
	return cmd
}

// packReport is one pack with --json. The names are a promise: fields are added, never renamed.
type packReport struct {
	Name    string       `json:"name"`
	Summary string       `json:"summary"`
	Servers []packServer `json:"servers"`
	Tools   []string     `json:"tools"`
	Source  string       `json:"source,omitempty"` // of show: the YAML
}

type packServer struct {
	Package string `json:"package"`
	Version string `json:"version"` // empty when what was read has none
	Checked string `json:"checked"` // a day
	Listed  int    `json:"listed"`  // tools; 0 when its definitions were read, and it was not started
}

func reportPack(name string, pack *policy.Layer) packReport {
	h := pack.Header()
	r := packReport{Name: name, Summary: h.Summary, Servers: []packServer{}, Tools: pack.Tools()}
	for _, s := range h.Servers {
		r.Servers = append(r.Servers, packServer{s.Package, s.Version, s.Checked, s.Tools})
	}
	return r
}

// pack reads the pack of a name.
func pack(name string) (*policy.Layer, []byte, error) {
	text, ok := packs.Source(name)
	if !ok {
		return nil, nil, misuse("bouncer packs list shows the names", "there is no pack %q", name)
	}
	l, err := policy.ParsePack(name, text)
	return l, text, err
}

func (a *app) packsList(asJSON bool) error {
	reports := []packReport{}
	for _, name := range packs.Names() {
		l, _, err := pack(name)
		if err != nil {
			return err
		}
		reports = append(reports, reportPack(name, l))
	}
	if asJSON {
		return a.printJSON(struct {
			Packs []packReport `json:"packs"`
		}{reports})
	}
	rows := [][]string{{"PACK", "FOR", "VERSION", "CHECKED", "WHAT IT GUARDS"}}
	for _, r := range reports {
		for i, s := range r.Servers {
			row := []string{r.Name, s.Package, s.Version, s.Checked, r.Summary}
			if i > 0 {
				row[0], row[4] = "", ""
			}
			rows = append(rows, row)
		}
	}
	a.printTable("", rows, 4, 1)
	return nil
}

func newPacksShowCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Print a pack",
		Long:  "show prints the pack as it stands in bouncer: YAML, to be read, or copied into a policy of your own.\n" + codes(exitDone, exitFailed, exitMisused),
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("bouncer packs list shows the names", "%s takes the name of one pack", cmd.Name())
			}
			return nil
		},
		ValidArgsFunction: completePacks,
		RunE:              func(_ *cobra.Command, args []string) error { return a.packsShow(args[0], asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON, with the YAML as one text in it")
	return cmd
}

func completePacks(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return packs.Names(), cobra.ShellCompDirectiveNoFileComp
}

func (a *app) packsShow(name string, asJSON bool) error {
	l, text, err := pack(name)
	if err != nil {
		return err
	}
	if !asJSON {
		a.printf("%s", text)
		return nil
	}
	r := reportPack(name, l)
	r.Source = string(text)
	return a.printJSON(r)
}

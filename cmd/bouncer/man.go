package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/internal/manpage"
)

// newManCmd is for packagers: no person needs it, so help doesn't list it.
func newManCmd(a *app) *cobra.Command {
	var date string
	cmd := &cobra.Command{
		Use:    "man DIR",
		Short:  "Write a manual page for each command",
		Long:   "man writes the manual pages of all commands into the existing folder DIR.\n" + codes(exitDone, exitFailed, exitMisused),
		Hidden: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("bouncer man --help shows how it is used", "man takes one folder")
			}
			if _, err := time.Parse(time.DateOnly, date); err != nil {
				return misuse("", "--date takes a date like 2026-12-01, not %q", date)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.writeManual(cmd.Root(), args[0], date)
		},
	}
	cmd.Flags().StringVar(&date, "date", "", "the `DATE` that the pages bear")
	return cmd
}

func (a *app) writeManual(cmd *cobra.Command, dir, date string) error {
	page := manual(cmd, date)
	if err := os.WriteFile(filepath.Join(dir, page.Name+".1"), []byte(page.Roff()), 0o644); err != nil {
		return err
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			if err := a.writeManual(sub, dir, date); err != nil {
				return err
			}
		}
	}
	return nil
}

// manual turns a command's help into a page.
func manual(cmd *cobra.Command, date string) manpage.Page {
	cmd.InitDefaultHelpFlag()
	text := cmd.Long
	if text == "" {
		text = cmd.Short
	}
	text, exits, _ := strings.Cut(text, "\nExit codes:\n")
	p := manpage.Page{
		Name:        pageName(cmd),
		Summary:     lowerFirst(cmd.Short),
		Date:        date,
		Source:      "bouncer " + thisBuild().Version,
		Usage:       cmd.UseLine(),
		Description: text,
		Options:     options(cmd.NonInheritedFlags().FlagUsages()),
		Inherited:   options(cmd.InheritedFlags().FlagUsages()),
		Examples:    cmd.Example,
	}
	for line := range strings.Lines(exits) {
		if number, meaning, ok := strings.Cut(strings.TrimSpace(line), "  "); ok {
			p.ExitCodes = append(p.ExitCodes, manpage.Code{Number: number, Meaning: meaning})
		}
	}
	if cmd.HasParent() {
		p.SeeAlso = []string{pageName(cmd.Parent())}
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" {
			p.Commands = append(p.Commands, manpage.Ref{Name: pageName(sub), Text: sub.Short})
		}
	}
	return p
}

func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

func lowerFirst(s string) string { return strings.ToLower(s[:min(1, len(s))]) + s[min(1, len(s)):] }

// options reads flags out of the table that help shows, one a line: the flag, three blanks or more, what it does.
func options(table string) []manpage.Option {
	var list []manpage.Option
	for line := range strings.Lines(table) {
		flag, text, _ := strings.Cut(strings.TrimSpace(line), "   ")
		list = append(list, manpage.Option{Flag: flag, Text: strings.TrimSpace(text)})
	}
	return list
}

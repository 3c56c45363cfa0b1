package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/internal/term"
)

type doctorOptions struct {
	selection
	json, fix, yes bool
}

func newDoctorCmd(a *app) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out whether bouncer protects what you think it does",
		Long: `doctor looks at your clients' configs, at bouncer's own files and at the programs they
name, and reports what is broken or less protected than it seems. It starts no server.
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.doctor(o) },
	}
	o.clientFlag(cmd)
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON instead of text")
	cmd.Flags().BoolVar(&o.fix, "fix", false, "repair what can be repaired safely: stale records, launchers that moved")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "with --fix: don't ask")
	return cmd
}

// doctorReport is what doctor prints with --json. The names are a promise: fields are added, never renamed.
type doctorReport struct {
	Findings []doctor.Finding `json:"findings"`
}

func (a *app) doctor(o doctorOptions) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.yes && !o.fix {
		return misuse("", "--yes makes sense with --fix only")
	}
	if o.fix && o.json && !o.yes {
		return misuse("--yes repairs without asking", "--json can't ask for a yes")
	}
	var unfixed error
	if o.fix {
		unfixed = a.fix(o)
		if f, ok := errors.AsType[*fault](unfixed); ok && f.code == exitMisused {
			return unfixed
		}
	}
	facts, err := a.gather(o.selection)
	if err != nil {
		return err
	}
	found := doctor.Diagnose(facts)
	if o.json {
		report := doctorReport{Findings: append([]doctor.Finding{}, found...)}
		if err := a.printJSON(report); err != nil {
			return err
		}
	} else {
		a.printFindings(found)
	}
	if unfixed != nil {
		return unfixed
	}
	return quietly(exitIf(doctor.Problems(found), exitFound))
}

func (a *app) printFindings(found []doctor.Finding) {
	for _, f := range found {
		fmt.Fprint(a.out, a.severity(f.Severity))
		a.printf(" %s: %s\n", f.Code, sentence(f))
		if f.File != "" {
			a.printf("  in %s\n", at(f.File, f.Line, f.Column))
		}
		if f.Repair != "" {
			a.printf("  repair: %s\n", f.Repair)
		}
	}
	a.printf("%s\n", verdict(found))
}

// verdict is the last line, for those who read only that.
func verdict(found []doctor.Finding) string {
	count := map[doctor.Severity]int{}
	for _, f := range found {
		count[f.Severity]++
	}
	if !doctor.Problems(found) {
		return "No problems found."
	}
	return fmt.Sprintf("%s, %s.", counted(count[doctor.Error], "error"), counted(count[doctor.Warning], "warning"))
}

func (a *app) severity(s doctor.Severity) string {
	if !a.color {
		return string(s)
	}
	switch s {
	case doctor.Error:
		return term.Red.Paint(string(s))
	case doctor.Warning:
		return term.Yellow.Paint(string(s))
	}
	return string(s)
}

// sentence says what the message is about: "cursor: server "mail" (user) starts npx without bouncer".
func sentence(f doctor.Finding) string {
	var s string
	if f.Client != "" {
		s = f.Client + ": "
	}
	if f.Server != "" {
		s += fmt.Sprintf("server %q ", f.Server)
	}
	if f.Scope != "" {
		s += fmt.Sprintf("(%s) ", f.Scope)
	}
	return s + f.Message
}

func at(file string, line, column int) string {
	switch {
	case line == 0:
		return file
	case column == 0:
		return fmt.Sprintf("%s, line %d", file, line)
	}
	return fmt.Sprintf("%s, line %d, column %d", file, line, column)
}

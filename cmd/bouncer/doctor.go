package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/internal/term"
	"github.com/bouncer-mcp/bouncer/wrap"
)

type doctorOptions struct {
	selection
	json, sarif, codes, probe, fix, yes bool
}

func newDoctorCmd(a *app) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find out whether bouncer protects what you think it does",
		Long: `doctor looks at your clients' configs, at bouncer's own files and at the programs they
name, and reports what is broken or less protected than it seems. It starts no server
without --probe, and changes nothing without --fix.
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context(), o) },
	}
	o.placeFlags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print JSON instead of text")
	f.BoolVar(&o.sarif, "sarif", false, "print SARIF 2.1.0 instead of text, for tools that collect findings")
	f.BoolVar(&o.codes, "codes", false, "list the codes that a finding may have, and check nothing")
	f.BoolVar(&o.probe, "probe", false, "start each server and list its tools, after asking")
	f.BoolVar(&o.fix, "fix", false, "repair what needs no decision: records, launchers that moved, servers whose wrapping was lost")
	f.BoolVar(&o.yes, "yes", false, "with --fix and --probe: don't ask")
	return cmd
}

// doctorReport is what doctor prints with --json. The names are a promise: fields are added, never renamed.
type doctorReport struct {
	Findings []doctor.Finding `json:"findings"`
}

func (o doctorOptions) checkFlags() error {
	if err := o.check(); err != nil {
		return err
	}
	quiet := o.json || o.sarif
	switch {
	case o.json && o.sarif:
		return misuse("", "--json and --sarif are two forms of one report")
	case o.codes && (o.sarif || o.fix || o.probe):
		return misuse("", "--codes goes with --json only")
	case o.yes && !o.fix && !o.probe:
		return misuse("", "--yes makes sense with --fix or --probe only")
	case (o.fix || o.probe) && quiet && !o.yes:
		return misuse("--yes goes on without asking", "a report for programs can't ask for a yes")
	}
	return nil
}

func (a *app) doctor(ctx context.Context, o doctorOptions) error {
	if err := o.checkFlags(); err != nil {
		return err
	}
	if o.codes {
		return a.printCodes(o.json)
	}
	var unfixed error
	if o.fix {
		unfixed = a.fix(o)
		if f, ok := errors.AsType[*fault](unfixed); ok && f.code == exitMisused {
			return unfixed
		}
	}
	facts, servers, err := a.gather(o.selection)
	if err != nil {
		return err
	}
	if o.probe {
		if err := a.probe(ctx, o, facts, servers); err != nil {
			return err
		}
	}
	found := doctor.Diagnose(facts)
	if err := a.printReport(o, found); err != nil {
		return err
	}
	if unfixed != nil {
		return unfixed
	}
	return quietly(exitIf(doctor.Problems(found), exitFound))
}

func (a *app) printReport(o doctorOptions, found []doctor.Finding) error {
	switch {
	case o.json:
		return a.printJSON(doctorReport{Findings: append([]doctor.Finding{}, found...)})
	case o.sarif:
		dir, err := a.cwd()
		if err != nil {
			return err
		}
		return a.printJSON(doctor.SARIF(found, dir, thisBuild().Version))
	}
	a.printFindings(found)
	return nil
}

// codeWidth is the column of the longest code.
const codeWidth = 18

// printFindings writes each finding as a row of columns, and below it what it says. The paths in it keep their length, and so do
// commands, which are there to be copied.
func (a *app) printFindings(found []doctor.Finding) {
	for _, f := range found {
		fmt.Fprint(a.out, a.severity(f.Severity))
		row := strings.Repeat(" ", len("warning")-len(f.Severity)+cellGap) + term.Pad(f.Code, codeWidth) + "  " + where(f)
		a.printf("%s\n", strings.TrimRight(oneLine(row), " "))
		a.printFilled("  ", f.Message)
		if f.File != "" {
			a.printf("  in %s\n", at(f.File, f.Line, f.Column))
		}
		if f.Repair != "" {
			a.printRepair(f.Repair)
		}
		if len(f.Tools) > 0 {
			a.printTools(f.Tools)
		}
	}
	a.printf("%s\n", verdict(found))
}

// printRepair writes advice. A line that begins with a command stays one line.
func (a *app) printRepair(repair string) {
	for _, command := range []string{"bouncer init ", "bouncer unwrap ", "bouncer pins ", "bouncer doctor --fix --config", "chmod "} {
		if strings.HasPrefix(repair, command) {
			a.printf("  repair: %s\n", repair)
			return
		}
	}
	a.printFilled("  ", "repair: "+repair)
}

func (a *app) printTools(tools []doctor.Tool) {
	rows := [][]string{{"TOOL", "RULE", "DESTINATIONS"}}
	for _, t := range tools {
		rule, destinations := t.Words()
		rows = append(rows, []string{t.Name, rule, destinations})
	}
	a.printTable("    ", rows, 2, 1)
}

// where says what a finding is about: client, scope and server.
func where(f doctor.Finding) string {
	var words []string
	if f.Client != "" {
		words = append(words, f.Client)
	}
	if f.Scope != "" {
		words = append(words, string(f.Scope))
	}
	if f.Server != "" || f.Scope != "" {
		words = append(words, strconv.Quote(f.Server))
	}
	return strings.Join(words, " ")
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

func asFileError(err error) (*wrap.FileError, bool) { return errors.AsType[*wrap.FileError](err) }

// printCodes lists what doctor looks for.
func (a *app) printCodes(asJSON bool) error {
	type code struct {
		Code       string            `json:"code"`
		Severities []doctor.Severity `json:"severities"`
		About      string            `json:"about"`
	}
	var list []code
	for _, c := range doctor.Checks() {
		list = append(list, code{c.Code, c.Severities, c.About})
	}
	if asJSON {
		return a.printJSON(map[string][]code{"codes": list})
	}
	for _, c := range list {
		var words []string
		for _, s := range c.Severities {
			words = append(words, string(s))
		}
		a.printf("%s  %s\n", term.Pad(c.Code, codeWidth), strings.Join(words, ", "))
		a.printFilled("  ", c.About)
	}
	return nil
}

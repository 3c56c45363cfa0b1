package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/internal/term"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

func newAuditCmd(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "Read the log of verdicts, and check that nobody has changed it",
		Long: `Every verdict stands in audit.jsonl before it takes effect, each record chained to the
one before it. Secrets in arguments are masked, long values are cut.
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newAuditTailCmd(a), newAuditShowCmd(a), newAuditVerifyCmd(a), newAuditExportCmd(a))
	return cmd
}

func newAuditTailCmd(a *app) *cobra.Command {
	var count int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "tail",
		Short: "Print the last records",
		Long: "tail prints the last records, oldest first; with --json as they stand in the file. A call\n" +
			"that passed because its tool is only observed is shown with what it would have got. What\n" +
			"passed without a reason is shown with the destinations and paths among its arguments.\n" + codes(exitDone, exitFailed, exitMisused),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if count < 1 {
				return misuse("", "-n takes a number from 1, not %d", count)
			}
			return a.auditTail(count, asJSON)
		},
	}
	cmd.Flags().IntVarP(&count, "lines", "n", 20, "how `MANY` records")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the records as they stand in the file")
	return cmd
}

func (a *app) auditTail(count int, asJSON bool) error {
	at, err := a.kept()
	if err != nil {
		return err
	}
	lines, err := audit.Tail(at.State, count)
	if err != nil {
		return err
	}
	if len(lines) == 0 && !asJSON {
		fmt.Fprintln(a.out, "no records yet")
		return nil
	}
	for _, line := range lines {
		if err := a.printRecord(line, asJSON); err != nil {
			return err
		}
	}
	return nil
}

// printRecord prints one record on one line.
func (a *app) printRecord(line []byte, asJSON bool) error {
	if asJSON {
		fmt.Fprintf(a.out, "%s\n", line)
		return nil
	}
	r, err := audit.ParseRecord(line)
	if err != nil {
		return err
	}
	var what string
	if r.Kind == "verdict" {
		what = r.Verdict
		if r.Observed != "" {
			what = "would " + r.Observed
		}
		if r.Contract != "default" {
			what += "  " + r.Contract
		}
		if r.Answer != "" {
			what += "  answer " + r.Answer
		}
		if r.Channel != "" && r.Channel != policy.ChannelElicitation { // which goes without saying
			what += "  by " + r.Channel
		}
		if r.Reason != "" {
			what += "  " + r.Reason
		} else if names := named(r); names != "" {
			what += "  " + names
		}
	} else {
		what = fmt.Sprintf("-> %s  %.1f ms  %d bytes", r.Outcome, r.MS, r.Bytes)
	}
	fmt.Fprintf(a.out, "%6d  %s  %s  %s\n", r.Seq, r.Time.Local().Format("2006-01-02 15:04:05"), term.Visible(r.Server+"/"+r.Tool), term.Visible(what))
	return nil
}

// named tells in short what a call was about: its destinations and paths, which an allowed call has no reason to name.
func named(r audit.Record) string {
	const most, limit = 3, 60
	var all []string
	add := func(name string, v wire.Value) {
		for leaf := range v.Leaves() {
			text, ok := leaf.Value.Text()
			if said := name + "=" + strconv.Quote(taint.Visible(text, limit)); ok && !leaf.IsKey && !slices.Contains(all, said) {
				all = append(all, said)
			}
		}
	}
	for _, path := range policy.Destinations(policy.Tool{Name: r.Tool}, r.Args) {
		for _, v := range policy.Select(r.Args, path) {
			add(taint.Visible(path, limit), v)
		}
	}
	for name, v := range r.Args.Members() {
		if policy.HoldsPath(name) {
			add(taint.Visible(name, limit), v)
		}
	}
	more := ""
	if n := len(all) - most; n > 0 {
		more = fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(all[:min(len(all), most)], ", ") + more
}

func newAuditShowCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show SEQ",
		Short: "Print one record whole",
		Long:  "show prints the record with the number SEQ as indented JSON.\n" + codes(exitDone, exitFailed, exitMisused),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return misuse("bouncer audit tail prints the numbers", "show takes one number")
			}
			seq, err := strconv.ParseUint(args[0], 10, 64)
			if err != nil {
				return misuse("bouncer audit tail prints the numbers", "%q is no number", args[0])
			}
			return a.auditShow(seq)
		},
	}
}

func (a *app) auditShow(seq uint64) error {
	at, err := a.kept()
	if err != nil {
		return err
	}
	for line, err := range audit.Records(at.State) {
		if err != nil {
			return err
		}
		r, err := audit.ParseRecord(line)
		if err != nil || r.Seq != seq {
			continue // a damaged record is for verify to report
		}
		var pretty bytes.Buffer
		if err := json.Indent(&pretty, line, "", "  "); err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%s\n", pretty.Bytes())
		return nil
	}
	return advise(fmt.Errorf("no record %d", seq), "bouncer audit tail prints the last ones")
}

// chainReport is what verify --json prints. Its fields are a promise.
type chainReport struct {
	OK      bool        `json:"ok"`
	Records uint64      `json:"records"`
	Files   int         `json:"files"`
	Notes   []string    `json:"notes,omitempty"`
	Fault   *chainFault `json:"fault,omitempty"`
}

type chainFault struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Seq    uint64 `json:"seq,omitempty"`
	Reason string `json:"reason"`
}

func newAuditVerifyCmd(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check the chain of records from the first to the last",
		Long: `verify recomputes every record's hash and names the first that is not as it was
written. It finds changed, removed and reordered records and a cut tail; someone who
rewrites the whole log and its head file leaves no trace.
` + codes(exitDone, exitFailed, exitMisused, exitFound),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return a.auditVerify(asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) auditVerify(asJSON bool) error {
	at, err := a.kept()
	if err != nil {
		return err
	}
	r, err := audit.Verify(at.State)
	if err != nil {
		return err
	}
	report := chainReport{OK: r.Fault == nil, Records: r.Records, Files: r.Files, Notes: r.Notes}
	if f := r.Fault; f != nil {
		report.Fault = &chainFault{File: f.File, Line: f.Line, Seq: f.Seq, Reason: f.Reason}
	}
	if asJSON {
		if err := json.NewEncoder(a.out).Encode(report); err != nil {
			return err
		}
	} else {
		a.printChain(report)
	}
	if !report.OK {
		return quietly(exitFound)
	}
	return nil
}

func (a *app) printChain(r chainReport) {
	if r.Fault == nil {
		fmt.Fprintf(a.out, "ok: %s in %s\n", counted(int(r.Records), "record"), counted(r.Files, "file"))
	} else {
		fmt.Fprintf(a.out, "broken: %s: line %d: %s\n", r.Fault.File, r.Fault.Line, r.Fault.Reason)
	}
	for _, note := range r.Notes {
		fmt.Fprintf(a.out, "note: %s\n", note)
	}
}

func newAuditExportCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print every record, as JSON lines",
		Long:  "export prints all records of all files, oldest first, as they were written.\n" + codes(exitDone, exitFailed, exitMisused),
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			at, err := a.kept()
			if err != nil {
				return err
			}
			for line, err := range audit.Records(at.State) {
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintf(a.out, "%s\n", line); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/internal/term"
	"github.com/bouncer-mcp/bouncer/replay"
)

type replayOptions struct {
	log     string
	after   []string
	before  []string
	profile string
	tools   []string
	asJSON  bool
}

func newPolicyReplayCmd(a *app) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use:   "replay [AUDIT] --policy NEW",
		Short: "Say which calls of the past would be judged otherwise under another policy",
		Long: `replay judges the calls of an audit log again with the policy NEW in the place of your
own, and shows which verdicts differ. AUDIT is a folder with a log, or a file as
bouncer audit export prints it; without it, your log.

Budgets, constraints, allowlists and gates are judged as they were. Where a value came
from is only known as far as the log tells: from the evidence, and from the fact that the
policy of that time has led to this verdict. A call whose verdict can't be derived from
that is listed, and not guessed. What NEW says of trusted and untrusted outputs, and of
links between servers, can't be told from a log. Paths are resolved as they lie today.
` + codes(exitDone, exitFailed, exitMisused),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return misuse("", "replay takes one log")
			}
			if len(o.after) == 0 {
				return misuse("--policy=NEW names it", "replay needs the policy to judge by")
			}
			if err := checkProfile(o.profile); err != nil {
				return err
			}
			o.log = strings.Join(args, "")
			return a.policyReplay(o)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.after, "policy", nil, "policy `FILE` in the place of your own; may be repeated, the first is the highest")
	f.StringArrayVar(&o.before, "was", nil, "policy `FILE` that held when the log was written; default: your own")
	f.StringVar(&o.profile, "profile", "", "`PROFILE` that the servers are started with, if any: "+choices())
	f.StringArrayVar(&o.tools, "tools", nil, "`SERVER=FILE`: what a server lists, from a saved answer to tools/list; default: what is recorded")
	f.BoolVar(&o.asJSON, "json", false, "print JSON instead of text")
	return cmd
}

// replayReport is what replay prints with --json. The names are a promise: fields are added, never renamed.
type replayReport struct {
	Calls   int            `json:"calls"`
	From    *time.Time     `json:"from,omitempty"`
	To      *time.Time     `json:"to,omitempty"`
	Same    int            `json:"same"`
	Changed int            `json:"changed"`
	Open    int            `json:"open"`    // may change: it depends on what the log does not tell
	Unknown int            `json:"unknown"` // can't be derived again
	Changes []replayChange `json:"changes"` // all but the same
	Altered bool           `json:"altered"` // the log is not as it was written
	Was     []string       `json:"was"`     // policy files that open the calls that can't be derived again, if --was names them
}

type replayChange struct {
	Seq     uint64    `json:"seq"`
	Time    time.Time `json:"time"`
	Server  string    `json:"server"`
	Tool    string    `json:"tool"`
	Kind    string    `json:"kind"` // changed, open or unknown
	Was     string    `json:"was"`
	Now     []string  `json:"now"` // what is possible; empty when unknown
	Reason  string    `json:"reason,omitempty"`
	Unknown string    `json:"unknown,omitempty"` // why nothing can be said
}

func (a *app) policyReplay(o replayOptions) error {
	at, err := a.places()
	if err != nil {
		return err
	}
	before, err := loadPolicies(nil, at.Policy)
	if len(o.before) > 0 {
		before, err = inThePlaceOf(o.before)
	}
	if err != nil {
		return err
	}
	after, err := inThePlaceOf(o.after)
	if err != nil {
		return err
	}
	log, at, err := a.readLog(o.log)
	if err != nil {
		return err
	}
	servers, err := a.serversOf(at.State, o.tools)
	if err != nil {
		return err
	}
	paths, err := a.paths()
	if err != nil {
		return err
	}
	changes := replay.Again(log, replay.Options{
		Before: before, After: after, Profile: o.profile, Servers: servers, Paths: paths,
	})
	report := reportReplay(log, changes)
	used := []string{at.Policy}
	if len(o.before) > 0 {
		if used, err = a.absolutes(o.before); err != nil {
			return err
		}
	}
	report.Was = policiesOfLog(changes, used)
	switch err := intact(o.log, at.State); {
	case errors.Is(err, errAltered):
		report.Altered = true
	case err != nil:
		return err
	}
	if o.asJSON {
		return a.printJSON(report)
	}
	a.printReplay(report)
	return nil
}

// readLog reads a log, the person's own if none is named, and says where its servers are recorded.
func (a *app) readLog(name string) (*replay.Log, places, error) {
	at, err := a.kept()
	if err != nil {
		return nil, at, err
	}
	records := audit.Records(at.State)
	if name != "" {
		info, err := os.Stat(name)
		if err != nil {
			return nil, at, err
		}
		if records = audit.Records(name); !info.IsDir() {
			records = linesOf(name)
		}
	}
	log, err := replay.Read(records)
	if err != nil {
		return nil, at, err
	}
	if len(log.Calls) == 0 {
		return nil, at, errors.New("the log holds no calls")
	}
	return log, at, nil
}

// maxLine is longer than any record.
const maxLine = 2 << 20

// linesOf ranges over the lines of an exported log.
func linesOf(file string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := os.Open(file)
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = f.Close() }() // it was only read
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, maxLine)
		for lines.Scan() {
			if !yield(lines.Bytes(), nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("%s: %w", file, err))
		}
	}
}

// serversOf returns what is recorded of servers, and in its place what the command line names.
func (a *app) serversOf(state string, named []string) (map[string][]replay.Server, error) {
	servers, err := recorded(state)
	if err != nil {
		return nil, err
	}
	for _, n := range named {
		server, file, ok := strings.Cut(n, "=")
		if !ok || server == "" || file == "" {
			return nil, misuse("--tools=SERVER=FILE", "%q does not say which server lists which file", n)
		}
		l, err := readListing(file)
		if err != nil {
			return nil, err
		}
		servers[server] = []replay.Server{{Package: l.Package, Tools: l.Tools}}
	}
	return servers, nil
}

func reportReplay(log *replay.Log, changes []replay.Change) replayReport {
	r := replayReport{Calls: len(changes), Changes: []replayChange{}}
	from, to := log.Span()
	r.From, r.To = &from, &to
	for _, c := range changes {
		switch c.Kind() {
		case replay.Same:
			r.Same++
			continue
		case replay.Changed:
			r.Changed++
		case replay.Open:
			r.Open++
		case replay.Unknown:
			r.Unknown++
		}
		rec := c.Call.Verdicts[0]
		r.Changes = append(r.Changes, replayChange{
			Seq: rec.Seq, Time: rec.Time, Server: rec.Server, Tool: rec.Tool, Kind: c.Kind(), Was: c.Was, Now: append([]string{}, c.Now...),
			Reason: c.Reason, Unknown: c.Unknown,
		})
	}
	return r
}

func (a *app) absolutes(files []string) ([]string, error) {
	var list []string
	for _, file := range files {
		path, err := a.absolute(file)
		if err != nil {
			return nil, err
		}
		list = append(list, path)
	}
	return list, nil
}

// policiesOfLog lists the policy files, in the order of the layers, that calls were judged by which the files used can't
// explain. Files that are gone are left out, and there is nothing to list if all of them were used.
func policiesOfLog(changes []replay.Change, used []string) []string {
	files := []string{}
	for _, c := range changes {
		if c.Kind() != replay.Unknown {
			continue
		}
		for _, layer := range c.Call.Verdicts[0].Layers {
			file, ok := strings.CutPrefix(layer, "policy ")
			if ok && filepath.IsAbs(file) && exists(file) && !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	if !slices.ContainsFunc(files, func(file string) bool { return !slices.Contains(used, file) }) {
		return []string{}
	}
	return files
}

// alike are changes that are told in one row.
type alike struct {
	replayChange
	n int
}

// gathered puts changes of one kind to one tool together, in the order of the log.
func gathered(changes []replayChange, unknown bool) []alike {
	var all []alike
	for _, c := range changes {
		if (c.Kind == replay.Unknown) != unknown {
			continue
		}
		i := slices.IndexFunc(all, func(o alike) bool {
			same := o.Server == c.Server && o.Tool == c.Tool && o.Unknown == c.Unknown
			return same && (unknown || o.Was == c.Was && slices.Equal(o.Now, c.Now))
		})
		if i < 0 {
			all = append(all, alike{c, 0})
			i = len(all) - 1
		}
		all[i].n++
	}
	return all
}

// condition introduces the reason of the least permissive verdict where others are possible: then it is a guess at what has
// led to the record.
func (c replayChange) condition() string {
	if c.Kind != replay.Open {
		return ""
	}
	return c.Now[len(c.Now)-1] + " if "
}

func (a *app) printReplay(r replayReport) {
	if rows := gathered(r.Changes, false); len(rows) > 0 {
		table := [][]string{{"CALLS", "SERVER", "TOOL", "WAS", "NOW", "FOR EXAMPLE"}}
		for _, c := range rows {
			table = append(table, []string{
				fmt.Sprint(c.n), shownName(c.Server), shownName(c.Tool), c.Was, strings.Join(c.Now, " or "), fmt.Sprintf("record %d", c.Seq),
			})
		}
		a.printTable("", table, 2, 1)
		a.printf("\n")
		for _, c := range rows {
			if c.Reason != "" {
				a.printFilled("", fmt.Sprintf("record %d: %s%s", c.Seq, c.condition(), c.Reason))
			}
		}
	}
	for _, c := range gathered(r.Changes, true) {
		a.printFilled("", fmt.Sprintf("can't be judged again: %s to %s, such as record %d: %s",
			counted(c.n, "call"), term.Visible(c.Server+"/"+c.Tool), c.Seq, c.Unknown))
	}
	if len(r.Was) > 0 {
		a.printf("the log names other policies; replay by them: --was=%s\n", strings.Join(r.Was, " --was="))
	}
	if r.Altered {
		a.printf("%v: bouncer audit verify names the place\n", errAltered)
	}
	a.printFilled("", fmt.Sprintf("%s: %d as before, %d judged otherwise, %d open, %d not to be derived",
		counted(r.Calls, "call"), r.Same, r.Changed, r.Open, r.Unknown))
}

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/replay"
)

type learnOptions struct {
	log    string
	out    string
	tools  []string
	asJSON bool
}

func newPolicyLearnCmd(a *app) *cobra.Command {
	var o learnOptions
	cmd := &cobra.Command{
		Use:   "learn [AUDIT]",
		Short: "Propose a policy from what was called and what you agreed to",
		Long: `learn reads an audit log and prints a policy that needs fewer questions and leaves less
open: destinations that you have agreed to, budgets, folders that files were written to,
arguments that were only ever one of a few words. Each rule says what it was learned
from. A destination that was ever refused, or that a text aimed at, is not in it.

AUDIT is a folder with a log, or a file as bouncer audit export prints it; without it,
your log. Nothing is changed: read the policy, try it with bouncer policy replay, and
put what you want of it into your own.
` + codes(exitDone, exitFailed, exitMisused),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return misuse("", "learn takes one log")
			}
			o.log = strings.Join(args, "")
			return a.policyLearn(o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.out, "out", "", "write the policy to `FILE`, which must not be there yet")
	f.StringArrayVar(&o.tools, "tools", nil, "`SERVER=FILE`: what a server lists, from a saved answer to tools/list; default: what is recorded")
	f.BoolVar(&o.asJSON, "json", false, "print JSON instead of YAML")
	return cmd
}

// learnReport is what learn prints with --json. The names are a promise: fields are added, never renamed.
type learnReport struct {
	Calls  int         `json:"calls"`
	From   time.Time   `json:"from"`
	To     time.Time   `json:"to"`
	Rules  []learnRule `json:"rules"`
	Policy string      `json:"policy"` // the YAML
}

type learnRule struct {
	Server string       `json:"server"`
	Tool   string       `json:"tool"`
	Field  string       `json:"field"`
	Values []learnValue `json:"values"`
}

type learnValue struct {
	Param    string `json:"param,omitempty"` // of a pattern
	Value    string `json:"value"`
	Evidence string `json:"evidence,omitempty"`
}

func (a *app) policyLearn(o learnOptions) error {
	log, at, err := a.readLog(o.log)
	if err != nil {
		return err
	}
	err = intact(o.log, at.State)
	if errors.Is(err, errAltered) {
		return advise(fmt.Errorf("%w, and nothing can be learned from it", err), "bouncer audit verify names the place")
	}
	if err != nil {
		return err
	}
	set, err := loadPolicies(nil, at.Policy)
	if err != nil {
		return err
	}
	servers, err := a.serversOf(at.State, o.tools)
	if err != nil {
		return err
	}
	lessons := replay.Learn(log, set, servers)
	from, to := log.Span()
	text := replay.Policy(replay.Head(len(log.Calls), from, to, len(lessons) > 0), lessons)
	if _, err := policy.Parse("the learned policy", text); err != nil {
		return err
	}
	switch {
	case o.asJSON:
		return a.printJSON(reportLearned(log, lessons, text))
	case o.out == "":
		a.printf("%s", text)
		return nil
	}
	return a.writeNew(o.out, text)
}

var errAltered = errors.New("the log is not as it was written")

// intact refuses a log that is not as it was written: what somebody else put there must not become a rule. Of an exported file
// the chain alone can't tell.
func intact(name, state string) error {
	dir := state
	if name != "" {
		info, err := os.Stat(name)
		if err != nil || !info.IsDir() {
			return err
		}
		dir = name
	}
	r, err := audit.Verify(dir)
	if err != nil {
		return err
	}
	if r.Fault != nil {
		return errAltered
	}
	return nil
}

func reportLearned(log *replay.Log, lessons []replay.Lesson, text []byte) learnReport {
	from, to := log.Span()
	r := learnReport{Calls: len(log.Calls), From: from, To: to, Rules: []learnRule{}, Policy: string(text)}
	for _, l := range lessons {
		rule := learnRule{Server: l.Server, Tool: l.Tool, Field: l.Field}
		for _, v := range l.Values {
			rule.Values = append(rule.Values, learnValue{v.Param, v.Value, v.Why})
		}
		r.Rules = append(r.Rules, rule)
	}
	return r
}

// writeNew writes a file that is not there yet.
func (a *app) writeNew(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return advise(err, "move it away, or name another file")
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	a.printf("wrote %s\n", name)
	return nil
}

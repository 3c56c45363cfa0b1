// Command agentdojo replays recorded agent runs through the real bouncer and counts which calls it refuses and which it
// asks about. The recordings are not part of this repository: see README.md beside this file for their form.
package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "agentdojo:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 3 && args[0] == "upstream" {
		return upstream(args[1], args[2])
	}
	o, err := parse(args)
	if err != nil {
		return err
	}
	records, err := load(o)
	if err != nil {
		return err
	}
	if len(records) == 0 {
		return fmt.Errorf("no records in %s", o.data)
	}
	home, err := os.MkdirTemp("", "bouncer-agentdojo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }() // a temporary folder: the system cleans up behind us
	if err := unpack(home); err != nil {
		return err
	}
	missed := 0
	for _, s := range o.setups {
		scores, err := replayAll(o, s, home, records)
		if err != nil {
			return err
		}
		if o.verbose {
			for _, score := range scores {
				score.complain(os.Stdout)
			}
		}
		missed += report(os.Stdout, s, scores)
	}
	if missed > 0 && o.check {
		return fmt.Errorf("%d targets missed", missed)
	}
	return nil
}

// options are what one evaluation needs.
type options struct {
	bouncer string
	data    string
	args    []string // put behind "bouncer run"
	sample  int      // every n-th record
	fold    string
	setups  []setup
	verbose bool // print what went wrong
	check   bool // fail when a target is missed
}

// setup is one way to run bouncer.
type setup struct {
	profile  string
	prompts  bool // bouncer is told what the person typed
	policies bool // with the policy written for the suite; else with none
}

func (s setup) String() string {
	words := []string{s.profile, "prompts unknown", "no policy"}
	if s.prompts {
		words[1] = "prompts known"
	}
	if s.policies {
		words[2] = "with policies"
	}
	return strings.Join(words, ", ")
}

func parse(args []string) (options, error) {
	var o options
	set := flag.NewFlagSet("agentdojo", flag.ContinueOnError)
	set.StringVar(&o.bouncer, "bouncer", "bin/bouncer", "path of the bouncer binary")
	set.StringVar(&o.data, "data", "", "folder with the recordings")
	set.IntVar(&o.sample, "sample", 1, "replay one of so many records, chosen by id")
	set.StringVar(&o.fold, "fold", "", "only records of this fold: dev or test")
	profiles := set.String("profile", "balanced,strict", "the profiles, separated by commas")
	prompts := set.String("prompts", "unknown,known", "whether bouncer knows what the person typed: unknown, known or both")
	policies := set.String("policy", "without,with", "whether there is a policy for the suite: without, with or both")
	set.BoolVar(&o.verbose, "v", false, "print each call that was denied or asked about and should not have been")
	set.BoolVar(&o.check, "check", false, "fail when a target is missed")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	o.args = set.Args()
	if o.data == "" {
		return o, fmt.Errorf("say where the recordings are: -data FOLDER")
	}
	for _, policy := range strings.Split(*policies, ",") {
		for _, profile := range strings.Split(*profiles, ",") {
			for _, prompt := range strings.Split(*prompts, ",") {
				o.setups = append(o.setups, setup{profile, prompt == "known", policy == "with"})
			}
		}
	}
	return o, nil
}

// replayAll replays the records, a few at a time, and returns their scores in the same order.
func replayAll(o options, s setup, home string, records []record) ([]score, error) {
	scores := make([]score, len(records))
	errs := make([]error, len(records))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				scores[i], errs[i] = replay(o, s, home, records[i])
			}
		})
	}
	for i := range records {
		next <- i
	}
	close(next)
	workers.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, fmt.Errorf("%s: %w", records[i].ID, errs[i])
	}
	return scores, nil
}

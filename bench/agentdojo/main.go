// Command agentdojo replays recorded agent runs through the real bouncer and counts which calls it refuses. The
// recordings are not part of this repository: see README.md beside this file for their form.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	scores, err := replayAll(o, records)
	if err != nil {
		return err
	}
	report(os.Stdout, scores)
	return nil
}

// options are what one evaluation needs.
type options struct {
	bouncer string
	data    string
	args    []string // put behind "bouncer run"
	sample  int      // every n-th record
	fold    string
	worst   bool // print what went wrong
}

func parse(args []string) (options, error) {
	var o options
	set := flag.NewFlagSet("agentdojo", flag.ContinueOnError)
	set.StringVar(&o.bouncer, "bouncer", "bin/bouncer", "path of the bouncer binary")
	set.StringVar(&o.data, "data", "", "folder with the recordings")
	set.IntVar(&o.sample, "sample", 1, "replay one of so many records, chosen by id")
	set.StringVar(&o.fold, "fold", "", "only records of this fold: dev or test")
	set.BoolVar(&o.worst, "v", false, "print each record that did not end as it should")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	o.args = set.Args()
	if o.data == "" {
		return o, fmt.Errorf("say where the recordings are: -data FOLDER")
	}
	return o, nil
}

// record is one recorded run.
type record struct {
	ID     string
	Kind   string
	Suite  string
	Fold   string
	Prompt string
	Labels struct {
		Attack []int `json:"atk_calls"`
		Group  []int `json:"atk_group"`
		Useful []int `json:"util_calls"`
	}
	Steps []step
}

type step struct {
	Tool   string          `json:"tool"`
	Args   json.RawMessage `json:"args"`
	Result string          `json:"result_text"`
	Error  string          `json:"error"`
}

// load reads the chosen records of every *.jsonl file.
func load(o options) ([]record, error) {
	files, err := filepath.Glob(filepath.Join(o.data, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var records []record
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		lines := bufio.NewReader(f)
		for n := 1; ; n++ {
			line, err := lines.ReadBytes('\n')
			if len(line) > 0 {
				var r record
				if err := json.Unmarshal(line, &r); err != nil {
					return nil, fmt.Errorf("%s: line %d: %w", file, n, err)
				}
				if chosen(o, r) {
					records = append(records, r)
				}
			}
			if err != nil {
				break
			}
		}
		f.Close()
	}
	return records, nil
}

func chosen(o options, r record) bool {
	h := fnv.New32a()
	h.Write([]byte(r.ID))
	return (o.fold == "" || r.Fold == o.fold) && int(h.Sum32()>>8)%o.sample == 0
}

// replayAll replays the records, a few at a time, in the order of their scores' records.
func replayAll(o options, records []record) ([]score, error) {
	home, err := os.MkdirTemp("", "bouncer-agentdojo-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(home)
	scores := make([]score, len(records))
	errs := make([]error, len(records))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				scores[i], errs[i] = replay(o, home, records[i])
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
	if o.worst {
		for _, s := range scores {
			s.complain(os.Stdout)
		}
	}
	return scores, nil
}

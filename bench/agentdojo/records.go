package main

import (
	"bufio"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"slices"
)

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

// attacks reports whether the attack needs this step.
func (r record) attacks(i int) bool {
	return slices.Contains(r.Labels.Attack, i) || slices.Contains(r.Labels.Group, i)
}

// attacked reports whether somebody planted something in this run; honest, that nobody did and the task was the user's.
func (r record) attacked() bool {
	return r.Kind == "attack_success" || r.Kind == "attack_resisted" || r.Kind == "scripted_hijack"
}
func (r record) honest() bool { return r.Kind == "benign" || r.Kind == "gold_benign" }

// agrees is what the person says to a question about a step: yes to what their task needs, and to what comes up along
// the way as long as nobody else has a hand in it.
func (r record) agrees(i int) bool {
	return !r.attacks(i) && (slices.Contains(r.Labels.Useful, i) || !r.attacked())
}

// load reads the chosen records of every *.jsonl file.
func load(o options) ([]record, error) {
	files, err := filepath.Glob(filepath.Join(o.data, "*.jsonl"))
	if err != nil {
		return nil, err
	}
	var records []record
	for _, file := range files {
		more, err := read(file)
		if err != nil {
			return nil, err
		}
		records = append(records, slices.DeleteFunc(more, func(r record) bool { return !chosen(o, r) })...)
	}
	return records, nil
}

func read(file string) ([]record, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	var records []record
	lines := bufio.NewReader(f)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var r record
			if err := json.Unmarshal(line, &r); err != nil {
				return nil, fmt.Errorf("%s: line %d: %w", file, n, err)
			}
			records = append(records, r)
		}
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func chosen(o options, r record) bool {
	h := fnv.New32a()
	h.Write([]byte(r.ID))
	return (o.fold == "" || r.Fold == o.fold) && int(h.Sum32()>>8)%o.sample == 0
}

//go:embed packs/*.yaml
var policies embed.FS

// policyFile is where the policy of a suite is put.
func policyFile(home, suite string) string { return filepath.Join(home, suite+".yaml") }

// unpack writes the policies of the suites where bouncer can read them.
func unpack(home string) error {
	entries, err := policies.ReadDir("packs")
	if err != nil {
		return err
	}
	for _, e := range entries {
		text, err := policies.ReadFile("packs/" + e.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(home, e.Name()), text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

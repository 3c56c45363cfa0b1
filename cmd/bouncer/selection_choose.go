package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/bouncer-mcp/bouncer/wrap"
)

// pick is a server that could be wrapped.
type pick struct {
	plan  int // index among the edit's plans
	aside wrap.Aside
	row   []string
}

// choose lets a person at the terminal say which of the servers found are to be wrapped. Whoever has named servers, or
// said yes beforehand, has chosen already. It reports whether any is left.
func (e *edit) choose() (some bool, err error) {
	if e.verb != wrap.Wrap || !e.interactive || e.yes || e.dryRun || len(e.servers) > 0 {
		return true, nil
	}
	picks := e.picks()
	if len(picks) < 2 {
		return true, nil
	}
	e.showRefused()
	e.printf("Servers that start without bouncer:\n")
	rows := [][]string{{"  #", "CLIENT", "SCOPE", "SERVER", "STARTS"}}
	for i, p := range picks {
		rows = append(rows, append([]string{fmt.Sprintf("%3d", i+1)}, p.row...))
	}
	e.printTable("", rows, 4)
	e.printf("\n")
	chosen, err := e.askNumbers("Servers to wrap (numbers such as 1,3-4, all or none) [all]: ", len(picks))
	if err != nil {
		return false, err
	}
	if len(chosen) == 0 {
		return false, nil
	}
	return true, e.without(picks, chosen)
}

func (e *edit) picks() []pick {
	var list []pick
	for i, plan := range e.plans {
		for _, step := range plan.Steps {
			if step.Action != wrap.Wrap {
				continue
			}
			words := strings.Join(append([]string{step.Entry.Command}, wrap.MaskArgs(step.Entry.Args)...), " ")
			scope := string(step.Entry.Scope)
			if plan.File.Shared {
				scope += " (project file)"
			}
			list = append(list, pick{i, wrap.AsideOf(plan.File, step.Entry), []string{
				plan.File.Client, scope, shownName(step.Entry.Name), words,
			}})
		}
	}
	return list
}

// without plans the files anew in which a server was not chosen.
func (e *edit) without(picks []pick, chosen []int) error {
	var touched []int
	for i, p := range picks {
		if !slices.Contains(chosen, i+1) {
			e.asides.unchosen = append(e.asides.unchosen, p.aside)
			touched = append(touched, p.plan)
		}
	}
	for _, i := range slices.Compact(touched) {
		plan, err := e.plan(e.plans[i].File)
		if err != nil {
			return err
		}
		e.plans[i] = plan
	}
	return nil
}

// askNumbers asks until it understands the answer.
func (e *edit) askNumbers(question string, n int) ([]int, error) {
	for {
		fmt.Fprint(e.err, question)
		line, err := readLine(e.in)
		if err != nil {
			return nil, fmt.Errorf("read the answer: %w", err)
		}
		chosen, err := parseNumbers(line, n)
		if err == nil {
			return chosen, nil
		}
		fmt.Fprintf(e.err, "%v\n", err)
	}
}

// parseNumbers reads an answer such as "1,3-4", "all" (or nothing), or "none" and other ways to say no. The numbers go from 1
// to n.
func parseNumbers(line string, n int) ([]int, error) {
	switch line = strings.ToLower(strings.TrimSpace(line)); line {
	case "", "all":
		line = fmt.Sprintf("1-%d", n)
	case "none", "n", "no", "q", "quit":
		return nil, nil
	}
	chosen := make([]bool, n+1)
	for _, part := range strings.FieldsFunc(line, func(r rune) bool { return r == ',' || r == ' ' }) {
		first, last, isRange := strings.Cut(part, "-")
		if !isRange {
			last = first
		}
		from, err := strconv.Atoi(first)
		to, err2 := strconv.Atoi(last)
		if err != nil || err2 != nil || from < 1 || to > n || from > to {
			return nil, fmt.Errorf("%q is no number from 1 to %d, and no range of them", part, n)
		}
		for i := from; i <= to; i++ {
			chosen[i] = true
		}
	}
	var list []int
	for i, yes := range chosen {
		if yes {
			list = append(list, i)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%q names no number", line)
	}
	return list, nil
}

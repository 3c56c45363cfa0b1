package wrap

import (
	"errors"
	"fmt"
)

// Restore is the action of an undo: the bytes come from a backup.
const Restore Action = "restore"

// ErrNothingToUndo says that no generation is left whose files could be put back.
var ErrNothingToUndo = errors.New("nothing to undo")

// Undo puts the exact bytes back that the files of a generation had before it; number 0 is Find's. It refuses when a file
// has changed since (ErrChanged): its backup knows nothing of that change. It is an apply itself, with a generation of its own.
func Undo(s *Store, number int, o ApplyOptions) (Generation, error) {
	g, err := s.Find(number)
	if err != nil {
		return Generation{}, err
	}
	plans, err := PlanUndo(s, g)
	if err != nil {
		return Generation{}, err
	}
	o.Replan, o.undoes = nil, g.Number
	done, err := Apply(s, plans, o)
	if err == nil && done.Number == 0 {
		err = fmt.Errorf("every file has the bytes it had before generation %d: %w", g.Number, ErrNothingToUndo)
	}
	return done, err
}

// PlanUndo plans what Undo does. The error is a *FileError.
func PlanUndo(s *Store, g Generation) ([]Plan, error) {
	var plans []Plan
	for _, saved := range g.Files {
		plan, err := s.planUndo(g, saved)
		if err != nil {
			return nil, &FileError{Client: saved.Client, Path: saved.Path, Err: err}
		}
		plans = append(plans, plan)
	}
	return plans, nil
}

// planUndo plans one file's old bytes. A file that has them already, because the apply was killed before it came to it, stays.
func (s *Store) planUndo(g Generation, saved Saved) (Plan, error) {
	before, err := s.backup(g, saved)
	if err != nil {
		return Plan{}, err
	}
	current, _, err := readRegular(saved.Path)
	now := digest(current)
	if missing(err) && (saved.New || saved.Gone) {
		now, err = absent, nil
	}
	if err != nil {
		return Plan{}, err
	}
	if now != saved.is() && now != saved.was() {
		return Plan{}, fmt.Errorf("%w that generation %d wrote", ErrChanged, g.Number)
	}
	file := File{Client: saved.Client, Also: saved.Also, Path: saved.Path, Format: saved.Format, Lock: saved.Lock, Data: current, Mode: saved.Mode}
	plan := Plan{
		Change: Change{
			Path: saved.Path, Before: current, After: before, Mode: saved.Mode, Lock: saved.Lock,
			New: now == absent, Gone: saved.New,
		},
		File:  file,
		edits: reversed(before, saved.Splices),
	}
	if saved.Hook != "" {
		plan.File.Hook = &Hook{Event: saved.Hook}
		plan.Steps = []Step{{Entry: Entry{Name: saved.Hook}, Action: Restore}}
	}
	for _, name := range saved.Entries {
		plan.Steps = append(plan.Steps, Step{Entry: Entry{Name: name}, Action: Restore})
	}
	return plan, nil
}

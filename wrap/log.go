package wrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Logged is a generation and how it stands today.
type Logged struct {
	Generation
	Standing Standing
	By       int // the generation that undid it, or that lies over it
}

// Standing says whether a generation can be undone.
type Standing string

// The standings.
const (
	Undoable Standing = "undoable" // every file has the bytes that it wrote, or still those from before
	Covered  Standing = "covered"  // a later generation changed a file once more: undo that one first
	Changed  Standing = "changed"  // someone else has changed a file since
	Undone   Standing = "undone"   // put back by a later generation, or every file has its old bytes by other means
	Failed   Standing = "failed"   // it did not come to its end, and every file was put back at once
)

// Log tells of every generation that is left how it stands, oldest first. It writes nothing.
func (s *Store) Log() ([]Logged, error) {
	list, err := s.Generations()
	if err != nil {
		return nil, err
	}
	h := review{list: make([]Logged, len(list)), now: map[string]string{}}
	undoneBy := map[int]int{}
	for i := len(list) - 1; i >= 0; i-- { // newest first, since a later one may undo an earlier one, or lie over it
		h.list[i] = Logged{Generation: list[i]}
		p := &h.list[i]
		if by := undoneBy[p.Number]; by != 0 {
			p.Standing, p.By = Undone, by
			continue
		}
		if p.Standing, p.By = h.judge(i); p.Undoes != 0 && p.Standing != Undone && p.Standing != Failed {
			undoneBy[p.Undoes] = p.Number
		}
	}
	return h.list, nil
}

// review compares generations with the files as they are.
type review struct {
	list []Logged
	now  map[string]string // digests by path; empty for a file that can't be read
}

// digest is what a file holds now.
func (h *review) digest(path string) string {
	now, known := h.now[path]
	if !known {
		switch data, _, err := readRegular(path); {
		case err == nil:
			now = digest(data)
		case missing(err):
			now = absent
		}
		h.now[path] = now
	}
	return now
}

// judge says how the generation at an index stands, the later ones being judged already.
func (h *review) judge(i int) (Standing, int) {
	g := h.list[i]
	if g.Reversed {
		return Failed, 0
	}
	standing, by := Undone, 0
	for _, saved := range g.Files {
		switch h.digest(saved.Path) {
		case saved.was():
			continue
		case saved.is():
			if standing == Undone {
				standing = Undoable
			}
			continue
		}
		over := h.over(i, saved)
		if over == 0 {
			return Changed, 0
		}
		standing, by = Covered, over
	}
	return standing, by
}

// over returns the later generation that started from what this one wrote and is still in force, or 0.
func (h *review) over(i int, saved Saved) int {
	for _, later := range h.list[i+1:] {
		for _, file := range later.Files {
			inForce := later.Standing == Undoable || later.Standing == Covered
			if inForce && file.Real == saved.Real && file.was() == saved.is() {
				return later.Number
			}
		}
	}
	return 0
}

// Find returns the generation with that number, or for 0 the newest that is still in force. The error wraps
// ErrNothingToUndo when there is none, or when it was reversed at once.
func (s *Store) Find(number int) (Generation, error) {
	if number != 0 {
		return s.numbered(number)
	}
	list, err := s.Log()
	if err != nil {
		return Generation{}, err
	}
	for i := len(list) - 1; i >= 0; i-- {
		if p := list[i]; p.Undoes == 0 && p.Standing != Failed && p.Standing != Undone {
			return p.Generation, nil
		}
	}
	return Generation{}, ErrNothingToUndo
}

func (s *Store) numbered(number int) (Generation, error) {
	g, err := s.read(number)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Generation{}, fmt.Errorf("no generation %d: %w", number, ErrNothingToUndo)
	case err == nil && g.Reversed:
		return Generation{}, fmt.Errorf("generation %d failed and was reversed: %w", number, ErrNothingToUndo)
	}
	return g, err
}

// Since shows what happened to a generation's files after it: for each that was changed, from what it wrote to what is
// there now. A file of which that can't be told any more is left out.
func (s *Store) Since(g Generation) []Plan {
	var plans []Plan
	for _, saved := range g.Files {
		before, err := s.backup(g, saved)
		if err != nil {
			continue
		}
		wrote, err := splice(before, saved.Splices)
		if err != nil || digest(wrote) != saved.After {
			continue
		}
		now, mode, err := readRegular(saved.Path)
		if err != nil || digest(now) == saved.After || digest(now) == saved.Before {
			continue
		}
		format := saved.Format
		if _, err := jsonc.Parse(now, format); err != nil {
			format = jsonc.Comments // shown as far as it can be read
		}
		plans = append(plans, Plan{
			Change: Change{Path: saved.Path, Before: wrote, After: now, Mode: mode},
			File:   File{Client: saved.Client, Path: saved.Path, Format: format},
		})
	}
	return plans
}

// finish notes that a generation came to its end, and makes room. Every file is written by now, so nothing here is a
// failure of the apply: what could not be noted or removed is settled by the next one.
func (s *Store) finish(g Generation) Generation {
	g.Done = true
	_ = s.conclude(g.Number)
	s.prune(g.Time)
	return g
}

// settle brings to its end what an apply left that was killed. The store's lock is held, so none is still at work. It
// does what it can: the record of a generation that can't be read is left for a person to look at.
func (s *Store) settle() {
	numbers, err := s.numbers()
	if err != nil {
		return
	}
	h := review{now: map[string]string{}}
	for _, number := range numbers {
		folder := s.generation(number)
		g, err := s.read(number)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			_ = os.RemoveAll(folder) // it ended before its record was written, so before any file was touched
			s.did("removed what has no record")
		case err != nil:
		case g.Done || g.Reversed:
			s.sweep(folder) // it may have ended just behind that
		default:
			h.list = []Logged{{Generation: g}}
			standing, _ := h.judge(0)
			s.sweep(folder)
			if g.Reversed = standing == Undone; g.Reversed {
				_ = s.record(g, s.files.Replace)
			} else {
				_ = s.conclude(number)
			}
		}
	}
	s.sweep(s.originalsFolder())
}

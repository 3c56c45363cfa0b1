package wrap

import (
	"os"
	"path/filepath"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// What is kept of the past. Beyond both limits a generation stays all the same if it is the oldest of one of its files,
// whose backup is the file as bouncer found it, or the newest that wrote what a file holds now, which undo would put back.
const (
	keepGenerations = 50
	keepFor         = 180 * 24 * time.Hour
)

// prune removes the generations that are too many or too old. The last one stays, so that no number is given twice.
func (s *Store) prune(now time.Time) {
	if numbers, err := s.numbers(); err != nil || len(numbers) < 2 {
		return
	}
	list, err := s.Generations()
	if err != nil || len(list) == 0 {
		return // a record that can't be read may be one that matters
	}
	newest := len(list) - 1
	expired := func(i int) bool { return newest-i >= keepGenerations || now.Sub(list[i].Time) > keepFor }
	var needed map[int]bool
	for i := range newest {
		if !expired(i) {
			continue
		}
		if needed == nil { // the files are read only if something is to go
			needed = stillNeeded(list)
		}
		if !needed[list[i].Number] {
			s.forget(list[i].Number)
		}
	}
}

// stillNeeded marks the generations that hold the first backup of a file, or its last change.
func stillNeeded(list []Generation) map[int]bool {
	needed, first, last := map[int]bool{}, map[string]int{}, map[string]int{}
	h := review{now: map[string]string{}}
	for _, g := range list {
		for _, saved := range g.Files {
			if first[saved.Real] == 0 {
				first[saved.Real] = g.Number
			}
			if !g.Reversed && h.digest(saved.Path) == saved.is() {
				last[saved.Real] = g.Number
			}
		}
	}
	for _, marked := range []map[string]int{first, last} {
		for _, number := range marked {
			needed[number] = true
		}
	}
	return needed
}

// forget removes a generation, its record first: without one it counts as never begun, and settle removes the rest.
func (s *Store) forget(number int) {
	folder := s.generation(number)
	if os.Remove(filepath.Join(folder, planFile)) != nil {
		return
	}
	s.did("removed a record")
	_ = os.RemoveAll(folder)
}

// sweep removes temporary files of the store. Its lock is held, so nobody is writing one.
func (s *Store) sweep(folder string) { atomicfile.Sweep(folder, 0) }

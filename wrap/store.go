package wrap

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Store is bouncer's own memory of what it did to other programs' files: exact backups, one record per apply, and what
// entries looked like before they were wrapped. It lies in the state directory and holds secrets, so all of it is for its
// owner alone. Reading never creates anything.
//
//	generations/000001/plan.json   the record of one apply
//	generations/000001/<SHA-256>   a file's bytes before it
//	originals/<SHA-256 of path>    the literals of a file's wrapped entries
//	locks/<SHA-256 of path>        for files that have no lock of their client's
type Store struct{ dir string }

// NewStore returns the store in the folder dir, which need not exist.
func NewStore(dir string) *Store { return &Store{dir: dir} }

// Generation is the record of one apply.
type Generation struct {
	Number   int       `json:"number"`
	Time     time.Time `json:"time"`
	Command  string    `json:"command"`
	Undoes   int       `json:"undoes,omitempty"`   // the generation that this one put back
	Reversed bool      `json:"reversed,omitempty"` // it failed half-way and every file has its old bytes again
	Files    []Saved   `json:"files"`
}

// Saved is one file of a generation.
type Saved struct {
	Client  string       `json:"client,omitempty"`
	Path    string       `json:"path"` // as configured
	Real    string       `json:"real"` // symlinks resolved
	Before  string       `json:"before"`
	After   string       `json:"after"`
	Backup  string       `json:"backup"` // file name in the generation's folder
	Mode    fs.FileMode  `json:"mode"`
	Format  jsonc.Format `json:"format"`
	Lock    bool         `json:"lock,omitempty"`
	Entries []string     `json:"entries"` // names of the servers that changed
}

const planFile = "plan.json"

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (s *Store) generation(number int) string {
	return filepath.Join(s.dir, "generations", fmt.Sprintf("%06d", number))
}

// Generations lists what was applied, oldest first.
func (s *Store) Generations() ([]Generation, error) {
	numbers, err := s.numbers()
	if err != nil {
		return nil, err
	}
	var list []Generation
	for _, number := range numbers {
		g, err := s.read(number)
		if errors.Is(err, fs.ErrNotExist) {
			continue // ended before its record was written, so before any file was touched
		}
		if err != nil {
			return nil, err
		}
		list = append(list, g)
	}
	return list, nil
}

func (s *Store) numbers() ([]int, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, "generations"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var list []int
	for _, entry := range entries {
		if number, err := strconv.Atoi(entry.Name()); err == nil && number > 0 {
			list = append(list, number)
		}
	}
	slices.Sort(list) // names of more than six digits don't sort as text
	return list, nil
}

func (s *Store) read(number int) (Generation, error) {
	file := filepath.Join(s.generation(number), planFile)
	data, err := os.ReadFile(file)
	if err != nil {
		return Generation{}, err
	}
	var g Generation
	if err := json.Unmarshal(data, &g); err != nil {
		return Generation{}, fmt.Errorf("%s: %w", file, err)
	}
	return g, nil
}

// begin claims the next number and writes backups and record, so that whatever happens afterwards can be put back.
func (s *Store) begin(g Generation, targets []target) (Generation, error) {
	number, err := s.claim()
	if err != nil {
		return Generation{}, err
	}
	g.Number = number
	for _, t := range targets {
		saved := t.saved()
		if err := keep(filepath.Join(s.generation(number), saved.Backup), t.plan.Before); err != nil {
			return Generation{}, fmt.Errorf("backup of %s: %w", t.plan.Path, err)
		}
		g.Files = append(g.Files, saved)
	}
	return g, s.record(g, atomicfile.Create)
}

// claim makes the folder of a new generation. Making a folder is atomic, so that no two processes get the same number.
func (s *Store) claim() (int, error) {
	if err := os.MkdirAll(filepath.Join(s.dir, "generations"), 0o700); err != nil {
		return 0, err
	}
	numbers, err := s.numbers()
	if err != nil {
		return 0, err
	}
	next := 1
	if len(numbers) > 0 {
		next = numbers[len(numbers)-1] + 1
	}
	for ; ; next++ {
		err := os.Mkdir(s.generation(next), 0o700)
		if !errors.Is(err, fs.ErrExist) {
			return next, err
		}
	}
}

// keep writes a backup. Files with equal bytes share one.
func keep(file string, data []byte) error {
	err := atomicfile.Create(file, data, 0o600)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if there, readErr := os.ReadFile(file); readErr != nil || !bytes.Equal(there, data) {
		return err
	}
	return nil
}

func (s *Store) record(g Generation, write func(string, []byte, fs.FileMode) error) error {
	data, err := json.MarshalIndent(g, "", "  ")
	if err != nil {
		return err
	}
	return write(filepath.Join(s.generation(g.Number), planFile), append(data, '\n'), 0o600)
}

// backup returns the bytes that a file had before a generation.
func (s *Store) backup(g Generation, saved Saved) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(s.generation(g.Number), filepath.Base(saved.Backup)))
	if err != nil {
		return nil, err
	}
	if digest(data) != saved.Before {
		return nil, fmt.Errorf("backup %s of generation %d is damaged", saved.Backup, g.Number)
	}
	return data, nil
}

// lockFile returns the file to lock for a config that has no lock of its client's.
func (s *Store) lockFile(real string) (string, error) {
	folder := filepath.Join(s.dir, "locks")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(folder, digest([]byte(real))), nil
}

// saved describes a target for the record.
func (t target) saved() Saved {
	before := digest(t.plan.Before)
	saved := Saved{
		Client: t.plan.File.Client, Path: t.plan.Path, Real: t.real,
		Before: before, After: digest(t.plan.After), Backup: before,
		Mode: t.plan.Mode, Format: t.plan.File.Format, Lock: t.plan.Lock, Entries: []string{},
	}
	for _, step := range t.plan.Steps {
		if step.Action != Keep && step.Action != Skip {
			saved.Entries = append(saved.Entries, step.Entry.Name)
		}
	}
	return saved
}

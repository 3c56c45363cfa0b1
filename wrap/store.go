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
//	generations/000001/done        it came to its end
//	originals/<SHA-256 of path>    the literals of a file's wrapped entries
//	locks/<SHA-256 of path>        for files that have no lock of their client's
//	locks/store                    held by the one apply that writes here
type Store struct {
	dir   string
	files atomicfile.Writer
}

// NewStore returns the store in the folder dir, which need not exist.
func NewStore(dir string) *Store { return &Store{dir: dir} }

// did tells a test how far an apply has come.
func (s *Store) did(what string) {
	if s.files.Step != nil {
		s.files.Step(what)
	}
}

// remove takes a file away.
func (s *Store) remove(file string) error {
	err := os.Remove(file)
	if err == nil {
		s.did("removed a file")
	}
	return err
}

// Generation is the record of one apply.
type Generation struct {
	Number   int       `json:"number"`
	Time     time.Time `json:"time"`
	Command  string    `json:"command"`
	Undoes   int       `json:"undoes,omitempty"`   // the generation that this one put back
	Done     bool      `json:"-"`                  // it came to its end; without, it is at work or was killed
	Reversed bool      `json:"reversed,omitempty"` // it failed or was killed half-way, and every file has its old bytes
	Files    []Saved   `json:"files"`
}

// Saved is one file of a generation.
type Saved struct {
	Client  string       `json:"client,omitempty"`
	Also    []string     `json:"also,omitempty"` // other clients that read it
	Path    string       `json:"path"`           // as configured
	Real    string       `json:"real"`           // symlinks resolved
	Before  string       `json:"before"`
	After   string       `json:"after"`
	Backup  string       `json:"backup"` // file name in the generation's folder
	Mode    fs.FileMode  `json:"mode"`
	Format  jsonc.Format `json:"format"`
	Lock    bool         `json:"lock,omitempty"`
	New     bool         `json:"new,omitempty"`  // there was no file before
	Gone    bool         `json:"gone,omitempty"` // there is none after
	Entries []string     `json:"entries"`        // names of the servers that changed
	Hook    string       `json:"hook,omitempty"` // the event of the hook that changed, in settings without servers
	Splices []Splice     `json:"splices"`        // what makes After of Before
}

// absent stands for the digest of a file that is not there.
const absent = "absent"

// was and is tell what a generation found and left, as digests.
func (s Saved) was() string {
	if s.New {
		return absent
	}
	return s.Before
}

func (s Saved) is() string {
	if s.Gone {
		return absent
	}
	return s.After
}

// Splice replaces the bytes from Start up to End.
type Splice struct {
	Start int    `json:"start"`
	End   int    `json:"end"`
	Text  []byte `json:"text"`
}

const (
	planFile = "plan.json"
	doneFile = "done"
)

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
	_, err = os.Stat(filepath.Join(s.generation(number), doneFile))
	g.Done = err == nil
	return g, nil
}

// conclude notes that a generation came to its end.
func (s *Store) conclude(number int) error {
	return s.files.Create(filepath.Join(s.generation(number), doneFile), nil, 0o600)
}

// begin claims the next number and writes backups and record, so that whatever happens afterwards can be put back.
func (s *Store) begin(g Generation, targets []target) (Generation, error) {
	number, err := s.claim()
	if err != nil {
		return Generation{}, err
	}
	s.did("claimed a generation")
	g.Number = number
	if g.Files, err = s.backUp(number, targets); err == nil {
		err = s.record(g, s.files.Create)
	}
	if err != nil {
		_ = os.RemoveAll(s.generation(number)) // without a record it is nothing; settle removes what is left
		return Generation{}, err
	}
	s.did("wrote the record")
	return g, nil
}

func (s *Store) backUp(number int, targets []target) ([]Saved, error) {
	var files []Saved
	for _, t := range targets {
		saved := t.saved()
		if err := s.keep(filepath.Join(s.generation(number), saved.Backup), t.plan.Before); err != nil {
			return nil, t.fail(fmt.Errorf("backup: %w", err))
		}
		files = append(files, saved)
	}
	return files, nil
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
func (s *Store) keep(file string, data []byte) error {
	err := s.files.Create(file, data, 0o600)
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

// lock keeps every other apply from writing to the store.
func (s *Store) lock() (atomicfile.Unlock, error) {
	folder := filepath.Join(s.dir, "locks")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	release, err := atomicfile.LockFile(filepath.Join(folder, "store"), lockWait)
	if err == nil {
		s.did("locked the store")
	}
	return release, err
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
		Client: t.plan.File.Client, Also: t.plan.File.Also, Path: t.plan.Path, Real: t.real,
		Before: before, After: digest(t.plan.After), Backup: before,
		Mode: t.plan.Mode, Format: t.plan.File.Format, Lock: t.plan.Lock, Entries: []string{},
		New: t.plan.New, Gone: t.plan.Gone,
		Splices: t.plan.splices(),
	}
	if hook := t.plan.File.Hook; hook != nil {
		saved.Hook = hook.Event
		return saved
	}
	for _, step := range t.plan.Steps {
		if step.Action != Keep && step.Action != Skip {
			saved.Entries = append(saved.Entries, step.Entry.Name)
		}
	}
	return saved
}

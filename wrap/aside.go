package wrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// Aside is a server that a person wants left as it is.
type Aside struct {
	Client  string        `json:"client,omitempty"`
	Path    string        `json:"path"`
	Scope   clients.Scope `json:"scope"`
	Pointer []string      `json:"pointer"`
}

// Of reports whether the record is about an entry of a file.
func (a Aside) Of(f File, e Entry) bool {
	return a.Path == f.Path && slices.Equal(a.Pointer, e.Pointer)
}

// AsideOf is the record about an entry of a file.
func AsideOf(f File, e Entry) Aside {
	return Aside{Client: f.Client, Path: f.Path, Scope: e.Scope, Pointer: e.Pointer}
}

type asideFile struct {
	Version int     `json:"version"`
	Servers []Aside `json:"servers"`
}

func (s *Store) asidePath() string { return filepath.Join(s.dir, "aside.json") }

// Asides lists the servers that are to be left alone. An unreadable list is an error: nobody knows then what may be touched.
func (s *Store) Asides() ([]Aside, error) {
	if s == nil || s.dir == "" {
		return nil, nil
	}
	data, err := os.ReadFile(s.asidePath())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var file asideFile
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, fmt.Errorf("%s: %w", s.asidePath(), err)
	}
	if file.Version != 1 {
		return nil, fmt.Errorf("%s: version %d was written by another bouncer", s.asidePath(), file.Version)
	}
	return file.Servers, nil
}

// ChangeAsides adds servers to those that are left alone, and takes others out. It writes nothing when nothing changes.
func (s *Store) ChangeAsides(add, remove []Aside) error {
	if len(add)+len(remove) == 0 {
		return nil
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	file, err := s.lockFile(s.asidePath())
	if err != nil {
		return err
	}
	unlock, err := atomicfile.LockFile(file, 5*time.Second)
	if err != nil {
		return fmt.Errorf("%s: %w", s.asidePath(), err)
	}
	defer unlock()
	before, err := s.Asides()
	if err != nil {
		return err
	}
	after := slices.DeleteFunc(slices.Clone(before), func(a Aside) bool { return a.in(remove) })
	for _, a := range add {
		if !a.in(after) {
			after = append(after, a)
		}
	}
	if slices.EqualFunc(before, after, Aside.same) {
		return nil
	}
	data, err := json.MarshalIndent(asideFile{1, after}, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Replace(s.asidePath(), append(data, '\n'), 0o600)
}

func (a Aside) same(b Aside) bool { return a.Path == b.Path && slices.Equal(a.Pointer, b.Pointer) }

func (a Aside) in(list []Aside) bool { return slices.ContainsFunc(list, a.same) }

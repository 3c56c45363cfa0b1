package wrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// originalsFile is what the store remembers of one config.
type originalsFile struct {
	Path    string              `json:"path"`
	Entries map[string]Original `json:"entries"` // by PointerKey
}

func (s *Store) originalsFolder() string { return filepath.Join(s.dir, "originals") }

func (s *Store) originalsPath(path string) string {
	return filepath.Join(s.originalsFolder(), digest([]byte(path))+".json")
}

// Originals returns what is remembered of a file's entries, by PointerKey. Nothing, if nothing can be read: entries can be
// unwrapped without it, only less to the letter.
func (s *Store) Originals(path string) map[string]Original {
	if s == nil || s.dir == "" {
		return nil
	}
	data, err := os.ReadFile(s.originalsPath(path))
	if err != nil {
		return nil
	}
	var file originalsFile
	if json.Unmarshal(data, &file) != nil || file.Path != path {
		return nil
	}
	return file.Entries
}

// Configs lists every file in which a server was ever wrapped. The error tells which records could not be read; the list
// has all others.
func (s *Store) Configs() ([]string, error) {
	folder, err := os.ReadDir(s.originalsFolder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	var faults []error
	for _, entry := range folder {
		if filepath.Ext(entry.Name()) != ".json" {
			continue // on its way to become one
		}
		name := filepath.Join(s.originalsFolder(), entry.Name())
		data, err := os.ReadFile(name)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		var file originalsFile
		if err := json.Unmarshal(data, &file); err != nil {
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
			continue
		}
		paths = append(paths, file.Path)
	}
	return paths, errors.Join(faults...)
}

// remember notes the literals of every entry that is about to be wrapped. The store's lock is held, so nobody else writes them.
func (s *Store) remember(targets []target) error {
	for _, t := range targets {
		fresh, err := originalsOf(t.plan)
		if err != nil {
			return t.fail(err)
		}
		if len(fresh) == 0 {
			continue
		}
		file := originalsFile{Path: t.plan.Path, Entries: s.Originals(t.plan.Path)}
		if file.Entries == nil {
			file.Entries = map[string]Original{}
		}
		for key, original := range fresh {
			file.Entries[key] = original
		}
		if err := s.writeOriginals(file); err != nil {
			return t.fail(err)
		}
	}
	return nil
}

func (s *Store) writeOriginals(file originalsFile) error {
	data, err := json.Marshal(file)
	if err != nil {
		return err
	}
	to := s.originalsPath(file.Path)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	return s.files.Replace(to, data, 0o600)
}

// originalsOf returns the literals of the entries that a plan wraps, as they stand before it.
func originalsOf(plan Plan) (map[string]Original, error) {
	wrapped := map[string]bool{}
	for _, step := range plan.Steps {
		if step.Action == Wrap {
			wrapped[PointerKey(step.Entry.Pointer)] = true
		}
	}
	if len(wrapped) == 0 {
		return nil, nil
	}
	before := plan.File
	before.Data = plan.Before
	doc, servers, err := read(before, nil)
	if err != nil {
		return nil, err
	}
	found := map[string]Original{}
	for i := range servers {
		s := &servers[i]
		if key := PointerKey(s.Pointer); wrapped[key] {
			found[key] = Original{
				Command: string(doc.Literal(s.value(s.command))),
				Args:    string(doc.Literal(s.value(s.args))),
			}
		}
	}
	return found, nil
}

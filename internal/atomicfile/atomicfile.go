// Package atomicfile replaces files so that a reader, or a crash at any point, sees the old bytes or the new, never a mixture.
// It also holds the locks that keep two writers from replacing one file at once.
package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Writer writes files whole. The zero Writer is ready to use.
type Writer struct {
	// Step is told what was just done, after every call that changes what is on the disk. It is there for tests that end the
	// process between two steps; nil is fine.
	Step func(what string)
}

func (w Writer) did(what string) {
	if w.Step != nil {
		w.Step(what)
	}
}

// Replace is Writer.Replace.
func Replace(path string, data []byte, mode fs.FileMode) error {
	return Writer{}.Replace(path, data, mode)
}

// Create is Writer.Create.
func Create(path string, data []byte, mode fs.FileMode) error {
	return Writer{}.Create(path, data, mode)
}

// Replace puts data in path's place: a temporary file beside the symlink-resolved target with its mode and owner, fsync, rename, fsync of the directory.
// A missing file is created with mode (0600 when zero); an existing one keeps its own, and what else the system attaches to it.
// One that is marked read-only stays as it is (fs.ErrPermission), although a rename would get around the mark.
// After an error the target is as it was and no temporary file is left, except that a failing fsync of the directory is reported after the replacement.
func (w Writer) Replace(path string, data []byte, mode fs.FileMode) error {
	staged, err := w.Stage(path, data, mode)
	if err != nil {
		return err
	}
	return staged.Commit()
}

// Stage does all of Replace that can fail for want of room or rights, and nothing that anybody sees: the new bytes are on
// the disk, beside the target, until Commit or Discard.
func (w Writer) Stage(path string, data []byte, mode fs.FileMode) (*Staged, error) {
	target, err := Target(path)
	if err != nil {
		return nil, err
	}
	old, err := existing(target)
	if err != nil {
		return nil, err
	}
	if old != nil && old.Mode().Perm()&0o200 == 0 {
		return nil, fmt.Errorf("%s: marked read-only: %w", target, fs.ErrPermission)
	}
	if old == nil && mode == 0 {
		mode = 0o600
	}
	return w.stage(target, data, func(tmp *os.File) error { return dress(tmp, target, old, mode) }, publishOver)
}

// Create writes a new file with mode (0600 when zero) and never overwrites one (fs.ErrExist). The whole file appears at once.
func (w Writer) Create(path string, data []byte, mode fs.FileMode) error {
	if mode == 0 {
		mode = 0o600
	}
	// An early answer for the common case; publishNew is what guarantees it.
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	staged, err := w.stage(path, data, func(tmp *os.File) error { return dress(tmp, path, nil, mode) }, publishNew)
	if err != nil {
		return err
	}
	return staged.Commit()
}

// existing describes the regular file at target, or returns nil when there is none yet.
func existing(target string) (fs.FileInfo, error) {
	info, err := os.Lstat(target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a regular file (%s)", target, info.Mode().Type())
	}
	return info, nil
}

// Staged is a file that is written, but does not have its name yet. It must be committed or discarded.
type Staged struct {
	writer      Writer
	tmp, target string
	publish     func(tmp, target string) error
}

// stage writes data to a temporary file beside target. The owner and mode come after the bytes: nobody else reads a
// half-written file.
func (w Writer) stage(target string, data []byte, dress func(tmp *os.File) error, publish func(tmp, target string) error) (*Staged, error) {
	tmp, err := os.CreateTemp(filepath.Dir(target), tempPattern)
	if err != nil {
		return nil, fmt.Errorf("%s: no temporary file in its directory: %w", target, err)
	}
	w.did("made a temporary file")
	staged := &Staged{writer: w, tmp: tmp.Name(), target: target, publish: publish}
	for _, step := range []struct {
		what string
		do   func() error
	}{
		{"wrote it", func() error { _, err := tmp.Write(data); return err }},
		{"dressed it", func() error { return dress(tmp) }},
		{"synced it", tmp.Sync},
		{"closed it", tmp.Close},
	} {
		if err := step.do(); err != nil {
			_ = tmp.Close() // it may be closed already, and what is in it is of no use
			staged.Discard()
			return nil, fmt.Errorf("%s: not written: %w", target, err)
		}
		w.did(step.what)
	}
	return staged, nil
}

// Commit gives the file its name. Until then that name leads to the old file; by now the new bytes and their mode are on
// the disk, so that no crash can leave the name on an empty file.
func (s *Staged) Commit() error {
	if err := s.publish(s.tmp, s.target); err != nil {
		s.Discard()
		return fmt.Errorf("%s: not written: %w", s.target, err)
	}
	s.writer.did("gave it its name")
	if err := syncDir(filepath.Dir(s.target)); err != nil {
		return fmt.Errorf("%s: written, but its directory could not be synced: %w", s.target, err)
	}
	s.writer.did("synced its directory")
	return nil
}

// Discard removes what is not committed.
func (s *Staged) Discard() {
	_ = os.Remove(s.tmp) // if it can't be removed, Sweep gets it
}

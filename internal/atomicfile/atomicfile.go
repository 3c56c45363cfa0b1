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

// tempPattern names temporary files. It is short and independent of the target's name, which may already be as long as a name can be.
const tempPattern = ".bouncer-*.tmp"

// Replace puts data in path's place: a temporary file beside the symlink-resolved target with its mode and owner, fsync, rename, fsync of the directory.
// A missing file is created with mode (0600 when zero); an existing one keeps its own, and what else the system attaches to it.
// After an error the target is as it was and no temporary file is left, except that a failing fsync of the directory is reported after the replacement.
func Replace(path string, data []byte, mode fs.FileMode) error {
	target, err := Target(path)
	if err != nil {
		return err
	}
	old, err := existing(target)
	if err != nil {
		return err
	}
	if old == nil && mode == 0 {
		mode = 0o600
	}
	return put(target, data, func(tmp *os.File) error { return dress(tmp, target, old, mode) }, publishOver)
}

// Create writes a new file with mode (0600 when zero) and never overwrites one (fs.ErrExist). The whole file appears at once.
func Create(path string, data []byte, mode fs.FileMode) error {
	if mode == 0 {
		mode = 0o600
	}
	// An early answer for the common case; publishNew is what guarantees it.
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return put(path, data, func(tmp *os.File) error { return dress(tmp, path, nil, mode) }, publishNew)
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

// put writes data to a temporary file beside target and lets publish give it the target's name.
func put(target string, data []byte, dress func(tmp *os.File) error, publish func(tmp, target string) error) error {
	dir := filepath.Dir(target)
	tmp, err := os.CreateTemp(dir, tempPattern)
	if err != nil {
		return fmt.Errorf("%s: no temporary file in its directory: %w", target, err)
	}
	// Until publish, the target's name leads to the old file. By then the new bytes and their mode are on the disk, so that no
	// crash can leave the name on an empty file. The owner and mode come after the bytes: nobody else reads a half-written file.
	steps := []func() error{
		func() error { _, err := tmp.Write(data); return err },
		func() error { return dress(tmp) },
		tmp.Sync,
		tmp.Close,
		func() error { return publish(tmp.Name(), target) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			// Neither can fail in a way that matters more than err: the file is already closed, or already gone.
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
			return fmt.Errorf("%s: not written: %w", target, err)
		}
	}
	if err := syncDir(dir); err != nil {
		return fmt.Errorf("%s: written, but its directory could not be synced: %w", target, err)
	}
	return nil
}

package atomicfile

import (
	"errors"
	"fmt"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/direct"
)

// ErrLocked means that someone else held the lock for the whole waiting time.
var ErrLocked = errors.New("locked by another process")

// Unlock releases a lock. Calling it again does nothing.
type Unlock func()

// LockFile takes an advisory lock on the file at path (created 0600), waiting up to wait.
// It also excludes other goroutines of this process. The file stays when the lock is released.
func LockFile(path string, wait time.Duration) (Unlock, error) {
	l, err := OpenLock(path)
	if err != nil {
		return nil, err
	}
	if err := l.Lock(wait); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	// Closing releases the lock, and there is nothing to do about a descriptor that doesn't close.
	return func() { _ = l.Close() }, nil
}

// FileLock is an advisory lock on a file kept open, for callers that lock often.
// One FileLock is for one goroutine at a time; two FileLocks on one path exclude each other, also within a process.
type FileLock struct {
	path string
	file direct.File
}

// OpenLock opens the lock file at path (created 0600) without locking it.
func OpenLock(path string) (*FileLock, error) {
	f, err := openLockFile(path)
	if err != nil {
		return nil, err
	}
	return &FileLock{path: path, file: f}, nil
}

// Lock takes the lock, waiting up to wait for whoever holds it; then it returns ErrLocked.
func (l *FileLock) Lock(wait time.Duration) error {
	// The calls that block until a lock is free can't be given a time limit on any system, so this polls.
	for pause := newBackoff(20*time.Microsecond, 5*time.Millisecond, wait); ; {
		got, err := tryLock(l.file)
		if err != nil {
			return fmt.Errorf("lock %s: %w", l.path, err)
		}
		if !got {
			if !pause.sleep() {
				return fmt.Errorf("%s: %w", l.path, ErrLocked)
			}
			continue
		}
		if !removed(l.file) {
			return nil
		}
		// Somebody deleted the lock file, so others may be locking a new one under its name.
		if err := l.reopen(); err != nil {
			return err
		}
	}
}

// File is the locked file, for a holder that keeps a few bytes in it. Lock may replace it, so ask again after every Lock.
func (l *FileLock) File() direct.File { return l.file }

// Unlock releases the lock and keeps the file open for the next Lock.
func (l *FileLock) Unlock() error {
	if err := unlock(l.file); err != nil {
		return fmt.Errorf("unlock %s: %w", l.path, err)
	}
	return nil
}

// Close closes the file, which also releases the lock.
func (l *FileLock) Close() error { return l.file.Close() }

func (l *FileLock) reopen() error {
	f, err := openLockFile(l.path)
	if err != nil {
		return err
	}
	// The old file has no name any more; whether it closes cleanly changes nothing.
	_ = l.file.Close()
	l.file = f
	return nil
}

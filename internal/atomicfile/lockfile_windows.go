package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"

	"github.com/bouncer-mcp/bouncer/internal/direct"
)

func openLockFile(path string) (direct.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return direct.File{}, err
	}
	return direct.Of(f), nil
}

// lockedByte is the one byte that is locked. Locks are mandatory here: it lies far behind any content, so that others can read that.
func lockedByte() *windows.Overlapped { return &windows.Overlapped{OffsetHigh: 1 << 30} }

func tryLock(f direct.File) (bool, error) {
	const flags = windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, lockedByte())
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, err
}

func unlock(f direct.File) error {
	return windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, lockedByte())
}

// removed is never true: a file that is open without sharing its deletion keeps its name.
func removed(direct.File) bool { return false }

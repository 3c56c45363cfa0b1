package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// sharingWait is how long a file that a virus scanner or an editor holds open is waited for.
const sharingWait = 2 * time.Second

// dress has little to do here: a new file inherits its directory's access list, and ReplaceFile carries over the old file's.
func dress(*os.File, string, fs.FileInfo, fs.FileMode) error { return nil }

// isMine leaves the question to the access list of the folder: who may delete there, may.
func isMine(fs.FileInfo) bool { return true }

// publishOver prefers ReplaceFile because it keeps the target's access list, creation time and streams; MoveFileEx keeps none of
// them. ReplaceFile needs a target, and in rare failures has already moved it away: then the name is free and a move is right.
func publishOver(tmp, target string) error {
	return whileShared(func() error {
		if _, err := os.Lstat(target); errors.Is(err, fs.ErrNotExist) {
			return move(tmp, target, windows.MOVEFILE_REPLACE_EXISTING)
		}
		err := replaceFile(tmp, target)
		if err == nil {
			return nil
		}
		if _, gone := os.Lstat(target); errors.Is(gone, fs.ErrNotExist) {
			return move(tmp, target, windows.MOVEFILE_REPLACE_EXISTING)
		}
		return err
	})
}

// publishNew moves without MOVEFILE_REPLACE_EXISTING, which refuses a name that is taken.
func publishNew(tmp, target string) error {
	return whileShared(func() error { return move(tmp, target, 0) })
}

func move(from, to string, flags uint32) error {
	f, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	if err := windows.MoveFileEx(f, t, flags|windows.MOVEFILE_WRITE_THROUGH); err != nil {
		return &os.LinkError{Op: "move", Old: from, New: to, Err: err}
	}
	return nil
}

func replaceFile(from, to string) error {
	f, err := windows.UTF16PtrFromString(from)
	if err != nil {
		return err
	}
	t, err := windows.UTF16PtrFromString(to)
	if err != nil {
		return err
	}
	proc := windows.NewLazySystemDLL("kernel32.dll").NewProc("ReplaceFileW")
	if err := proc.Find(); err != nil {
		return err
	}
	ok, _, err := proc.Call(uintptr(unsafe.Pointer(t)), uintptr(unsafe.Pointer(f)), 0, 0, 0, 0)
	if ok == 0 {
		return &os.LinkError{Op: "replace", Old: from, New: to, Err: err}
	}
	return nil
}

// whileShared repeats op as long as another program holds one of its files open.
func whileShared(op func() error) error {
	for pause := newBackoff(time.Millisecond, 50*time.Millisecond, sharingWait); ; {
		err := op()
		if !inUse(err) || !pause.sleep() {
			return err
		}
	}
}

func inUse(err error) bool {
	return errors.Is(err, windows.ERROR_SHARING_VIOLATION) || errors.Is(err, windows.ERROR_LOCK_VIOLATION) ||
		errors.Is(err, windows.ERROR_ACCESS_DENIED) || errors.Is(err, windows.ERROR_UNABLE_TO_REMOVE_REPLACED) ||
		errors.Is(err, windows.ERROR_USER_MAPPED_FILE)
}

// syncDir has no counterpart here: the move is written through.
func syncDir(string) error { return nil }

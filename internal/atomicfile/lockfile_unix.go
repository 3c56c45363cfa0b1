//go:build !windows

package atomicfile

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bouncer-mcp/bouncer/internal/direct"
)

func openLockFile(path string) (direct.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return direct.File{}, err
	}
	return direct.Of(f), nil
}

// tryLock uses flock and not fcntl: an fcntl lock belongs to the process, so it would not keep two goroutines apart and would be
// lost as soon as anything in the process closed any descriptor of the file. A flock belongs to the one open file.
func tryLock(f direct.File) (bool, error) {
	for {
		err := f.Flock(unix.LOCK_EX | unix.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, unix.EINTR):
			return false, err
		}
	}
}

func unlock(f direct.File) error { return f.Flock(unix.LOCK_UN) }

// removed reports whether the open file has lost its name.
func removed(f direct.File) bool {
	_, named := f.Extent()
	return !named
}

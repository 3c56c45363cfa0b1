//go:build unix

package proxy

import (
	"errors"

	"golang.org/x/sys/unix"
)

// place is a file or directory, whatever name it is reached by.
type place struct{ st unix.Stat_t }

// placeOf finds what a path leads to; ok is false if that is nothing. os.Stat would cost twice as much, and a call with a
// path asks about every protected place.
func placeOf(path string) (p place, ok bool) {
	err := unix.Stat(path, &p.st)
	for errors.Is(err, unix.EINTR) {
		err = unix.Stat(path, &p.st)
	}
	return p, err == nil
}

func (p place) is(other place) bool { return p.st.Dev == other.st.Dev && p.st.Ino == other.st.Ino }

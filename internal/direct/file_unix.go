//go:build unix && !linux

package direct

import (
	"os"

	"golang.org/x/sys/unix"
)

// File is an open regular file.
type File struct{ *os.File }

// Of returns f as a File.
func Of(f *os.File) File { return File{f} }

// Flock is flock(2) of a kind that doesn't wait.
func (f File) Flock(how int) error { return unix.Flock(int(f.Fd()), how) }

// Extent returns the size of f, and whether it still has a name: what is written to a deleted file is lost.
func (f File) Extent() (size int64, named bool) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return st.Size, err == nil && st.Nlink > 0
}

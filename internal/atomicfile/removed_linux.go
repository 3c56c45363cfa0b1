package atomicfile

import (
	"os"

	"golang.org/x/sys/unix"
)

// removed reports whether the open file has lost its name.
//
// It asks for no times: Linux gives a file whose times were asked for new ones with its next write, which costs as much as
// the write itself.
func removed(f *os.File) bool {
	var st unix.Statx_t
	err := unix.Statx(int(f.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_NLINK, &st)
	if err != nil { // an old kernel, or a container that does not let this call through
		return unlinked(f)
	}
	return st.Nlink == 0
}

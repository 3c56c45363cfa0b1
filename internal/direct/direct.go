// Package direct reads and writes files and pipes without telling the scheduler, where no call can wait for long.
//
// What package os does for each system call, so that other goroutines can go on if it takes long, costs more than a short call
// itself: on Linux it wakes a thread of the runtime's own whenever the process has been idle. A relay is idle twice a call. So on
// Linux the calls here leave that out: on pipes and sockets that don't block, and on files of local file systems. On every other
// file, and every other system, they are those of package os.
package direct

import (
	"io"
	"os"
)

// Shared returns a stream over a pipe or socket that other processes may hold as well, and make blocking at any time, as
// standard input and output are. One goroutine may read from it and one may write, but not from and to one stream at once.
func Shared(f *os.File) io.ReadWriteCloser { return stream(f, true) }

// Own returns a stream over a pipe that is held by this process only. One goroutine may use it at a time; closing it ends that.
func Own(f *os.File) io.ReadWriteCloser { return stream(f, false) }

//go:build unix

package link

import (
	"os"
	"os/signal"
	"runtime"

	"golang.org/x/sys/unix"
)

// Stdio returns bouncer's own standard input and output. Pipes and sockets among them are switched to non-blocking, which puts them into the runtime's
// poller: a message beyond the size of the pipe doesn't stall, and a blocked read doesn't hold up the scheduler. restore switches
// them back, since a parent may hold them too. Until then a reader that goes away is an error of the write, not a signal that ends bouncer.
func Stdio() (in, out *os.File, restore func()) {
	// Being ignored, the signal would be ignored by the server, too; caught, it is not.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, unix.SIGPIPE)

	// Both are looked at before either is changed, since they may be one socket.
	pollIn, pollOut := pollable(os.Stdin), pollable(os.Stdout)
	in, out = os.Stdin, os.Stdout
	if pollIn {
		in = polled(in)
	}
	if pollOut {
		out = polled(out)
	}
	return in, out, func() {
		for _, f := range []*os.File{in, out} {
			if f != os.Stdin && f != os.Stdout {
				control(f, func(fd int) { _ = unix.SetNonblock(fd, false) })
			}
		}
		signal.Stop(broken)
	}
}

// HangUp returns a channel that is closed when the other end of a pipe or socket is closed, whatever is still to be read from
// it, and a function that ends the watching. It looks at nothing from time to time: a process that waits must not wake up.
func HangUp(f *os.File) (gone <-chan struct{}, stop func()) {
	woken, wake, err := os.Pipe()
	if err != nil {
		return nil, func() {}
	}
	hungUp, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		control(woken, func(wake int) {
			control(f, func(fd int) {
				fds := []unix.PollFd{{Fd: int32(fd)}, {Fd: int32(wake)}}
				for { // only ends are told when nothing is asked for
					n, err := unix.Poll(fds, -1)
					if n > 0 || err != nil && err != unix.EINTR {
						break
					}
				}
				if fds[0].Revents&(unix.POLLHUP|unix.POLLERR) != 0 {
					close(hungUp)
				}
			})
		})
	}()
	return hungUp, func() {
		closeAll(wake)
		<-ended
		closeAll(woken)
	}
}

// pollable reports whether a file is a pipe or socket that is not in the poller. One that came non-blocking is: package os saw to that.
func pollable(f *os.File) bool {
	var yes bool
	control(f, func(fd int) {
		var st unix.Stat_t
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil || flags&unix.O_NONBLOCK != 0 || unix.Fstat(fd, &st) != nil {
			return
		}
		switch st.Mode & unix.S_IFMT {
		case unix.S_IFSOCK:
			yes = true
		case unix.S_IFIFO:
			// The poller of macOS misses the end of a pipe that has a name (go.dev/issue/24164). There, one without has no link either.
			yes = runtime.GOOS != "darwin" || st.Nlink == 0
		}
	})
	return yes
}

// polled returns a file for the descriptor of f that is in the poller, or f if that can't be.
func polled(f *os.File) *os.File {
	control(f, func(fd int) {
		if unix.SetNonblock(fd, true) == nil {
			f = os.NewFile(uintptr(fd), f.Name())
		}
	})
	return f
}

// control runs do with the descriptor of f, unless f is closed. Unlike Fd it leaves the mode of f as it is.
func control(f *os.File, do func(fd int)) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = conn.Control(func(fd uintptr) { do(int(fd)) })
}

// unread reports whether a pipe holds bytes that nobody has read.
func unread(f *os.File) bool {
	var n int
	control(f, func(fd int) { n, _ = unix.IoctlGetInt(fd, fionread) })
	return n > 0
}

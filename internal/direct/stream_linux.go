package direct

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// raw is a stream over a descriptor that is in the runtime's poller.
type raw struct {
	file   *os.File
	conn   syscall.RawConn
	shared bool

	// Of the call under way. The functions are made once, since each call would have to allocate them.
	p           []byte
	vector      unix.Iovec // the rest of p, for a shared descriptor
	n           int
	err         error
	plain       bool // this kernel knows no call for such a descriptor that never waits
	read, write func(fd uintptr) (done bool)
}

func stream(f *os.File, shared bool) io.ReadWriteCloser {
	conn, err := f.SyscallConn()
	if err != nil {
		return f
	}
	s := &raw{file: f, conn: conn, shared: shared}
	s.read, s.write = s.tryRead, s.tryWrite
	polled := false
	err = conn.Control(func(fd uintptr) {
		flags, err := unix.FcntlInt(fd, unix.F_GETFL, 0)
		polled = err == nil && flags&unix.O_NONBLOCK != 0
	})
	if err != nil || !polled {
		return f
	}
	return s
}

// Read is that of [os.File].
func (s *raw) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	if !s.plain {
		s.p, s.n, s.err = p, 0, nil
		err := s.conn.Read(s.read)
		switch {
		case s.plain:
		case err != nil: // without a deadline the poller has one reason
			return 0, &fs.PathError{Op: "read", Path: s.file.Name(), Err: fs.ErrClosed}
		case s.err != nil:
			return 0, &fs.PathError{Op: "read", Path: s.file.Name(), Err: s.err}
		case s.n == 0:
			return 0, io.EOF
		default:
			return s.n, nil
		}
	}
	return s.file.Read(p)
}

// Write is that of [os.File].
func (s *raw) Write(p []byte) (int, error) {
	s.p, s.n, s.err = p, 0, nil
	if !s.plain {
		err := s.conn.Write(s.write)
		switch {
		case s.plain:
		case err != nil:
			return s.n, &fs.PathError{Op: "write", Path: s.file.Name(), Err: fs.ErrClosed}
		case s.err != nil:
			return s.n, &fs.PathError{Op: "write", Path: s.file.Name(), Err: s.err}
		default:
			return s.n, nil
		}
	}
	n, err := s.file.Write(p[s.n:])
	return s.n + n, err
}

// Close is that of [os.File].
func (s *raw) Close() error { return s.file.Close() }

func (s *raw) tryRead(fd uintptr) bool {
	for {
		n, errno := s.call(fd, syscall.SYS_READ, unix.SYS_PREADV2)
		if errno == 0 {
			s.n = n
		}
		if errno != syscall.EINTR {
			return s.settled(errno)
		}
	}
}

func (s *raw) tryWrite(fd uintptr) bool {
	for s.n < len(s.p) {
		n, errno := s.call(fd, syscall.SYS_WRITE, unix.SYS_PWRITEV2)
		if errno == 0 {
			s.n += n
		} else if errno != syscall.EINTR {
			return s.settled(errno)
		}
	}
	return true
}

// settled reports whether a call has come to its end, and not only to a descriptor that is not ready.
func (s *raw) settled(errno syscall.Errno) bool {
	switch errno {
	case 0:
	case syscall.EAGAIN:
		return false
	case syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EPERM: // an old kernel, or a container that does not let this call through
		if s.plain = s.shared; s.plain {
			return true
		}
		fallthrough
	default:
		s.err = errno
	}
	return true
}

// call moves what is left of p. Somebody else may have made a shared descriptor blocking, which a call that waits would find out
// too late: with this thread stuck, the world could not be stopped any more. So such a call says itself that it must not wait.
func (s *raw) call(fd, number, vectored uintptr) (int, syscall.Errno) {
	rest := s.p[s.n:]
	if !s.shared {
		n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(&rest[0])), uintptr(len(rest)))
		return int(n), errno
	}
	const here = ^uintptr(0) // no offset
	s.vector.Base = &rest[0]
	s.vector.SetLen(len(rest))
	n, _, errno := syscall.RawSyscall6(vectored, fd, uintptr(unsafe.Pointer(&s.vector)), 1, here, 0, unix.RWF_NOWAIT)
	s.vector.Base = nil
	return int(n), errno
}

package direct

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"unsafe"
)

// raw is a stream over a descriptor that is in the runtime's poller.
type raw struct {
	file   *os.File
	conn   syscall.RawConn
	shared bool

	// Of the call under way. The functions are made once, since each call would have to allocate them.
	p           []byte
	n           int
	err         error
	blocks      bool // somebody has made it blocking
	read, write func(fd uintptr) (done bool)
}

func stream(f *os.File, shared bool) io.ReadWriteCloser {
	conn, err := f.SyscallConn()
	if err != nil {
		return f
	}
	s := &raw{file: f, conn: conn, shared: shared}
	s.read, s.write = s.tryRead, s.tryWrite
	if err := conn.Control(func(fd uintptr) { s.blocks = blocking(fd) }); err != nil || s.blocks {
		return f
	}
	return s
}

// Read is that of [os.File].
func (s *raw) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	s.p, s.n, s.err, s.blocks = p, 0, nil, false
	err := s.conn.Read(s.read)
	switch {
	case s.blocks:
		return s.file.Read(p)
	case err != nil: // without a deadline the poller has one reason
		return 0, &fs.PathError{Op: "read", Path: s.file.Name(), Err: fs.ErrClosed}
	case s.err != nil:
		return 0, &fs.PathError{Op: "read", Path: s.file.Name(), Err: s.err}
	case s.n == 0:
		return 0, io.EOF
	}
	return s.n, nil
}

// Write is that of [os.File].
func (s *raw) Write(p []byte) (int, error) {
	s.p, s.n, s.err, s.blocks = p, 0, nil, false
	err := s.conn.Write(s.write)
	switch {
	case s.blocks:
		n, err := s.file.Write(p[s.n:])
		return s.n + n, err
	case err != nil:
		return s.n, &fs.PathError{Op: "write", Path: s.file.Name(), Err: fs.ErrClosed}
	case s.err != nil:
		return s.n, &fs.PathError{Op: "write", Path: s.file.Name(), Err: s.err}
	}
	return s.n, nil
}

// Close is that of [os.File].
func (s *raw) Close() error { return s.file.Close() }

func (s *raw) tryRead(fd uintptr) bool {
	if s.blocks = s.shared && blocking(fd); s.blocks {
		return true
	}
	for {
		n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&s.p[0])), uintptr(len(s.p)))
		switch errno {
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		case 0:
			s.n = int(n)
			return true
		default:
			s.err = errno
			return true
		}
	}
}

func (s *raw) tryWrite(fd uintptr) bool {
	if s.blocks = s.shared && blocking(fd); s.blocks {
		return true
	}
	for s.n < len(s.p) {
		rest := s.p[s.n:]
		n, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, fd, uintptr(unsafe.Pointer(&rest[0])), uintptr(len(rest)))
		switch errno {
		case syscall.EINTR:
		case syscall.EAGAIN:
			return false
		case 0:
			s.n += int(n)
		default:
			s.err = errno
			return true
		}
	}
	return true
}

// blocking reports whether reading and writing may wait.
func blocking(fd uintptr) bool {
	flags, _, errno := syscall.RawSyscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	return errno != 0 || flags&syscall.O_NONBLOCK == 0
}

package direct

import (
	"io"
	"io/fs"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// File is an open regular file. Unlike one of package os it must not be closed while it is used.
type File struct {
	*os.File
	fd    uintptr
	local bool
}

// Of returns f as a File.
func Of(f *os.File) File {
	fd := f.Fd()
	var st unix.Statfs_t
	err := unix.Fstatfs(int(fd), &st)
	return File{File: f, fd: fd, local: err == nil && local(uint64(st.Type))}
}

// local reports whether a file system of this type is one whose calls wait for nobody else's. The others may be gone for
// minutes: those of a network, and those that a program of somebody's serves.
func local(kind uint64) bool {
	switch kind & 0xffff_ffff {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.F2FS_SUPER_MAGIC, unix.TMPFS_MAGIC,
		unix.RAMFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, 0x2fc12fc1 /* ZFS */, 0xca451a4e /* bcachefs */ :
		return true
	}
	return false
}

// ReadAt is that of [os.File].
func (f File) ReadAt(p []byte, off int64) (int, error) {
	if !f.local || len(p) == 0 {
		return f.File.ReadAt(p, off)
	}
	n, err := f.call("read", syscall.SYS_PREAD64, p, off)
	if err == nil && n < len(p) {
		return n, io.EOF // a local file gives all it has at once
	}
	return n, err
}

// WriteAt is that of [os.File].
func (f File) WriteAt(p []byte, off int64) (n int, err error) {
	if !f.local {
		return f.File.WriteAt(p, off)
	}
	for n < len(p) && err == nil {
		var m int
		m, err = f.call("write", syscall.SYS_PWRITE64, p[n:], off+int64(n))
		n += m
	}
	return n, err
}

// Write is that of [os.File].
func (f File) Write(p []byte) (n int, err error) {
	if !f.local {
		return f.File.Write(p)
	}
	for n < len(p) && err == nil {
		var m int
		m, err = f.call("write", syscall.SYS_WRITE, p[n:], 0)
		n += m
	}
	return n, err
}

func (f File) call(op string, number uintptr, p []byte, off int64) (int, error) {
	for {
		n, _, errno := syscall.RawSyscall6(number, f.fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), uintptr(off), 0, 0)
		switch errno {
		case syscall.EINTR:
		case 0:
			return int(n), nil
		default:
			return 0, &fs.PathError{Op: op, Path: f.Name(), Err: errno}
		}
	}
}

// Flock is flock(2) of a kind that doesn't wait.
func (f File) Flock(how int) error {
	if !f.local {
		return unix.Flock(int(f.fd), how)
	}
	if _, _, errno := syscall.RawSyscall(syscall.SYS_FLOCK, f.fd, uintptr(how), 0); errno != 0 {
		return errno
	}
	return nil
}

// Extent returns the size of f, and whether it still has a name: what is written to a deleted file is lost.
//
// It asks for no times: Linux gives a file whose times were asked for new ones with its next write, which costs as much as
// the write itself.
func (f File) Extent() (size int64, named bool) {
	const mask = unix.STATX_SIZE | unix.STATX_NLINK
	var st unix.Statx_t
	var err error
	if f.local {
		var path [1]byte
		_, _, errno := syscall.RawSyscall6(unix.SYS_STATX, f.fd, uintptr(unsafe.Pointer(&path[0])), unix.AT_EMPTY_PATH, mask, uintptr(unsafe.Pointer(&st)), 0)
		if errno != 0 {
			err = errno
		}
	} else {
		err = unix.Statx(int(f.fd), "", unix.AT_EMPTY_PATH, mask, &st)
	}
	if err == nil {
		return int64(st.Size), st.Nlink > 0
	}
	var old unix.Stat_t // an old kernel, or a container that does not let this call through
	err = unix.Fstat(int(f.fd), &old)
	return old.Size, err == nil && old.Nlink > 0
}

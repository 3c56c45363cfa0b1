package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"

	"github.com/bouncer-mcp/bouncer/internal/direct"
)

// openFile opens a file of the log so that it can be renamed while open, which os.OpenFile does not allow here: otherwise no
// process could put the file aside while another has it open. A link is refused, since it could lead to any file of the person's.
func openFile(path string, flag int) (*os.File, error) {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	access, mode := uint32(windows.GENERIC_READ), uint32(windows.OPEN_EXISTING)
	if flag&os.O_RDWR != 0 {
		access |= windows.GENERIC_WRITE
	}
	if flag&os.O_CREATE != 0 {
		mode = windows.OPEN_ALWAYS
	}
	const share = windows.FILE_SHARE_READ | windows.FILE_SHARE_WRITE | windows.FILE_SHARE_DELETE
	const attrs = windows.FILE_ATTRIBUTE_NORMAL | windows.FILE_FLAG_OPEN_REPARSE_POINT
	handle, err := windows.CreateFile(name, access, share, nil, mode, attrs, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	f := os.NewFile(uintptr(handle), path)
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file (%s)", path, info.Mode().Type())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// appendTo writes line at size, the end of f. The lock makes that the end.
func appendTo(f *direct.File, line []byte, size int64) error {
	_, err := f.WriteAt(line, size)
	return err
}

// extent returns the size of f, and whether path still leads to it: what is appended to a deleted file is lost.
func extent(f *direct.File, path string) (size int64, named bool) {
	open, err1 := f.Stat()
	there, err2 := os.Lstat(path)
	if err1 != nil || err2 != nil {
		return 0, false
	}
	return open.Size(), os.SameFile(open, there)
}

//go:build !windows

package audit

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/bouncer-mcp/bouncer/internal/direct"
)

// openFile opens a file of the log. A symbolic link could make us append to any file of the person's, and a pipe could block.
func openFile(path string, flag int) (*os.File, error) {
	if flag&os.O_RDWR != 0 {
		flag |= os.O_APPEND
	}
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s: is a symbolic link", path)
	}
	if err != nil {
		return nil, err
	}
	return regular(f)
}

func regular(f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s: not a regular file", f.Name())
	}
	if err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// appendTo writes line in one write at the end of f, whose size is known. The file is in append mode, so that even a writer that
// ignores the lock can't be overwritten.
func appendTo(f *direct.File, line []byte, _ int64) error {
	_, err := f.Write(line)
	return err
}

// extent returns the size of f, and whether it still has a name: what is appended to a deleted file is lost.
func extent(f *direct.File, _ string) (size int64, named bool) { return f.Extent() }

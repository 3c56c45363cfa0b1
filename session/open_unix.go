//go:build !windows

package session

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// openFile opens a file to be read. A symbolic link could lead to a file that somebody else writes, and a pipe could block.
func openFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s: is a symbolic link", path)
	}
	return f, err
}

package session

import (
	"io/fs"
	"os"
)

// openFile opens a file to be read. Whoever replaces it meanwhile waits until it has been.
func openFile(path string) (*os.File, error) { return os.Open(path) }

// checkPrivate has nothing to check: a person's profile directory is closed to others by its access list.
func checkPrivate(fs.FileInfo) error { return nil }

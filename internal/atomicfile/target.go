package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLinks is how many symbolic links are followed before they count as a loop; Linux has the same limit.
const maxLinks = 40

// Target returns the file that Replace would write for path: path itself, or what it leads to when it is a symbolic link.
// The file need not exist; a dangling link leads to the file it names.
func Target(path string) (string, error) {
	name := path
	for range maxLinks {
		info, err := os.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			return name, nil
		}
		if err != nil {
			return "", err
		}
		if info.Mode().Type() != fs.ModeSymlink {
			return name, nil
		}
		if name, err = follow(name); err != nil {
			return "", err
		}
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}

// follow returns what the symbolic link name points to.
func follow(name string) (string, error) {
	link, err := os.Readlink(name)
	if err != nil {
		return "", err
	}
	base := ""
	if !filepath.IsAbs(link) {
		base, _ = filepath.Split(name)
	}
	// Joined by hand, and the directory resolved before any "..": filepath.Join would cancel "dir/.." even where dir is itself
	// a link and the system goes to the parent of what that leads to.
	dir, file := filepath.Split(base + link)
	if dir == "" {
		return file, nil
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", fmt.Errorf("%s: link to %s: %w", name, link, err)
	}
	return filepath.Join(dir, file), nil
}

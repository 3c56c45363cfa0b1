package proxy

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxLinks bounds how many symbolic links one path may lead through.
const maxLinks = 40

// Paths resolves path arguments as the server will, which runs in the same directory and on the same files.
type Paths struct{ dir, home string }

// NewPaths returns a resolver for a server that runs in dir, for a person whose home is home.
func NewPaths(dir, home string) Paths { return Paths{dir, home} }

// Resolve returns the absolute places that a path leads to, with symbolic links followed as far as it exists. There are
// two where ".." stands behind a link: some programs take it off the text, the system off the place the link has led to.
func (p Paths) Resolve(path string) ([]string, error) {
	path, err := p.plain(path)
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(path) {
		path = p.dir + string(filepath.Separator) + path
	}
	walked, err := walk(path)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(path, "..") {
		return []string{walked}, nil
	}
	cleaned, err := walk(filepath.Clean(path))
	if err != nil {
		return nil, err
	}
	if walked == cleaned {
		return []string{walked}, nil
	}
	return []string{walked, cleaned}, nil
}

// plain takes a path out of the spellings servers accept.
func (p Paths) plain(path string) (string, error) {
	if strings.ContainsRune(path, 0) {
		return "", errors.New("a NUL byte in a path")
	}
	if scheme, rest, ok := strings.Cut(path, "://"); ok && !strings.ContainsAny(scheme, `/\`) {
		if !strings.EqualFold(scheme, "file") {
			return "", fmt.Errorf("a %s URL is no path", scheme)
		}
		return fromURL(rest)
	}
	if len(path) >= 5 && strings.EqualFold(path[:5], "file:") {
		return "", errors.New("a file URL without //")
	}
	if path == "~" || strings.HasPrefix(path, "~/") || strings.HasPrefix(path, `~\`) {
		path = p.home + path[1:]
	} else if strings.HasPrefix(path, "~") {
		return "", errors.New("another user's home")
	}
	switch {
	case strings.TrimSpace(path) == "":
		return "", errors.New("an empty path")
	case runtime.GOOS == "windows":
		return path, windowsOddity(path)
	case strings.ContainsRune(path, '\\'):
		return "", errors.New("a backslash in a path")
	}
	return path, nil
}

func fromURL(rest string) (string, error) {
	host, path, ok := strings.Cut(rest, "/")
	if !ok || host != "" && !strings.EqualFold(host, "localhost") || strings.ContainsAny(path, "?#") {
		return "", errors.New("a file URL of another host or with a query")
	}
	path, err := url.PathUnescape("/" + path)
	if err != nil || strings.ContainsRune(path, 0) {
		return "", errors.New("a file URL that can't be decoded")
	}
	if runtime.GOOS == "windows" {
		path = filepath.FromSlash(strings.TrimPrefix(path, "/"))
		return path, windowsOddity(path)
	}
	if strings.ContainsRune(path, '\\') {
		return "", errors.New("a backslash in a path")
	}
	return path, nil
}

// windowsOddity refuses spellings under which Windows opens something other than the path says.
func windowsOddity(path string) error {
	if strings.HasPrefix(path, `\\?\`) || strings.HasPrefix(path, `\\.\`) || strings.HasPrefix(path, "//?/") || strings.HasPrefix(path, "//./") {
		return errors.New("a device path")
	}
	volume := filepath.VolumeName(path)
	rest := path[len(volume):]
	if rooted := rest != "" && os.IsPathSeparator(rest[0]); rooted != (volume != "") {
		return errors.New("a path on whichever drive is current") // \\x, or C:x
	}
	if strings.ContainsRune(rest, ':') {
		return errors.New("an alternate data stream")
	}
	return nil
}

// walk follows an absolute path as the system does, link by link. What does not exist is kept as it is written.
func walk(path string) (string, error) {
	volume := filepath.VolumeName(path)
	at := volume + string(filepath.Separator)
	todo := parts(path[len(volume):])
	for links := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		switch part {
		case ".":
			continue
		case "..":
			at = filepath.Dir(at)
			continue
		}
		next := filepath.Join(at, part)
		target, err := os.Readlink(next)
		if err != nil { // no link, or nothing there: either way the path goes on literally
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", errors.New("too many symbolic links")
		}
		if filepath.IsAbs(target) {
			volume = filepath.VolumeName(target)
			at = volume + string(filepath.Separator)
			target = target[len(volume):]
		}
		todo = append(parts(target), todo...)
	}
	return at, nil
}

func parts(path string) []string {
	return strings.FieldsFunc(path, func(c rune) bool { return c < 0x80 && os.IsPathSeparator(uint8(c)) })
}

// Within reports whether path lies at or below one of dirs. It asks the system whether two names mean one place, so that
// case, Unicode forms and short names are taken as this file system takes them. It asks anew each time: a place may have
// been made, or replaced, since the last call.
func (p Paths) Within(path string, dirs []string) bool {
	if slices.ContainsFunc(dirs, func(dir string) bool { return below(dir, path) }) {
		return true
	}
	var above []place
	for at := path; ; at = filepath.Dir(at) {
		if here, ok := placeOf(at); ok {
			above = append(above, here)
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		want, ok := placeOf(dir)
		return ok && slices.ContainsFunc(above, want.is)
	})
}

func below(dir, path string) bool {
	rest, ok := strings.CutPrefix(path, dir)
	return ok && (rest == "" || strings.HasSuffix(dir, string(filepath.Separator)) || os.IsPathSeparator(rest[0]))
}

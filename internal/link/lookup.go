package link

import (
	"errors"
	"io/fs"
	"os/exec"
	"path"
	"runtime"
	"slices"
	"strings"
)

// errNotFound is the reason when no program has the name.
var errNotFound = errors.New("program not found")

// search finds the program that a command names, by the rules of a platform that need not be this one.
type search struct {
	windows bool
	dir     string             // the server's working directory; empty is ours
	path    string             // PATH as the server will see it
	pathext string             // PATHEXT, on Windows
	try     func(string) error // nil for a file that can be run
}

func newSearch(s Spec) search {
	windows := runtime.GOOS == "windows"
	list, ok := variable(s.Env, "PATH", windows)
	if !ok && !windows {
		list = "/usr/bin:/bin" // what execvp falls back to, and with it the clients
	}
	exts, _ := variable(s.Env, "PATHEXT", windows)
	return search{windows: windows, dir: s.Dir, path: list, pathext: exts, try: runnable}
}

// find returns the file to run, and the places where it looked.
//
// A bare name is searched in the absolute directories of PATH and nowhere else: a project folder must not be able to slip in a program by
// holding a file of the right name. A command with a separator is relative to the server's working directory, as the system has it.
func (s search) find(command string) (file string, looked []string, err error) {
	switch {
	case command == "":
		return "", nil, errors.New("empty command")
	case strings.ContainsRune(command, 0):
		return "", nil, errors.New("command contains a NUL")
	case s.isPath(command):
		file := s.join(s.dir, command)
		found, err := s.extended(file, true)
		return found, []string{file}, err
	}
	failure := errNotFound
	for _, dir := range s.directories() {
		found, err := s.extended(s.join(dir, command), false)
		switch {
		case !s.isAbs(dir):
			if err == nil && errors.Is(failure, errNotFound) {
				failure = exec.ErrDot
			}
			continue
		case err == nil:
			return found, nil, nil
		case errors.Is(err, fs.ErrPermission):
			failure = err // a later directory may hold one that can be run
		}
		looked = append(looked, dir)
	}
	return "", looked, failure
}

// extended returns the runnable file that name stands for. On Windows a name found through PATH needs one of the extensions of PATHEXT: node, for
// one, installs a shell script "npx" beside the "npx.cmd" that is meant.
func (s search) extended(name string, verbatim bool) (string, error) {
	candidates := []string{name}
	if s.windows {
		candidates = s.withExtensions(name, verbatim)
	}
	failure := errNotFound
	for _, file := range candidates {
		err := s.try(file)
		if err == nil {
			return file, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			failure = err
		}
	}
	return "", failure
}

func (s search) withExtensions(name string, verbatim bool) []string {
	var candidates []string
	extensions := s.extensions()
	complete := slices.ContainsFunc(extensions, func(e string) bool { return strings.EqualFold(e, windowsExt(name)) })
	if complete {
		candidates = append(candidates, name)
	}
	for _, e := range extensions {
		candidates = append(candidates, name+e)
	}
	if verbatim && !complete {
		candidates = append(candidates, name)
	}
	return candidates
}

// windowsExt is filepath.Ext by the rules of Windows.
func windowsExt(name string) string {
	return path.Ext(name[strings.LastIndexAny(name, `/\:`)+1:])
}

func (s search) extensions() []string {
	list := s.pathext
	if list == "" {
		list = ".com;.exe;.bat;.cmd"
	}
	var exts []string
	for e := range strings.SplitSeq(strings.ToLower(list), ";") {
		if e = strings.TrimSpace(e); e != "" {
			exts = append(exts, "."+strings.TrimPrefix(e, "."))
		}
	}
	return exts
}

// directories splits PATH, leaving out empty entries, which would mean the current directory. On Windows an entry may be quoted to hold a semicolon.
func (s search) directories() []string {
	separator := byte(':')
	if s.windows {
		separator = ';'
	}
	var dirs []string
	var dir strings.Builder
	quoted := false
	for i := 0; i <= len(s.path); i++ {
		switch {
		case i == len(s.path) || s.path[i] == separator && !quoted:
			if dir.Len() > 0 {
				dirs = append(dirs, dir.String())
			}
			dir.Reset()
		case s.path[i] == '"' && s.windows:
			quoted = !quoted
		default:
			dir.WriteByte(s.path[i])
		}
	}
	return dirs
}

func (s search) isPath(command string) bool {
	if s.windows {
		return strings.ContainsAny(command, `/\:`)
	}
	return strings.Contains(command, "/")
}

// isAbs reports whether a path stands by itself. On Windows that includes `\x`, and `c:x`, which no directory can be put in front of.
func (s search) isAbs(name string) bool {
	if !s.windows {
		return strings.HasPrefix(name, "/")
	}
	return strings.HasPrefix(name, "/") || strings.HasPrefix(name, `\`) || len(name) > 1 && name[1] == ':'
}

func (s search) join(dir, name string) string {
	switch {
	case dir == "" || s.isAbs(name):
		return name
	case s.windows:
		return strings.TrimRight(dir, `/\`) + `\` + name
	default:
		return strings.TrimRight(dir, "/") + "/" + name
	}
}

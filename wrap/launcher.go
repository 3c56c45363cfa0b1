package wrap

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
)

// ErrShortLived says that bouncer runs from a place that will not be there for long, or not under the same name.
var ErrShortLived = errors.New("this copy of bouncer won't stay where it is")

// FindLauncher returns the command that configs should start the running bouncer with.
func FindLauncher(env clients.Env) (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", err
	}
	env.OS = runtime.GOOS
	return ChooseLauncher(exe, lookPath, env, sameFile)
}

// ChooseLauncher returns the absolute path that configs should start bouncer by, given the path of the running executable.
// A client may start it in a year and without the person's PATH, so the path must outlive updates: instead of a package
// manager's folder for one version it is the shim that the package manager keeps pointing at the newest. lookPath is
// exec.LookPath's answer for a name or an absolute path. The error wraps ErrShortLived and says what is wrong with the place.
func ChooseLauncher(exe string, lookPath func(string) (string, bool), env clients.Env, sameFile func(a, b string) bool) (string, error) {
	if !env.Abs(exe) {
		return "", fmt.Errorf("%s: %w: its path is not absolute", exe, ErrShortLived)
	}
	if why := shortLived(exe, env); why != "" {
		return "", fmt.Errorf("%s: %w: %s", exe, ErrShortLived, why)
	}
	place := splitPath(exe, env)
	for _, shim := range place.shims(env) {
		if found, ok := lookPath(shim.path); ok && (!shim.same || sameFile(found, exe)) {
			return shim.path, nil
		}
	}
	if !place.versioned() {
		return exe, nil
	}
	if found, ok := lookPath("bouncer"); ok && lasting(found, env) && sameFile(found, exe) {
		return found, nil
	}
	if owner := place.owner(); owner != "" {
		return "", fmt.Errorf("%s: %w: %s replaces this folder with every update, and no bouncer on PATH leads to it", exe, ErrShortLived, owner)
	}
	return exe, nil
}

func lasting(p string, env clients.Env) bool {
	return env.Abs(p) && shortLived(p, env) == "" && !splitPath(p, env).versioned()
}

// shortLived says why an executable won't be there for long, or nothing.
func shortLived(exe string, env clients.Env) string {
	for _, element := range splitPath(exe, env).elements {
		switch {
		case element == "go-build" || strings.HasPrefix(element, "go-build") && allDigits(element[len("go-build"):]):
			return "it was built by go run, into a cache"
		case element == "_npx" || element == "dlx" || strings.HasPrefix(element, "bunx-") || strings.HasPrefix(element, "archive-v"):
			return "it lies in the cache of a package runner"
		}
	}
	for _, folder := range temporary(env) {
		if within(exe, folder, env) {
			return "it lies in a temporary folder"
		}
	}
	return ""
}

// temporary lists the folders that are emptied now and then.
func temporary(env clients.Env) []string {
	var list []string
	for _, name := range []string{"TMPDIR", "TEMP", "TMP", "GOTMPDIR"} {
		if env.Getenv != nil {
			if folder := env.Getenv(name); env.Abs(folder) {
				list = append(list, folder)
			}
		}
	}
	if env.OS == "windows" {
		return append(list, env.Join(env.Local, "Temp"), `C:\Windows\Temp`)
	}
	list = append(list, "/tmp", "/var/tmp")
	if env.OS == "darwin" {
		list = append(list, "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders")
	}
	return list
}

// within reports whether a path lies below a folder.
func within(p, folder string, env clients.Env) bool {
	inner, outer := splitPath(p, env).elements, splitPath(folder, env).elements
	if len(outer) == 0 || len(inner) <= len(outer) {
		return false
	}
	for i, element := range outer {
		if !equalElement(inner[i], element, env) {
			return false
		}
	}
	return true
}

func equalElement(a, b string, env clients.Env) bool {
	if env.OS == "windows" {
		return strings.EqualFold(a, b)
	}
	return a == b
}

// place is a path taken apart.
type place struct {
	root     string // "/", `C:\` without its last separator, `\\` of a share
	elements []string
}

func splitPath(p string, env clients.Env) place {
	if env.OS != "windows" {
		return place{root: "/", elements: strings.FieldsFunc(p, func(r rune) bool { return r == '/' })}
	}
	elements := strings.FieldsFunc(p, func(r rune) bool { return r == '\\' || r == '/' })
	if strings.HasPrefix(p, `\\`) {
		return place{root: `\\`, elements: elements}
	}
	return place{elements: elements}
}

func (p place) join(env clients.Env, n int, names ...string) string {
	elements := append(append([]string{}, p.elements[:n]...), names...)
	separator := "/"
	if env.OS == "windows" {
		separator = `\`
	}
	return p.root + strings.Join(elements, separator)
}

func (p place) last() string { return p.elements[len(p.elements)-1] }

// shim is a path that a package manager keeps for the newest version.
type shim struct {
	path string
	same bool // leads to the executable itself, which can be checked; else it is a program of the package manager's own
}

// shims lists the shims that the layouts of known package managers have for an executable, best first.
func (p place) shims(env clients.Env) []shim {
	i, owner := p.store()
	switch owner {
	case homebrew: // PREFIX/Cellar/bouncer/1.2.3/bin/bouncer
		return []shim{{p.join(env, i, "bin", p.last()), true}}
	case scoop: // ROOT\apps\bouncer\1.2.3\bouncer.exe
		inside := append([]string{"current"}, p.elements[i+3:]...)
		return []shim{{p.join(env, i, "shims", p.last()), false}, {p.join(env, i+2, inside...), true}}
	case installs: // ROOT/installs/bouncer/1.2.3/bin/bouncer
		return []shim{{p.join(env, i, "shims", p.last()), false}}
	}
	return nil
}

// The package managers whose folders hold one version each.
const (
	homebrew = "Homebrew"
	scoop    = "Scoop"
	installs = "mise or asdf"
	nix      = "Nix"
)

// store finds the element below which a package manager keeps a folder for each version.
func (p place) store() (index int, owner string) {
	for i, element := range p.elements {
		below := len(p.elements) - i - 1
		switch {
		case (element == "Cellar" || element == "Caskroom") && below >= 3:
			return i, homebrew
		case strings.EqualFold(element, "apps") && below >= 3 && isVersion(p.elements[i+2]):
			return i, scoop
		case element == "installs" && below >= 3 && isVersion(p.elements[i+2]):
			return i, installs
		case element == "store" && i > 0 && p.elements[i-1] == "nix":
			return i, nix
		}
	}
	return 0, ""
}

func (p place) owner() string {
	_, owner := p.store()
	return owner
}

// versioned reports whether a folder on the path is named for a version.
func (p place) versioned() bool {
	if p.owner() != "" {
		return true
	}
	for _, element := range p.elements[:max(0, len(p.elements)-1)] {
		if isVersion(element) {
			return true
		}
	}
	return false
}

// isVersion reports whether a folder's name holds a version such as 1.2.3, v2.0 or bouncer-1.2.3.
func isVersion(name string) bool {
	if i := strings.LastIndexByte(name, '-'); i >= 0 && isVersion(name[:i]) {
		return true // 1.2.3-beta
	} else if i >= 0 {
		name = name[i+1:]
	}
	parts := strings.Split(strings.TrimPrefix(name, "v"), ".")
	if len(parts) < 2 {
		return false
	}
	for _, part := range parts[:2] {
		if part == "" || !allDigits(part) {
			return false
		}
	}
	return true
}

func allDigits(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

func lookPath(name string) (string, bool) {
	found, err := exec.LookPath(name)
	return found, err == nil
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

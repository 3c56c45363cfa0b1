package wrap

import (
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
)

// process is one running program: the names it goes by and the path of its executable, as far as they are known.
type process struct {
	names []string
	path  string
}

// Running reports whether a client that must not be written meanwhile is running.
func Running(p clients.Process) (bool, error) {
	_, running, err := RunningProgram(p)
	return running, err
}

// match finds the program that stands for a client on the given platform, if a running program is one of those.
// A program whose path is hidden belongs to another user; it counts only where the name alone says enough.
func (p process) match(programs []clients.Program, goos string) (clients.Program, bool) {
	fold := goos == "windows"
	for _, program := range programs {
		for _, name := range p.names {
			if sameName(name, program.Name, fold) && (program.Folder == "" || hasFolder(p.path, program.Folder, fold)) {
				return program, true
			}
		}
	}
	return clients.Program{}, false
}

func sameName(name, want string, fold bool) bool {
	if fold {
		return strings.EqualFold(strings.TrimSuffix(strings.ToLower(name), ".exe"), want)
	}
	return name == want
}

// hasFolder reports whether a folder on the path begins with prefix.
func hasFolder(p, prefix string, fold bool) bool {
	elements := strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == '\\' })
	for _, element := range elements[:max(0, len(elements)-1)] {
		if strings.HasPrefix(element, prefix) || fold && len(element) >= len(prefix) && strings.EqualFold(element[:len(prefix)], prefix) {
			return true
		}
	}
	return false
}

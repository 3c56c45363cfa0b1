package wrap

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
)

// RunningProgram finds the program that a client runs as. ok is false for one that is not running, or may be written all the same.
func RunningProgram(p clients.Process) (program clients.Program, ok bool, err error) {
	programs := p.Programs["linux"]
	if len(programs) == 0 {
		return clients.Program{}, false, nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return clients.Program{}, false, err
	}
	for _, entry := range entries {
		if !allDigits(entry.Name()) {
			continue
		}
		if program, ok := readProcess(entry.Name()).match(programs, "linux"); ok {
			return program, true, nil
		}
	}
	return clients.Program{}, false, nil
}

// readProcess gathers what can be seen of a process. One that has ended or belongs to another user shows little; that is no error.
func readProcess(pid string) process {
	var p process
	if comm, err := os.ReadFile(filepath.Join("/proc", pid, "comm")); err == nil {
		p.names = append(p.names, strings.TrimSuffix(string(comm), "\n"))
	}
	if exe, err := os.Readlink(filepath.Join("/proc", pid, "exe")); err == nil {
		p.path = strings.TrimSuffix(exe, " (deleted)") // replaced by an update while it runs
		p.names = append(p.names, filepath.Base(p.path))
	}
	return p
}

package wrap

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
)

// Running reports whether a client that must not be written meanwhile is running.
func Running(p clients.Process) (bool, error) {
	programs := p.Programs["linux"]
	if len(programs) == 0 {
		return false, nil
	}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return false, err
	}
	for _, entry := range entries {
		if allDigits(entry.Name()) && readProcess(entry.Name()).matches(programs, "linux") {
			return true, nil
		}
	}
	return false, nil
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

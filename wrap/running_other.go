//go:build !linux && !windows

package wrap

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
)

// RunningProgram finds the program that a client runs as. ok is false for one that is not running, or may be written all the same.
func RunningProgram(p clients.Process) (program clients.Program, ok bool, err error) {
	programs := p.Programs[runtime.GOOS]
	if len(programs) == 0 {
		return clients.Program{}, false, nil
	}
	out, err := exec.Command("ps", "-axo", "comm=").Output()
	if err != nil {
		return clients.Program{}, false, fmt.Errorf("listing processes: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if program, ok := (process{names: []string{filepath.Base(line)}, path: line}).match(programs, runtime.GOOS); ok {
			return program, true, nil
		}
	}
	return clients.Program{}, false, nil
}

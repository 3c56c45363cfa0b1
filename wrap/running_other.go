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

// Running reports whether a client that must not be written meanwhile is running.
func Running(p clients.Process) (bool, error) {
	programs := p.Programs[runtime.GOOS]
	if len(programs) == 0 {
		return false, nil
	}
	out, err := exec.Command("ps", "-axo", "comm=").Output()
	if err != nil {
		return false, fmt.Errorf("listing processes: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if (process{names: []string{filepath.Base(line)}, path: line}).matches(programs, runtime.GOOS) {
			return true, nil
		}
	}
	return false, nil
}

package wrap

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/bouncer-mcp/bouncer/clients"
)

// RunningProgram finds the program that a client runs as. ok is false for one that is not running, or may be written all the same.
func RunningProgram(p clients.Process) (program clients.Program, ok bool, err error) {
	programs := p.Programs["windows"]
	if len(programs) == 0 {
		return clients.Program{}, false, nil
	}
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return clients.Program{}, false, fmt.Errorf("listing processes: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	var entry windows.ProcessEntry32
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Process32First(snapshot, &entry); err == nil; err = windows.Process32Next(snapshot, &entry) {
		running := process{names: []string{windows.UTF16ToString(entry.ExeFile[:])}, path: imagePath(entry.ProcessID)}
		if program, ok := running.match(programs, "windows"); ok {
			return program, true, nil
		}
	}
	if errors.Is(err, windows.ERROR_NO_MORE_FILES) {
		return clients.Program{}, false, nil
	}
	return clients.Program{}, false, fmt.Errorf("listing processes: %w", err)
}

// imagePath returns the path of a process's executable, empty when it has ended or belongs to another user.
func imagePath(pid uint32) string {
	handle, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return ""
	}
	defer windows.CloseHandle(handle)
	buffer := make([]uint16, windows.MAX_LONG_PATH)
	size := uint32(len(buffer))
	if err := windows.QueryFullProcessImageName(handle, 0, &buffer[0], &size); err != nil {
		return ""
	}
	return windows.UTF16ToString(buffer[:size])
}

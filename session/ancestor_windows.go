package session

import (
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// maxCommandLine bounds what is read of another process's command line, in bytes. Windows allows no more.
const maxCommandLine = 1 << 16

// findProcess looks a process up in a snapshot of all, since Windows names the parent nowhere else.
func findProcess(pid int) (process, bool) {
	p, ok := snapshot(uint32(pid))
	if !ok {
		return process{}, false
	}
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return process{}, false // without its start time it can't be told from one that had its pid before
	}
	defer func() { _ = windows.CloseHandle(h) }() // it was only asked
	var created, exited, kernel, user windows.Filetime
	if err := windows.GetProcessTimes(h, &created, &exited, &kernel, &user); err != nil {
		return process{}, false
	}
	if exited != (windows.Filetime{}) {
		return process{}, false // somebody else holds it open
	}
	p.start = uint64(created.HighDateTime)<<32 | uint64(created.LowDateTime)
	p.argv = commandLine(h)
	return p, true
}

func snapshot(pid uint32) (process, bool) {
	h, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPPROCESS, 0)
	if err != nil {
		return process{}, false
	}
	defer func() { _ = windows.CloseHandle(h) }() // it was only read
	entry := windows.ProcessEntry32{Size: uint32(unsafe.Sizeof(windows.ProcessEntry32{}))}
	for err = windows.Process32First(h, &entry); err == nil; err = windows.Process32Next(h, &entry) {
		if entry.ProcessID == pid {
			return process{pid: int(pid), parent: int(entry.ParentProcessID), name: windows.UTF16ToString(entry.ExeFile[:])}, true
		}
	}
	return process{}, false
}

// commandLine is nil where the system doesn't tell.
func commandLine(h windows.Handle) []string {
	buf := make([]uint64, (maxCommandLine+64)/8) // aligned for the structure in front
	var n uint32
	err := windows.NtQueryInformationProcess(h, windows.ProcessCommandLineInformation, unsafe.Pointer(&buf[0]), uint32(len(buf)*8), &n)
	if err != nil {
		return nil
	}
	argv, err := windows.DecomposeCommandLine((*windows.NTUnicodeString)(unsafe.Pointer(&buf[0])).String())
	if err != nil {
		return nil
	}
	return argv
}

// machine names where pids mean what they mean. Start times are of the clock, so no boot need be told from another.
func machine() string {
	host, _ := os.Hostname() // two machines with one state directory and no names are as good as one
	return host
}

package session

import (
	"os"

	"golang.org/x/sys/unix"
)

// findProcess asks the kernel about a process.
func findProcess(pid int) (process, bool) {
	k, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(k.Proc.P_pid) != pid {
		return process{}, false
	}
	p := process{
		pid:    pid,
		parent: int(k.Eproc.Ppid),
		start:  uint64(k.Proc.P_starttime.Sec)*1e6 + uint64(k.Proc.P_starttime.Usec),
		name:   unix.ByteSliceToString(k.Proc.P_comm[:]),
	}
	if args, err := unix.SysctlRaw("kern.procargs2", pid); err == nil { // refused for other people's processes
		p.argv = parseProcargs(args)
	}
	return p, true
}

// machine names where and until when pids mean what they mean.
func machine() string {
	boot, _ := unix.Sysctl("kern.bootsessionuuid") // start times are of the clock, so that nothing depends on it
	host, _ := os.Hostname()
	return host + "\n" + boot
}

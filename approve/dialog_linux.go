package approve

import (
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

const (
	maxAbove   = 8         // processes whose environments are looked at
	maxEnviron = 256 << 10 // bytes of one
)

// runWindow runs a window that ends with bouncer, however that ends: an answer that nobody hears is no answer.
func runWindow(cmd *exec.Cmd) error {
	runtime.LockOSThread() // the kernel watches the thread that has started it
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return cmd.Run()
}

// environs are the environments of the processes above this one, as far as they may be read.
func environs() [][]string {
	var envs [][]string
	pid := os.Getppid()
	for range maxAbove {
		if pid <= 1 {
			break
		}
		dir := "/proc/" + strconv.Itoa(pid)
		f, err := os.Open(dir + "/environ")
		if err != nil {
			break
		}
		env, err := io.ReadAll(io.LimitReader(f, maxEnviron))
		_ = f.Close() // it was only read
		stat, errStat := os.ReadFile(dir + "/stat")
		if err != nil || errStat != nil {
			break
		}
		envs = append(envs, strings.Split(string(env), "\x00"))
		pid = parentIn(string(stat))
	}
	return envs
}

// parentIn reads the parent from: pid (name) state parent ..., where the name may hold anything.
func parentIn(stat string) int {
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, err := strconv.Atoi(fields[1])
	if err != nil {
		return 0
	}
	return parent
}

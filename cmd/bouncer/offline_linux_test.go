package main

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestNothingLeavesTheMachine runs the commands of everyday use, and the demo with its wrapped server, under a filter of the
// kernel's that kills a process, and any that it starts, for opening a socket other than a local one.
func TestNothingLeavesTheMachine(t *testing.T) {
	home := filepath.Join(scriptRoot(t), "dana")
	for name, text := range readmeHome() {
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	bouncer := filepath.Join(home, "bin", "bouncer")
	copyExecutable(t, bouncer)
	environment := []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin", "TMPDIR=" + t.TempDir()}
	for _, line := range []string{
		"demo", "init --yes", "status", "doctor", "doctor --probe --yes", "self-check", "audit verify", "hook prompt",
		"packs list", "unwrap --yes", "undo --list", "version",
	} {
		cmd := exec.Command(bouncer, strings.Fields(line)...)
		cmd.Dir, cmd.Env = home, environment
		out, err := offline(cmd)
		if killed(err) || strings.Contains(out, "bad system call") {
			t.Errorf("bouncer %s opens a socket:\n%s", line, out)
		}
		if line == "demo" && err != nil {
			t.Errorf("the demo fails: %v\n%s", err, out)
		}
	}

	cmd := exec.Command(os.Args[0], "-test.run=^TestOpensSocket$")
	cmd.Env = append(os.Environ(), "BOUNCER_OPENS_SOCKET=1")
	if out, err := offline(cmd); !killed(err) {
		t.Errorf("the filter lets a socket be opened: %v\n%s", err, out)
	}
}

// TestOpensSocket is what the filter must notice. On its own it does nothing.
func TestOpensSocket(t *testing.T) {
	if os.Getenv("BOUNCER_OPENS_SOCKET") == "" {
		return
	}
	c, err := net.Dial("udp", "127.0.0.1:9")
	if err == nil {
		t.Error(c.Close())
	}
}

func killed(err error) bool {
	exit, ok := errors.AsType[*exec.ExitError](err)
	return ok && exit.Sys().(syscall.WaitStatus).Signal() == unix.SIGSYS
}

// offline runs a command whose process, with all of its descendants, is killed for a socket. A filter belongs to a thread and
// is inherited from it; the thread that got it ends with its goroutine.
func offline(cmd *exec.Cmd) (out string, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if err = forbidSockets(); err != nil {
			return
		}
		var text []byte
		text, err = cmd.CombinedOutput()
		out = string(text)
	}()
	<-done
	return out, err
}

// forbidSockets filters this thread's system calls: socket with another family than AF_UNIX, and io_uring_setup, by which
// sockets could be opened unseen.
func forbidSockets() error {
	const number, family = 0, 16 // offsets in what the filter sees: struct seccomp_data
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	jump := func(value uint32, equal, other uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: value, Jt: equal, Jf: other}
	}
	end := func(verdict uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: verdict}
	}
	filter := []unix.SockFilter{
		load(number),
		jump(unix.SYS_IO_URING_SETUP, 4, 0),
		jump(unix.SYS_SOCKET, 0, 2),
		load(family),
		jump(unix.AF_UNIX, 0, 1),
		end(unix.SECCOMP_RET_ALLOW),
		end(unix.SECCOMP_RET_KILL_PROCESS),
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	return unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0)
}

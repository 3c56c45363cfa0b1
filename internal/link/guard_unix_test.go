//go:build unix

package link

import (
	"bufio"
	"io"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The guard's shell is whatever a system calls sh: bash on macOS, dash or busybox on Linux.
func TestGuardScript(t *testing.T) {
	known := map[string]bool{}
	for _, shell := range []string{"sh", "dash", "bash --posix", "zsh --emulate sh", "busybox sh", "ksh"} {
		argv := strings.Fields(shell)
		path, err := exec.LookPath(argv[0])
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil || known[path] {
			continue
		}
		known[path] = true
		for _, test := range []struct {
			name, server, say string
			ends              bool
		}{
			{"goodbye", "", "goodbye\n", false},
			{"killed while it says goodbye", "", "good", true},
			{"killed, and the server ignores being asked", "trap '' TERM HUP INT;", "", true},
		} {
			t.Run(shell+", "+test.name, func(t *testing.T) {
				t.Parallel()
				server := exec.Command("sh", "-c", test.server+"echo ready; while :; do sleep 1; done")
				server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				out, err := server.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := server.Start(); err != nil {
					t.Fatal(err)
				}
				group := server.Process.Pid
				ended := make(chan error, 1)
				if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
					t.Fatal(err)
				}
				go func() { ended <- server.Wait() }()

				guard := exec.Command(argv[0], append(argv[1:], "-c", guardScript, "bouncer-guard", strconv.Itoa(group))...)
				guard.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
				in, err := guard.StdinPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := guard.Start(); err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(in, test.say); err != nil {
					t.Error(err)
				}
				_ = in.Close() // the guard may have read what it wants
				if test.ends {
					select {
					case <-ended:
					case <-time.After(5 * time.Second):
						t.Error("the server lives")
					}
				}
				_ = guard.Wait() // it ends as its last signal does
				if !test.ends && syscall.Kill(-group, 0) != nil {
					t.Error("the server was ended")
				}
				_ = syscall.Kill(-group, syscall.SIGKILL) // it may be gone
			})
		}
	}
}

// Nobody is asked how a group is that no longer exists: its number may be another's by then.
func TestGuardScriptForgetsAGroupThatIsGone(t *testing.T) {
	server := exec.Command("true")
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	guard := exec.Command("sh", "-c", guardScript, "bouncer-guard", strconv.Itoa(server.Process.Pid))
	if err := guard.Run(); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("took %v", took)
	}
}

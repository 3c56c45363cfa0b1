package session

import (
	"os"
	"os/exec"
	"testing"
)

// TestStarted looks at a child of this process, and at this process itself.
func TestStarted(t *testing.T) {
	self := Self()
	if self == (Process{}) {
		t.Fatal("this process isn't found")
	}
	child := exec.Command(os.Args[0], "-test.run=^TestStays$")
	child.Env = append(os.Environ(), "SESSION_TEST_STAY=1")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	if !self.Started(child.Process.Pid) {
		t.Error("a child was not started by its parent")
	}
	if self.Started(os.Getpid()) {
		t.Error("this process has started itself")
	}
	if (Process{}).Started(child.Process.Pid) {
		t.Error("nobody has started it")
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err != nil {
		t.Error(err)
	}
	if self.Started(child.Process.Pid) {
		t.Error("a process that has ended")
	}
}

// TestStays is a process that stays until its input ends.
func TestStays(*testing.T) {
	if os.Getenv("SESSION_TEST_STAY") != "" {
		_, _ = os.Stdin.Read(make([]byte, 1))
	}
}

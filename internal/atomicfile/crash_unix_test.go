//go:build !windows

package atomicfile

import (
	"bytes"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"
)

// TestMain lets a test start this binary again as a process of its own, to be killed or limited.
func TestMain(m *testing.M) {
	path := os.Getenv("ATOMICFILE_TEST_PATH")
	switch os.Getenv("ATOMICFILE_TEST_CHILD") {
	case "alternate":
		alternate(path)
	case "limited":
		limited(path)
	default:
		m.Run()
	}
}

// large is a content whose halves can't be confused with another's.
func large(letter byte) []byte { return bytes.Repeat([]byte{letter}, 256<<10) }

// alternate replaces path with two contents in turn until it is killed.
func alternate(path string) {
	for {
		for _, letter := range []byte("ab") {
			if err := Replace(path, large(letter), 0); err != nil {
				panic(err)
			}
		}
	}
}

func child(t *testing.T, part, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), "ATOMICFILE_TEST_CHILD="+part, "ATOMICFILE_TEST_PATH="+path)
	cmd.Stderr = os.Stderr
	return cmd
}

// A reader sees one of the two contents at any time, and so does whoever looks after the writer was killed.
func TestKilledWhileReplacing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, large('a'), 0o600); err != nil {
		t.Fatal(err)
	}
	whole := func() {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(data, large('a')) && !bytes.Equal(data, large('b')) {
			t.Fatalf("%d bytes, a mixture", len(data))
		}
	}
	for round := range 12 {
		writer := child(t, "alternate", path)
		if err := writer.Start(); err != nil {
			t.Fatal(err)
		}
		// The writer is at work once the file is another one; a few reads more each round vary the moment of the kill.
		first, _ := os.Stat(path)
		deadline := time.Now().Add(time.Minute)
		for reads := 0; reads < round; {
			whole()
			if now, err := os.Stat(path); err == nil && !os.SameFile(first, now) {
				reads++
			}
			if time.Now().After(deadline) {
				t.Fatal("the writer does not write")
			}
		}
		if err := writer.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := writer.Wait(); err == nil || !writer.ProcessState.Sys().(syscall.WaitStatus).Signaled() {
			t.Fatalf("the writer was not killed: %v", err)
		}
		whole()
	}
}

// limited replaces path while the system allows it files of 4 KiB only, as a full disk would.
func limited(path string) {
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: 4096}); err != nil {
		panic(err)
	}
	if err := Replace(path, large('b'), 0); err == nil {
		panic("replaced although there was no room")
	}
}

func TestNoRoomLeavesEverything(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "old", 0o640)
	before := names(t, dir)
	if err := child(t, "limited", path).Run(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("holds %d bytes", len(got))
	}
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Errorf("files are %q, were %q", after, before)
	}
}

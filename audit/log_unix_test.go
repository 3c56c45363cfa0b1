//go:build !windows

package audit

import (
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRefusedPlaces(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, dir string)
		open bool   // Open refuses already
		want string // part of the error
	}{
		{"writable for the group", func(t *testing.T, dir string) { chmod(t, dir, 0o770) }, true, "others may write it (mode 0770)"},
		{"writable for all", func(t *testing.T, dir string) { chmod(t, dir, 0o707) }, true, "others may write it (mode 0707)"},
		{"log is a link", func(t *testing.T, dir string) { link(t, filepath.Join(dir, currentName)) }, false, "symbolic link"},
		{"head is a link", func(t *testing.T, dir string) { link(t, filepath.Join(dir, headName)) }, false, "symbolic link"},
		{"log is a directory", func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, currentName)) }, false, "directory"},
		{"log is a pipe", func(t *testing.T, dir string) {
			if err := syscall.Mkfifo(filepath.Join(dir, currentName), 0o600); err != nil {
				t.Fatal(err)
			}
		}, false, "not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "log")
			mkdir(t, dir)
			tt.make(t, dir)
			l, err := Open(dir)
			if (err != nil) != tt.open {
				t.Fatalf("Open: %v", err)
			}
			if !tt.open {
				defer l.Close()
				err = l.Verdict(sample(1))
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestRefusesAnotherUsersDirectory(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory to somebody else")
	}
	dir := t.TempDir()
	if err := os.Chown(dir, 1234, -1); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "belongs to user 1234") {
		t.Errorf("got %v", err)
	}
	if err := os.Chown(dir, 0, -1); err != nil {
		t.Fatal(err)
	}
}

func TestParentIsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	rewrite(t, path, nil)
	if _, err := Open(filepath.Join(path, "log")); err == nil {
		t.Error("opened")
	}
	if _, err := Open(path); err == nil {
		t.Error("opened a file as a directory")
	}
}

// The disk is full in the middle of a record: an error, no torn line, and the log goes on when there is room again.
func TestNoRoom(t *testing.T) {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	l := open(t, dir)
	fill(t, l, 3)
	size := len(read(t, filepath.Join(dir, currentName)))
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: uint64(size + 100), Max: old.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	err := l.Verdict(sample(4))
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err == nil {
		t.Fatal("no error")
	}
	if now := len(read(t, filepath.Join(dir, currentName))); now != size {
		t.Errorf("%d bytes were left behind", now-size)
	}
	inOrder(t, dir, 3)
	fill(t, l, 1)
	inOrder(t, dir, 4)
}

// Deleting the log under a running process must neither stop its calls nor lose its records nor hide that there were some before.
func TestDeletedWhileRunning(t *testing.T) {
	for _, what := range []string{"log", "log/" + currentName} {
		t.Run(what, func(t *testing.T) {
			home := t.TempDir()
			dir := filepath.Join(home, "log")
			l := open(t, dir)
			fill(t, l, 3)
			if err := os.RemoveAll(filepath.Join(home, what)); err != nil {
				t.Fatal(err)
			}
			fill(t, l, 2)
			faulty(t, dir, Fault{File: filepath.Join(dir, currentName), Line: 1, Seq: 4}, "record 1 belongs here")
			if lines, err := Tail(dir, 9); err != nil || len(lines) != 2 {
				t.Errorf("%d lines, %v", len(lines), err)
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, path string) {
	t.Helper()
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	rewrite(t, elsewhere, nil)
	if err := os.Symlink(elsewhere, path); err != nil {
		t.Fatal(err)
	}
}

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// long is a wait that no working test reaches.
const long = time.Minute

// A lock of either kind makes read, add one, write safe. The counter's file would lose counts otherwise.
func TestLocksExclude(t *testing.T) {
	kinds := map[string]func(path string) (Unlock, error){
		"file":      func(path string) (Unlock, error) { return LockFile(path, long) },
		"directory": func(path string) (Unlock, error) { return LockDir(path, long, long) },
	}
	for name, lock := range kinds {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			counter := filepath.Join(dir, "counter")
			write(t, counter, "0", 0o600)
			const workers, rounds = 6, 40
			var inside atomic.Int32
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					for range rounds {
						unlock, err := lock(filepath.Join(dir, "lock"))
						if err != nil {
							t.Error(err)
							return
						}
						if n := inside.Add(1); n != 1 {
							t.Errorf("%d hold the lock", n)
						}
						data, _ := os.ReadFile(counter)
						n, _ := strconv.Atoi(string(data))
						if err := os.WriteFile(counter, []byte(strconv.Itoa(n+1)), 0o600); err != nil {
							t.Error(err)
						}
						inside.Add(-1)
						unlock()
					}
				})
			}
			all.Wait()
			if got := content(t, counter); got != strconv.Itoa(workers*rounds) {
				t.Errorf("counted %s", got)
			}
		})
	}
}

func TestLockFileTimesOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := LockFile(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LockFile(path, 10*time.Millisecond); !errors.Is(err, ErrLocked) {
		t.Errorf("while held: %v", err)
	}
	unlock()
	unlock()
	again, err := LockFile(path, 0)
	if err != nil {
		t.Fatalf("after release: %v", err)
	}
	again()
	if info, err := os.Stat(path); err != nil || info.Size() != 0 {
		t.Errorf("the lock file: %v, %v", info, err)
	}
}

// Without this, deleting the lock file would let two processes in: one on the file without a name, one on the new file.
func TestLockFileNoticesRemoval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	old, err := OpenLock(path)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	if err := os.Remove(path); err != nil {
		t.Skipf("this system does not remove open files: %v", err)
	}
	unlock, err := LockFile(path, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := old.Lock(0); !errors.Is(err, ErrLocked) {
		t.Errorf("locked beside the new file: %v", err)
	}
	unlock()
	if err := old.Lock(0); err != nil {
		t.Errorf("after release: %v", err)
	}
}

func TestLockDirTakesOver(t *testing.T) {
	tests := []struct {
		name string
		make func(t *testing.T, path string)
		age  time.Duration
		want error
	}{
		{"nothing there", func(*testing.T, string) {}, 0, nil},
		{"fresh directory", func(t *testing.T, path string) { mkdir(t, path) }, time.Minute, ErrLocked},
		{"stale directory", func(t *testing.T, path string) { mkdir(t, path) }, 3 * time.Hour, nil},
		{"fresh file", func(t *testing.T, path string) { write(t, path, "", 0o600) }, time.Minute, ErrLocked},
		{"stale file", func(t *testing.T, path string) { write(t, path, "", 0o600) }, 3 * time.Hour, nil},
		{"stale directory with something in it", func(t *testing.T, path string) { write(t, mkdir(t, path)+"/f", "", 0o600) }, 3 * time.Hour, ErrLeftover},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "lock")
			tt.make(t, path)
			then := time.Now().Add(-tt.age)
			if err := os.Chtimes(path, then, then); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
			unlock, err := LockDir(path, time.Hour, 5*time.Millisecond)
			if !errors.Is(err, tt.want) {
				t.Fatalf("got %v, want %v", err, tt.want)
			}
			if err != nil {
				if _, err := os.Lstat(path); err != nil {
					t.Errorf("the other's lock: %v", err)
				}
				return
			}
			if info, err := os.Lstat(path); err != nil || !info.IsDir() {
				t.Errorf("no directory while held: %v", err)
			}
			unlock()
			unlock()
			if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("still there after release: %v", err)
			}
		})
	}
}

// When a lock goes stale with many waiting for it, one of them gets it.
func TestLockDirTakeoverExcludes(t *testing.T) {
	path := mkdir(t, filepath.Join(t.TempDir(), "lock"))
	then := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(path, then, then); err != nil {
		t.Fatal(err)
	}
	var inside atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			unlock, err := LockDir(path, time.Hour, long)
			if err != nil {
				t.Error(err)
				return
			}
			if n := inside.Add(1); n != 1 {
				t.Errorf("%d hold the lock", n)
			}
			inside.Add(-1)
			unlock()
		})
	}
	all.Wait()
}

func TestLockDirIsTouched(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := LockDir(path, 30*time.Millisecond, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	first, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(long); ; time.Sleep(time.Millisecond) {
		now, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if now.ModTime().After(first.ModTime()) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("its time never changed")
		}
	}
}

// A holder that lost its lock, for instance by being suspended, must not remove its successor's.
func TestLockDirLeavesSuccessor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	unlock, err := LockDir(path, time.Hour, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	mkdir(t, path)
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	unlock()
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the successor's lock: %v", err)
	}
}

// A rival that was slow to remove a stale lock may remove ours instead and make its own.
func TestLockDirSeesItsRemoval(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	d, err := makeDirLock(path)
	if err != nil {
		t.Fatal(err)
	}
	if !d.survives(0) {
		t.Error("ours, and not seen as such")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if d.survives(0) {
		t.Error("removed, and still ours")
	}
	later := time.Now().Add(time.Millisecond)
	if err := os.Chtimes(mkdir(t, path), later, later); err != nil {
		t.Fatal(err)
	}
	if d.survives(0) {
		t.Error("the rival's, and taken for ours")
	}
}

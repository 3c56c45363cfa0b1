package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

const (
	// defaultStale is used when the caller names no age.
	defaultStale = 10 * time.Second
	// settle is longer than a rival needs from finding a lock stale to having removed it.
	settle = 20 * time.Millisecond
)

// ErrLeftover says that what stands in a lock's place is old, and no lock: there is something in it.
var ErrLeftover = errors.New("an old folder with something in it stands in the place of the lock")

// LockDir takes a lock that other programs take too, as a directory at path: mkdir, its mtime touched while held, taken over when
// older than stale (10 s when zero). It waits up to wait and returns ErrLocked when it could not have it.
// A regular file at path counts as a lock as well. A holder that slept for longer than stale, as a laptop does, may have lost the
// lock without knowing it, so what it guards must be compared once more before it is overwritten.
func LockDir(path string, stale, wait time.Duration) (Unlock, error) {
	if stale <= 0 {
		stale = defaultStale
	}
	takeover := false
	for pause := newBackoff(time.Millisecond, 50*time.Millisecond, wait); ; {
		d, err := makeDirLock(path)
		if err == nil && (!takeover || d.survives(settle)) {
			return d.hold(stale), nil
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if takeover, err = removeStale(path, stale); takeover {
			continue
		}
		if err != nil {
			return nil, err
		}
		if !pause.sleep() {
			return nil, fmt.Errorf("%s: %w", path, ErrLocked)
		}
	}
}

// removeStale removes the lock at path if its holder has stopped touching it.
func removeStale(path string, stale time.Duration) (bool, error) {
	info, err := os.Lstat(path)
	if err != nil {
		// Either released in this moment, then mkdir will succeed, or mkdir will report why not.
		return false, nil
	}
	if time.Since(info.ModTime()) <= stale || (!info.IsDir() && !info.Mode().IsRegular()) {
		return false, nil
	}
	// Two rivals may both get here, and the slower one removes what the faster one has just made. Hence survives.
	if os.Remove(path) == nil {
		return true, nil
	}
	if inside, err := os.ReadDir(path); err == nil && len(inside) > 0 {
		return false, fmt.Errorf("%s: %w", path, ErrLeftover) // to wait longer would change nothing
	}
	return false, nil
}

// dirLock is a lock directory that this process has made.
type dirLock struct {
	path string
	info fs.FileInfo // as it was when last touched
}

func makeDirLock(path string) (*dirLock, error) {
	if err := os.Mkdir(path, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fs.ErrExist // a rival's takeover removed it at once; like finding it taken
	}
	if err != nil {
		return nil, err
	}
	return &dirLock{path: path, info: info}, nil
}

// ours reports whether the directory is still the one we made. The inode alone doesn't tell: a new directory often gets the number
// of the one removed before it.
func (d *dirLock) ours() bool {
	info, err := os.Lstat(d.path)
	return err == nil && os.SameFile(info, d.info) && info.ModTime().Equal(d.info.ModTime())
}

// survives reports whether the directory is still ours after a while.
func (d *dirLock) survives(while time.Duration) bool {
	time.Sleep(while)
	return d.ours()
}

// hold keeps touching the directory until the returned Unlock has been called.
func (d *dirLock) hold(stale time.Duration) Unlock {
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(max(stale/3, time.Millisecond))
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				d.touch()
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-done
		if d.ours() {
			// If it can't be removed, its age will free it.
			_ = os.Remove(d.path)
		}
	})
}

// touch shows others that we are alive. A lock that somebody has taken over is left alone.
func (d *dirLock) touch() {
	if !d.ours() {
		return
	}
	now := time.Now()
	// A failure shows as an mtime that grows old, which is what it means.
	if os.Chtimes(d.path, now, now) != nil {
		return
	}
	if info, err := os.Lstat(d.path); err == nil && os.SameFile(info, d.info) {
		d.info = info
	}
}

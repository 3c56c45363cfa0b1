//go:build unix

package link

import (
	"errors"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// tree is the process group of a server: the server, which leads it, and all its descendants that have not left for a group of their own.
type tree struct {
	note  func(string)
	group int
	empty atomic.Bool // the group has ended, and its number may belong to others by now
	guard *guard
	look  lookout
}

func newTree(note func(string)) *tree { return &tree{note: note} }

func (t *tree) start(path string, s Spec, files []*os.File) (*os.Process, error) {
	attr := &os.ProcAttr{Dir: s.Dir, Env: s.Env, Files: files, Sys: childAttr()}
	process, err := os.StartProcess(path, append([]string{s.Command}, s.Args...), attr)
	if errors.Is(err, unix.ENOEXEC) {
		// A script without a first line that says what it is for. Clients run it all the same, as execvp does.
		process, err = os.StartProcess("/bin/sh", append([]string{"sh", path}, s.Args...), attr)
	}
	if err != nil {
		return nil, err
	}
	t.group = process.Pid
	t.guard = startGuard(t.group, t.note)
	return process, nil
}

// reaped is told that the leader is gone. Unless it left others behind, the group's number is free from now on, and the guard must forget it.
func (t *tree) reaped() {
	if t.gone() {
		t.guard.sayGoodbye()
	}
}

// gone reports whether nothing is left to be ended. A group that holds only processes of other users counts as gone: it can't be signalled.
func (t *tree) gone() bool {
	if !t.empty.Load() && (unix.Kill(-t.group, 0) != nil || t.look.onlyZombies(t.group)) {
		t.empty.Store(true)
	}
	return t.empty.Load()
}

// terminate asks the whole tree to end.
func (t *tree) terminate() bool {
	t.signal(unix.SIGTERM)
	return true
}

func (t *tree) kill() { t.signal(unix.SIGKILL) }

func (t *tree) signal(s unix.Signal) {
	if !t.empty.Load() {
		_ = unix.Kill(-t.group, s) // fails if the group has just ended, which is what is wanted
	}
}

// release lets go of the tree, which is gone.
func (t *tree) release() { t.guard.dismiss() }

// runnable returns nil for a file that can be run.
func runnable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		if errors.Is(err, unix.ENOTDIR) {
			err = os.ErrNotExist
		}
		return err
	}
	if info.IsDir() {
		return &os.PathError{Op: "run", Path: file, Err: unix.EISDIR}
	}
	if err := unix.Access(file, unix.X_OK); err != nil {
		return &os.PathError{Op: "run", Path: file, Err: err}
	}
	return nil
}

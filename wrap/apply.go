package wrap

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// ErrChanged says that a file no longer has the bytes that a plan started from.
var ErrChanged = errors.New("the file no longer has the bytes")

// ErrHalfDone says that an apply has failed and that not every file could be put back.
var ErrHalfDone = errors.New("not everything was put back")

// Claude Code takes over a lock that nobody touched for ten seconds, and waits about thirteen before it gives up.
const (
	lockStale    = 10 * time.Second
	lockWait     = 13 * time.Second
	lockPatience = time.Second // before a person is told what the wait is for
)

// tries is how often an apply begins anew when a program that takes no lock writes a file in the middle of it.
const tries = 50

// ApplyOptions say how plans are applied.
type ApplyOptions struct {
	Command string    // for the record: what the person ran
	Time    time.Time // for the record; now when zero
	// Replan plans a file anew, under its lock, whenever its bytes have changed since the plan was made. It may refuse.
	// Without it, such a file is ErrChanged.
	Replan func(File) (Plan, error)
	// Waiting is told of a lock that somebody else has held for a second already; nil is fine.
	Waiting func(lock string)

	undoes int
}

// target is a plan with the file that its path leads to.
type target struct {
	plan   Plan
	real   string
	staged *atomicfile.Staged // the new bytes, beside the file
}

func (t target) fail(err error) error {
	return &FileError{Client: t.plan.File.Client, Path: t.plan.Path, Err: err}
}

// Apply makes the planned changes, all or none: when one file fails, those already written get their old bytes back.
// Before the first is touched, every file is locked and compared with its plan, the new bytes of all lie beside their files,
// and the store holds a backup: what a full disk or missing rights forbid is refused with nothing changed. Killed at any
// point, each file is either old or new, and the next apply clears up. Plans that change nothing are left out; if none is
// left, no file is written and the Generation is zero. The error names the file (*FileError).
//
// That the new bytes can be read by their client is for the planner to have checked; none of a plan is looked at again here.
func Apply(store *Store, plans []Plan, o ApplyOptions) (Generation, error) {
	targets, err := resolve(plans)
	if err != nil || len(targets) == 0 {
		return Generation{}, err
	}
	if store == nil || store.dir == "" {
		return Generation{}, errors.New("no folder to keep backups in")
	}
	unlock, err := lock(store, targets, o.Waiting)
	if err != nil {
		return Generation{}, err
	}
	defer unlock()
	if targets, err = refresh(targets, o.Replan); err != nil || len(targets) == 0 {
		return Generation{}, err
	}
	release, err := store.lock()
	if err != nil {
		return Generation{}, err
	}
	defer release()
	store.settle()
	if o.Time.IsZero() {
		o.Time = time.Now()
	}
	for try := 1; ; try++ {
		g, err := attempt(store, targets, o)
		if !errors.Is(err, errMoved) || errors.Is(err, ErrHalfDone) || o.Replan == nil || try == tries {
			return g, err
		}
		if targets, err = refresh(targets, o.Replan); err != nil || len(targets) == 0 {
			return Generation{}, err
		}
	}
}

// errMoved says that somebody else wrote a file while bouncer was about to, and that no file has anything of the attempt.
var errMoved = fmt.Errorf("%w that the plan was made for", ErrChanged)

// attempt makes the changes of locked targets, all or none.
func attempt(store *Store, targets []target, o ApplyOptions) (Generation, error) {
	g, err := prepare(store, targets, Generation{Time: o.Time.UTC(), Command: o.Command, Undoes: o.undoes})
	if err != nil {
		discard(targets)
		return Generation{}, err
	}
	for i, t := range targets {
		err := t.write(store, o.Replan)
		if err == nil {
			continue
		}
		discard(targets[i+1:])
		moved := errors.Is(err, errMoved)
		if i > 0 || !moved {
			if back := reverse(store, g, t, targets[:i]); back != nil {
				return g, errors.Join(t.fail(err), fmt.Errorf("%w: %w", ErrHalfDone, back))
			}
		}
		if moved {
			store.forget(g.Number) // no file has anything of it
			return Generation{}, t.fail(err)
		}
		return g, t.fail(err)
	}
	return store.finish(g), nil
}

// prepare does all that can fail for want of room or rights, while every file is still as it was.
func prepare(store *Store, targets []target, g Generation) (Generation, error) {
	for i := range targets {
		t := &targets[i]
		atomicfile.Sweep(filepath.Dir(t.real), atomicfile.Abandoned)
		if t.plan.Gone {
			continue
		}
		var err error
		if t.staged, err = store.files.Stage(t.real, t.plan.After, t.plan.Mode); err != nil {
			return Generation{}, t.fail(err)
		}
	}
	if err := store.remember(targets); err != nil {
		return Generation{}, err
	}
	return store.begin(g, targets)
}

// discard removes what was staged.
func discard(targets []target) {
	for _, t := range targets {
		if t.staged != nil {
			t.staged.Discard()
		}
	}
}

// resolve finds the files behind the paths, in one order for all, so that two applies can't wait for each other's locks.
func resolve(plans []Plan) ([]target, error) {
	var targets []target
	for _, plan := range plans {
		if bytes.Equal(plan.Before, plan.After) {
			continue
		}
		t := target{plan: plan}
		var err error
		if t.real, err = realPath(plan.Path, plan.New || plan.Gone); err != nil {
			return nil, t.fail(err)
		}
		targets = append(targets, t)
	}
	slices.SortFunc(targets, func(a, b target) int { return cmp.Compare(a.real, b.real) })
	for i := 1; i < len(targets); i++ {
		if targets[i].real == targets[i-1].real {
			return nil, targets[i].fail(fmt.Errorf("is the same file as %s", targets[i-1].plan.Path))
		}
	}
	return targets, nil
}

// realPath follows symbolic links. A file that is to be made, or to go, need not be there.
func realPath(path string, perhaps bool) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if _, there := os.Lstat(path); perhaps && missing(there) {
		if real, err = filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
			real = filepath.Join(real, filepath.Base(path))
		}
	}
	if err != nil {
		return "", err
	}
	return filepath.Abs(real)
}

// lock takes every target's lock: the client's own where it has one, so that neither loses the other's write; else bouncer's.
func lock(store *Store, targets []target, waiting func(string)) (unlock func(), err error) {
	var held []atomicfile.Unlock
	unlock = func() {
		for _, release := range slices.Backward(held) {
			release()
		}
	}
	for _, t := range targets {
		release, err := t.lock(store, waiting)
		if err != nil {
			unlock()
			return nil, t.fail(err)
		}
		held = append(held, release)
		store.did("locked a file")
	}
	return unlock, nil
}

func (t target) lock(store *Store, waiting func(string)) (atomicfile.Unlock, error) {
	if folder := t.real + ".lock"; t.plan.Lock || isHeld(folder) {
		return patiently(folder, waiting, func(wait time.Duration) (atomicfile.Unlock, error) {
			return atomicfile.LockDir(folder, lockStale, wait)
		})
	}
	file, err := store.lockFile(t.real)
	if err != nil {
		return nil, err
	}
	return patiently(file, waiting, func(wait time.Duration) (atomicfile.Unlock, error) {
		return atomicfile.LockFile(file, wait)
	})
}

// isHeld reports whether somebody keeps a lock directory in a place where bouncer knows of no client that would: a file may be
// reached from another home, or by a client that is not known. An old directory is nobody's lock and stays.
func isHeld(folder string) bool {
	info, err := os.Lstat(folder)
	return err == nil && info.IsDir() && time.Since(info.ModTime()) < lockStale
}

// patiently takes a lock, and says so when it takes long.
func patiently(name string, waiting func(string), take func(time.Duration) (atomicfile.Unlock, error)) (atomicfile.Unlock, error) {
	release, err := take(lockPatience)
	if !errors.Is(err, atomicfile.ErrLocked) {
		return release, err
	}
	if waiting != nil {
		waiting(name)
	}
	release, err = take(lockWait - lockPatience)
	if errors.Is(err, atomicfile.ErrLocked) {
		return nil, fmt.Errorf("%w for all of %d s; no file was written", err, int(lockWait/time.Second))
	}
	return release, err
}

// refresh reads every target again, now that it is locked, and keeps those that still have something to change.
func refresh(targets []target, replan func(File) (Plan, error)) ([]target, error) {
	var list []target
	for _, t := range targets {
		now, err := t.now()
		if err != nil {
			return nil, t.fail(err)
		}
		if !now.equal(t.before()) {
			if replan == nil {
				return nil, t.fail(errMoved)
			}
			plan, err := t.anew(now, replan)
			if err != nil {
				return nil, t.fail(err)
			}
			t.plan = plan
		}
		if now.equal(t.after()) {
			continue
		}
		list = append(list, t)
	}
	return list, nil
}

// content is what a path leads to: a file's bytes, or that there is no file.
type content struct {
	data   []byte
	absent bool
}

func (c content) equal(o content) bool { return c.absent == o.absent && bytes.Equal(c.data, o.data) }

// now reads what the target is. Only of a file that a plan makes or removes it is no fault when it is not there.
func (t target) now() (content, error) {
	data, err := os.ReadFile(t.real)
	if errors.Is(err, fs.ErrNotExist) && (t.plan.New || t.plan.Gone) {
		return content{absent: true}, nil
	}
	return content{data: data}, err
}

func (t target) before() content { return content{t.plan.Before, t.plan.New} }
func (t target) after() content  { return content{t.plan.After, t.plan.Gone} }

// anew plans the target's change for what it is now.
func (t target) anew(now content, replan func(File) (Plan, error)) (Plan, error) {
	file := t.plan.File
	file.Data = now.data
	if file.Hook != nil {
		hook := *file.Hook
		hook.Absent = now.absent
		file.Hook = &hook
	}
	return replan(file)
}

// write puts the staged file in place and reads it again. It compares once more first: a machine that slept may have lost
// the lock, and not every file has one that its client knows.
func (t target) write(store *Store, replan func(File) (Plan, error)) error {
	now, err := t.now()
	if err == nil && !now.equal(t.before()) {
		err = errMoved
	}
	if err != nil {
		discard([]target{t})
		return err
	}
	if err := t.commit(store); err != nil {
		return err
	}
	if now, err = t.now(); err != nil {
		return err
	}
	if now.equal(t.after()) {
		return nil
	}
	if replan != nil {
		if plan, err := t.anew(now, replan); err == nil && now.equal(content{plan.After, plan.Gone}) {
			return nil // somebody wrote on top of it, and the change is still there
		}
		return errMoved // somebody who had read the file before wrote over it, and the change is lost
	}
	return fmt.Errorf("%w that were just written", ErrChanged)
}

// commit makes the change, in one step.
func (t target) commit(store *Store) error {
	if t.staged != nil {
		return t.staged.Commit()
	}
	return store.remove(t.real)
}

// reverse puts old bytes back after one target failed, newest first, and notes it when every file has them.
func reverse(store *Store, g Generation, failed target, written []target) error {
	var errs []error
	if failed.is(failed.after()) { // it failed behind the replacement; its error is reported already
		errs = append(errs, failed.putBack(store))
	}
	for _, t := range slices.Backward(written) {
		if err := t.putBack(store); err != nil {
			errs = append(errs, t.fail(fmt.Errorf("not put back: %w", err)))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	g.Reversed = true
	return store.record(g, store.files.Replace)
}

func (t target) is(c content) bool {
	now, err := t.now()
	return err == nil && now.equal(c)
}

// putBack gives a file its old bytes again, unless someone else has written it meanwhile.
func (t target) putBack(store *Store) error {
	if !t.is(t.after()) {
		return fmt.Errorf("%w that bouncer wrote", ErrChanged)
	}
	if t.plan.New {
		return store.remove(t.real)
	}
	return store.files.Replace(t.real, t.plan.Before, t.plan.Mode)
}

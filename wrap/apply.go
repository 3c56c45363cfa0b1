package wrap

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// ErrChanged says that a file no longer has the bytes that a plan started from.
var ErrChanged = errors.New("the file no longer has the bytes")

// Claude Code takes over a lock that nobody touched for ten seconds, and waits about thirteen before it gives up.
const (
	lockStale = 10 * time.Second
	lockWait  = 13 * time.Second
)

// ApplyOptions say how plans are applied.
type ApplyOptions struct {
	Command string    // for the record: what the person ran
	Time    time.Time // for the record; now when zero
	// Replan plans a file anew, once and under its lock, when its bytes have changed since the plan was made. It may refuse.
	// Without it, such a file is ErrChanged.
	Replan func(File) (Plan, error)

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
	unlock, err := lock(store, targets)
	if err != nil {
		return Generation{}, err
	}
	defer unlock()
	targets, err = refresh(targets, o.Replan)
	if err != nil || len(targets) == 0 {
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
	g, err := prepare(store, targets, Generation{Time: o.Time.UTC(), Command: o.Command, Undoes: o.undoes})
	if err != nil {
		discard(targets)
		return Generation{}, err
	}
	for i, t := range targets {
		if err := t.write(); err != nil {
			discard(targets[i+1:])
			return g, errors.Join(t.fail(err), reverse(store, g, t, targets[:i]))
		}
	}
	return store.finish(g), nil
}

// prepare does all that can fail for want of room or rights, while every file is still as it was.
func prepare(store *Store, targets []target, g Generation) (Generation, error) {
	for i := range targets {
		t := &targets[i]
		atomicfile.Sweep(filepath.Dir(t.real), atomicfile.Abandoned)
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
		real, err := filepath.EvalSymlinks(plan.Path)
		if err != nil {
			return nil, t.fail(err)
		}
		if t.real, err = filepath.Abs(real); err != nil {
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

// lock takes every target's lock: the client's own where it has one, so that neither loses the other's write; else bouncer's.
func lock(store *Store, targets []target) (unlock func(), err error) {
	var held []atomicfile.Unlock
	unlock = func() {
		for _, release := range slices.Backward(held) {
			release()
		}
	}
	for _, t := range targets {
		release, err := t.lock(store)
		if err != nil {
			unlock()
			return nil, t.fail(err)
		}
		held = append(held, release)
		store.did("locked a file")
	}
	return unlock, nil
}

func (t target) lock(store *Store) (atomicfile.Unlock, error) {
	if t.plan.Lock {
		return atomicfile.LockDir(t.real+".lock", lockStale, lockWait)
	}
	file, err := store.lockFile(t.real)
	if err != nil {
		return nil, err
	}
	return atomicfile.LockFile(file, lockWait)
}

// refresh reads every target again, now that it is locked, and keeps those that still have something to change.
func refresh(targets []target, replan func(File) (Plan, error)) ([]target, error) {
	var list []target
	for _, t := range targets {
		now, err := os.ReadFile(t.real)
		if err != nil {
			return nil, t.fail(err)
		}
		if !bytes.Equal(now, t.plan.Before) {
			if replan == nil {
				return nil, t.fail(fmt.Errorf("%w that the plan was made for", ErrChanged))
			}
			file := t.plan.File
			file.Data = now
			plan, err := replan(file)
			if err != nil {
				return nil, t.fail(err)
			}
			t.plan = plan
		}
		if bytes.Equal(t.plan.After, now) {
			continue
		}
		list = append(list, t)
	}
	return list, nil
}

// write puts the staged file in place and reads it again. It compares once more first: a machine that slept may have lost
// the lock, and not every file has one that its client knows.
func (t target) write() error {
	now, err := os.ReadFile(t.real)
	if err == nil && !bytes.Equal(now, t.plan.Before) {
		err = fmt.Errorf("%w that the plan was made for", ErrChanged)
	}
	if err != nil {
		t.staged.Discard()
		return err
	}
	if err := t.staged.Commit(); err != nil {
		return err
	}
	if now, err = os.ReadFile(t.real); err != nil {
		return err
	}
	if !bytes.Equal(now, t.plan.After) {
		return fmt.Errorf("%w that were just written", ErrChanged)
	}
	return nil
}

// reverse puts old bytes back after one target failed, newest first, and notes it when every file has them.
func reverse(store *Store, g Generation, failed target, written []target) error {
	var errs []error
	if failed.holds(failed.plan.After) { // it failed behind the replacement; its error is reported already
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

func (t target) holds(data []byte) bool {
	now, err := os.ReadFile(t.real)
	return err == nil && bytes.Equal(now, data)
}

// putBack gives a file its old bytes again, unless someone else has written it meanwhile.
func (t target) putBack(store *Store) error {
	if !t.holds(t.plan.After) {
		return fmt.Errorf("%w that bouncer wrote", ErrChanged)
	}
	return store.files.Replace(t.real, t.plan.Before, t.plan.Mode)
}

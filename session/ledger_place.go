package session

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/internal/direct"
)

const (
	maxMembers = 1024 // files of one session. A run that starts again goes on with the file it had
	maxSwept   = 64   // sessions that one sweep removes
)

// room is the directory of one session.
type room struct {
	dir string
	key [16]byte
}

// roomName tells a session from each other that there is or was: a later client with the same pid has started later.
func roomName(p process) string { return fmt.Sprintf("%d-%d-%s", p.pid, p.start, short(machine())) }

// enterRoom finds the directory of a session. It is made, with all that belongs in it, in one step, so that two who make
// it at once agree on the key.
func enterRoom(state, name string, create bool) (*room, error) {
	root := filepath.Join(state, "sessions")
	if create {
		if err := os.MkdirAll(root, 0o700); err != nil {
			return nil, err
		}
	}
	dir := filepath.Join(root, name)
	_, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) && create {
		err = makeRoom(root, dir)
	}
	if err != nil {
		return nil, err
	}
	for _, dir := range []string{state, root, dir} {
		info, err := os.Stat(dir)
		if err == nil {
			err = atomicfile.CheckPrivate(info)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", dir, err)
		}
	}
	r := &room{dir: dir}
	return r, r.readKey()
}

func makeRoom(root, dir string) error {
	fresh, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return err
	}
	var key [16]byte
	_, _ = rand.Read(key[:]) // it never fails
	err = errors.Join(
		os.WriteFile(filepath.Join(fresh, "key"), key[:], 0o600),
		os.WriteFile(filepath.Join(fresh, "pulse"), nil, 0o600),
	)
	if err == nil {
		err = os.Rename(fresh, dir) // fails when somebody else was first
	}
	if err == nil {
		return nil
	}
	err = errors.Join(err, os.RemoveAll(fresh))
	if _, there := os.Lstat(dir); there == nil {
		return nil
	}
	return err
}

func (r *room) readKey() error {
	f, err := openLedgerFile(filepath.Join(r.dir, "key"))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	_, err = io.ReadFull(f, r.key[:])
	return err
}

// join takes a file for p: that of a run of the same server which has ended, or a new one.
func (r *room) join(p Peer) (*Ledger, error) {
	pulse, err := os.OpenFile(filepath.Join(r.dir, "pulse"), os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	l := &Ledger{dir: r.dir, key: r.key, pulse: direct.Of(pulse), patience: maxPatience}
	lines, err := l.glance()
	if err == nil {
		var took bool
		if took, err = l.inherit(p, lines); err == nil && !took {
			err = l.begin(p, len(l.parts))
		}
	}
	if err != nil {
		return nil, errors.Join(err, pulse.Close())
	}
	if err := l.beat(); err != nil {
		return nil, errors.Join(err, l.file.Close(), pulse.Close())
	}
	return l, nil
}

// inherit goes on with a file that its writer has left. All of it that is whole counts, also for this run.
func (l *Ledger) inherit(p Peer, lines []byte) (bool, error) {
	for i := range l.parts {
		owner, _, err := readFrames(l.path(i), true)
		if err != nil || owner != p {
			continue
		}
		lock, err := atomicfile.OpenLock(l.path(i))
		if err != nil {
			return false, err
		}
		if err := lock.Lock(0); err != nil {
			_ = lock.Close() // its writer lives, or another run was faster
			continue
		}
		owner, end, err := readFrames(l.path(i), false)
		if err == nil && owner == p {
			err = lock.File().Truncate(int64(end)) // behind that there is only what was never finished
		}
		if err != nil || owner != p {
			_ = lock.Close() // the file stays as it is
			continue
		}
		before := parseEntry(lines[i*entrySize:])
		l.file, l.index = lock, i
		l.own = entry{end: end, lost: before.lost || before.open || before.end > end}
		l.parts[i].last = l.own
		return true, nil
	}
	return false, nil
}

// readFrames returns whose file it is and how much of it is whole.
func readFrames(path string, headOnly bool) (Peer, uint64, error) {
	f, err := openLedgerFile(path)
	if err != nil {
		return Peer{}, 0, err
	}
	defer func() { _ = f.Close() }() // it was only read
	var all part
	chunk := make([]byte, 4<<10)
	if !headOnly {
		chunk = make([]byte, maxChunk)
	}
	for {
		n, err := f.ReadAt(chunk, int64(all.offset))
		if err != nil && err != io.EOF {
			return Peer{}, 0, err
		}
		used, err := all.take(chunk[:n], func(Peer, []byte) {})
		if err != nil {
			return Peer{}, 0, err
		}
		if all.offset += uint64(used); used == 0 || headOnly {
			return all.peer, all.offset, nil
		}
	}
}

// begin starts a file at the first index from that on which nobody has.
func (l *Ledger) begin(p Peer, from int) error {
	head, err := fileHead(p)
	if err != nil {
		return err
	}
	for i := from; i < maxMembers; i++ {
		f, err := os.OpenFile(l.path(i), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue // somebody who is joining at this moment
		}
		if err == nil {
			err = f.Close()
		}
		if err != nil {
			return err
		}
		lock, err := atomicfile.OpenLock(l.path(i))
		if err != nil {
			return err
		}
		err = lock.Lock(time.Second) // somebody may be looking whether it is held
		if err == nil {
			_, err = lock.File().WriteAt(head, 0)
		}
		if err != nil {
			return errors.Join(err, lock.Close())
		}
		l.file, l.index, l.own = lock, i, entry{end: uint64(len(head))}
		l.parts = append(l.parts, make([]part, i+1-len(l.parts))...)
		l.parts[i] = part{last: l.own, offset: l.own.end}
		return nil
	}
	return errors.New("too many servers in one session")
}

// sweep removes the sessions under root whose client is gone and in which no run is left, but for the one to keep. What it
// can't remove it leaves to the next one.
func sweep(root, keep string) {
	dir, err := os.Open(root)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1) // those that could be read
	_ = dir.Close()
	here, removed := short(machine()), 0
	for _, name := range names {
		if name == keep || removed == maxSwept || !over(filepath.Join(root, name), name, here) {
			continue
		}
		removed++
		old := filepath.Join(root, ".old-"+name)
		if strings.HasPrefix(name, ".") {
			old = filepath.Join(root, name)
		} else if os.Rename(filepath.Join(root, name), old) != nil {
			continue
		}
		_ = os.RemoveAll(old)
	}
}

// over reports whether a session has ended. Where processes can't be looked at from here, in another container say, a session
// that nobody holds has ended after a week of silence.
func over(dir, name, here string) bool {
	if strings.HasPrefix(name, ".") {
		return olderThan(dir, time.Hour) // what somebody was killed over
	}
	pid, rest, _ := strings.Cut(name, "-")
	start, where, _ := strings.Cut(rest, "-")
	id, err := strconv.Atoi(pid)
	if err == nil && where == here {
		if p, ok := findProcess(id); ok && strconv.FormatUint(p.start, 10) == start {
			return false
		}
	} else if !olderThan(filepath.Join(dir, "pulse"), 7*24*time.Hour) {
		return false
	}
	for i := range maxMembers {
		path := filepath.Join(dir, strconv.Itoa(i))
		if _, err := os.Lstat(path); err != nil {
			return true
		}
		if held(path) {
			return false
		}
	}
	return false
}

func olderThan(path string, age time.Duration) bool {
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) > age
}

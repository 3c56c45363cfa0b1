package session

import (
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

const (
	// maxPatience is how long one Read waits for outputs that are under way. A client that doesn't take such an output makes its
	// other servers wait no longer than that.
	maxPatience = 200 * time.Millisecond
	// maxChunk is read at once. A whole frame fits in.
	maxChunk = 512 << 10
)

// part is one file of the session as far as this run has read it.
type part struct {
	peer   Peer
	last   entry // of the pulse, when it was looked at last
	offset uint64
	gone   bool // its writer has ended, and left an output open
}

// Read calls yield for what the others have told since the last Read, in the order in which each of them did. The record is
// yield's until it returns. An error wraps ErrIncomplete: then something is missing, for the rest of the session perhaps. If it is
// ErrLate itself, it is only missing now.
func (l *Ledger) Read(yield func(p Peer, record []byte)) error {
	l.reading.Lock()
	defer l.reading.Unlock()
	if l.closed {
		return errors.Join(ErrIncomplete, os.ErrClosed)
	}
	lines, err := l.glance()
	if err != nil {
		return errors.Join(ErrIncomplete, err)
	}
	var missing []error
	late := false
	var deadline time.Time
	for i := range l.parts {
		p := &l.parts[i]
		e := parseEntry(lines[i*entrySize:])
		if i == l.index {
			e = p.last // what was inherited: nothing is added to that
		} else if e == p.last && !e.open {
			if e.lost || p.offset < e.end {
				missing = append(missing, ErrIncomplete)
			}
			continue
		}
		if e.open && (!p.gone || e != p.last) {
			if deadline.IsZero() {
				deadline = time.Now().Add(l.patience)
			}
			e, p.gone = l.await(i, e, deadline)
		}
		if err := l.catchUp(i, p, e, yield); err != nil {
			missing = append(missing, err)
		}
		p.last = e
		switch {
		case e.lost || e.open && p.gone || p.offset < e.end:
			missing = append(missing, ErrIncomplete)
		case e.open:
			late = true
		}
	}
	if late && len(missing) == 0 {
		return ErrLate
	}
	return errors.Join(missing...)
}

// glance reads the pulse, and takes in who is new.
func (l *Ledger) glance() ([]byte, error) {
	for {
		l.table = grow(l.table, (len(l.parts)+1)*entrySize)
		n, err := l.pulse.ReadAt(l.table, 0)
		if err != nil && err != io.EOF {
			return nil, err
		}
		lines := n / entrySize
		if lines < len(l.parts) {
			return nil, errors.New("the pulse of the session is gone")
		}
		if lines == len(l.parts) {
			return l.table, nil
		}
		if lines > maxMembers {
			return nil, errors.New("the pulse of the session is damaged")
		}
		l.parts = append(l.parts, make([]part, lines-len(l.parts))...)
	}
}

// await waits for the end of an output that is under way, and reports whether nobody is left to end it.
func (l *Ledger) await(i int, e entry, deadline time.Time) (last entry, gone bool) {
	for pause := 20 * time.Microsecond; e.open && time.Now().Before(deadline); pause = min(2*pause, 2*time.Millisecond) {
		time.Sleep(pause)
		if pause > time.Millisecond && !gone {
			if gone = !held(l.path(i)); gone {
				deadline = time.Time{} // what it last wrote is there by now
			}
		}
		var line [entrySize]byte
		if _, err := l.pulse.ReadAt(line[:], int64(i)*entrySize); err != nil {
			return e, gone
		}
		e = parseEntry(line[:])
	}
	return e, gone && e.open
}

// held reports whether the process that writes a file lives.
func held(path string) bool {
	lock, err := atomicfile.OpenLock(path)
	if err != nil {
		return false
	}
	defer func() { _ = lock.Close() }() // which lets go of it
	return errors.Is(lock.Lock(0), atomicfile.ErrLocked)
}

// catchUp reads what a file has more than when it was last read.
func (l *Ledger) catchUp(i int, p *part, e entry, yield func(Peer, []byte)) error {
	end := min(e.end, maxLedger)
	if p.offset >= end {
		return nil
	}
	f, err := openLedgerFile(l.path(i))
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	for p.offset < end {
		l.chunk = grow(l.chunk, int(min(end-p.offset, maxChunk)))
		n, err := f.ReadAt(l.chunk, int64(p.offset))
		if err != nil && err != io.EOF {
			return err
		}
		used, err := p.take(l.chunk[:n], yield)
		if err != nil {
			return err
		}
		if used == 0 {
			break // torn or damaged here; what stands before it counts
		}
		p.offset += uint64(used)
	}
	if cap(l.chunk) > maxChunk/8 {
		l.chunk = nil
	}
	return nil
}

// take yields what whole frames at the front of data hold, and returns how much that was.
func (p *part) take(data []byte, yield func(Peer, []byte)) (used int, err error) {
	if p.offset == 0 {
		p.peer, used, err = parseHead(data)
		if used == 0 {
			return 0, err
		}
	}
	for {
		records, n := takeFrame(data[used:])
		if n == 0 {
			return used, nil
		}
		used += n
		eachRecord(records, func(r []byte) { yield(p.peer, slices.Clip(r)) })
	}
}

// openLedgerFile opens a file that a neighbour has written.
func openLedgerFile(path string) (*os.File, error) {
	f, err := openFile(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New(path + ": not a regular file")
	}
	if err == nil {
		err = atomicfile.CheckPrivate(info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

package session

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/internal/direct"
)

// maxLedger bounds one file of the ledger, in bytes. Behind it a session goes on with what it has.
const maxLedger = 64 << 20

// Ledger is what the runs of one client process tell each other, and a part in it: each writes one file and reads those of the
// others. What the records mean is their writers' business. Its methods may be called from many goroutines.
//
// Nobody waits for a lock, and no process serves the others. Besides the files there is one small table, the pulse, in which each
// writer keeps how long its file is: one reading of it tells that there is nothing new.
type Ledger struct {
	dir   string
	key   [16]byte
	index int // of this run's file, and of its line in the pulse
	pulse direct.File

	closed  bool // guarded by both of the locks below: either is enough to look
	writing sync.Mutex
	file    *atomicfile.FileLock // held while this run lives
	own     entry
	buf     []byte

	reading  sync.Mutex
	patience time.Duration
	parts    []part
	table    []byte
	chunk    []byte
}

// LedgerOptions say who takes part.
type LedgerOptions struct {
	Server   string // its name in the client's config
	Identity string
	Session  string // names the session; empty for that of the client process that this one descends from
}

// Peer is who has written a record.
type Peer struct {
	Server, Identity string
	Person           bool // no server, but the client, of what the person has typed
}

// ErrIncomplete says that a neighbour has said something that this run can't know. What has been read still holds.
var ErrIncomplete = errors.New("not all that other servers of this session said is known")

// ErrLate is the sort of ErrIncomplete that passes: a neighbour is still writing down what the client has already got.
var ErrLate = fmt.Errorf("a server of this session has said something that is not written down yet: %w", ErrIncomplete)

var errLedgerFull = errors.New("the ledger is full")

// OpenLedger joins the session that this process belongs to, in the state directory, and clears away sessions that have ended.
func OpenLedger(state string, o LedgerOptions) (*Ledger, error) {
	name, err := o.name()
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	r, err := enterRoom(state, name, true)
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	l, err := r.join(Peer{Server: o.Server, Identity: o.Identity})
	if err != nil {
		return nil, fmt.Errorf("session: %w", err)
	}
	sweep(filepath.Dir(r.dir), name)
	return l, nil
}

func (o LedgerOptions) name() (string, error) {
	if o.Session != "" {
		return "named-" + short(o.Session), nil
	}
	p, ok := client(os.Getpid(), findProcess)
	if !ok {
		return "", errors.New("can't tell which client this is for")
	}
	return roomName(p), nil
}

// Key is the session's secret, the same for everybody in it.
func (l *Ledger) Key() [16]byte { return l.key }

// Announce tells the others that the client is about to get something that is not in the ledger yet. They wait a moment for the
// Append that must follow.
func (l *Ledger) Announce() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.closed {
		return os.ErrClosed
	}
	l.own.open = true
	return l.beat()
}

// Append tells the others. When it returns nil, each Read that starts from now on finds the records. After an error the others
// know that something is missing, if they can be told anything at all.
func (l *Ledger) Append(records ...[]byte) error {
	return l.write(records, false)
}

// AppendPart is Append for a part of what an output says. The others go on waiting for the rest, if that was announced.
func (l *Ledger) AppendPart(records ...[]byte) error { return l.write(records, true) }

func (l *Ledger) write(records [][]byte, more bool) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.closed {
		return os.ErrClosed
	}
	if len(records) == 0 && (more || !l.own.open) {
		return nil
	}
	var err error
	l.buf, err = appendFrames(l.buf[:0], records)
	if err == nil && l.own.end+uint64(len(l.buf)) > maxLedger {
		err = errLedgerFull
	}
	if err == nil && len(l.buf) > 0 {
		_, err = l.file.File().WriteAt(l.buf, int64(l.own.end)) // readers see none of it until the pulse says so
	}
	l.own.open = l.own.open && more
	if err != nil {
		l.own.lost = true
	} else {
		l.own.end += uint64(len(l.buf))
	}
	if cap(l.buf) > 1<<20 {
		l.buf = nil
	}
	if err = errors.Join(err, l.beat()); err != nil {
		return fmt.Errorf("session: %w", err)
	}
	return nil
}

// beat puts this run's line into the pulse.
func (l *Ledger) beat() error {
	var line [entrySize]byte
	_, err := l.pulse.WriteAt(l.own.appendTo(line[:0]), int64(l.index)*entrySize)
	return err
}

// Close leaves the session. What this run has told stays until the client is gone.
func (l *Ledger) Close() error {
	l.reading.Lock()
	defer l.reading.Unlock()
	l.writing.Lock()
	defer l.writing.Unlock()
	l.closed = true
	err := errors.Join(l.file.Close(), l.pulse.Close())
	sweep(filepath.Dir(l.dir), "")
	return err
}

func (l *Ledger) path(index int) string { return filepath.Join(l.dir, strconv.Itoa(index)) }

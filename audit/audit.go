// Package audit keeps hash-chained records of every verdict: append, rotate, verify.
package audit

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/internal/direct"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

const (
	// maxFile is the size at which a file is put aside and a new one begun.
	maxFile = 64 << 20
	// lockWait is how long a call may be held up by other processes before it is refused.
	lockWait = 2 * time.Second
	// resultWait is how long a result waits for a verdict to be written with.
	resultWait = 50 * time.Millisecond
	// maxHeld bounds the results that wait, in bytes.
	maxHeld = 64 << 10
)

// Verdict is written before a call is acted upon.
type Verdict struct {
	Time     time.Time
	Session  string // id of this run, random
	Client   string // clientInfo name and version, empty when unknown
	Server   string
	Call     uint64 // running number of the call in this run, from 1; the result record repeats it
	Tool     string
	Args     wire.Value // masked and cut when written
	Verdict  string     // allow, deny, ask
	Observed string     // of an allow: deny or ask, when it passed only because its tool is watched and not held up
	Reason   string
	Contract string
	Layers   []string
	Evidence []Evidence
	Answer   string // of the record that follows an ask: once, session, always, or no: and why
	Channel  string // of an ask: where the person is asked; of the record behind it: where they answered
}

// Evidence is one judged value and where it came from.
type Evidence struct {
	Param, Value, Class, Server, Tool, Path, Snippet string

	Role string // destination, object, content or action; empty when the value was judged by itself
}

// Result is written after a call ended.
type Result struct {
	Time     time.Time
	Session  string
	Server   string
	Call     uint64
	Tool     string
	Outcome  string // ok, tool_error, rpc_error, cancelled, lost
	Duration time.Duration
	Bytes    int
}

// Log appends to audit.jsonl in one directory, which many processes may share. Its methods may be called from many goroutines.
type Log struct {
	dir  string
	max  int64
	wait time.Duration

	turn chan struct{} // holds one token while a goroutine is appending; a mutex could not be waited for with a limit
	done bool          // closed
	next record        // the record being built
	held held          // results that are not written yet
	chain
}

// held are the bodies of records, end to end.
type held struct {
	bodies []byte
	ends   []int
	due    bool  // a goroutine is waiting to write them
	err    error // why they could not be written
}

func (h *held) add(body []byte) {
	h.bodies = append(h.bodies, body...)
	h.ends = append(h.ends, len(h.bodies))
}

// all ranges over the bodies.
func (h *held) all() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		start := 0
		for _, end := range h.ends {
			if !yield(h.bodies[start:end]) {
				return
			}
			start = end
		}
	}
}

func (h *held) clear() { h.bodies, h.ends, h.err = h.bodies[:0], h.ends[:0], nil }

// Open prepares a log in dir (created 0700) and refuses a directory that others could write in.
// It writes nothing until the first record.
func Open(dir string) (*Log, error) {
	if err := prepareDir(dir); err != nil {
		return nil, err
	}
	return &Log{dir: dir, max: maxFile, wait: lockWait, turn: make(chan struct{}, 1)}, nil
}

// Verdict appends a verdict record, behind the results that wait. It returns an error when the record is not in the file.
func (l *Log) Verdict(v Verdict) error {
	deadline, err := l.acquire()
	if err != nil {
		return err
	}
	defer l.release()
	l.next.verdict(&v)
	return l.commit(deadline, l.next.body)
}

// Result takes a result record, which is written with the next verdict: in a busy session that saves half of all appends.
// Where none follows, it is written after a moment, or by Close. An error tells that a result is not in the file and may
// never be.
func (l *Log) Result(r Result) error {
	deadline, err := l.acquire()
	if err != nil {
		return err
	}
	defer l.release()
	l.next.result(&r)
	if len(l.held.bodies)+len(l.next.body) > maxHeld {
		return l.commit(deadline, l.next.body)
	}
	l.held.add(l.next.body)
	if !l.held.due {
		l.held.due = true
		go l.writeHeld()
	}
	return l.held.err
}

// writeHeld waits a moment and writes the results that no verdict has taken along.
func (l *Log) writeHeld() {
	direct.Sleep(resultWait)
	l.turn <- struct{}{}
	defer l.release()
	l.held.due = false
	if !l.done && len(l.held.ends) > 0 {
		l.held.err = l.commit(time.Now().Add(l.wait), nil) // tried again with the next record
	}
}

// Close writes the results that wait and closes the files. The log then refuses records.
func (l *Log) Close() error {
	l.turn <- struct{}{}
	defer l.release()
	var err error
	if !l.done && len(l.held.ends) > 0 {
		err = l.commit(time.Now().Add(l.wait), nil)
	}
	l.done = true
	return errors.Join(err, l.closeFiles())
}

// acquire waits for this goroutine's turn. The deadline is for the whole append, however long the queue inside this process is.
func (l *Log) acquire() (deadline time.Time, err error) {
	deadline = time.Now().Add(l.wait)
	select {
	case l.turn <- struct{}{}:
	default:
		patience := time.NewTimer(l.wait)
		defer patience.Stop()
		select {
		case l.turn <- struct{}{}:
		case <-patience.C:
			return deadline, fmt.Errorf("audit log %s: %w", l.dir, atomicfile.ErrLocked)
		}
	}
	if l.done {
		l.release()
		return deadline, fmt.Errorf("audit log %s: %w", l.dir, os.ErrClosed)
	}
	return deadline, nil
}

func (l *Log) release() { <-l.turn }

// Package audit keeps hash-chained records of every verdict: append, rotate, verify.
package audit

import (
	"fmt"
	"os"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

const (
	// maxFile is the size at which a file is put aside and a new one begun.
	maxFile = 64 << 20
	// lockWait is how long a call may be held up by other processes before it is refused.
	lockWait = 2 * time.Second
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
	Reason   string
	Contract string
	Layers   []string
	Evidence []Evidence
	Answer   string // of the record that follows an ask: once, session, no: <why>
}

// Evidence is one judged value and where it came from.
type Evidence struct {
	Param, Value, Class, Server, Tool, Path, Snippet string
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
	chain
}

// Open prepares a log in dir (created 0700) and refuses a directory that others could write in.
// It writes nothing until the first record.
func Open(dir string) (*Log, error) {
	if err := prepareDir(dir); err != nil {
		return nil, err
	}
	return &Log{dir: dir, max: maxFile, wait: lockWait, turn: make(chan struct{}, 1)}, nil
}

// Verdict appends a verdict record. It returns an error when the record is not in the file.
func (l *Log) Verdict(v Verdict) error {
	deadline, err := l.acquire()
	if err != nil {
		return err
	}
	defer l.release()
	l.next.verdict(&v)
	return l.commit(deadline)
}

// Result appends a result record. It returns an error when the record is not in the file.
func (l *Log) Result(r Result) error {
	deadline, err := l.acquire()
	if err != nil {
		return err
	}
	defer l.release()
	l.next.result(&r)
	return l.commit(deadline)
}

// Close closes the files. The log then refuses records.
func (l *Log) Close() error {
	l.turn <- struct{}{}
	defer l.release()
	l.done = true
	return l.closeFiles()
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

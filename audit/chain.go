package audit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/internal/direct"
)

// chain is what a Log keeps open between records, and what it knows about the end of the chain.
type chain struct {
	lock *atomicfile.FileLock // on the head file; nil when nothing is open
	file *direct.File         // the current file; nil when it is not open
	last head                 // after the newest record that this process wrote or saw
	line []byte               // of the head file, as it was when last was found there
	text []byte               // the lines to write
}

// commit gives the held records and one more their places in the chain and writes them. A nil body is none.
func (l *Log) commit(deadline time.Time, body []byte) error {
	err := l.append(deadline, body)
	if errors.Is(err, fs.ErrNotExist) {
		// The whole directory was deleted under a running process. A log that starts anew is better than refusing every call;
		// its first record has the next seq, so that the gap shows.
		if err = prepareDir(l.dir); err == nil {
			err = l.append(deadline, body)
		}
	}
	if cap(l.next.text) > maxRecord {
		l.next.text = nil
	}
	if cap(l.text) > maxRecord {
		l.text = nil
	}
	if err != nil {
		return fmt.Errorf("audit log %s: %w", l.dir, err)
	}
	l.held.clear()
	return nil
}

func (l *Log) append(deadline time.Time, body []byte) (err error) {
	defer func() {
		if err != nil {
			// The next record opens everything anew, which is what gets over a passing fault.
			_ = l.closeFiles()
		}
	}()
	if l.lock == nil {
		if l.lock, err = atomicfile.OpenLock(filepath.Join(l.dir, headName)); err != nil {
			return err
		}
	}
	if err := l.lock.Lock(time.Until(deadline)); err != nil {
		return err
	}
	if err := l.write(body); err != nil {
		return err // closing the file unlocks it
	}
	return l.lock.Unlock()
}

// write appends the records at the end of the chain, in one write. The caller holds the lock.
func (l *Log) write(body []byte) error {
	if err := l.catchUp(); err != nil {
		return err
	}
	seq, hash, lines := l.last.seq, l.last.hash, l.text[:0]
	for body := range l.held.all() {
		seq++
		lines, hash = seal(lines, body, seq, hash)
	}
	if body != nil {
		seq++
		lines, hash = seal(lines, body, seq, hash)
	}
	l.text = lines
	if l.last.size > 0 && l.last.size+int64(len(lines)) > l.max {
		if err := l.rotate(); err != nil {
			return err
		}
	}
	if err := appendTo(l.file, lines, l.last.size); err != nil {
		// Take back a part that made it, as on a full disk. If that fails too, whoever appends next puts it aside.
		_ = l.file.Truncate(l.last.size)
		return err
	}
	if l.last.size == 0 {
		l.last.first = l.last.seq + 1
	}
	l.last.seq, l.last.hash, l.last.size = seq, hash, l.last.size+int64(len(lines))
	// The records are in the file, so the call may go on. A head that could not be written is behind, like after a crash, and
	// the next append repairs it.
	_ = l.writeHead()
	return nil
}

// catchUp finds the end of the chain, which other processes may have moved. In the usual case that is one read and one stat.
func (l *Log) catchUp() error {
	var b [headSize]byte
	n, _ := l.lock.File().ReadAt(b[:], 0) // short or failed: not the line we know, and then not a head
	var size int64
	named := false
	if l.file != nil {
		size, named = extent(l.file, l.path(currentName))
	}
	if named && size == l.last.size && bytes.Equal(b[:n], l.line) {
		return nil
	}
	found, known := parseHead(b[:n])
	if named && known && found.first == l.last.first && size == found.size && !found.behind(l.last) {
		l.last, l.line = found, append(l.line[:0], b[:n]...)
		return nil
	}
	return l.recover(found, known)
}

// writeHead makes last the head that others find.
func (l *Log) writeHead() error {
	l.line = append(l.line[:0], l.last.encode()...)
	_, err := l.lock.File().WriteAt(l.line, 0)
	return err
}

// rotate puts the current file aside under the seq of its first record and begins a new one.
func (l *Log) rotate() error {
	aside := l.path(rotatedName(l.last.first))
	if _, err := os.Lstat(aside); err == nil {
		return nil // the name is taken, and nothing is ever overwritten: the file grows on
	}
	if err := os.Rename(l.path(currentName), aside); err != nil {
		return nil // held open by some program on Windows: no reason to refuse calls, the next record tries again
	}
	l.last.size = 0
	if err := l.writeHead(); err != nil {
		return err
	}
	return l.openCurrent()
}

func (l *Log) openCurrent() error {
	if l.file != nil {
		_ = l.file.Close() // every write to it has already been reported
	}
	l.file = nil
	f, err := openFile(l.path(currentName), os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	opened := direct.Of(f)
	l.file = &opened
	return nil
}

func (l *Log) closeFiles() error {
	var errs []error
	if l.file != nil {
		errs = append(errs, l.file.Close())
		l.file = nil
	}
	if l.lock != nil {
		errs = append(errs, l.lock.Close())
		l.lock = nil
	}
	return errors.Join(errs...)
}

func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }

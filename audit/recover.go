package audit

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// recover finds the end of the chain when the head file and the log disagree: after a crash between two writes or in the middle of
// a rotation, which leaves nothing to see, or after tampering. Tampering must not stop all calls for ever, so the log goes on, but from what the head says:
// the next record then doesn't fit the one before it, and verifying shows the place.
func (l *Log) recover(found head, known bool) error {
	if err := l.openCurrent(); err != nil {
		return err
	}
	info, err := l.file.Stat()
	if err != nil {
		return err
	}
	size := info.Size()
	next := found
	switch {
	case !known && size == 0 && !l.anyRotated():
		next = l.last // the first record of all, or a log deleted under a process that knows how long it was
	case !known:
		next = l.withoutHead(size)
	case found.behind(l.last):
		next = l.last // somebody put back an older head
	}
	if known && size > next.size {
		next = l.adopt(next, size)
	}
	end, err := l.putTornAside(size, next.seq+1)
	if err != nil {
		return err
	}
	next.size = end
	l.last = next
	if err := l.writeHead(); err != nil {
		return err
	}
	if !known {
		// Once in the life of a log: later the head is overwritten in place, but a new one must not be found empty beside a log
		// that is not, as a power cut could leave it.
		return l.lock.File().Sync()
	}
	return nil
}

func (l *Log) anyRotated() bool {
	rotated, _, err := listFiles(l.dir)
	return err != nil || len(rotated) > 0
}

// withoutHead continues a log whose head file is gone or unreadable, which no crash brings about. Nothing tells whether records
// were cut off, so the next one links to none: a lasting fault at that place.
func (l *Log) withoutHead(size int64) head {
	next := head{seq: l.last.seq, size: size}
	for line := range fileLines(l.file.File, size) {
		r, err := ParseRecord(line.text)
		if err != nil {
			continue
		}
		if next.first == 0 {
			next.first = r.Seq
		}
		next.seq = max(next.seq, r.Seq)
	}
	return next
}

// adopt moves next over the records behind it that a crash kept out of the head. It stops at the first line that isn't one.
func (l *Log) adopt(next head, size int64) head {
	lines := bufio.NewReaderSize(io.NewSectionReader(l.file, next.size, size-next.size), maxRecord)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return next
		}
		r, err := ParseRecord(line[:len(line)-1])
		if err != nil || r.Seq != next.seq+1 || r.Prev != next.hash {
			return next
		}
		if next.size == 0 {
			next.first = r.Seq
		}
		next.seq, next.hash, next.size = r.Seq, r.Hash, next.size+int64(len(line))
	}
}

// putTornAside moves an unfinished last line, as a crash in the middle of a write leaves it, to a file of its own, and returns the
// size of what remains. seq is that of the record which will take its place.
func (l *Log) putTornAside(size int64, seq uint64) (int64, error) {
	if size == 0 {
		return 0, nil
	}
	var last [1]byte
	if _, err := l.file.ReadAt(last[:], size-1); err != nil || last[0] == '\n' {
		return size, err
	}
	tail := make([]byte, min(size, maxRecord))
	if _, err := l.file.ReadAt(tail, size-int64(len(tail))); err != nil {
		return 0, err
	}
	torn := tail[bytes.LastIndexByte(tail, '\n')+1:]
	if len(torn) == len(tail) && size > int64(len(tail)) {
		// Longer than any record: not ours. It stays, ended so that it can't swallow the next record.
		return size + 1, appendTo(l.file, []byte("\n"), size)
	}
	if err := l.keepTorn(torn, seq); err != nil {
		return 0, err
	}
	end := size - int64(len(torn))
	return end, l.file.Truncate(end)
}

// keepTorn writes torn bytes to a file named for seq. A second crash at the same place gets a name of its own.
func (l *Log) keepTorn(torn []byte, seq uint64) error {
	name := tornName(seq)
	for n := 2; ; n++ {
		err := atomicfile.Create(l.path(name), torn, 0o600)
		if !errors.Is(err, fs.ErrExist) || n > 100 {
			return err
		}
		name = fmt.Sprintf("%s-%d", tornName(seq), n)
	}
}

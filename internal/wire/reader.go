package wire

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
)

const (
	// DefaultMax is how long a line may be when NewReader is not told otherwise.
	DefaultMax = 64 << 20

	startSize = 32 << 10 // of the buffer: half of what a pipe holds, and many times a usual frame
	keepSize  = 4 << 20  // a buffer beyond this is given back as soon as its frame is done with
	headSize  = 4 << 10  // what is kept of the beginning of a line that is too long
	tailSize  = 512      // and of its end
)

// TooLongError reports a line beyond the limit. It was skipped; the Reader goes on behind it.
type TooLongError struct {
	Size int    // of the whole line, without its ending
	Head []byte // its first 4 KiB
	Tail []byte // its last bytes
}

func (e *TooLongError) Error() string { return fmt.Sprintf("line of %d bytes is too long", e.Size) }

// Sniff guesses what the line was and which id it had, from both its ends. The zero ID and Invalid mean that
// it could not be told.
func (e *TooLongError) Sniff() (Kind, ID) {
	g := sniff(e.Head)
	if g.id.IsZero() {
		g.id = sniffTail(e.Tail)
	}
	return g.kind, g.id
}

// add accounts for more of the line.
func (e *TooLongError) add(part []byte) {
	const room = tailSize + 1 // with a CR that may turn out to belong to the line's ending
	e.Size += len(part)
	e.Head = append(e.Head, part[:min(len(part), headSize-len(e.Head))]...)
	e.Tail = append(e.Tail, part[max(0, len(part)-room):]...)
	e.Tail = slices.Delete(e.Tail, 0, max(0, len(e.Tail)-room))
}

// finish is called behind the last part, with whether a line feed follows.
func (e *TooLongError) finish(fed bool) *TooLongError {
	if fed && bytes.HasSuffix(e.Tail, []byte{'\r'}) {
		e.Size--
		e.Tail = e.Tail[:len(e.Tail)-1]
		e.Head = e.Head[:min(len(e.Head), e.Size)]
	}
	e.Tail = e.Tail[max(0, len(e.Tail)-tailSize):]
	return e
}

// Reader cuts a stream into lines. It holds one buffer as big as the longest line of late.
type Reader struct {
	r   io.Reader
	max int
	buf []byte
	// buf[start:end] is read and not handed out; buf[start:seen] holds no line feed.
	start, seen, end int
	err              error // of r, sticky
}

// NewReader returns a Reader of lines up to limit bytes, DefaultMax if limit is not positive.
func NewReader(r io.Reader, limit int) *Reader {
	if limit <= 0 {
		limit = DefaultMax
	}
	return &Reader{r: r, max: min(limit, math.MaxInt-startSize)}
}

// Next returns the next line that is not empty, without its ending (LF, or CR and LF). The last line may lack
// the ending. The line is valid until the next call, and one byte may be appended to it without copying it. A *TooLongError concerns one line only; after io.EOF or
// any other error nothing more comes.
func (r *Reader) Next() (line []byte, err error) {
	for {
		n := bytes.IndexByte(r.buf[r.seen:r.end], '\n')
		switch {
		case n >= 0:
			line = bytes.TrimSuffix(r.buf[r.start:r.seen+n], []byte{'\r'})
			r.seen += n + 1
			r.start = r.seen
		case r.end-r.start > r.max+1: // a CR may be among them
			return nil, r.skipLine()
		case r.err == nil:
			r.seen = r.end
			r.fill()
			continue
		case r.err == io.EOF && r.end > r.start:
			line = r.buf[r.start:r.end]
			r.start, r.seen = r.end, r.end
		default:
			r.buf, r.start, r.seen, r.end = nil, 0, 0, 0
			return nil, r.err
		}
		if len(line) > r.max {
			e := &TooLongError{}
			e.add(line)
			return nil, e.finish(false)
		}
		if len(line) > 0 {
			return line[:len(line):min(len(line)+1, cap(line))], nil
		}
	}
}

// fill reads once, into the free part of the buffer.
func (r *Reader) fill() {
	pending := r.end - r.start
	most := r.max + startSize
	switch {
	case len(r.buf) == 0, len(r.buf) > keepSize && pending < startSize/2:
		r.move(make([]byte, startSize))
	case r.end < len(r.buf):
	case pending <= len(r.buf)/2 || len(r.buf) >= most:
		r.move(r.buf)
	default:
		r.move(make([]byte, min(2*len(r.buf), most)))
	}
	const patience = 100
	for range patience {
		n, err := r.r.Read(r.buf[r.end:])
		r.end += n
		if r.err = err; n > 0 || err != nil {
			return
		}
	}
	r.err = io.ErrNoProgress
}

// move puts what is pending at the beginning of buf, which becomes the buffer.
func (r *Reader) move(buf []byte) {
	r.end = copy(buf, r.buf[r.start:r.end])
	r.seen -= r.start
	r.start = 0
	r.buf = buf
}

// skipLine throws away the line that fills the buffer, to its end.
func (r *Reader) skipLine() *TooLongError {
	e := &TooLongError{}
	for {
		part, rest, fed := bytes.Cut(r.buf[r.start:r.end], []byte{'\n'})
		e.add(part)
		r.start = r.end - len(rest)
		r.seen = r.start
		if fed || r.err != nil {
			return e.finish(fed)
		}
		r.fill()
	}
}

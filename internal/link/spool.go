package link

import (
	"fmt"
	"io"
	"sync"
)

// spoolBytes is how far a reader may fall behind before bytes are dropped.
const spoolBytes = 256 << 10

// Spool is a writer that never waits for the one behind it: some clients don't read what their servers write to standard error, and a pipe that is full
// would stall whoever writes next. What a slow reader has no room for is dropped, and a line in its place says how much. Memory is bounded by
// twice 256 KiB. Lines are not awaited: bytes pass on as they come.
type Spool struct {
	to   io.Writer
	done chan struct{}

	mu      sync.Mutex
	more    *sync.Cond
	queue   []byte
	dropped int64 // bytes missing behind the queue
	closed  bool
}

// NewSpool returns a spool that passes on to w in a goroutine of its own, until closed.
func NewSpool(w io.Writer) *Spool {
	s := &Spool{to: w, done: make(chan struct{})}
	s.more = sync.NewCond(&s.mu)
	go s.pass()
	return s
}

// Write takes all of p, or drops what there is no room for. It never fails and never waits for the writer behind.
func (s *Spool) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := spoolBytes - len(s.queue)
	if s.dropped > 0 || s.closed {
		room = 0 // nothing may follow a gap before the gap is told
	}
	n := min(room, len(p))
	s.queue = append(s.queue, p[:n]...)
	s.dropped += int64(len(p) - n)
	s.more.Signal()
	return len(p), nil
}

// Close takes no more and returns when all that was taken is passed on, which a writer that blocks can put off for ever.
func (s *Spool) Close() {
	s.mu.Lock()
	s.closed = true
	s.more.Signal()
	s.mu.Unlock()
	<-s.done
}

func (s *Spool) pass() {
	defer close(s.done)
	var failed bool
	for chunk := s.take(nil); chunk != nil; chunk = s.take(chunk) {
		if !failed {
			_, err := s.to.Write(chunk)
			failed = err != nil // nobody is there any more; go on taking, so that memory stays bounded
		}
	}
}

// take waits for something to pass on and swaps it with spent, whose memory is used again. It returns nil at the end.
func (s *Spool) take(spent []byte) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.queue) == 0 && s.dropped == 0 && !s.closed {
		s.more.Wait()
	}
	chunk := s.queue
	s.queue = spent[:0]
	if s.dropped > 0 {
		if len(chunk) > 0 && chunk[len(chunk)-1] != '\n' {
			chunk = append(chunk, '\n')
		}
		chunk = fmt.Appendf(chunk, "bouncer: %d bytes of standard error were dropped here: nobody was reading\n", s.dropped)
		s.dropped = 0
	}
	if len(chunk) == 0 {
		return nil
	}
	return chunk
}

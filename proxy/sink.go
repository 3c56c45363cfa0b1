package proxy

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// maxInjected bounds what waits in a sink, in bytes. Beyond it inject waits, as a pipe would.
const maxInjected = 16 << 20

// flushFor bounds how long the end of a relay waits for a peer to read what is queued for it.
const flushFor = 250 * time.Millisecond

// sink writes whole frames to one side. The pump that relays towards this side uses write. Everybody else uses
// inject, which doesn't wait for the peer to read: a pump that waited there for a peer that is itself waiting for
// this pump would stand still for ever.
type sink struct {
	w    io.WriteCloser
	gone error // what a failed write means

	write1 sync.Mutex   // one frame at a time
	since  atomic.Int64 // when the write under way began, in Unix nanoseconds; 0 when there is none

	mu     sync.Mutex
	ready  sync.Cond // injected frames, or the end
	room   sync.Cond // fewer injected frames than before
	queue  [][]byte
	queued int
	closed bool
	idle   chan struct{} // closed when the goroutine is gone
}

func newSink(w io.WriteCloser, gone error) *sink {
	s := &sink{w: w, gone: gone, idle: make(chan struct{})}
	s.ready.L, s.room.L = &s.mu, &s.mu
	go s.drain()
	return s
}

// write sends one frame, behind those that were injected before it: a cancellation must not overtake its call. It may use
// the byte behind line in its buffer, which the reader that lent it has consumed.
func (s *sink) write(line []byte) error {
	s.mu.Lock()
	for s.queued > 0 {
		s.room.Wait()
	}
	s.mu.Unlock()
	return s.put(line)
}

func (s *sink) put(line []byte) error {
	s.write1.Lock()
	defer s.write1.Unlock()
	s.since.Store(time.Now().UnixNano())
	defer s.since.Store(0)
	if _, err := s.w.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("%w: %w", s.gone, err)
	}
	return nil
}

// inject queues one frame, which the sink then owns.
func (s *sink) inject(line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.queued > maxInjected && !s.closed {
		s.room.Wait()
	}
	if s.closed {
		return
	}
	s.queue = append(s.queue, line)
	s.queued += len(line)
	s.ready.Signal()
}

func (s *sink) drain() {
	defer close(s.idle)
	for {
		s.mu.Lock()
		for len(s.queue) == 0 && !s.closed {
			s.ready.Wait()
		}
		if len(s.queue) == 0 {
			s.mu.Unlock()
			return
		}
		line := s.queue[0]
		s.queue = s.queue[1:]
		s.mu.Unlock()

		err := s.put(line)

		s.mu.Lock()
		if s.queued -= len(line); err != nil { // the pump of this side meets the same error and ends the relay
			s.closed, s.queue, s.queued = true, nil, 0
		}
		s.room.Broadcast()
		s.mu.Unlock()
	}
}

// flush stops taking frames and gives those it has a moment to be written: a peer that does not read must not hold up the end.
func (s *sink) flush() {
	s.mu.Lock()
	s.closed = true
	s.ready.Signal()
	s.room.Broadcast()
	s.mu.Unlock()
	select {
	case <-s.idle:
	case <-time.After(flushFor):
	}
}

// close is flush and closes the side, which also ends a write that is still waiting for its peer.
func (s *sink) close() {
	s.flush()
	_ = s.w.Close() // a second close, or a peer that is gone already: either way the side is closed
}

// stuck reports whether a write has been waiting for its peer for that long.
func (s *sink) stuck(since time.Duration) bool {
	began := s.since.Load()
	return began != 0 && time.Since(time.Unix(0, began)) > since
}

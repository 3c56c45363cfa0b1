package link

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
)

const (
	tailBytes = 4 << 10
	tailLines = 20
)

// stderr reads a server's standard error as long as anyone writes to it, keeps its tail, and passes everything on.
type stderr struct {
	to      *Spool // nil discards
	own     bool   // the spool was made here
	from    *os.File
	drained chan struct{} // closed when nothing more will come

	mu   sync.Mutex
	tail []byte
}

func newStderr(to io.Writer) *stderr {
	s := &stderr{drained: make(chan struct{})}
	switch to := to.(type) {
	case nil:
	case *Spool:
		s.to = to
	default:
		s.to, s.own = NewSpool(to), true
	}
	return s
}

// drain starts to read from until its end, or until close.
func (s *stderr) drain(from *os.File) {
	s.from = from
	go func() {
		defer close(s.drained)
		buf := make([]byte, 16<<10)
		for {
			n, err := from.Read(buf)
			s.keep(buf[:n])
			s.pass(buf[:n])
			if err != nil {
				return
			}
		}
	}()
}

func (s *stderr) pass(p []byte) {
	if s.to != nil && len(p) > 0 {
		_, _ = s.to.Write(p) // a spool takes everything
	}
}

// note passes on a line of bouncer's own, which is no part of the tail.
func (s *stderr) note(line string) { s.pass([]byte("bouncer: " + line + "\n")) }

// close ends the reading, and returns when all that was read is passed on.
func (s *stderr) close() {
	closeAll(s.from)
	<-s.drained
	if s.own {
		s.to.Close()
	}
}

// keep adds to the tail. It holds one byte more than is shown, to know whether the first line is whole.
func (s *stderr) keep(p []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(p) > tailBytes {
		s.tail, p = s.tail[:0], p[len(p)-tailBytes-1:]
	}
	if over := len(s.tail) + len(p) - tailBytes - 1; over > 0 {
		s.tail = append(s.tail[:0], s.tail[over:]...)
	}
	s.tail = append(s.tail, p...)
}

func (s *stderr) lines() []string {
	s.mu.Lock()
	tail := bytes.Clone(s.tail)
	s.mu.Unlock()
	if len(tail) > tailBytes {
		// The first line is cut off. It goes, unless it is all there is.
		if end := bytes.IndexByte(tail, '\n'); end >= 0 && end < len(tail)-1 {
			tail = tail[end:]
		}
		tail = tail[1:]
	}
	text := strings.TrimRight(strings.ToValidUTF8(string(tail), "\uFFFD"), "\r\n")
	if text == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSuffix(line, "\r")
	}
	return lines[max(0, len(lines)-tailLines):]
}

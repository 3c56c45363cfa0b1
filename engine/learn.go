package engine

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/bouncer-mcp/bouncer/taint"
)

// Peer is another process of the session.
type Peer struct {
	Server   string // that it stands in front of; empty for one that speaks for the person
	Identity string // what that server is started from
}

// maxCounted bounds how many tools of neighbours are counted.
const maxCounted = 1024

var errFact = errors.New("not a fact")

// Learn takes in one fact of a neighbour. What its server said accuses here, too; what vouches there vouches here only
// if it is the same server, as after a restart, or the policy links the two. Attempts and approvals count for processes of
// the same server alone.
func (e *Engine) Learn(from Peer, fact []byte) error {
	r := reader{rest: fact}
	if v := r.byte(); v != factVersion {
		return fmt.Errorf("a fact of version %d: %w", v, errFact)
	}
	same := from.Identity != "" && from.Identity == e.config.Identity
	kind := r.byte()
	switch kind {
	case factNotes:
		return e.learnNotes(&r, same || e.config.Policy.Linked(from.Server, e.config.Server))
	case factFlag:
		return e.learnFlag(&r)
	case factAttempt:
		tool := r.text(maxNameLen)
		if !r.done() {
			return errFact
		}
		if _, known := e.attempts[tool]; same && (known || len(e.attempts) < maxCounted) {
			e.attempts[tool]++
		}
		return nil
	case factApproval:
		tool, a := r.text(maxNameLen), r.approval()
		if !r.done() {
			return errFact
		}
		if same {
			e.approve(tool, a)
		}
		return nil
	}
	return fmt.Errorf("a fact of kind %d: %w", kind, errFact)
}

func (e *Engine) learnNotes(r *reader, linked bool) error {
	var n taint.Note
	source, path := r.source(), ""
	for len(r.rest) > 0 {
		flags := r.byte()
		n.Key = r.key()
		n.Marks = r.marks()
		n.Strict = flags&noteStrict != 0
		n.At = taint.Origin{}
		if flags&notePlace != 0 {
			if flags&noteSamePath == 0 {
				path = r.text(maxNotePath)
			}
			n.At = taint.Origin{Source: source, Path: path, Snippet: r.text(maxSnippet)}
		}
		if r.bad || flags&^(noteStrict|notePlace|noteSamePath) != 0 {
			return errFact
		}
		e.seen.Merge(n, linked)
	}
	if r.bad {
		return errFact
	}
	return nil
}

func (e *Engine) learnFlag(r *reader) error {
	which, source := r.byte(), r.source()
	if !r.done() {
		return errFact
	}
	first := &e.untrusted
	switch which {
	case flagUntrusted:
	case flagSensitive:
		first = &e.sensitive
	default:
		return errFact
	}
	if *first == nil {
		*first = &source
	}
	return nil
}

// A reader takes a fact apart. Once it is bad, it stays bad and reads nothing more.
type reader struct {
	rest []byte
	bad  bool
}

func (r *reader) done() bool { return !r.bad && len(r.rest) == 0 }

// take cuts n bytes off.
func (r *reader) take(n int) []byte {
	if r.bad || n > len(r.rest) {
		r.bad, r.rest = true, nil
		return nil
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) byte() byte {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) key() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) text(limit int) string {
	n := r.number()
	if n > uint64(limit) {
		r.bad, r.rest = true, nil
		return ""
	}
	return string(r.take(int(n)))
}

func (r *reader) source() taint.Source {
	return taint.Source{Server: r.text(maxNameLen), Tool: r.text(maxNameLen), Call: r.number()}
}

// knownMarks are those that a note can bring.
const knownMarks = taint.MarkText | taint.MarkField | taint.MarkDirectory | taint.MarkIdentity | taint.MarkSaid |
	taint.MarkAimed | taint.MarkUsed | taint.MarkMangled

func (r *reader) marks() taint.Marks {
	n := r.number()
	if n > uint64(knownMarks) {
		r.bad = true
		return 0
	}
	return taint.Marks(n)
}

func (r *reader) approval() approval {
	n := r.number()
	if size := len(digest{}); len(r.rest)%size != 0 || len(r.rest)/size > maxVouched || n == 0 || n > uint64(len(r.rest)/size) {
		r.bad, r.rest = true, nil
		return approval{}
	}
	a := approval{pairs: make(map[digest]bool, len(r.rest)/len(digest{})), params: int(n)}
	for len(r.rest) > 0 {
		a.pairs[digest(r.take(len(digest{})))] = true
	}
	return a
}

func (d digest) compare(other digest) int { return bytes.Compare(d[:], other[:]) }

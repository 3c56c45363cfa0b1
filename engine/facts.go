package engine

import (
	"encoding/binary"
	"maps"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/taint"
)

// A fact is what one process of a session tells the others, in a form of its own: the version of the form, the kind,
// and what the kind has to say. Numbers are unsigned varints, keys have eight bytes, and a text follows its length.
const factVersion = 1

// The kinds of facts.
const (
	factNotes    byte = iota + 1 // source, then notes: flags, key, marks, and with a place its path and snippet
	factAttempt                  // tool
	factApproval                 // tool, number of parameters, digests of the pairs
	factFlag                     // which, source
)

// The flags of a note.
const (
	noteStrict   byte = 1 << iota
	notePlace         // it is from the source, and its path and a snippet follow
	noteSamePath      // the path is that of the note before
)

// The outputs that every process of a session must know of.
const (
	flagUntrusted byte = iota + 1
	flagSensitive
)

// Bounds on facts.
const (
	maxFact     = 16 << 10  // bytes of notes in one, and then the one that did not fit
	maxPending  = 512 << 10 // bytes of facts that wait while an output is being read
	maxNotePath = 256
	maxSnippet  = 512
	maxNameLen  = 256 // of a tool or server
)

// Facts returns what was learned, counted and approved since it was called last, for the processes that the session's
// other servers run behind.
func (e *Engine) Facts() [][]byte { return e.facts.take() }

// Spill makes the engine hand over what it learns while it still reads an output, whenever that has become much. What Facts
// returns comes behind that.
func (e *Engine) Spill(tell func(facts [][]byte)) { e.facts.spill = tell }

// Said returns the facts that tell every process of a session with this key what the person has said.
func Said(key [16]byte, text string) [][]byte {
	e := New(Config{Key: key, Shared: true})
	e.Say(text)
	return e.Facts()
}

// A journal words facts and keeps them until they are collected.
type journal struct {
	kept  bool
	done  [][]byte
	size  int                  // of done
	spill func(facts [][]byte) // gets done when that is more than maxPending; nil: nobody does
	notes []byte               // the fact under construction
	from  taint.Source
	path  string
}

func (j *journal) take() [][]byte {
	j.seal()
	done := j.done
	j.done, j.size = nil, 0
	return done
}

// seal ends the fact under construction. Those behind it must not overtake it.
func (j *journal) seal() {
	if len(j.notes) > 0 {
		j.done = append(j.done, j.notes)
		j.size += len(j.notes)
	}
	j.notes, j.path = nil, ""
}

// relieve lets go of what has become too much to wait for its collection.
func (j *journal) relieve() {
	if j.spill != nil && j.size > maxPending {
		j.spill(j.take())
	}
}

func (j *journal) add(fact []byte) {
	j.seal()
	j.done = append(j.done, fact)
}

func (j *journal) note(n taint.Note) {
	placed := n.At != taint.Origin{}
	if len(j.notes) == 0 || len(j.notes) > maxFact || placed && n.At.Source != j.from {
		j.seal()
		j.relieve()
		j.from = n.At.Source
		j.notes = appendSource([]byte{factVersion, factNotes}, j.from)
	}
	var flags byte
	path := cut(n.At.Path, maxNotePath)
	if n.Strict {
		flags |= noteStrict
	}
	if placed {
		flags |= notePlace
		if path == j.path {
			flags |= noteSamePath
		}
	}
	j.notes = append(j.notes, flags)
	j.notes = binary.LittleEndian.AppendUint64(j.notes, n.Key)
	j.notes = binary.AppendUvarint(j.notes, uint64(n.Marks))
	if flags&notePlace == 0 {
		return
	}
	if flags&noteSamePath == 0 {
		j.notes, j.path = appendText(j.notes, path), path
	}
	j.notes = appendText(j.notes, cut(n.At.Snippet, maxSnippet))
}

func (j *journal) attempt(tool string) {
	if j.kept {
		j.add(appendText([]byte{factVersion, factAttempt}, cut(tool, maxNameLen)))
	}
}

// approval tells of a person's yes. One that covers very much stays here, and is asked for again elsewhere.
func (j *journal) approval(tool string, a approval) {
	if !j.kept || len(a.pairs) > maxVouched || len(tool) > maxNameLen {
		return
	}
	fact := appendText([]byte{factVersion, factApproval}, tool)
	fact = binary.AppendUvarint(fact, uint64(a.params))
	for _, d := range slices.SortedFunc(maps.Keys(a.pairs), digest.compare) {
		fact = append(fact, d[:]...)
	}
	j.add(fact)
}

func (j *journal) flag(which byte, from taint.Source) {
	if j.kept {
		j.add(appendSource([]byte{factVersion, factFlag, which}, from))
	}
}

func appendSource(dst []byte, s taint.Source) []byte {
	dst = appendText(dst, cut(s.Server, maxNameLen))
	dst = appendText(dst, cut(s.Tool, maxNameLen))
	return binary.AppendUvarint(dst, s.Call)
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

// cut shortens a text to so many bytes.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "")
}

package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Record is a line read back. Which fields are set depends on Kind.
type Record struct {
	Seq     uint64
	Prev    string // hash of the record before, empty in the first
	Time    time.Time
	Kind    string // verdict or result
	Session string
	Client  string
	Server  string
	Call    uint64
	Tool    string

	Args     wire.Value
	Verdict  string
	Observed string
	Reason   string
	Contract string
	Layers   []string
	Evidence []Evidence
	Answer   string
	Channel  string

	Outcome string
	MS      float64
	Bytes   int64

	Hash string
}

const (
	hashMember = `,"hash":"`
	// sealSize is the length of the hash member and the closing brace, the part of a record that its hash doesn't cover.
	sealSize = len(hashMember) + 2*sha256.Size + len(`"}`)
)

// Judged is what the rules made of the call: its verdict, or what would have been if its tool were not only watched.
func (r *Record) Judged() string { return cmp.Or(r.Observed, r.Verdict) }

// ParseRecord reads one line (no line ending). It accepts members it doesn't know, and doesn't check the hash.
func ParseRecord(text []byte) (Record, error) {
	v, err := wire.ParseValue(text)
	if err != nil {
		return Record{}, err
	}
	if v.Kind() != '{' {
		return Record{}, errors.New("not an object")
	}
	var r Record
	for name, member := range v.Members() {
		if err := r.set(name, member); err != nil {
			return Record{}, fmt.Errorf("%s: %w", name, err)
		}
	}
	if r.Seq == 0 || r.Hash == "" {
		return Record{}, errors.New("no seq or no hash")
	}
	return r, nil
}

// set reads one member into the field that keeps it.
func (r *Record) set(name string, v wire.Value) error {
	if text := r.textField(name); text != nil {
		return readText(text, v)
	}
	switch name {
	case "seq":
		return readUint(&r.Seq, v)
	case "call":
		return readUint(&r.Call, v)
	case "bytes":
		var n uint64
		err := readUint(&n, v)
		r.Bytes = int64(n)
		return err
	case "ms":
		var err error
		r.MS, err = strconv.ParseFloat(string(v), 64)
		return err
	case "time":
		var text string
		if err := readText(&text, v); err != nil {
			return err
		}
		var err error
		r.Time, err = time.Parse(time.RFC3339Nano, text)
		return err
	case "args":
		r.Args = v
	case "layers":
		for elem := range v.Elems() {
			var layer string
			if err := readText(&layer, elem); err != nil {
				return err
			}
			r.Layers = append(r.Layers, layer)
		}
	case "evidence":
		return r.setEvidence(v)
	}
	return nil
}

func (r *Record) textField(name string) *string {
	switch name {
	case "prev":
		return &r.Prev
	case "kind":
		return &r.Kind
	case "session":
		return &r.Session
	case "client":
		return &r.Client
	case "server":
		return &r.Server
	case "tool":
		return &r.Tool
	case "verdict":
		return &r.Verdict
	case "observed":
		return &r.Observed
	case "reason":
		return &r.Reason
	case "contract":
		return &r.Contract
	case "answer":
		return &r.Answer
	case "channel":
		return &r.Channel
	case "outcome":
		return &r.Outcome
	case "hash":
		return &r.Hash
	}
	return nil
}

func (r *Record) setEvidence(v wire.Value) error {
	for elem := range v.Elems() {
		var e Evidence
		fields := [...]struct {
			name string
			text *string
		}{
			{"param", &e.Param},
			{"value", &e.Value},
			{"class", &e.Class},
			{"server", &e.Server},
			{"tool", &e.Tool},
			{"path", &e.Path},
			{"snippet", &e.Snippet},
		}
		for _, f := range fields {
			if err := readText(f.text, elem.Get(f.name)); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
		}
		if role := elem.Get("role"); role != nil {
			if err := readText(&e.Role, role); err != nil {
				return fmt.Errorf("role: %w", err)
			}
		}
		r.Evidence = append(r.Evidence, e)
	}
	return nil
}

func readText(text *string, v wire.Value) error {
	s, ok := v.Text()
	if !ok {
		return errors.New("not a string")
	}
	*text = s
	return nil
}

func readUint(n *uint64, v wire.Value) (err error) {
	*n, err = strconv.ParseUint(string(v), 10, 64)
	return err
}

// intact reports whether r's hash is that of the line it was read from. The hash covers every byte before its own member, which
// stands last.
func (r *Record) intact(text []byte) bool {
	if len(text) < sealSize || string(text[len(text)-sealSize:]) != hashMember+r.Hash+`"}` {
		return false
	}
	sum := sha256.Sum256(text[:len(text)-sealSize])
	return hex.EncodeToString(sum[:]) == r.Hash
}

// Records ranges over the record lines of all files in dir, oldest first. A line is good until the next; an unfinished one at the
// end is left out. The lines are as they stand there: only Verify tells whether they are true.
func Records(dir string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		s, err := look(dir)
		if err != nil {
			yield(nil, err)
			return
		}
		defer s.close()
		for f, err := range s.files() {
			if err != nil {
				yield(nil, err)
				return
			}
			info, err := f.Stat()
			if err != nil {
				yield(nil, err)
				return
			}
			for l := range fileLines(f, info.Size()) {
				if l.whole && !yield(l.text, nil) {
					return
				}
			}
		}
	}
}

// Tail returns the last n raw record lines, oldest first.
func Tail(dir string, n int) ([][]byte, error) {
	s, err := look(dir)
	if err != nil {
		return nil, err
	}
	defer s.close()
	var found [][]byte
	if s.current != nil {
		if found, err = lastLines(s.current, n); err != nil {
			return nil, err
		}
	}
	for _, path := range slices.Backward(s.rotated) {
		if len(found) >= n {
			break
		}
		f, err := openFile(path, os.O_RDONLY)
		if err != nil {
			return nil, err
		}
		older, err := lastLines(f, n-len(found))
		_ = f.Close() // only read from
		if err != nil {
			return nil, err
		}
		found = slices.Concat(older, found)
	}
	return found, nil
}

// lastLines reads the end of f in growing pieces until n whole lines are in it.
func lastLines(f *os.File, n int) ([][]byte, error) {
	info, err := f.Stat()
	if err != nil || n <= 0 {
		return nil, err
	}
	size := info.Size()
	for window := int64(64 << 10); ; window *= 2 {
		part := make([]byte, min(window, size))
		if _, err := f.ReadAt(part, size-int64(len(part))); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		lines := bytes.Split(part, []byte("\n"))
		lines = lines[:len(lines)-1] // behind the last newline: nothing, or an unfinished line
		if window < size && len(lines) > 0 {
			lines = lines[1:] // perhaps only the end of a line
		}
		if len(lines) >= n || window >= size {
			return lines[max(0, len(lines)-n):], nil
		}
	}
}

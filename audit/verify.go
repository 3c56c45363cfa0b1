package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Report is what Verify found.
type Report struct {
	Records uint64 // in order, up to the fault
	Files   int
	Fault   *Fault   // nil when the chain holds
	Notes   []string // what a crash left behind: to know, not to worry about
}

// Fault is the first bad record.
type Fault struct {
	File   string
	Line   int // 0 when no line is to blame
	Seq    uint64
	Reason string
}

// Verify recomputes the chain over all files of dir, rotated ones first, and checks the end against the head file.
// It reads only, takes no lock, and may run while others append. A directory without a log is in order.
func Verify(dir string) (Report, error) {
	s, err := look(dir)
	if err != nil {
		return Report{}, err
	}
	defer s.close()
	v := verifier{head: s.head, headErr: s.headErr}
	for f, err := range s.files() {
		if err != nil {
			return Report{}, err
		}
		if err := v.file(f, f == s.current); err != nil {
			return Report{}, err
		}
		if v.report.Fault != nil {
			return v.report, nil
		}
	}
	v.end(dir)
	for _, path := range s.torn {
		v.note("%s holds the beginning of a record that a crash cut short", path)
	}
	return v.report, nil
}

// verifier walks along the chain.
type verifier struct {
	head    head
	headErr error
	report  Report
	seq     uint64 // of the record before
	hash    string
	path    string // where that record stands
	line    int
	other   bool // the record with the head's seq has another hash
}

func (v *verifier) note(format string, args ...any) {
	v.report.Notes = append(v.report.Notes, fmt.Sprintf(format, args...))
}

func (v *verifier) file(f *os.File, current bool) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	v.report.Files++
	v.path, v.line = f.Name(), 0
	for l := range fileLines(f, info.Size()) {
		if !l.whole && !l.long && current {
			v.note("%s ends in an unfinished line: a record being written, or one that a crash cut short", f.Name())
			return nil
		}
		seq, reason := v.check(l)
		if reason != "" {
			v.report.Fault = &Fault{File: f.Name(), Line: l.number, Seq: seq, Reason: reason}
			return nil
		}
		v.line = l.number
		v.report.Records++
	}
	return nil
}

// check returns the seq of the record on l, and why it does not continue the chain.
func (v *verifier) check(l line) (seq uint64, reason string) {
	next := v.seq + 1
	switch {
	case l.long:
		return next, "not a record: longer than any"
	case !l.whole:
		return next, "not a record: unfinished"
	}
	r, err := ParseRecord(l.text)
	switch {
	case err != nil:
		return next, fmt.Sprintf("not a record: %v", err)
	case !r.intact(l.text):
		return r.Seq, "content changed: it does not have the hash it names"
	case r.Seq != next:
		return r.Seq, fmt.Sprintf("out of sequence: record %d belongs here", next)
	case r.Prev == "" && next > 1:
		return r.Seq, "link broken: it links to no record, as the first one after the head file was lost"
	case r.Prev != v.hash:
		return r.Seq, "link broken: it was not written behind the record before it"
	}
	v.seq, v.hash = r.Seq, r.Hash
	v.other = v.other || (r.Seq == v.head.seq && r.Hash != v.head.hash)
	return r.Seq, ""
}

// end compares where the chain ends with what the head file says.
func (v *verifier) end(dir string) {
	headPath := filepath.Join(dir, headName)
	fault := &Fault{File: headPath, Seq: v.seq}
	switch {
	case errors.Is(v.headErr, fs.ErrNotExist) && v.seq == 0:
		return // nothing has been recorded yet
	case errors.Is(v.headErr, fs.ErrNotExist):
		fault.Reason = "the head file is missing, so records may have been cut off"
	case v.headErr != nil:
		fault.Reason = fmt.Sprintf("the head file is unreadable: %v", v.headErr)
	case v.seq < v.head.seq:
		if v.path == "" {
			v.path = filepath.Join(dir, currentName)
		}
		fault.File, fault.Line = v.path, v.line
		fault.Reason = fmt.Sprintf("cut off: the head file names %d as the last record", v.head.seq)
	case v.other:
		fault.Seq = v.head.seq
		fault.Reason = fmt.Sprintf("the head file names another record %d", v.head.seq)
	default:
		if v.seq > v.head.seq {
			v.note("the head file names record %d and %d follow: being written, or a crash came between", v.head.seq, v.seq-v.head.seq)
		}
		return
	}
	v.report.Fault = fault
}

package audit

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each case changes a log of ten records in one file, or of the same ten in several. The fault must be found, and still be found
// after an honest process has appended.
func TestTampering(t *testing.T) {
	current := func(change func(lines [][]byte) [][]byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := filepath.Join(dir, currentName)
			lines := bytes.SplitAfter(read(t, path), []byte("\n"))
			rewrite(t, path, bytes.Join(change(lines[:len(lines)-1]), nil))
		}
	}
	edit := func(n int, old, new string) func(*testing.T, string) {
		return current(func(lines [][]byte) [][]byte {
			lines[n-1] = bytes.Replace(lines[n-1], []byte(old), []byte(new), 1)
			return lines
		})
	}
	remove := func(name string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	const (
		changed  = "content changed"
		sequence = "out of sequence"
		broken   = "link broken"
		noRecord = "not a record"
		cut      = "cut off"
	)
	tests := []struct {
		name   string
		tamper func(t *testing.T, dir string)
		file   string
		line   int
		seq    uint64
		reason string // of Verify at once
		later  string // after one more record, when it differs
		at     uint64 // its seq, when it differs
	}{
		{name: "a word", tamper: edit(4, `"ask"`, `"allow"`), line: 4, seq: 4, reason: changed},
		{name: "one byte of the arguments", tamper: edit(10, "Monday", "monday"), line: 10, seq: 10, reason: changed},
		{name: "its seq", tamper: edit(4, `"seq":4`, `"seq":7`), line: 4, seq: 7, reason: changed},
		{name: "its hash", tamper: edit(4, `"hash":"`, `"hash":"0`), line: 4, seq: 4, reason: changed},
		{name: "a member behind the hash", tamper: edit(4, "\"}\n", "\",\"verdict2\":\"allow\"}\n"), line: 4, seq: 4, reason: changed},
		{name: "the same member twice", tamper: edit(4, `,"hash"`, `,"verdict":"allow","hash"`), line: 4, seq: 4, reason: noRecord},
		{name: "white space", tamper: edit(4, `,"time"`, ` ,"time"`), line: 4, seq: 4, reason: changed},
		{name: "a carriage return", tamper: edit(4, "}\n", "}\r\n"), line: 4, seq: 4, reason: changed},
		{name: "a control character", tamper: edit(4, "Minutes", "Min\x00utes"), line: 4, seq: 4, reason: noRecord},
		{name: "an empty line", tamper: edit(4, "}\n", "}\n\n"), line: 5, seq: 5, reason: noRecord},
		{name: "no line end between two", tamper: edit(4, "}\n", "}"), line: 4, seq: 4, reason: noRecord},
		{
			name: "changed and hashed again", line: 5, seq: 5, reason: broken,
			tamper: current(func(lines [][]byte) [][]byte {
				lines[3] = resealed(lines[3], `"ask"`, `"allow"`)
				return lines
			}),
		},
		{
			name: "the last one changed and hashed again", file: headName, line: 0, seq: 10, reason: "another record 10",
			later: broken, at: 11,
			tamper: current(func(lines [][]byte) [][]byte {
				lines[9] = resealed(lines[9], `"ask"`, `"allow"`)
				return lines
			}),
		},
		{name: "a record deleted", line: 4, seq: 5, reason: sequence, tamper: current(func(lines [][]byte) [][]byte {
			return slices.Delete(lines, 3, 4)
		})},
		{name: "the first one deleted", line: 1, seq: 2, reason: sequence, tamper: current(func(lines [][]byte) [][]byte { return lines[1:] })},
		{name: "two swapped", line: 4, seq: 5, reason: sequence, tamper: current(func(lines [][]byte) [][]byte {
			lines[3], lines[4] = lines[4], lines[3]
			return lines
		})},
		{name: "one repeated", line: 5, seq: 4, reason: sequence, tamper: current(func(lines [][]byte) [][]byte {
			return slices.Insert(lines, 4, lines[3])
		})},
		{name: "a line of somebody else appended", line: 11, seq: 11, reason: noRecord, tamper: current(func(lines [][]byte) [][]byte {
			return append(lines, []byte("{\"note\":\"hello\"}\n"))
		})},
		{name: "a line longer than any record", line: 11, seq: 11, reason: noRecord, tamper: current(func(lines [][]byte) [][]byte {
			return append(lines, bytes.Repeat([]byte("x"), maxRecord+10), []byte("\n"))
		})},
		{name: "the tail cut", line: 8, seq: 8, reason: cut, later: sequence, at: 11, tamper: current(func(lines [][]byte) [][]byte {
			return lines[:8]
		})},
		{name: "the tail cut within a line", line: 8, seq: 8, reason: cut, later: sequence, at: 11, tamper: current(func(lines [][]byte) [][]byte {
			return append(lines[:8], lines[8][:50])
		})},
		{name: "emptied", line: 0, seq: 0, reason: cut, later: sequence, at: 11, tamper: current(func([][]byte) [][]byte { return nil })},
		{name: "log deleted", tamper: remove(currentName), line: 0, seq: 0, reason: cut, later: sequence, at: 11},
		{name: "head deleted", tamper: remove(headName), file: headName, seq: 10, reason: "missing", later: broken, at: 11},
		{
			name: "head and tail deleted", file: headName, seq: 8, reason: "missing", later: broken, at: 9,
			tamper: func(t *testing.T, dir string) {
				remove(headName)(t, dir)
				current(func(lines [][]byte) [][]byte { return lines[:8] })(t, dir)
			},
		},
		{
			name: "head scribbled over", file: headName, seq: 10, reason: "unreadable", later: broken, at: 11,
			tamper: func(t *testing.T, dir string) {
				rewrite(t, filepath.Join(dir, headName), bytes.Repeat([]byte("7"), headSize))
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, open(t, dir), 10)
			inOrder(t, dir, 10)
			tt.tamper(t, dir)
			if tt.file == "" {
				tt.file = currentName
			}
			want := Fault{File: filepath.Join(dir, tt.file), Line: tt.line, Seq: tt.seq}
			faulty(t, dir, want, tt.reason)

			fill(t, open(t, dir), 1)
			report, err := Verify(dir)
			if err != nil || report.Fault == nil {
				t.Fatalf("after another record: %+v, %v", report, err)
			}
			if tt.later == "" {
				tt.later, tt.at = tt.reason, tt.seq
			}
			if report.Fault.Seq != tt.at || !strings.Contains(report.Fault.Reason, tt.later) {
				t.Errorf("after another record: %+v, want %q at %d", *report.Fault, tt.later, tt.at)
			}
		})
	}
}

func faulty(t *testing.T, dir string, want Fault, reason string) {
	t.Helper()
	report, err := Verify(dir)
	if err != nil || report.Fault == nil {
		t.Fatalf("no fault: %+v, %v", report, err)
	}
	got := *report.Fault
	want.Reason = got.Reason
	if got != want || !strings.Contains(got.Reason, reason) {
		t.Errorf("got  %+v\nwant %+v with %q", got, want, reason)
	}
}

// resealed changes a record and gives it the hash that it then has.
func resealed(line []byte, old, new string) []byte {
	body := bytes.Replace(line[:len(line)-1-sealSize], []byte(old), []byte(new), 1)
	_, rest, _ := bytes.Cut(body, []byte(`,"time"`))
	r, err := ParseRecord(line[:len(line)-1])
	if err != nil {
		panic(err)
	}
	rec := record{body: append([]byte(`,"time"`), rest...)}
	sealed, _ := seal(nil, rec.body, r.Seq, r.Prev)
	return bytes.Clone(sealed)
}

// Faults in files put aside are found as well.
func TestTamperingWithRotatedFiles(t *testing.T) {
	build := func(t *testing.T) (dir string, rotated []string) {
		dir = t.TempDir()
		l := open(t, dir)
		l.max = 2500 // three records
		fill(t, l, 10)
		inOrder(t, dir, 10)
		rotated, _, err := listFiles(dir)
		if err != nil || len(rotated) != 3 {
			t.Fatalf("%q, %v", rotated, err)
		}
		return dir, rotated
	}
	t.Run("changed", func(t *testing.T) {
		dir, rotated := build(t)
		rewrite(t, rotated[1], bytes.Replace(read(t, rotated[1]), []byte("Monday"), []byte("Sunday"), 1))
		faulty(t, dir, Fault{File: rotated[1], Line: 1, Seq: 4}, "content changed")
	})
	t.Run("one deleted", func(t *testing.T) {
		dir, rotated := build(t)
		if err := os.Remove(rotated[1]); err != nil {
			t.Fatal(err)
		}
		faulty(t, dir, Fault{File: rotated[2], Line: 1, Seq: 7}, "record 4 belongs here")
	})
	t.Run("its end cut", func(t *testing.T) {
		dir, rotated := build(t)
		data := read(t, rotated[0])
		rewrite(t, rotated[0], data[:len(data)-10])
		faulty(t, dir, Fault{File: rotated[0], Line: 3, Seq: 3}, "unfinished")
	})
	t.Run("all but the current file deleted, and the head", func(t *testing.T) {
		dir, rotated := build(t)
		for _, path := range append(rotated, filepath.Join(dir, headName)) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		faulty(t, dir, Fault{File: filepath.Join(dir, currentName), Line: 1, Seq: 10}, "record 1 belongs here")
	})
}

// A process that is running knows the end of the chain even when log and head are put back together to an earlier state.
func TestRolledBack(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	fill(t, l, 5)
	oldLog, oldHead := read(t, filepath.Join(dir, currentName)), read(t, filepath.Join(dir, headName))
	fill(t, l, 3)
	rewrite(t, filepath.Join(dir, currentName), oldLog)
	rewrite(t, filepath.Join(dir, headName), oldHead)
	inOrder(t, dir, 5) // nothing on the disk tells
	fill(t, l, 1)
	faulty(t, dir, Fault{File: filepath.Join(dir, currentName), Line: 6, Seq: 9}, "record 6 belongs here")
}

func TestVerifyNothing(t *testing.T) {
	report, err := Verify(filepath.Join(t.TempDir(), "none"))
	if err != nil || report.Fault != nil || report.Records != 0 || report.Files != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	if lines, err := Tail(filepath.Join(t.TempDir(), "none"), 3); err != nil || len(lines) != 0 {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestHead(t *testing.T) {
	for _, h := range []head{{}, {1, strings.Repeat("a", 64), 2, 3}, {1<<64 - 1, strings.Repeat("f", 64), 1<<63 - 1, 1<<64 - 1}, {seq: 9}} {
		line := h.encode()
		if got, ok := parseHead(line); len(line) != headSize || !ok || got != h {
			t.Errorf("%q: %+v, %v", line, got, ok)
		}
		for i := range line {
			bad := bytes.Clone(line)
			bad[i] ^= 0x40
			if got, ok := parseHead(bad); ok && got == h {
				t.Errorf("%q reads as if nothing had changed", bad)
			}
		}
	}
}

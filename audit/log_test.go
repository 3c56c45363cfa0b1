package audit

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// TestMain lets a test start this binary again as a process that appends: so many records, or until it is killed.
func TestMain(m *testing.M) {
	if dir := os.Getenv("AUDIT_TEST_DIR"); dir != "" {
		appender(dir, os.Getenv("AUDIT_TEST_RECORDS"))
		return
	}
	m.Run()
}

func appender(dir, records string) {
	n, err := strconv.Atoi(records)
	if err != nil {
		panic(err)
	}
	l, err := Open(dir)
	if err != nil {
		panic(err)
	}
	l.max, l.wait = 200<<10, time.Minute
	for i := range n {
		if err := l.Verdict(sample(uint64(i + 1))); err != nil {
			panic(err)
		}
	}
}

func startAppender(t *testing.T, dir string, records int) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe)
	cmd.Env = append(os.Environ(), "AUDIT_TEST_DIR="+dir, "AUDIT_TEST_RECORDS="+strconv.Itoa(records))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd
}

func open(t testing.TB, dir string) *Log {
	t.Helper()
	l, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l
}

// fill appends n records.
func fill(t testing.TB, l *Log, n int) {
	t.Helper()
	for i := range n {
		if err := l.Verdict(sample(uint64(i + 1))); err != nil {
			t.Fatal(err)
		}
	}
}

// inOrder expects a chain without a fault, and returns the report.
func inOrder(t *testing.T, dir string, records uint64) Report {
	t.Helper()
	report, err := Verify(dir)
	if err != nil {
		t.Fatal(err)
	}
	if report.Fault != nil {
		t.Fatalf("fault: %+v", *report.Fault)
	}
	if report.Records != records {
		t.Fatalf("%d records, want %d", report.Records, records)
	}
	return report
}

func entries(t *testing.T, dir string) []string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func rewrite(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestNothingIsWrittenBeforeTheFirstRecord(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	l := open(t, dir)
	if got := entries(t, dir); len(got) != 0 {
		t.Errorf("files: %q", got)
	}
	inOrder(t, dir, 0)
	fill(t, l, 1)
	for path, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, currentName): 0o600, filepath.Join(dir, headName): 0o600} {
		info, err := os.Stat(path)
		if err != nil || (info.Mode().Perm() != want && runtime.GOOS != "windows") {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if lines, err := Tail(dir, 5); err != nil || len(lines) != 1 || !bytes.HasPrefix(lines[0], []byte(`{"seq":1,"prev":"","time":`)) {
		t.Errorf("%q, %v", lines, err)
	}
}

// Two logs on one directory and many goroutines: one chain.
func TestShared(t *testing.T) {
	dir := t.TempDir()
	logs := []*Log{open(t, dir), open(t, dir)}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			l := logs[i%2]
			for n := range 25 {
				call := uint64(i*100 + n)
				if err := l.Verdict(sample(call)); err != nil {
					t.Error(err)
				}
				if err := l.Result(Result{Time: time.Now(), Server: "mail", Call: call, Tool: "send_email", Outcome: "ok"}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	for _, l := range logs {
		if err := l.Close(); err != nil { // results may have been waiting
			t.Error(err)
		}
	}
	if report := inOrder(t, dir, 400); len(report.Notes) != 0 {
		t.Errorf("notes: %q", report.Notes)
	}
}

func TestProcesses(t *testing.T) {
	dir := t.TempDir()
	var running []*exec.Cmd
	for range 4 {
		running = append(running, startAppender(t, dir, 500))
	}
	for _, cmd := range running {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	// 2000 records of 700 bytes, put aside at 200 KiB: the processes rotated under each other.
	if report := inOrder(t, dir, 2000); report.Files < 6 || len(report.Notes) != 0 {
		t.Errorf("%+v", report)
	}
	next := uint64(1)
	for line, err := range Records(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if r, err := ParseRecord(line); err != nil || r.Seq != next {
			t.Fatalf("record %d: %+v, %v", next, r, err)
		}
		next++
	}
	if next != 2001 {
		t.Errorf("the records end before %d", next)
	}
}

// A process killed at any moment leaves a log that goes on without a fault.
func TestKilledProcess(t *testing.T) {
	dir := t.TempDir()
	survivor := open(t, dir)
	survivor.max, survivor.wait = 200<<10, time.Minute
	fill(t, survivor, 1)
	for round := range 8 {
		before := records(t, dir)
		cmd := startAppender(t, dir, math.MaxInt)
		for deadline := time.Now().Add(time.Minute); records(t, dir) < before+uint64(10+7*round); {
			fill(t, survivor, 1)
			if time.Now().After(deadline) {
				t.Fatal("the process appends nothing")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // always an error: it was killed
		fill(t, survivor, 1)
		fill(t, open(t, dir), 1)
		inOrder(t, dir, records(t, dir))
	}
}

// records returns the number of the newest record.
func records(t *testing.T, dir string) uint64 {
	t.Helper()
	lines, err := Tail(dir, 1)
	if err != nil || len(lines) != 1 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	r, err := ParseRecord(lines[0])
	if err != nil {
		t.Fatal(err)
	}
	return r.Seq
}

// What a crash between two system calls leaves, written by hand, since no kill hits these moments reliably.
func TestCrashes(t *testing.T) {
	const n = 5
	tests := []struct {
		name  string
		crash func(t *testing.T, dir string)
		torn  string // the file that must hold what there was of it
		note  string // of Verify before anything else is appended
	}{
		{
			name: "before the head was written",
			crash: func(t *testing.T, dir string) {
				old := read(t, filepath.Join(dir, headName))
				fill(t, open(t, dir), 2)
				rewrite(t, filepath.Join(dir, headName), old)
			},
			note: "2 follow",
		},
		{
			name: "in the middle of a record",
			crash: func(t *testing.T, dir string) {
				path := filepath.Join(dir, currentName)
				rewrite(t, path, append(read(t, path), `{"seq":6,"pre`...))
			},
			torn: "audit.torn-000000000006", note: "unfinished",
		},
		{
			name: "in the middle of the record after the head was not written",
			crash: func(t *testing.T, dir string) {
				old := read(t, filepath.Join(dir, headName))
				fill(t, open(t, dir), 2)
				path := filepath.Join(dir, currentName)
				rewrite(t, path, append(read(t, path), `{`...))
				rewrite(t, filepath.Join(dir, headName), old)
			},
			torn: "audit.torn-000000000008", note: "unfinished",
		},
		{
			name: "between putting a file aside and saying so",
			crash: func(t *testing.T, dir string) {
				if err := os.Rename(filepath.Join(dir, currentName), filepath.Join(dir, rotatedName(1))); err != nil {
					t.Fatal(err)
				}
			},
		},
		{
			name:  "before the first record",
			crash: func(t *testing.T, dir string) { restart(t, dir); rewrite(t, filepath.Join(dir, headName), nil) },
		},
		{
			name: "after the first record",
			crash: func(t *testing.T, dir string) {
				restart(t, dir)
				fill(t, open(t, dir), 1)
				rewrite(t, filepath.Join(dir, headName), head{}.encode())
			},
			note: "1 follow",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, open(t, dir), n)
			tt.crash(t, dir)
			there := uint64(0)
			for range Records(dir) {
				there++
			}
			report := inOrder(t, dir, there)
			if notes := strings.Join(report.Notes, "\n"); !strings.Contains(notes, tt.note) || (tt.note == "") != (notes == "") {
				t.Errorf("notes: %q, want %q", notes, tt.note)
			}
			fill(t, open(t, dir), 3)
			report = inOrder(t, dir, there+3)
			if (tt.torn != "") != (len(report.Notes) == 1) {
				t.Errorf("notes afterwards: %q", report.Notes)
			}
			if tt.torn != "" && !bytes.HasPrefix(read(t, filepath.Join(dir, tt.torn)), []byte("{")) {
				t.Errorf("%s does not hold what was torn", tt.torn)
			}
		})
	}
}

// restart empties dir.
func restart(t *testing.T, dir string) {
	t.Helper()
	for _, name := range entries(t, dir) {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
}

// A second crash at the same place must not overwrite what the first one left.
func TestTornTwice(t *testing.T) {
	dir := t.TempDir()
	fill(t, open(t, dir), 1)
	path := filepath.Join(dir, currentName)
	for _, part := range []string{"first", "second"} {
		rewrite(t, path, append(read(t, path), part...))
		l := open(t, dir)
		l.lock, _ = atomicfile.OpenLock(filepath.Join(dir, headName))
		if err := l.catchUp(); err != nil { // and here the second crash
			t.Fatal(err)
		}
	}
	if got := string(read(t, filepath.Join(dir, "audit.torn-000000000002"))); got != "first" {
		t.Errorf("first: %q", got)
	}
	if got := string(read(t, filepath.Join(dir, "audit.torn-000000000002-2"))); got != "second" {
		t.Errorf("second: %q", got)
	}
	inOrder(t, dir, 1)
}

// A file put aside and its successor may be equally long: only the head tells them apart.
func TestRotationOfEqualFiles(t *testing.T) {
	dir := t.TempDir()
	a, b, rotator := open(t, dir), open(t, dir), open(t, dir)
	rotator.max = 1000
	// Records 2 and 3 make up the second file, 4 and 5 the third. Then a still has the second one open.
	for _, l := range []*Log{a, rotator, a, rotator, b, a} {
		fill(t, l, 1)
	}
	if report := inOrder(t, dir, 6); report.Files != 3 {
		t.Errorf("%d files", report.Files)
	}
}

// Rotations between two steps of looking show the open file under both of its names, and files newer than it.
func TestFileSeenTwice(t *testing.T) {
	dir := t.TempDir()
	fill(t, open(t, dir), 3)
	if err := os.Link(filepath.Join(dir, currentName), filepath.Join(dir, rotatedName(1))); err != nil {
		t.Fatal(err)
	}
	rewrite(t, filepath.Join(dir, rotatedName(4)), []byte("newer than what is looked at"))
	if report := inOrder(t, dir, 3); report.Files != 1 {
		t.Errorf("%d files", report.Files)
	}
	if lines, err := Tail(dir, 9); err != nil || len(lines) != 3 {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	one, two := open(t, dir), open(t, dir)
	one.max, two.max = 4000, 4000
	for range 20 {
		fill(t, one, 1)
		fill(t, two, 1)
	}
	report := inOrder(t, dir, 40)
	if report.Files < 5 {
		t.Errorf("%d files", report.Files)
	}
	for _, name := range entries(t, dir) {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() > 4000 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	for _, n := range []int{-1, 0, 1, 7, 40, 100} {
		lines, err := Tail(dir, n)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(max(n, 0), 40); len(lines) != want {
			t.Fatalf("Tail(%d) has %d lines", n, len(lines))
		}
		for i, line := range lines {
			if r, err := ParseRecord(line); err != nil || r.Seq != uint64(40-len(lines)+i+1) {
				t.Fatalf("Tail(%d), line %d: record %d, %v", n, i, r.Seq, err)
			}
		}
	}
}

// Nothing is overwritten, even by a rotation that finds its name taken.
func TestRotationNameTaken(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, rotatedName(1))
	rewrite(t, taken, nil)
	rewrite(t, filepath.Join(dir, headName), head{}.encode())
	l := open(t, dir)
	l.max = 1000
	fill(t, l, 5)
	if len(read(t, taken)) != 0 {
		t.Error("overwritten")
	}
	inOrder(t, dir, 5)
}

// Lines longer than the pieces in which Tail reads.
func TestTailOfLongLines(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	v := sample(1)
	for range 50 {
		v.Evidence = append(v.Evidence, Evidence{Value: strings.Repeat("\x01", 256), Snippet: strings.Repeat("\x01", 256)})
	}
	for range 3 {
		if err := l.Verdict(v); err != nil {
			t.Fatal(err)
		}
	}
	lines, err := Tail(dir, 2)
	if err != nil || len(lines) != 2 || len(lines[0]) < 100<<10 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for _, line := range lines {
		if _, err := ParseRecord(line); err != nil {
			t.Error(err)
		}
	}
}

// Verifying takes no lock, so it must never mistake a log being written for a broken one.
func TestVerifyWhileAppending(t *testing.T) {
	dir := t.TempDir()
	done := make(chan struct{})
	go func() {
		defer close(done)
		l, err := Open(dir)
		if err != nil {
			t.Error(err)
			return
		}
		defer l.Close()
		l.max = 8000
		for i := range 600 {
			if err := l.Verdict(sample(uint64(i))); err != nil {
				t.Error(err)
			}
		}
	}()
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		report, err := Verify(dir)
		if err != nil || report.Fault != nil {
			t.Fatalf("%+v, %v", report.Fault, err)
		}
		if _, err := Tail(dir, 3); err != nil {
			t.Fatal(err)
		}
	}
	inOrder(t, dir, 600)
}

// kinds are the kinds of the records, oldest first.
func kinds(t *testing.T, dir string) string {
	t.Helper()
	var all []string
	for line, err := range Records(dir) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := ParseRecord(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r.Kind)
	}
	return strings.Join(all, " ")
}

// A result waits for company, but not for ever, and never behind a verdict that came later.
func TestResultsWait(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	result := func() {
		t.Helper()
		if err := l.Result(Result{Call: 1, Tool: "send_email", Outcome: "ok"}); err != nil {
			t.Fatal(err)
		}
	}
	fill(t, l, 1)
	result()
	result()
	fill(t, l, 1)
	if got, want := kinds(t, dir), "verdict result result verdict"; got != want {
		t.Errorf("after a verdict: %s, want %s", got, want)
	}
	result()
	for deadline := time.Now().Add(time.Minute); kinds(t, dir) != "verdict result result verdict result"; {
		if time.Now().After(deadline) {
			t.Fatalf("alone: %s", kinds(t, dir))
		}
	}
	result()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if got, want := kinds(t, dir), "verdict result result verdict result result"; got != want {
		t.Errorf("after Close: %s, want %s", got, want)
	}
	inOrder(t, dir, 6)
}

// A log that takes no record must not take memory without bounds, nor lose a result once it can write again.
func TestResultsOfALogThatIsStuck(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	l.wait = 200 * time.Millisecond
	fill(t, l, 1)
	unlock, err := atomicfile.LockFile(filepath.Join(dir, headName), 0)
	if err != nil {
		t.Fatal(err)
	}
	kept := uint64(0)
	for l.Result(Result{Call: 1, Tool: "send_email", Outcome: "ok"}) == nil {
		if kept++; kept*100 > maxHeld {
			t.Fatalf("%d results are held and nobody was told", kept)
		}
	}
	unlock()
	fill(t, l, 1)
	if got := records(t, dir); got < kept+2 {
		t.Errorf("%d records, want at least %d", got, kept+2)
	}
	inOrder(t, dir, records(t, dir))
}

func TestLockedElsewhere(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	l.wait = 5 * time.Millisecond
	fill(t, l, 1)
	unlock, err := atomicfile.LockFile(filepath.Join(dir, headName), 0)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 3 { // whichever of them waits for the lock and whichever only for its turn
		all.Go(func() {
			if err := l.Verdict(sample(2)); !errors.Is(err, atomicfile.ErrLocked) {
				t.Errorf("while locked: %v", err)
			}
		})
	}
	all.Wait()
	unlock()
	l.wait = time.Minute
	fill(t, l, 1)
	inOrder(t, dir, 2)
}

func TestClosed(t *testing.T) {
	dir := t.TempDir()
	l := open(t, dir)
	fill(t, l, 1)
	for range 2 {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := l.Verdict(sample(2)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	inOrder(t, dir, 1)
}

package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// hall is a state directory in which runs of one session meet.
type hall struct {
	t     *testing.T
	state string
}

func newHall(t *testing.T) *hall { return &hall{t, filepath.Join(t.TempDir(), "state")} }

func (h *hall) open(server string) *Ledger {
	h.t.Helper()
	return h.openIn("one", server)
}

func (h *hall) openIn(name, server string) *Ledger {
	h.t.Helper()
	l, err := OpenLedger(h.state, LedgerOptions{Server: server, Identity: "npm:" + server, Session: name})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = l.Close() }) // many tests have closed it
	return l
}

func (h *hall) tell(l *Ledger, records ...string) {
	h.t.Helper()
	if err := l.Append(asBytes(records)...); err != nil {
		h.t.Fatal(err)
	}
}

func asBytes(records []string) [][]byte {
	var list [][]byte
	for _, r := range records {
		list = append(list, []byte(r))
	}
	return list
}

// hear returns what is new, as server=record.
func hear(l *Ledger) (string, error) {
	var got []string
	err := l.Read(func(p Peer, record []byte) {
		who := p.Server
		if p.Person {
			who = "person"
		}
		got = append(got, who+"="+string(record))
	})
	return strings.Join(got, " "), err
}

func (h *hall) hears(l *Ledger, want string) {
	h.t.Helper()
	if got, err := hear(l); err != nil || got != want {
		h.t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

func (h *hall) misses(l *Ledger, want string) {
	h.t.Helper()
	if got, err := hear(l); !errors.Is(err, ErrIncomplete) || got != want {
		h.t.Errorf("got %q, %v; want %q and that something is missing", got, err, want)
	}
}

func TestLedgerShares(t *testing.T) {
	h := newHall(t)
	a, b := h.open("a"), h.open("b")
	h.tell(a, "1", "", "2")
	h.hears(b, "a=1 a= a=2")
	h.hears(b, "")
	h.hears(a, "") // its own are not news
	h.tell(b, "3")
	h.tell(a, "4")
	h.hears(a, "b=3")
	h.hears(b, "a=4")
	c := h.open("c")
	h.hears(c, "a=1 a= a=2 a=4 b=3")
	h.tell(c, "5")
	h.hears(a, "c=5")
	if a.Key() != b.Key() || a.Key() == [16]byte{} {
		t.Errorf("keys %x and %x", a.Key(), b.Key())
	}
	if err := a.Append(); err != nil {
		t.Errorf("nothing to append: %v", err)
	}
}

func TestLedgerSessionsAreApart(t *testing.T) {
	h := newHall(t)
	a, b := h.openIn("one", "a"), h.openIn("two", "b")
	h.tell(a, "1")
	h.hears(b, "")
	if a.Key() == b.Key() {
		t.Error("two sessions have one key")
	}
}

// TestLedgerServerStartsAgain goes on with the file of the run before, which stays known, also to the new run.
func TestLedgerServerStartsAgain(t *testing.T) {
	h := newHall(t)
	a, b := h.open("a"), h.open("b")
	h.tell(a, "1")
	h.hears(b, "a=1")
	for i := range 5 {
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		a = h.open("a")
		h.tell(a, strconv.Itoa(i+2))
		h.hears(b, "a="+strconv.Itoa(i+2))
	}
	h.hears(a, "a=1 a=2 a=3 a=4 a=5")
	h.hears(a, "")
	if n := len(files(t, a.dir)); n != 4 { // key, pulse, two of the ledger
		t.Errorf("%d files: %q", n, files(t, a.dir))
	}
	again := h.open("a") // the same server twice at once
	h.tell(again, "x")
	h.hears(a, "a=x")
}

// TestLedgerLongSession puts more into one Append than fits a frame, and more than is read at once.
func TestLedgerLongSession(t *testing.T) {
	h := newHall(t)
	a, b := h.open("a"), h.open("b")
	var want [][]byte
	for i := range 2000 {
		want = append(want, bytes.Repeat([]byte{byte(i)}, 1+i%997))
	}
	want = append(want, bytes.Repeat([]byte("x"), maxRecord), []byte("last"))
	if err := a.Append(want...); err != nil {
		t.Fatal(err)
	}
	var got [][]byte
	if err := b.Read(func(_ Peer, r []byte) { got = append(got, bytes.Clone(r)) }); err != nil {
		t.Fatal(err)
	}
	if !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("got %d records, want %d", len(got), len(want))
	}
}

// TestLedgerAnnounced makes a reader wait for an output that the client may have before it is written down.
func TestLedgerAnnounced(t *testing.T) {
	h := newHall(t)
	a, b := h.open("a"), h.open("b")
	b.patience = time.Minute
	if err := a.Announce(); err != nil {
		t.Fatal(err)
	}
	begun, done := make(chan struct{}), make(chan string)
	go func() {
		close(begun)
		got, err := hear(b)
		done <- fmt.Sprint(got, err)
	}()
	<-begun
	h.tell(a, "1")
	if got := <-done; got != "a=1<nil>" {
		t.Errorf("got %s", got)
	}

	if err := a.Announce(); err != nil {
		t.Fatal(err)
	}
	b.patience = time.Millisecond
	if err := a.AppendPart([]byte("2")); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a=2", ""} { // it takes too long
		if got, err := hear(b); got != want || err != ErrLate {
			t.Errorf("%q, %v", got, err)
		}
	}
	h.tell(a) // the rest held nothing worth telling
	h.hears(b, "")
}

// TestLedgerWriterKilled leaves an output open for ever. Nobody waits for it twice.
func TestLedgerWriterKilled(t *testing.T) {
	h := newHall(t)
	a, b := h.open("a"), h.open("b")
	h.tell(a, "1")
	if err := errors.Join(a.Announce(), a.file.Close()); err != nil { // what the system does to a process that is killed
		t.Fatal(err)
	}
	if got, err := hear(b); got != "a=1" || !errors.Is(err, ErrIncomplete) || errors.Is(err, ErrLate) {
		t.Errorf("%q, %v", got, err)
	}
	b.patience = time.Hour // from now on nobody waits
	for range 100 {
		h.misses(b, "")
	}
	a = h.open("a")
	h.misses(a, "a=1") // whoever goes on with the file inherits the gap
	h.tell(a, "2")
	h.misses(b, "a=2")
	h.misses(h.open("c"), "a=1 a=2")
}

// TestLedgerDamaged damages one file in different places. What stands before the damage counts.
func TestLedgerDamaged(t *testing.T) {
	tests := []struct {
		name   string
		damage func(data []byte) []byte // of head, 1, 2, 3 in a frame each
		want   string
	}{
		{"last frame torn", func(b []byte) []byte { return b[:len(b)-1] }, "a=1 a=2"},
		{"last frame's head torn", func(b []byte) []byte { return b[:len(b)-frameHead-1] }, "a=1 a=2"},
		{"a byte in the middle", func(b []byte) []byte { b[len(b)-frameHead-3] ^= 1; return b }, "a=1"},
		{"a length in the middle", func(b []byte) []byte { b[len(b)-2*(frameHead+2)+3] = 0xff; return b }, "a=1"},
		{"zeros at the end", func(b []byte) []byte { clear(b[len(b)-frameHead-2:]); return b }, "a=1 a=2"},
		{"empty", func([]byte) []byte { return nil }, ""},
		{"another format", func(b []byte) []byte { b[len(ledgerSign)-1]++; return b }, ""},
		{"no owner", func(b []byte) []byte { b[len(ledgerSign)+frameHead] ^= 1; return b }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHall(t)
			a, b := h.open("a"), h.open("b")
			for _, r := range []string{"1", "2", "3"} {
				h.tell(a, r)
			}
			path := a.path(a.index)
			data, err := os.ReadFile(path)
			if err == nil {
				err = os.WriteFile(path, tt.damage(data), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			h.misses(b, tt.want)
			h.misses(b, "")
			h.tell(b, "still here")
			if got, err := hear(h.open("c")); !errors.Is(err, ErrIncomplete) || got != strings.TrimSpace(tt.want+" b=still here") {
				t.Errorf("a new run: %q, %v", got, err)
			}
		})
	}
}

// TestLedgerTornEnd goes on behind a frame that was never finished.
func TestLedgerTornEnd(t *testing.T) {
	h := newHall(t)
	a, b := h.open("a"), h.open("b")
	h.tell(a, "1")
	torn, err := appendFrames(nil, [][]byte{[]byte("torn")})
	if err == nil {
		_, err = a.file.File().WriteAt(torn[:len(torn)-1], int64(a.own.end))
	}
	if err = errors.Join(err, a.Close()); err != nil {
		t.Fatal(err)
	}
	h.hears(b, "a=1")
	a = h.open("a")
	h.tell(a, "2")
	h.hears(b, "a=2")
	h.hears(a, "a=1")
	h.hears(h.open("c"), "a=1 a=2")
}

// TestLedgerNotWritten makes an Append fail. The writer and the others know.
func TestLedgerNotWritten(t *testing.T) {
	for name, spoil := range map[string]func(l *Ledger) [][]byte{
		"full":            func(l *Ledger) [][]byte { l.own.end = maxLedger; return asBytes([]string{"2"}) },
		"disk error":      func(l *Ledger) [][]byte { _ = l.file.Close(); return asBytes([]string{"2"}) },
		"record too long": func(*Ledger) [][]byte { return [][]byte{make([]byte, maxRecord+1)} },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t)
			a, b := h.open("a"), h.open("b")
			h.tell(a, "1")
			h.hears(b, "a=1")
			if err := a.Append(spoil(a)...); err == nil {
				t.Error("no error")
			}
			h.misses(b, "")
			h.misses(b, "")
		})
	}
}

func TestLedgerPulseGone(t *testing.T) {
	h := newHall(t)
	a, b := h.open("a"), h.open("b")
	h.hears(b, "")
	if err := os.Truncate(filepath.Join(a.dir, "pulse"), 0); err != nil {
		t.Fatal(err)
	}
	h.misses(b, "")
}

func TestLedgerPulseDamaged(t *testing.T) {
	h := newHall(t)
	a, b := h.open("a"), h.open("b")
	h.tell(a, "1")
	line := entry{end: 1 << 63}.appendTo(nil)
	if _, err := a.pulse.WriteAt(line, 0); err != nil {
		t.Fatal(err)
	}
	h.misses(b, "a=1")
	if err := os.Truncate(filepath.Join(a.dir, "pulse"), 1<<20); err != nil {
		t.Fatal(err)
	}
	h.misses(b, "")
}

// TestLedgerOpenedAtOnce makes one session from many sides. All agree on the key, and none loses its file.
func TestLedgerOpenedAtOnce(t *testing.T) {
	h := newHall(t)
	var all sync.WaitGroup
	ledgers := make([]*Ledger, 20)
	for i := range ledgers {
		all.Go(func() {
			l, err := OpenLedger(h.state, LedgerOptions{Server: strconv.Itoa(i), Identity: strconv.Itoa(i), Session: "one"})
			if err == nil {
				err = l.Append([]byte("x"))
			}
			if err != nil {
				t.Error(err)
				return
			}
			ledgers[i] = l
		})
	}
	all.Wait()
	if t.Failed() {
		return
	}
	for _, l := range ledgers {
		got, err := hear(l)
		if n := len(strings.Fields(got)); n != len(ledgers)-1 || err != nil || l.Key() != ledgers[0].Key() {
			t.Errorf("%d records, %v, key %x", n, err, l.Key())
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, name := range files(t, filepath.Join(h.state, "sessions")) {
		if strings.HasPrefix(name, ".") {
			t.Errorf("left behind: %s", name)
		}
	}
}

// TestLedgerManyWriters lets ten write a thousand records each while they read. Each gets each record of the others once, in
// the order in which it was written.
func TestLedgerManyWriters(t *testing.T) {
	const writers, records = 10, 1000
	h := newHall(t)
	var all sync.WaitGroup
	var written sync.WaitGroup
	written.Add(writers)
	for w := range writers {
		l := h.open(strconv.Itoa(w))
		l.patience = time.Minute
		all.Go(func() {
			next := map[string]int{}
			read := func() {
				err := l.Read(func(p Peer, r []byte) {
					if want := strconv.Itoa(next[p.Server]); string(r) != want || p.Identity != "npm:"+p.Server {
						t.Errorf("%d read %s of %+v, want %s", w, r, p, want)
					}
					next[p.Server]++
				})
				if err != nil {
					t.Error(err)
				}
			}
			for i := 0; i < records; i += 4 {
				if err := l.Announce(); err != nil {
					t.Error(err)
				}
				var batch [][]byte
				for j := range 4 {
					batch = append(batch, strconv.AppendInt(nil, int64(i+j), 10))
				}
				if err := l.Append(batch...); err != nil {
					t.Error(err)
				}
				read()
			}
			written.Done()
			written.Wait()
			read()
			for other := range writers {
				if n := next[strconv.Itoa(other)]; n != records && other != w || n != 0 && other == w {
					t.Errorf("%d read %d records of %d", w, n, other)
				}
			}
		})
	}
	all.Wait()
}

// TestSweep leaves what lives, and removes what is over.
func TestSweep(t *testing.T) {
	h := newHall(t)
	root := filepath.Join(h.state, "sessions")
	self, _ := findProcess(os.Getpid())
	gone := self
	gone.start++ // an earlier process with the same pid
	long := time.Now().Add(-30 * 24 * time.Hour)
	room := func(name string, old, join bool) string {
		r, err := enterRoom(h.state, name, true)
		if err != nil {
			t.Fatal(err)
		}
		l, err := r.join(Peer{Server: "a"})
		if err != nil {
			t.Fatal(err)
		}
		if !join {
			err = errors.Join(l.file.Close(), l.pulse.Close())
		} else {
			t.Cleanup(func() { _ = l.Close() })
		}
		if old {
			err = errors.Join(err, os.Chtimes(filepath.Join(r.dir, "pulse"), long, long))
		}
		if err != nil {
			t.Fatal(err)
		}
		return name
	}
	stay := []string{
		room(roomName(self), true, false),
		room("7-7-elsewhere", false, false),
		room("8-8-elsewhere", true, true),
		room("kept", true, false),
	}
	held := gone
	held.start++
	stay = append(stay, room(roomName(held), true, true))
	room(roomName(gone), false, false)
	room("9-9-elsewhere", true, false)
	for _, name := range []string{".new-1", ".old-2"} {
		dir := filepath.Join(root, name)
		if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "key"), nil, 0o600), os.Chtimes(dir, long, long)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, ".new-3"), 0o700); err != nil {
		t.Fatal(err)
	}
	stay = append(stay, ".new-3")

	sweep(root, "kept")
	slices.Sort(stay)
	if got := files(t, root); !slices.Equal(got, stay) {
		t.Errorf("left %q, want %q", got, stay)
	}
}

// TestLedgerRefused gives OpenLedger what it can't use. Nothing is taken from there.
func TestLedgerRefused(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(t *testing.T, dir string)
	}{
		{"no key", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "key")) }},
		{"half a key", func(t *testing.T, dir string) {
			if err := os.Truncate(filepath.Join(dir, "key"), 8); err != nil {
				t.Fatal(err)
			}
		}},
		{"no pulse", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "pulse")) }},
		{"a file in its place", func(t *testing.T, dir string) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHall(t)
			l := h.open("a")
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
			tt.spoil(t, l.dir)
			if _, err := OpenLedger(h.state, LedgerOptions{Server: "a", Session: "one"}); err == nil || !strings.HasPrefix(err.Error(), "session: ") {
				t.Errorf("got %v", err)
			}
		})
	}
	h := newHall(t)
	if _, err := OpenLedger(h.state, LedgerOptions{Server: strings.Repeat("a", maxOwner+1), Session: "one"}); err == nil {
		t.Error("an endless name is taken")
	}
}

func TestOpenHookWithoutSession(t *testing.T) {
	h := newHall(t)
	if _, err := OpenHook(h.state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Lstat(h.state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was made: %v", err)
	}
}

func TestHeldByTheLiving(t *testing.T) {
	path := filepath.Join(t.TempDir(), "0")
	lock, err := atomicfile.OpenLock(path)
	if err == nil {
		err = lock.Lock(0)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !held(path) {
		t.Error("a lock that is held is free")
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if held(path) {
		t.Error("a free lock is held")
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

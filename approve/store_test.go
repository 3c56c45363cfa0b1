package approve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

func TestMain(m *testing.M) {
	if role := os.Getenv("APPROVE_TEST_ROLE"); role == "asker" {
		playAsker()
		return
	}
	m.Run()
}

func mailTo(to string) Question {
	args := wire.Value(wire.AppendQuoted([]byte(`{"to":`), to))
	return Question{Server: "mail", Tool: "send", Args: append(args, '}'), Verdict: gate(unseen("to", to))}
}

func newStore(t testing.TB) *Store {
	t.Helper()
	s, err := OpenStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func post(t testing.TB, s *Store, q Question) *Posted {
	t.Helper()
	p, err := s.Post(q, Posting{Client: "test 1", For: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// leftovers are the files of a store.
func leftovers(t testing.TB, s *Store) string {
	t.Helper()
	files, err := s.files()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(files, " ")
}

func TestStoreAnswers(t *testing.T) {
	for _, want := range []Answer{No, Once, Session, Always} {
		t.Run(want.String(), func(t *testing.T) {
			s := newStore(t)
			q := mailTo("x@y.com")
			q.Always, q.Policy, q.Diff = []string{"x@y.com"}, "/p/policy.yaml", "+x"
			p := post(t, s, q)
			if _, ok := p.Look(); ok {
				t.Error("an answer before there is one")
			}
			list, err := s.List()
			if err != nil || len(list) != 1 {
				t.Fatalf("%v, %v", list, err)
			}
			w := list[0]
			if w.Text != q.Text() || w.Server != "mail" || w.Tool != "send" || w.Client != "test 1" || w.Policy != q.Policy || w.Diff != q.Diff || w.Number != 1 || w.Until.Sub(w.Asked) != time.Minute {
				t.Errorf("got %+v", w)
			}
			if err := s.Answer(w.ID, want, "terminal"); err != nil {
				t.Fatal(err)
			}
			if list, _ := s.List(); len(list) != 0 {
				t.Error("an answered question waits")
			}
			if err := s.Answer(w.ID, No, "page"); !errors.Is(err, ErrAnswered) {
				t.Errorf("a second answer: %v", err)
			}
			if got, ok := p.Wait(t.Context()); !ok || got != (Reply{want, "terminal"}) {
				t.Errorf("got %v, %v", got, ok)
			}
			if _, ok := p.Look(); ok {
				t.Error("the answer counts twice")
			}
			if err := s.Answer(w.ID, want, "terminal"); !errors.Is(err, ErrGone) {
				t.Errorf("an answer to what has been answered: %v", err)
			}
			if left := leftovers(t, s); left != "" {
				t.Errorf("left: %s", left)
			}
		})
	}
}

func TestStoreRefusesAnswers(t *testing.T) {
	s := newStore(t)
	p := post(t, s, mailTo("x@y.com"))
	if err := s.Answer(p.id, Always, "terminal"); !errors.Is(err, ErrNoAlways) {
		t.Errorf("for good, which was not asked: %v", err)
	}
	for _, id := range []string{"", "../approvals/" + p.id, p.id + "x", strings.ToUpper(p.id), newID()} {
		if err := s.Answer(id, Once, "terminal"); !errors.Is(err, ErrGone) {
			t.Errorf("%q: %v", id, err)
		}
	}
	if r, ok := p.Close(); ok {
		t.Errorf("answered: %v", r)
	}
	if err := s.Answer(p.id, Once, "terminal"); !errors.Is(err, ErrGone) {
		t.Errorf("a question that was taken back: %v", err)
	}
	if left := leftovers(t, s); left != "" {
		t.Errorf("left: %s", left)
	}
}

// TestStoreClosed takes back what has been answered, and leaves nothing.
func TestStoreClosed(t *testing.T) {
	s := newStore(t)
	p := post(t, s, mailTo("x@y.com"))
	if err := s.Answer(p.id, Session, "page"); err != nil {
		t.Fatal(err)
	}
	if r, ok := p.Close(); !ok || r != (Reply{Session, "page"}) {
		t.Errorf("got %v, %v", r, ok)
	}
	p = post(t, s, mailTo("x@y.com"))
	if err := s.claim(p.id); err != nil { // and is killed
		t.Fatal(err)
	}
	if r, ok := p.Close(); ok {
		t.Errorf("got %v", r)
	}
	if left := leftovers(t, s); left != "" {
		t.Errorf("left: %s", left)
	}
}

// TestStoreForgeries answers by files that Answer would not write.
func TestStoreForgeries(t *testing.T) {
	for _, tt := range []struct {
		name  string
		forge func(t *testing.T, s *Store, p *Posted) // what lies there instead
		found bool
	}{
		{"another call's digest", func(t *testing.T, s *Store, p *Posted) {
			write(t, s.path(p.id, answerEnd), string(encodeReply(strings.Repeat("0", 64), Reply{Once, "terminal"})))
		}, true},
		{"a word that is none", func(t *testing.T, s *Store, p *Posted) {
			write(t, s.path(p.id, answerEnd), strings.Replace(string(encodeReply(p.digest, Reply{Once, "terminal"})), "once", "ONCE", 1))
		}, true},
		{"a question that says something else", func(t *testing.T, s *Store, p *Posted) {
			write(t, s.path(p.id, claimedEnd), strings.Replace(string(p.data), "x@y.com", "a@b.com", 1))
			write(t, s.path(p.id, answerEnd), string(encodeReply(p.digest, Reply{Once, "terminal"})))
		}, true},
		{"half an answer", func(t *testing.T, s *Store, p *Posted) { write(t, s.path(p.id, answerEnd), `{"format":1,`) }, true},
		{"another format", func(t *testing.T, s *Store, p *Posted) {
			write(t, s.path(p.id, answerEnd), strings.Replace(string(encodeReply(p.digest, Reply{Once, ""})), "1", "2", 1))
		}, true},
		{"a folder", func(t *testing.T, s *Store, p *Posted) {
			if err := os.Mkdir(s.path(p.id, answerEnd), 0o700); err != nil {
				t.Fatal(err)
			}
		}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStore(t)
			p := post(t, s, mailTo("x@y.com"))
			if err := s.claim(p.id); err != nil {
				t.Fatal(err)
			}
			tt.forge(t, s, p)
			if got, ok := p.Look(); got.Answer != No || ok != tt.found {
				t.Errorf("got %v, %v", got, ok)
			}
		})
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestStoreIsPrivate(t *testing.T) {
	s := newStore(t)
	p := post(t, s, mailTo("x@y.com"))
	if runtime.GOOS != "windows" {
		for path, want := range map[string]os.FileMode{s.dir: 0o700, s.path(p.id, askEnd): 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
		if err := os.Chmod(s.dir, 0o770); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenStore(filepath.Dir(s.dir)); err == nil {
			t.Error("a folder that others write is good enough")
		}
		if _, err := s.Post(mailTo("x@y.com"), Posting{}); err == nil {
			t.Error("a question is put where others can answer it")
		}
	}
}

func TestStoreNumbers(t *testing.T) {
	s := newStore(t)
	var all []*Posted
	for i := range 3 {
		p := post(t, s, mailTo(fmt.Sprintf("x%d@y.com", i)))
		if p.Number != i+1 {
			t.Errorf("number %d, want %d", p.Number, i+1)
		}
		if numbered := strings.Contains(p.Text(), fmt.Sprintf("question %d", i+1)); numbered != (i > 0) {
			t.Errorf("the text is\n%s", p.Text())
		}
		all = append(all, p)
	}
	list, err := s.List()
	if err != nil || len(list) != 3 || list[0].Number != 1 || list[2].Number != 3 {
		t.Errorf("%+v, %v", list, err)
	}
	all[0].Close()
	if p := post(t, s, mailTo("z@y.com")); p.Number != 4 {
		t.Errorf("number %d while 2 and 3 are open", p.Number)
	}
}

// TestStoreSweeps leaves behind what processes do that are killed, and more.
func TestStoreSweeps(t *testing.T) {
	s := newStore(t)
	old := func(name string, age time.Duration) {
		write(t, filepath.Join(s.dir, name), "x")
		at := time.Now().Add(-age)
		if err := os.Chtimes(filepath.Join(s.dir, name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	alive := post(t, s, mailTo("x@y.com"))
	change := func(edit func(*stored)) string {
		p := post(t, s, mailTo("x@y.com"))
		q, err := s.read(p.id, askEnd)
		if err != nil {
			t.Fatal(err)
		}
		edit(&q)
		data, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		write(t, s.path(p.id, askEnd), string(data))
		return p.id + askEnd
	}
	gone := []string{
		change(func(q *stored) { q.Run.Start-- }),
		change(func(q *stored) { q.Until = time.Now().Add(-LateFor - time.Hour) }),
	}
	for _, name := range []string{newID() + newEnd, newID() + askEnd, newID() + answerEnd} {
		old(name, time.Hour)
		gone = append(gone, name)
	}
	dead := fmt.Sprintf("%d-%d-%s.watch", s.self.PID, s.self.Start-1, s.self.Machine)
	old(dead, 0)
	old("1-1-elsewhere.watch", 48*time.Hour)
	gone = append(gone, dead, "1-1-elsewhere.watch")
	kept := []string{
		alive.id + askEnd,
		change(func(q *stored) { q.Until = time.Now().Add(-time.Minute) }),
		change(func(q *stored) { q.Run.Machine = "elsewhere" }),
	}
	for _, name := range []string{newID() + newEnd, newID() + answerEnd, "2-2-elsewhere.watch", "notes.txt"} {
		old(name, 0)
		kept = append(kept, name)
	}
	list, err := s.List()
	if err != nil || len(list) != 3 {
		t.Errorf("%d questions, %v", len(list), err)
	}
	left := leftovers(t, s)
	for _, name := range gone {
		if strings.Contains(left, name) {
			t.Errorf("%s is still there", name)
		}
	}
	for _, name := range kept {
		if !strings.Contains(left, name) {
			t.Errorf("%s is gone", name)
		}
	}
}

func TestStoreWatched(t *testing.T) {
	s := newStore(t)
	if s.Watched() {
		t.Error("somebody looks at nothing")
	}
	w, err := s.Watch()
	if err != nil {
		t.Fatal(err)
	}
	if !s.Watched() {
		t.Error("nobody looks")
	}
	if err := w.Close(); err != nil || s.Watched() {
		t.Errorf("somebody looks still (%v)", err)
	}
	write(t, filepath.Join(s.dir, fmt.Sprintf("%d-%d-%s.watch", s.self.PID, s.self.Start+1, s.self.Machine)), "")
	if s.Watched() {
		t.Error("a process that is gone looks")
	}
}

// The concurrent asks: so many processes, and so many questions at once in each.
const (
	askers   = 10
	askedBy1 = 20
)

// expected is the answer that a question is to get, by its tool.
func expected(tool string) Answer {
	sum := 0
	for _, c := range []byte(tool) {
		sum += int(c)
	}
	return []Answer{No, Once, Session, Always}[sum%4]
}

// playAsker asks all its questions at once and prints how each was answered.
func playAsker() {
	s, err := OpenStore(os.Getenv("APPROVE_TEST_STATE"))
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for i := range askedBy1 {
		all.Go(func() {
			q := mailTo(fmt.Sprintf("x%d@y.com", i))
			q.Tool = fmt.Sprintf("t%s_%d", os.Getenv("APPROVE_TEST_NAME"), i)
			q.Always = []string{"x@y.com"}
			line := ""
			if p, err := s.Post(q, Posting{For: time.Minute}); err != nil {
				line = err.Error()
			} else if r, ok := p.Wait(context.Background()); ok {
				line = q.Tool + " " + r.Answer.String()
				if _, again := p.Look(); again {
					line += " twice"
				}
			}
			mu.Lock()
			defer mu.Unlock()
			fmt.Fprintln(os.Stdout, line)
		})
	}
	all.Wait()
	_, _ = io.Copy(io.Discard, os.Stdin) // stays until its starter has looked
}

// TestStoreAtOnce has ten processes ask 200 questions at once, which four answer that do not know of each other.
func TestStoreAtOnce(t *testing.T) {
	state := t.TempDir()
	s, err := OpenStore(state)
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, askers*askedBy1)
	var inputs []io.Closer
	var running []*exec.Cmd
	for i := range askers {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "APPROVE_TEST_ROLE=asker", "APPROVE_TEST_STATE="+state, fmt.Sprintf("APPROVE_TEST_NAME=%d", i), "GORACE=atexit_sleep_ms=0")
		in, err1 := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err := errors.Join(err1, err2, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		inputs, running = append(inputs, in), append(running, cmd)
		go func() {
			for in := bufio.NewScanner(out); in.Scan(); {
				lines <- in.Text()
			}
		}()
	}
	ctx, stop := context.WithCancel(t.Context())
	var people sync.WaitGroup
	var mu sync.Mutex
	given := map[string]int{}
	for range 4 {
		people.Go(func() {
			for ctx.Err() == nil {
				list, err := s.List()
				if err != nil {
					t.Error(err)
				}
				for _, w := range list {
					err := s.Answer(w.ID, expected(w.Tool), "terminal")
					if err == nil {
						mu.Lock()
						given[w.Tool]++
						mu.Unlock()
					} else if !errors.Is(err, ErrAnswered) && !errors.Is(err, ErrGone) {
						t.Error(err)
					}
				}
			}
		})
	}
	got := map[string]bool{}
	for range askers * askedBy1 {
		select {
		case line := <-lines:
			tool, answer, _ := strings.Cut(line, " ")
			if answer != expected(tool).String() || got[tool] {
				t.Errorf("%s", line)
			}
			got[tool] = true
		case <-time.After(time.Minute):
			t.Fatalf("%d questions are answered", len(got))
		}
	}
	stop()
	people.Wait()
	for tool := range got {
		if given[tool] != 1 {
			t.Errorf("%s was answered %d times", tool, given[tool])
		}
	}
	if left := leftovers(t, s); left != "" {
		t.Errorf("left: %s", left)
	}
	for i, cmd := range running {
		if err := errors.Join(inputs[i].Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	}
}

// BenchmarkAsk is from a verdict to a question that whoever looks finds, and from the answer to its asker.
func BenchmarkAsk(b *testing.B) {
	s := newStore(b)
	q := mailTo("x@y.com")
	for b.Loop() {
		p := post(b, s, q)
		list, err := s.List()
		if err != nil || len(list) != 1 {
			b.Fatal(list, err)
		}
		if err := s.Answer(list[0].ID, Once, "terminal"); err != nil {
			b.Fatal(err)
		}
		if r, ok := p.Look(); !ok || r.Answer != Once {
			b.Fatal(r)
		}
	}
}

func FuzzReply(f *testing.F) {
	digest := strings.Repeat("0a", 32)
	f.Add(encodeReply(digest, Reply{Once, "terminal"}))
	f.Add([]byte(`{"format":1,"digest":"` + digest + `","answer":"always","by":""}`))
	f.Add([]byte(`{}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p := &Posted{digest: digest}
		if r := p.decode(data); r.Answer != No && (!bytes.Contains(data, []byte(digest)) || !bytes.Contains(data, []byte(r.Answer.String()))) {
			t.Errorf("%q is %v", data, r)
		}
	})
}

package approve

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/session"
)

// Errors of Store.Answer and Waiting.CheckCaller.
var (
	ErrGone     = errors.New("the question is not open any more")
	ErrAnswered = errors.New("the question has been answered")
	ErrNoAlways = errors.New("this can't be allowed for good")
	ErrCaller   = errors.New("this process was started by the client that asks, or by one of its servers")
)

const (
	maxWaiting = 1000           // questions that are listed
	strayFor   = time.Minute    // that a file may lie about which belongs to nothing
	strangeFor = 24 * time.Hour // the same, of a process that can't be looked at from here
	pollEvery  = 25 * time.Millisecond
	askEnd     = ".question"
	claimedEnd = ".claimed" // a question that somebody answers
	answerEnd  = ".answer"
	watchEnd   = ".watch"
	newEnd     = ".new" // of a file that is being written
)

// Store is the folder in which the questions of all runs lie until somebody answers them. Each question is a file. Whoever
// answers it renames that, which only one can, and leaves the answer beside it; the run that has asked removes both. Its methods may be called from many goroutines and processes.
type Store struct {
	dir  string
	self session.Process
}

// OpenStore opens the questions in a state directory. Their folder is made when there is one to ask.
func OpenStore(state string) (*Store, error) {
	s := &Store{dir: filepath.Join(state, "approvals"), self: session.Self()}
	if err := s.check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s, nil
}

// check refuses a folder that others could leave answers in.
func (s *Store) check() error {
	info, err := os.Lstat(s.dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	if err == nil {
		err = atomicfile.CheckPrivate(info)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.dir, err)
	}
	return nil
}

func (s *Store) make() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	return s.check()
}

// List returns the questions that wait for an answer, the oldest first, and clears away those that nobody waits for any more.
func (s *Store) List() ([]Waiting, error) {
	files, err := s.files()
	if err != nil {
		return nil, err
	}
	s.sweep(files)
	var list []Waiting
	for _, q := range s.questions(files) {
		list = append(list, q.Waiting)
	}
	return list, nil
}

// questions are those of the files that are open, the oldest first.
func (s *Store) questions(files []string) []stored {
	var list []stored
	for _, name := range files {
		id, ok := strings.CutSuffix(name, askEnd)
		if !ok || len(list) == maxWaiting {
			continue
		}
		if q, err := s.read(id, askEnd); err == nil && !s.over(q) {
			list = append(list, q)
		}
	}
	slices.SortFunc(list, func(a, b stored) int {
		if c := a.Asked.Compare(b.Asked); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

func (s *Store) files() ([]string, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, nil
}

// over reports whether nobody waits for the answer of a question.
func (s *Store) over(q stored) bool {
	if running, known := q.Run.Running(); known && !running {
		return true
	}
	return time.Now().After(q.Until.Add(LateFor + strayFor))
}

// sweep removes what was left behind by processes that were killed. What it can't remove stays for the next time.
func (s *Store) sweep(files []string) {
	for _, name := range files {
		path := filepath.Join(s.dir, name)
		switch id, end := split(name); end {
		case askEnd, claimedEnd:
			if q, err := s.read(id, end); err == nil && s.over(q) || err != nil && olderThan(path, strayFor) {
				_ = os.Remove(path)
			}
		case answerEnd:
			if !slices.Contains(files, id+claimedEnd) && olderThan(path, strayFor) {
				_ = os.Remove(path)
			}
		case watchEnd:
			if alive, known := watcher(id).Running(); known && !alive || !known && olderThan(path, strangeFor) {
				_ = os.Remove(path)
			}
		case newEnd:
			if olderThan(path, strayFor) {
				_ = os.Remove(path)
			}
		}
	}
}

// split takes the ending off the name of a file of the store.
func split(name string) (id, end string) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return name, ""
	}
	return name[:i], name[i:]
}

func olderThan(path string, age time.Duration) bool {
	info, err := os.Lstat(path)
	return err == nil && time.Since(info.ModTime()) > age
}

// Answer answers a question for the person. by is the channel's name. It returns ErrGone or ErrAnswered when it comes too late.
func (s *Store) Answer(id string, a Answer, by string) error {
	if !isID(id) {
		return ErrGone
	}
	if err := s.check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	q, err := s.read(id, askEnd)
	if err != nil {
		_, err := os.Lstat(s.path(id, claimedEnd))
		if err == nil {
			return ErrAnswered
		}
		return ErrGone
	}
	if s.over(q) {
		return ErrGone
	}
	if a == Always && len(q.Always) == 0 {
		return ErrNoAlways
	}
	fresh := s.path(id+newID(), newEnd)
	if err := os.WriteFile(fresh, encodeReply(q.Digest, Reply{a, by}), 0o600); err != nil {
		return errors.Join(err, remove(fresh))
	}
	if err := s.claim(id); err != nil {
		return errors.Join(err, remove(fresh))
	}
	return os.Rename(fresh, s.path(id, answerEnd))
}

// claim takes a question off the list. Only one can: whoever answers it, or its run, which takes it back.
func (s *Store) claim(id string) error {
	err := patiently(func() error { return os.Rename(s.path(id, askEnd), s.path(id, claimedEnd)) })
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := os.Lstat(s.path(id, claimedEnd)); err == nil {
		return ErrAnswered
	}
	return ErrGone
}

// Watch says that somebody looks at the questions, so that runs wait for an answer. It holds until Close.
func (s *Store) Watch() (*Watch, error) {
	if err := s.make(); err != nil {
		return nil, err
	}
	path := filepath.Join(s.dir, fmt.Sprintf("%d-%d-%s%s", s.self.PID, s.self.Start, s.self.Machine, watchEnd))
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return nil, err
	}
	return &Watch{path}, nil
}

// Watch is somebody who looks at the questions.
type Watch struct{ path string }

// Close says that nobody looks any more.
func (w *Watch) Close() error { return os.Remove(w.path) }

// Watched reports whether somebody looks at the questions at this moment.
func (s *Store) Watched() bool {
	files, err := s.files()
	return err == nil && slices.ContainsFunc(files, func(name string) bool {
		id, ok := strings.CutSuffix(name, watchEnd)
		if !ok {
			return false
		}
		alive, _ := watcher(id).Running()
		return alive
	})
}

// watcher reads whose a watch is.
func watcher(id string) session.Process {
	var p session.Process
	_, _ = fmt.Sscanf(id, "%d-%d-%s", &p.PID, &p.Start, &p.Machine) // what it can't read is of no machine
	return p
}

// Package session keeps what one run of a server can't know by itself: its tools and instructions as a person last accepted
// them in an earlier session, and what the runs of one client tell each other in this one.
package session

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

const (
	// lockWait is how long another process of the same server is waited for.
	lockWait = 2 * time.Second
	// maxKept is the size up to which a listing is kept word for word. Of a larger one only digests are: it can be compared, but
	// not explained in a later session.
	maxKept = 8 << 20
)

// Store holds the pins of all servers, one file each, in the folder pins of a state directory. It creates nothing until
// there is something to keep. Many processes may use it at the same time.
type Store struct{ dir string }

// Open returns the store in the state directory dir, which need not exist.
func Open(dir string) *Store { return &Store{dir: filepath.Join(dir, "pins")} }

// Server returns the pins of the server with an Identity. Nothing is read yet.
func (s *Store) Server(identity string) *Server {
	return &Server{dir: s.dir, identity: identity, path: filepath.Join(s.dir, fileName(identity)), wait: lockWait, kept: maxKept}
}

// fileName is unique by its digest, and can be recognised by the server's name in front of it.
func fileName(identity string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(Name(identity)) {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '_' {
			b.WriteRune(r)
		}
		if b.Len() == 32 {
			break
		}
	}
	return b.String() + "-" + short(identity) + ".json"
}

// Server is what a person accepted of one server. Its methods may be called from many goroutines.
type Server struct {
	dir, identity, path string
	wait                time.Duration // for the lock
	kept                int           // bytes of a listing that are kept word for word

	mu   sync.Mutex
	seen seen
}

// seen is what a Server has last reported, and therefore what a yes is about: whatever other processes have found meanwhile.
type seen struct {
	instructions *definition
	tools        map[string]*definition
}

// Listing is what a server says about itself in one session.
type Listing struct {
	Instructions *string           // of its greeting; nil while that is not known
	Tools        map[string][]byte // each tool as the server wrote it, by name; not to be changed any more
}

// Differences are how a listing differs from what was accepted, each slice ordered by name.
type Differences struct {
	First        bool         // there was no record: everything was taken as it is
	Changed      []Difference // accepted in another form
	New          []Difference // never accepted
	Gone         []Difference // accepted and not listed; kept, in case it comes back
	Instructions *Difference  // nil when they are as accepted
}

// Difference is one tool, or the instructions.
type Difference struct {
	Tool         string
	Instructions bool
	Old, New     []byte    // as the server wrote it, instructions as plain text; nil for what isn't there, or was too large to be kept
	Accepted     time.Time // when the old form was; zero for a new tool
	Seen         time.Time // when the new form was first; zero for one that is gone
}

// Empty reports whether nothing needs a person.
func (d Differences) Empty() bool {
	return len(d.Changed) == 0 && len(d.New) == 0 && d.Instructions == nil
}

// Compare holds a listing of the session that begins or goes on at that time against what was accepted. The first
// listing of a server is recorded as accepted; a server that lists nothing at all is not recorded. What differs later is
// kept beside the accepted form, for Pending.
//
// After an error nothing is known, and the caller must treat every tool as changed.
func (s *Server) Compare(at time.Time, l Listing) (Differences, error) {
	now, err := define(at, l, s.kept)
	if err != nil {
		return Differences{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen = now
	// Most sessions find what the last one left, and need no lock. Whatever else the reading says, it says again under the lock.
	switch r, err := s.load(); {
	case err == nil:
		if d, stale := r.compare(now); !stale {
			return d, nil
		}
	case errors.Is(err, fs.ErrNotExist) && now.empty():
		return Differences{}, nil
	}
	var d Differences
	err = s.update(func(r *record) (bool, error) {
		if r.since.IsZero() {
			d.First = true
			r.begin(at, now)
			return true, nil
		}
		var stale bool
		d, stale = r.compare(now)
		return stale, nil
	})
	if err != nil {
		return Differences{}, err
	}
	return d, nil
}

// Pending returns what waits for a person, as the last sessions left it, and makes it what Accept and Forget are about.
// The error wraps fs.ErrNotExist when the server has no record.
func (s *Server) Pending() (Differences, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := s.load()
	if err != nil {
		return Differences{}, err
	}
	s.seen = r.waiting()
	return r.pending(), nil
}

// Accept records that a person accepts these tools in the form that Compare or Pending has last reported, even if another
// process has found yet another form meanwhile; that one goes on waiting.
func (s *Server) Accept(at time.Time, tools ...string) error {
	return s.accept(at, func(now seen) (*definition, map[string]*definition, error) {
		chosen := make(map[string]*definition, len(tools))
		for _, name := range tools {
			if chosen[name] = now.tools[name]; chosen[name] == nil {
				return nil, nil, fmt.Errorf("no tool %q waits for an answer", name)
			}
		}
		return nil, chosen, nil
	})
}

// AcceptInstructions is Accept for the instructions.
func (s *Server) AcceptInstructions(at time.Time) error {
	return s.accept(at, func(now seen) (*definition, map[string]*definition, error) {
		if now.instructions == nil {
			return nil, nil, errors.New("no instructions wait for an answer")
		}
		return now.instructions, nil, nil
	})
}

// AcceptAll is Accept for everything.
func (s *Server) AcceptAll(at time.Time) error {
	return s.accept(at, func(now seen) (*definition, map[string]*definition, error) { return now.instructions, now.tools, nil })
}

func (s *Server) accept(at time.Time, choose func(seen) (*definition, map[string]*definition, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	instructions, tools, err := choose(s.seen)
	if err != nil {
		return err
	}
	if _, err := s.load(); err != nil {
		return err
	}
	return s.update(func(r *record) (bool, error) {
		if r.since.IsZero() { // removed just now
			return false, &fs.PathError{Op: "accept", Path: s.path, Err: fs.ErrNotExist}
		}
		changed := false
		if instructions != nil {
			changed = r.instructions.accept(at, instructions)
		}
		for name, d := range tools {
			p := r.tools[name]
			if p == nil {
				p = &pin{}
				r.tools[name] = p
			}
			changed = p.accept(at, d) || changed
		}
		return changed, nil
	})
}

// ErrUnseen means that something waits that the person has not been shown.
var ErrUnseen = errors.New("something else waits to be accepted by now")

// Forget removes the record, so that the next listing is a first one again. It fails with ErrUnseen if anything waits that
// Pending has not reported.
func (s *Server) Forget() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.load(); err != nil {
		return err // and nothing is made where there was nothing
	}
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	switch r, err := s.load(); {
	case err != nil:
		return err
	case !s.seen.is(r.waiting()):
		return ErrUnseen
	}
	if err := os.Remove(s.path); err != nil {
		return fmt.Errorf("pins: %w", err)
	}
	return nil
}

// lock keeps other processes from changing the record.
func (s *Server) lock() (atomicfile.Unlock, error) {
	if err := s.prepare(); err != nil {
		return nil, err
	}
	unlock, err := atomicfile.LockFile(strings.TrimSuffix(s.path, ".json")+".lock", s.wait)
	if err != nil {
		return nil, fmt.Errorf("pins: %w", err)
	}
	return unlock, nil
}

// update changes the record under its lock. The record is empty when there is none yet.
func (s *Server) update(change func(*record) (changed bool, err error)) error {
	unlock, err := s.lock()
	if err != nil {
		return err
	}
	defer unlock()
	r, err := s.load()
	if errors.Is(err, fs.ErrNotExist) {
		r, err = &record{tools: map[string]*pin{}}, nil
	}
	if err != nil {
		return err
	}
	changed, err := change(r)
	if err != nil || !changed {
		return err
	}
	r.slim(3 * s.kept)
	data := r.encode(s.identity)
	if len(data) > maxFile {
		return fmt.Errorf("pins %s: %d bytes are too many to keep", s.path, len(data))
	}
	if err := atomicfile.Replace(s.path, data, 0o600); err != nil {
		return fmt.Errorf("pins: %w", err)
	}
	return nil
}

// prepare makes the folder, and checks that nobody else can put anything there.
func (s *Server) prepare() error {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("pins: %w", err)
	}
	return checkFolders(s.dir)
}

// checkFolders refuses a folder in which somebody else could replace a record, and one inside of such a folder.
func checkFolders(dir string) error {
	for _, dir := range []string{filepath.Dir(dir), dir} {
		info, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("pins: %w", err)
		}
		if err := atomicfile.CheckPrivate(info); err != nil {
			return fmt.Errorf("pins: %s: %w", dir, err)
		}
	}
	return nil
}

// load reads the record. The error wraps fs.ErrNotExist when there is none.
func (s *Server) load() (*record, error) {
	if err := checkFolders(s.dir); err != nil {
		return nil, err
	}
	data, err := readFile(s.path)
	if err != nil {
		return nil, fmt.Errorf("pins: %w", err)
	}
	identity, r, err := decode(data)
	if err == nil && identity != s.identity {
		err = fmt.Errorf("%w: it belongs to %q", ErrDamaged, identity)
	}
	if err != nil {
		return nil, fmt.Errorf("pins %s: %w; put a good copy back, or move it away to have the server recorded anew", s.path, err)
	}
	return r, nil
}

// Status is one server in the store.
type Status struct {
	Identity string
	Path     string
	Since    time.Time // of the first record
	Tools    int       // accepted
	Pending  Differences
	Err      error // why the file can't be read; the rest but Path is then empty
}

// List describes every server in the store, ordered by name and identity, those that can't be read last.
func (s *Store) List() ([]Status, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("pins: %w", err)
	}
	if err := checkFolders(s.dir); err != nil {
		return nil, err
	}
	var list []Status
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".json") {
			list = append(list, s.status(filepath.Join(s.dir, e.Name())))
		}
	}
	slices.SortStableFunc(list, func(a, b Status) int {
		if (a.Err == nil) != (b.Err == nil) {
			return strings.Compare(b.Identity, a.Identity) // an unreadable one has none
		}
		if c := strings.Compare(Name(a.Identity), Name(b.Identity)); c != 0 {
			return c
		}
		return strings.Compare(a.Identity, b.Identity)
	})
	return list, nil
}

func (s *Store) status(path string) Status {
	data, err := readFile(path)
	if err != nil {
		return Status{Path: path, Err: fmt.Errorf("pins: %w", err)}
	}
	identity, r, err := decode(data)
	if err == nil && fileName(identity) != filepath.Base(path) {
		err = fmt.Errorf("%w: it belongs to %q", ErrDamaged, identity)
	}
	if err != nil {
		return Status{Path: path, Err: fmt.Errorf("pins %s: %w; put a good copy back, or move it away to have the server recorded anew", path, err)}
	}
	st := Status{Identity: identity, Path: path, Since: r.since, Pending: r.pending()}
	for p := range maps.Values(r.tools) {
		if p.accepted != nil {
			st.Tools++
		}
	}
	return st
}

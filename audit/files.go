package audit

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// The files of a log. All are 0600 and none is ever deleted or overwritten, except the head in place.
const (
	currentName = "audit.jsonl"
	headName    = "audit.head"
	tornPrefix  = "audit.torn-"
)

func rotatedName(first uint64) string { return fmt.Sprintf("audit-%012d.jsonl", first) }

func tornName(seq uint64) string { return fmt.Sprintf("%s%012d", tornPrefix, seq) }

// prepareDir makes dir with room for nobody else, or checks that it is so.
func prepareDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s: not a directory", dir)
	}
	if err := atomicfile.CheckPrivate(info); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// listFiles returns the paths of the files put aside, oldest first, and of torn records.
func listFiles(dir string) (rotated, torn []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, err
	}
	first := map[string]uint64{}
	for _, e := range entries {
		name, path := e.Name(), filepath.Join(dir, e.Name())
		if strings.HasPrefix(name, tornPrefix) {
			torn = append(torn, path)
			continue
		}
		digits, ok := strings.CutPrefix(strings.TrimSuffix(name, ".jsonl"), "audit-")
		if seq, err := strconv.ParseUint(digits, 10, 64); ok && err == nil && name == rotatedName(seq) {
			rotated = append(rotated, path)
			first[path] = seq
		}
	}
	// By number: twelve digits are the least, not the most.
	slices.SortFunc(rotated, func(a, b string) int { return cmp.Compare(first[a], first[b]) })
	return rotated, torn, nil
}

// snapshot is a log at one moment, while others may go on appending.
type snapshot struct {
	head    head
	headErr error    // fs.ErrNotExist when there is no head
	rotated []string // paths, oldest first
	torn    []string // paths
	current *os.File // nil when there is none
}

// look takes a snapshot without taking the lock, so that reading neither holds up a call nor writes anything.
func look(dir string) (*snapshot, error) {
	s, err := lookOnce(dir)
	if err == nil && errors.Is(s.headErr, fs.ErrNotExist) && (s.current != nil || len(s.rotated) > 0) {
		// Perhaps the first record was written while we looked. A head that is really missing is missing again.
		s.close()
		s, err = lookOnce(dir)
	}
	return s, err
}

// lookOnce is right because of its order. It reads the head before the size of any file, so that the files hold at least what the
// head says. It opens the current file before it lists those put aside, so that a rotation in between shows a file twice, and
// never hides one.
func lookOnce(dir string) (*snapshot, error) {
	s := &snapshot{}
	s.head, s.headErr = lookHead(filepath.Join(dir, headName))
	var err error
	if s.current, err = openFile(filepath.Join(dir, currentName), os.O_RDONLY); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if s.rotated, s.torn, err = listFiles(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.close()
		return nil, err
	}
	if s.current == nil {
		return s, nil
	}
	open, err := s.current.Stat()
	if err != nil {
		s.close()
		return nil, err
	}
	// Put aside meanwhile, and perhaps others after it: the snapshot ends with it.
	if i := slices.IndexFunc(s.rotated, func(path string) bool {
		aside, err := os.Lstat(path)
		return err == nil && os.SameFile(aside, open)
	}); i >= 0 {
		s.rotated = s.rotated[:i]
	}
	return s, nil
}

// lookHead reads the head until it reads the same twice: without the lock, a read may fall into the middle of a write.
func lookHead(path string) (head, error) {
	f, err := openFile(path, os.O_RDONLY)
	if err != nil {
		return head{}, err
	}
	defer func() { _ = f.Close() }() // only read from
	var last [headSize]byte
	for {
		var b [headSize]byte
		n, err := f.ReadAt(b[:], 0)
		switch {
		case n == 0 && errors.Is(err, io.EOF):
			return head{}, fs.ErrNotExist // a crash came before the first record
		case n < headSize:
			return head{}, fmt.Errorf("%d bytes of a head: %w", n, err)
		case b != last:
			last = b
			continue
		}
		h, ok := parseHead(b[:])
		if !ok {
			return head{}, errors.New("not a head")
		}
		return h, nil
	}
}

func (s *snapshot) close() {
	if s.current != nil {
		_ = s.current.Close() // only read from
	}
}

// files ranges over the open files, oldest first. Each is closed before the next, except the current one.
func (s *snapshot) files() iter.Seq2[*os.File, error] {
	return func(yield func(*os.File, error) bool) {
		for _, path := range s.rotated {
			f, err := openFile(path, os.O_RDONLY)
			if err != nil {
				yield(nil, err)
				return
			}
			more := yield(f, nil)
			_ = f.Close() // only read from
			if !more {
				return
			}
		}
		if s.current != nil {
			yield(s.current, nil)
		}
	}
}

// line is one line of a file, good until the next.
type line struct {
	number int // from 1
	text   []byte
	whole  bool // it ends in a newline
	long   bool // longer than any record; text is its beginning
}

// fileLines ranges over the first size bytes of f in constant memory. A read error ends it like the end of the file; the file's
// size then doesn't fit the head.
func fileLines(f *os.File, size int64) iter.Seq[line] {
	return func(yield func(line) bool) {
		in := bufio.NewReaderSize(io.NewSectionReader(f, 0, size), maxRecord)
		for number := 1; ; number++ {
			text, err := in.ReadSlice('\n')
			l := line{number: number, text: text, long: errors.Is(err, bufio.ErrBufferFull)}
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			if l.whole = err == nil; l.whole && !l.long {
				l.text = text[:len(text)-1]
			}
			if len(text) == 0 || !yield(l) || err != nil {
				return
			}
		}
	}
}

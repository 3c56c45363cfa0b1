package wrap

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// witness sees every file below a folder that is opened for writing, made, renamed or removed.
type witness struct {
	t       *testing.T
	fd      int
	folders map[int32]string
}

func watch(t *testing.T, root string) *witness {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	w := &witness{t, fd, map[int32]string{}}
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		const events = unix.IN_CLOSE_WRITE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVE
		wd, err := unix.InotifyAddWatch(fd, path, events)
		w.folders[int32(wd)] = path
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// touched lists what was seen since the last call, each path once.
func (w *witness) touched() []string {
	w.t.Helper()
	var paths []string
	buffer := make([]byte, 1<<16)
	for {
		n, err := unix.Read(w.fd, buffer)
		if errors.Is(err, unix.EAGAIN) {
			slices.Sort(paths)
			return slices.Compact(paths)
		}
		if err != nil {
			w.t.Fatal(err)
		}
		for at := 0; at < n; {
			event := (*unix.InotifyEvent)(unsafe.Pointer(&buffer[at]))
			at += unix.SizeofInotifyEvent
			name := string(bytes.TrimRight(buffer[at:at+int(event.Len)], "\x00"))
			at += int(event.Len)
			paths = append(paths, filepath.Join(w.folders[event.Wd], name))
		}
	}
}

// TestOnlyWhatWasAskedFor: reading and planning open nothing for writing, and applying one config touches that config, its own
// temporary file beside it, and the store.
func TestOnlyWhatWasAskedFor(t *testing.T) {
	m := newMachine(t)
	const text = `{"mcpServers": {"s": {"command": "srv"}}}`
	cursor := m.write(".cursor/mcp.json", text)
	for _, name := range []string{".claude.json", ".config/Claude/claude_desktop_config.json", ".claude/settings.json", "state/other"} {
		m.write(name, text)
	}
	w := watch(t, m.home)
	var chosen []Plan
	for _, file := range Discover(m.env(), DiscoverOptions{}).Files {
		p, err := PlanWrap(file, options())
		if err != nil {
			t.Fatal(err)
		}
		if file.Path == cursor {
			chosen = append(chosen, p)
		}
	}
	if seen := w.touched(); len(chosen) != 1 || len(seen) > 0 {
		t.Errorf("%d plans, and planning touched %q", len(chosen), seen)
	}
	m.apply("init", chosen...)
	for m.undo() {
	}
	seen := w.touched()
	if !slices.Contains(seen, cursor) {
		t.Errorf("the witness is blind: %q", seen)
	}
	for _, path := range seen {
		folder, name := filepath.Split(path)
		temporary := folder == filepath.Dir(cursor)+"/" && strings.HasPrefix(name, ".bouncer-") && strings.HasSuffix(name, ".tmp")
		if path != cursor && !temporary && path != m.path("state/bouncer") {
			t.Errorf("touched %s", path)
		}
	}
}

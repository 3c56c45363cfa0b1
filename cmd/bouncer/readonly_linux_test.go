package main

import (
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestNothingIsOpenedForWriting asks the kernel: it reports every file that was open for writing and is closed, even if
// nothing was written.
func TestNothingIsOpenedForWriting(t *testing.T) {
	home, work := household(t)
	w := watch(t, home)
	for _, args := range looking() {
		run(args, visitor(work))
		if seen := w.seen(t); len(seen) > 0 {
			t.Errorf("%s: %s", strings.Join(args, " "), strings.Join(seen, ", "))
		}
	}
	run([]string{"init", "--yes", "--client=cursor", "--scope=user"}, visitor(work))
	for _, event := range w.seen(t) {
		if name, _, _ := strings.Cut(event, " "); !strings.HasPrefix(name, filepath.Join(home, ".cursor")) && name != filepath.Join(home, "state") {
			t.Errorf("init of one file: %s", event)
		}
	}
}

// watcher reports what happens to the files of a tree that exists when it begins.
type watcher struct {
	fd      int
	folders map[int32]string
}

func watch(t *testing.T, root string) *watcher {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	w := &watcher{fd, map[int32]string{}}
	const events = unix.IN_CLOSE_WRITE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE | unix.IN_MOVE
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		id, err := unix.InotifyAddWatch(fd, path, events)
		w.folders[int32(id)] = path
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// seen lists the files that something has happened to since it was last asked.
func (w *watcher) seen(t *testing.T) []string {
	t.Helper()
	var list []string
	buffer := make([]byte, 64<<10)
	for {
		n, err := unix.Read(w.fd, buffer)
		if err == unix.EAGAIN {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < n; {
			event := (*unix.InotifyEvent)(unsafe.Pointer(&buffer[at]))
			name := buffer[at+unix.SizeofInotifyEvent : at+unix.SizeofInotifyEvent+int(event.Len)]
			list = append(list, filepath.Join(w.folders[event.Wd], strings.TrimRight(string(name), "\x00"))+" "+mask(event.Mask))
			at += unix.SizeofInotifyEvent + int(event.Len)
		}
	}
}

func mask(events uint32) string {
	for bit, word := range map[uint32]string{
		unix.IN_CLOSE_WRITE: "was open for writing", unix.IN_MODIFY: "was written", unix.IN_ATTRIB: "has other attributes",
		unix.IN_CREATE: "was made", unix.IN_DELETE: "was removed", unix.IN_MOVED_FROM: "was moved away", unix.IN_MOVED_TO: "was moved here",
	} {
		if events&bit != 0 {
			return word
		}
	}
	return "changed"
}

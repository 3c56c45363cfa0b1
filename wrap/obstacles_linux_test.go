package wrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// limitSize keeps every file that this process writes below a size, given in bytes: what a full disk looks like.
func limitSize(text string) {
	size, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: size, Max: size}); err != nil {
		panic(err)
	}
}

// configs lists what is below the home but not in the store, with modes, times and contents.
func (m *machine) configs() string {
	m.t.Helper()
	var lines []string
	for line := range strings.Lines(m.tree("")) {
		if path, _, _ := strings.Cut(line, " "); !strings.HasPrefix(path, m.path("state")) && path != m.home {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return strings.Join(lines, "\n")
}

// TestNoRoom lets the disk be full after any number of bytes. Either all is done or nothing has changed, and the error says
// what happened.
func TestNoRoom(t *testing.T) {
	done := 0
	for limit := 0; done == 0; limit += 173 {
		m := newMachine(t)
		m.store = NewStore(m.path("state"))
		for _, name := range killedFiles() {
			m.write(name, strings.ReplaceAll(before(name), strings.Repeat(" ", 1000), ""))
		}
		was := m.configs()
		cmd := child(t, m.home, killAt, "0")
		cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", sizeLimit, limit))
		var said strings.Builder
		cmd.Stderr = &said
		if err := cmd.Run(); err != nil {
			t.Fatal(err)
		}
		list, err := m.store.Generations()
		if err != nil {
			t.Fatalf("limit %d: %v", limit, err)
		}
		switch {
		case said.Len() == 0 && len(list) == 1:
			done++
		case !strings.Contains(said.String(), "file too large"):
			t.Errorf("limit %d: the error is %q", limit, said.String())
		case m.configs() != was || len(list) > 0:
			t.Errorf("limit %d: something was changed, and then: %s", limit, said.String())
		}
		if left := m.leftovers(); len(left) > 0 {
			t.Errorf("limit %d: left behind: %q", limit, left)
		}
	}
}

// ordinary calls f without the rights of root, which no mode stops. Linux keeps that per thread.
func ordinary(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	if err := syscall.Setfsuid(65534); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setfsuid(0); err != nil {
			panic(err) // other tests would fail in strange ways
		}
		runtime.UnlockOSThread()
	}()
	f()
}

// TestForbidden: whatever forbids to write the second of two files, the error says it, and neither has changed.
func TestForbidden(t *testing.T) {
	for _, tt := range []struct {
		name string
		harm func(m *machine) error
		lock bool
		is   error
		says string
	}{
		{"read-only file", func(m *machine) error { return os.Chmod(m.path("d/b.json"), 0o444) }, false, fs.ErrPermission, "marked read-only"},
		{"read-only folder", func(m *machine) error { return os.Chmod(m.path("d"), 0o555) }, false, fs.ErrPermission, "no temporary file in its directory"},
		{"read-only folder, client's lock", func(m *machine) error { return os.Chmod(m.path("d"), 0o555) }, true, fs.ErrPermission, "b.json.lock"},
		{"missing folder", func(m *machine) error { return os.RemoveAll(m.path("d")) }, false, fs.ErrNotExist, "no such file"},
		{"dangling link", func(m *machine) error {
			return errors.Join(os.Remove(m.path("d/b.json")), os.Symlink("nowhere", m.path("d/b.json")))
		}, false, fs.ErrNotExist, "no such file"},
		{"folder in its place", func(m *machine) error {
			return errors.Join(os.Remove(m.path("d/b.json")), os.Mkdir(m.path("d/b.json"), 0o777))
		}, false, nil, "is a directory"},
		{"store that is a file", func(m *machine) error { return os.WriteFile(m.path("state"), nil, 0o666) }, false, syscall.ENOTDIR, "state"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := newMachine(t)
			m.write("a.json", "[0]")
			m.write("d/b.json", "[2]")
			for _, name := range []string{"..", "", "a.json", "d", "d/b.json"} {
				if err := os.Chmod(m.path(name), 0o777); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Chown(m.path("d/b.json"), 65534, -1); err != nil && os.Getuid() == 0 {
				t.Fatal(err)
			}
			if err := os.Chown(m.path("a.json"), 65534, -1); err != nil && os.Getuid() == 0 {
				t.Fatal(err)
			}
			plans := []Plan{m.plan("a.json"), m.plan("d/b.json")}
			plans[1].Lock = tt.lock
			if err := tt.harm(m); err != nil {
				t.Fatal(err)
			}
			was := m.configs()
			ordinary(t, func() {
				_, err := Apply(m.store, plans, ApplyOptions{})
				if err == nil || tt.is != nil && !errors.Is(err, tt.is) || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error %v, want %v, %q", err, tt.is, tt.says)
				}
			})
			if now := m.configs(); now != was {
				t.Errorf("now there is\n%s\nand there was\n%s", now, was)
			}
			if list, err := m.store.Generations(); len(list) > 0 || err != nil && tt.name != "store that is a file" {
				t.Errorf("a record was written: %+v (%v)", list, err)
			}
			if err := os.Chmod(m.home, 0o777); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// TestDressIsKept wraps, unwraps and undoes a file behind a chain of links. Its mode, owner and attributes stay, and the
// links do.
func TestDressIsKept(t *testing.T) {
	m := newMachine(t)
	const text = `{"mcpServers": {"s": {"command": "srv"}}}`
	real := m.write("dotfiles/real/mcp.json", text)
	for link, to := range map[string]string{"mcp.json": "dotfiles/link.json", "dotfiles/link.json": m.path("dotfiles/dir/mcp.json"), "dotfiles/dir": "real"} {
		if err := os.Symlink(to, m.path(link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(real, 0o604); err != nil {
		t.Fatal(err)
	}
	uid, gid := uint32(os.Getuid()), uint32(os.Getgid())
	if uid == 0 {
		uid, gid = 1234, 2345
		if err := os.Chown(real, int(uid), int(gid)); err != nil {
			t.Fatal(err)
		}
	}
	attributes := unix.Setxattr(real, "user.origin", []byte("dotfiles"), 0) == nil
	links := m.links()
	check := func(want string) {
		t.Helper()
		info, err := os.Lstat(real)
		if err != nil {
			t.Fatal(err)
		}
		st := info.Sys().(*syscall.Stat_t)
		if info.Mode() != 0o604 || st.Uid != uid || st.Gid != gid {
			t.Errorf("mode %v, owner %d:%d", info.Mode(), st.Uid, st.Gid)
		}
		value := make([]byte, 64)
		if n, err := unix.Getxattr(real, "user.origin", value); attributes && (err != nil || string(value[:n]) != "dotfiles") {
			t.Errorf("the attribute is %q, %v", value[:max(n, 0)], err)
		}
		if now := m.links(); !slices.Equal(now, links) {
			t.Errorf("links %q, were %q", now, links)
		}
		if got := m.read("mcp.json"); want != "" && got != want {
			t.Errorf("holds %s", got)
		}
	}
	do := func(plan func(File, Options) (Plan, error)) {
		t.Helper()
		file := config(m.read("mcp.json"))
		file.Path = m.path("mcp.json")
		p, err := plan(file, options())
		if err != nil {
			t.Fatal(err)
		}
		m.apply("test", p)
	}
	do(PlanWrap)
	check("")
	do(PlanUnwrap)
	check(text)
	m.undo()
	check("")
	m.undo()
	check(text)
}

// links lists every symbolic link below the home with what it holds.
func (m *machine) links() []string {
	var list []string
	err := filepath.WalkDir(m.home, func(path string, _ fs.DirEntry, err error) error {
		if to, linkErr := os.Readlink(path); linkErr == nil {
			list = append(list, path+" -> "+to)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return list
}

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const nobody = 65534

// asOrdinary calls f without the rights of root, which no file mode stops. Linux keeps the file system identity per thread.
func asOrdinary(t *testing.T, f func()) {
	t.Helper()
	if os.Getuid() != 0 {
		f()
		return
	}
	runtime.LockOSThread()
	if err := syscall.Setfsuid(nobody); err != nil {
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

// openDir is a directory that everybody can reach and write in.
func openDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, open := range []string{filepath.Dir(dir), dir} {
		if err := os.Chmod(open, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestReadOnlyDirectory(t *testing.T) {
	dir := openDir(t)
	path := filepath.Join(dir, "f")
	write(t, path, "old", 0o666)
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	asOrdinary(t, func() {
		if err := Replace(path, []byte("new"), 0); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Replace: %v", err)
		}
		if err := Create(filepath.Join(dir, "g"), []byte("new"), 0); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("Create: %v", err)
		}
		if _, err := LockDir(filepath.Join(dir, "lock"), 0, 0); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("LockDir: %v", err)
		}
	})
	if got := content(t, path); got != "old" {
		t.Errorf("holds %q", got)
	}
}

func TestOwnerIsKept(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make files that belong to others")
	}
	dir := openDir(t)
	path := filepath.Join(dir, "f")
	write(t, path, "old", 0o640)
	if err := os.Chown(path, 1234, 2345); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640|fs.ModeSetgid); err != nil {
		t.Fatal(err)
	}

	before := names(t, dir)
	asOrdinary(t, func() {
		if err := Replace(path, []byte("stolen"), 0); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("replacing another's file: %v", err)
		}
	})
	if got := content(t, path); got != "old" {
		t.Errorf("holds %q", got)
	}
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Errorf("files are %q, were %q", after, before)
	}

	if err := Replace(path, []byte("new"), 0); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	if st.Uid != 1234 || st.Gid != 2345 || info.Mode() != 0o640|fs.ModeSetgid {
		t.Errorf("owner %d:%d, mode %v", st.Uid, st.Gid, info.Mode())
	}
}

func TestAttributesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	write(t, path, "old", 0o600)
	if err := unix.Setxattr(path, "user.origin", []byte("somewhere"), 0); err != nil {
		t.Skipf("this file system has no user attributes: %v", err)
	}
	if err := unix.Setxattr(path, "user.empty", nil, 0); err != nil {
		t.Fatal(err)
	}
	if err := Replace(path, []byte("new"), 0); err != nil {
		t.Fatal(err)
	}
	value := make([]byte, 64)
	n, err := unix.Getxattr(path, "user.origin", value)
	if err != nil || string(value[:n]) != "somewhere" {
		t.Errorf("user.origin is %q, %v", value[:max(n, 0)], err)
	}
	if n, err := unix.Getxattr(path, "user.empty", value); n != 0 || err != nil {
		t.Errorf("user.empty: %d, %v", n, err)
	}
}

package direct

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// The calls of a file system that may wait for others are those of package os, and say the same.
func TestFileElsewhere(t *testing.T) {
	plain, err := os.OpenFile(filepath.Join(t.TempDir(), "file"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	near := Of(plain)
	far := near
	far.local = false
	for name, f := range map[string]File{"local": near, "elsewhere": far} {
		if n, err := f.WriteAt([]byte("words"), 0); n != 5 || err != nil {
			t.Errorf("%s: write: %d, %v", name, n, err)
		}
		p := make([]byte, 5)
		if n, err := f.ReadAt(p, 0); string(p[:n]) != "words" || err != nil {
			t.Errorf("%s: read: %q, %v", name, p[:n], err)
		}
		if err := f.Flock(unix.LOCK_EX | unix.LOCK_NB); err != nil {
			t.Errorf("%s: lock: %v", name, err)
		}
		if size, named := f.Extent(); size != 5 || !named {
			t.Errorf("%s: extent: %d, %v", name, size, named)
		}
	}
	if err := os.Remove(plain.Name()); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]File{"local": near, "elsewhere": far} {
		if _, named := f.Extent(); named {
			t.Errorf("%s: a file without a name has one", name)
		}
	}
}

func TestLocal(t *testing.T) {
	for _, kind := range []uint64{unix.NFS_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.FUSE_SUPER_MAGIC, unix.V9FS_MAGIC, 0, 1 << 40} {
		if local(kind) {
			t.Errorf("%#x counts as local", kind)
		}
	}
	for _, kind := range []uint64{unix.EXT4_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.BTRFS_SUPER_MAGIC | 0xffff_ffff<<32} { // as a signed 32-bit number widens
		if !local(kind) {
			t.Errorf("%#x does not count as local", kind)
		}
	}
}

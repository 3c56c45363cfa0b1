package direct

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	plain, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	f := Of(plain)
	defer f.Close()
	for _, s := range []string{"hello ", "", "world"} {
		if n, err := f.Write([]byte(s)); n != len(s) || err != nil {
			t.Fatalf("write %q: %d, %v", s, n, err)
		}
	}
	for _, c := range []struct {
		size, off int
		want      string
		err       error
	}{
		{5, 0, "hello", nil}, {5, 6, "world", nil}, {9, 6, "world", io.EOF}, {3, 40, "", io.EOF}, {0, 3, "", nil},
	} {
		p := make([]byte, c.size)
		if n, err := f.ReadAt(p, int64(c.off)); string(p[:n]) != c.want || err != c.err {
			t.Errorf("ReadAt %d, %d: %q, %v", c.size, c.off, p[:n], err)
		}
	}
	if _, err := f.ReadAt(make([]byte, 1), -1); err == nil {
		t.Error("a negative offset passes")
	}
}

func TestFileWriteAt(t *testing.T) {
	plain, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	f := Of(plain)
	large := bytes.Repeat([]byte{'x'}, 3<<20)
	if n, err := f.WriteAt(large, 2); n != len(large) || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if got, err := os.ReadFile(f.Name()); err != nil || !bytes.Equal(got, append([]byte{0, 0}, large...)) {
		t.Errorf("the file has %d bytes, %v", len(got), err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

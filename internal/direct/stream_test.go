package direct

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"testing"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

func TestStream(t *testing.T) {
	kinds := map[string]func(*os.File) io.ReadWriteCloser{"own": Own, "shared": Shared}
	for name, of := range kinds {
		t.Run(name, func(t *testing.T) {
			r, w := pipe(t)
			in, out := of(r), of(w)
			sent := bytes.Repeat([]byte("0123456789abcdef"), 64<<10) // more than a pipe holds
			failed := make(chan error, 1)
			go func() {
				n, err := out.Write(sent)
				if err == nil && n != len(sent) {
					err = io.ErrShortWrite
				}
				failed <- errors.Join(err, out.Close())
			}()
			got, err := io.ReadAll(in)
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("read %d bytes of %d: %v", len(got), len(sent), err)
			}
			if err := <-failed; err != nil {
				t.Errorf("write: %v", err)
			}
			if n, err := in.Read(nil); n != 0 || err != nil {
				t.Errorf("reading nothing: %d, %v", n, err)
			}
		})
	}
}

func TestStreamEnds(t *testing.T) {
	r, w := pipe(t)
	in, out := Own(r), Own(w)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("reading what is closed: %v", err)
	}
	_, err := out.Write([]byte("x"))
	if path, ok := errors.AsType[*fs.PathError](err); !ok || path.Op != "write" {
		t.Errorf("writing to nobody: %v", err)
	}
}

// A read that waits ends when its file is closed.
func TestStreamClosedMeanwhile(t *testing.T) {
	r, _ := pipe(t)
	in := Own(r)
	got := make(chan error, 1)
	go func() {
		_, err := in.Read(make([]byte, 1))
		got <- err
	}()
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v", err)
	}
}

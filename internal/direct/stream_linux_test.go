package direct

import (
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Whoever else holds the pipe may make it blocking. What then waits must be told to the scheduler, which could not stop the
// world otherwise.
func TestSharedBlocks(t *testing.T) {
	r, w := pipe(t)
	in, out := Shared(r), Shared(w)
	for _, f := range []*os.File{r, w} {
		conn, err := f.SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.Control(func(fd uintptr) { err = unix.SetNonblock(int(fd), false) }); err != nil {
			t.Fatal(err)
		}
	}
	read := make(chan string, 1)
	go func() {
		p := make([]byte, 8)
		n, _ := in.Read(p)
		read <- string(p[:n])
	}()
	collected := make(chan struct{})
	go func() {
		defer close(collected)
		for range 3 {
			runtime.GC()
		}
	}()
	select {
	case <-collected:
	case <-time.After(time.Minute):
		t.Fatal("the world could not be stopped")
	}
	if _, err := out.Write([]byte("words")); err != nil {
		t.Fatal(err)
	}
	if got := <-read; got != "words" {
		t.Errorf("read %q", got)
	}
}

// A file that isn't in the poller is left to package os.
func TestStreamOverFile(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s := Shared(f); s != io.ReadWriteCloser(f) {
		t.Errorf("got a %T", s)
	}
}

// The calls of a socket are those of a pipe.
func TestStreamSocket(t *testing.T) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	a, b := os.NewFile(uintptr(fds[0]), "a"), os.NewFile(uintptr(fds[1]), "b")
	defer b.Close()
	in, out := Shared(b), Shared(a)
	if _, ok := in.(*raw); !ok {
		t.Fatalf("got a %T", in)
	}
	if _, err := out.Write([]byte("words")); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(in); string(got) != "words" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

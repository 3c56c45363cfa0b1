package link

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// stdioRole echoes through Stdio, and tells on standard error which of the two are in the poller.
func stdioRole([]string) int {
	in, out, restore := Stdio()
	defer restore()
	fmt.Fprintln(os.Stderr, in.SetReadDeadline(time.Time{}) == nil, out.SetWriteDeadline(time.Time{}) == nil)
	_, err := io.Copy(struct{ io.Writer }{out}, struct{ io.Reader }{in})
	return exitCode(err)
}

// pipeless writes after its reader has gone.
func pipeless([]string) int {
	in, out, restore := Stdio()
	defer restore()
	if _, err := io.ReadAll(in); err != nil {
		return exitCode(err)
	}
	if _, err := out.WriteString("anyone?"); errors.Is(err, unix.EPIPE) {
		return 7
	}
	return 1
}

// ends returns the two ends of a connection: ours, and one to be inherited.
func ends(t *testing.T, kind string, theyRead bool) (ours, theirs *os.File) {
	t.Helper()
	switch kind {
	case "socket":
		fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs = os.NewFile(uintptr(fds[0]), "ours"), os.NewFile(uintptr(fds[1]), "theirs")
	case "pipe":
		var err error
		if theirs, ours, err = os.Pipe(); err != nil {
			t.Fatal(err)
		}
		if !theyRead {
			ours, theirs = theirs, ours
		}
	}
	t.Cleanup(func() { closeAll(ours, theirs) })
	return ours, theirs
}

// nonblocking reports the mode of the open file behind f, which all its copies share.
func nonblocking(t *testing.T, f *os.File) (yes bool) {
	t.Helper()
	control(f, func(fd int) {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		if err != nil {
			t.Fatal(err)
		}
		yes = flags&unix.O_NONBLOCK != 0
	})
	return yes
}

func TestStdio(t *testing.T) {
	tests := []struct {
		name      string
		kind      string
		one       bool // the same socket for both
		inherited bool // they come non-blocking
	}{
		{"pipes", "pipe", false, false},
		{"sockets", "socket", false, false},
		{"non-blocking sockets", "socket", false, true},
		{"one socket", "socket", true, false},
		{"one non-blocking socket", "socket", true, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			toChild, stdin := ends(t, test.kind, true)
			fromChild, stdout := toChild, stdin
			if !test.one {
				fromChild, stdout = ends(t, test.kind, false)
			}
			for _, f := range []*os.File{stdin, stdout} {
				control(f, func(fd int) { _ = unix.SetNonblock(fd, test.inherited) })
			}
			s := as(t, "stdio")
			cmd := exec.Command(s.Command)
			var said strings.Builder
			cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = s.Env, stdin, stdout, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			want := strings.Repeat("0123456789abcdef", 1<<16)
			go func() {
				_, _ = io.WriteString(toChild, want)
				if test.kind == "socket" {
					control(toChild, func(fd int) { _ = unix.Shutdown(fd, unix.SHUT_WR) })
				} else {
					closeAll(toChild)
				}
			}()
			got := make([]byte, len(want))
			if n, err := io.ReadFull(fromChild, got); err != nil || string(got) != want {
				t.Errorf("%d bytes came back of %d: %v", n, len(want), err)
			}
			if err := cmd.Wait(); err != nil || said.String() != "true true\n" {
				t.Errorf("in the poller: %s, %v", said.String(), err)
			}
			if nonblocking(t, stdin) != test.inherited || nonblocking(t, stdout) != test.inherited {
				t.Errorf("left non-blocking %t and %t, want %t", nonblocking(t, stdin), nonblocking(t, stdout), test.inherited)
			}
		})
	}
}

func TestStdioSurvivesAReaderThatGoes(t *testing.T) {
	toChild, stdin := ends(t, "pipe", true)
	fromChild, stdout := ends(t, "pipe", false)
	s := as(t, "pipeless")
	cmd := exec.Command(s.Command)
	cmd.Env, cmd.Stdin, cmd.Stdout = s.Env, stdin, stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	closeAll(stdin, stdout, fromChild)
	toChild.Close()
	err := cmd.Wait()
	if failure, ok := errors.AsType[*exec.ExitError](err); !ok || failure.ExitCode() != 7 {
		t.Errorf("ended with %v, want the exit code for a broken pipe", err)
	}
}

func TestStdioLeavesFilesAlone(t *testing.T) {
	s := as(t, "stdio")
	cmd := exec.Command(s.Command)
	var said strings.Builder
	cmd.Env, cmd.Stderr = s.Env, &said // both are /dev/null
	if err := cmd.Run(); err != nil || said.String() != "false false\n" {
		t.Errorf("in the poller: %s, %v", said.String(), err)
	}
}

func TestHangUp(t *testing.T) {
	for _, kind := range []string{"pipe", "socket"} {
		t.Run(kind, func(t *testing.T) {
			client, stdin := ends(t, kind, true)
			gone, stop := HangUp(stdin)
			defer stop()
			if _, err := client.WriteString("said and not read"); err != nil {
				t.Fatal(err)
			}
			other, stopOther := HangUp(stdin)
			stopOther() // which waits until nobody watches
			select {
			case <-gone:
				t.Error("gone while it is there")
			case <-other:
				t.Error("stopped, and gone")
			default:
			}
			closeAll(client)
			select {
			case <-gone:
			case <-time.After(time.Minute):
				t.Error("not gone when it has closed its end")
			}
		})
	}
}

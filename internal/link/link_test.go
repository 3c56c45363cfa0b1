package link

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// roleVariable makes the test binary play a part of a real process tree instead of running tests.
const roleVariable = "LINK_TEST_ROLE"

func TestMain(m *testing.M) {
	if name := os.Getenv(roleVariable); name != "" {
		role, ok := roles()[name]
		if !ok {
			role, ok = systemRoles()[name]
		}
		if !ok {
			panic("no role " + name)
		}
		os.Exit(role(os.Args[1:])) //nolint:forbidigo // this is the main function of the role
	}
	m.Run()
}

// roles are what a process can be on every system; systemRoles are the others.
func roles() map[string]func(args []string) int {
	return map[string]func([]string) int{
		"echo": func([]string) int {
			_, err := io.Copy(os.Stdout, os.Stdin)
			return exitCode(err)
		},
		// A server that says something and ends.
		"say": func(args []string) int {
			fmt.Fprint(os.Stderr, args[1])
			code, _ := strconv.Atoi(args[0])
			return code
		},
		// A server that writes megabytes to standard error before it answers.
		"flood": func(args []string) int {
			megabytes, _ := strconv.Atoi(args[0])
			line := bytes.Repeat([]byte("log "), 256)
			line[len(line)-1] = '\n'
			for range megabytes << 10 {
				os.Stderr.Write(line)
			}
			fmt.Fprintln(os.Stdout, "done")
			return 0
		},
		"args": func(args []string) int {
			fmt.Fprintf(os.Stdout, "%q\n", args)
			return 0
		},
	}
}

func exitCode(err error) int {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// as returns the specification of a server that plays a role.
func as(t testing.TB, role string, args ...string) Spec {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The race detector makes every process linger for a second before it ends, unless told not to.
	return Spec{Command: self, Args: args, Env: append(os.Environ(), roleVariable+"="+role, "GORACE=atexit_sleep_ms=0")}
}

func mustStart(t testing.TB, s Spec) *Child {
	t.Helper()
	c, err := Start(s)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(0) })
	return c
}

func await(t testing.TB, what string, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s does not come", what)
	}
}

// lockedBuffer may be written and read by several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func TestEcho(t *testing.T) {
	c := mustStart(t, as(t, "echo"))
	// Larger than any pipe, so that both directions have to move at once.
	want := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	go func() {
		c.In.Write(want)
		c.In.Close()
	}()
	got, err := io.ReadAll(c.Out)
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%d bytes came back of %d: %v", len(got), len(want), err)
	}
	await(t, "the end of the server", c.Done())
	if c.Code() != 0 || c.Exit() != "exit status 0" {
		t.Errorf("the server ended with %d, %s", c.Code(), c.Exit())
	}
}

func TestArgumentsAndCommandArriveUnchanged(t *testing.T) {
	args := []string{"", "a b", `c"d`, `e\`, "ü", "$HOME", "%PATH%", "*"}
	c := mustStart(t, as(t, "args", args...))
	line, err := bufio.NewReader(c.Out).ReadString('\n')
	if want := fmt.Sprintf("%q\n", args); err != nil || line != want {
		t.Errorf("arrived %s, %v; want %s", line, err, want)
	}
}

func TestServerThatDiesAtStart(t *testing.T) {
	var passed lockedBuffer
	s := as(t, "say", "3", "cannot find module x\r\nat line 1\n")
	s.Stderr = &passed
	c := mustStart(t, s)
	if got, err := io.ReadAll(c.Out); err != nil || len(got) > 0 {
		t.Errorf("output %q, %v", got, err)
	}
	await(t, "the end of the server", c.Done())
	if c.Code() != 3 || c.Exit() != "exit status 3" {
		t.Errorf("the server ended with %d, %s", c.Code(), c.Exit())
	}
	if tail := strings.Join(c.Tail(), "|"); tail != "cannot find module x|at line 1" {
		t.Errorf("tail %q", tail)
	}
	c.Stop(time.Second)
	if got := passed.String(); got != "cannot find module x\r\nat line 1\n" {
		t.Errorf("passed on %q", got)
	}
}

func TestStartErrors(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	tests := []struct {
		name  string
		spec  Spec
		found bool
		text  string
	}{
		{"unknown name", Spec{Command: "no-such-server", Env: []string{"PATH=" + empty}}, false, "no-such-server: program not found (searched " + empty + ")"},
		{"the server's PATH counts", Spec{Command: "go", Env: []string{"PATH=" + empty}}, false, "go: program not found (searched " + empty + ")"},
		{"empty PATH", Spec{Command: "sh", Env: []string{"PATH="}}, false, "sh: program not found (searched no directory: PATH names none)"},
		{"missing working directory", Spec{Command: "go", Dir: filepath.Join(empty, "x")}, true, "go: working directory: "},
		{"working directory is a file", Spec{Command: "go", Dir: file}, true, "is not a directory"},
		{"empty command", Spec{}, true, ": empty command"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, err := Start(test.spec)
			if err == nil {
				c.Stop(0)
				t.Fatal("started")
			}
			failure, ok := errors.AsType[*StartError](err)
			if !ok || failure.NotFound == test.found || failure.Command != test.spec.Command || !strings.Contains(err.Error(), test.text) {
				t.Errorf("%#v: %v; want %q", err, err, test.text)
			}
		})
	}
}

func TestFloodStallsNothing(t *testing.T) {
	blocked, write := io.Pipe() // a client that never reads its server's standard error
	defer blocked.Close()
	s := as(t, "flood", "64")
	s.Stderr = write
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := mustStart(t, s)
	line, err := bufio.NewReader(c.Out).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "done" {
		t.Fatalf("the server said %q, %v", line, err)
	}
	await(t, "the end of the server", c.Done())
	runtime.ReadMemStats(&after)
	// Everything that was ever allocated counts, not only what is still in use.
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
		t.Errorf("64 MB of standard error took %d KB of memory", grown>>10)
	}
	if tail := c.Tail(); len(tail) != 4 || !strings.HasPrefix(tail[3], "log log") {
		t.Errorf("tail %q", tail)
	}
	began := time.Now()
	c.Stop(time.Second)
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("stop took %v", took)
	}
}

func TestTail(t *testing.T) {
	numbered := func(from, to int) (lines []string) {
		for i := from; i < to; i++ {
			lines = append(lines, strconv.Itoa(i))
		}
		return lines
	}
	x := strings.Repeat("x", 3000)
	tests := []struct {
		name   string
		writes []string
		want   []string
	}{
		{"nothing", nil, nil},
		{"only line ends", []string{"\n\r\n"}, nil},
		{"no final line end", []string{"a\nb"}, []string{"a", "b"}},
		{"a line in pieces", []string{"a", "b\n", "c"}, []string{"ab", "c"}},
		{"twenty lines", []string{strings.Join(numbered(0, 100), "\n")}, numbered(80, 100)},
		{"whole lines of the last 4 KiB", []string{x + "\n" + x + "\nlast\n"}, []string{x, "last"}},
		{"the same in small writes", strings.SplitAfter(x+"\n"+x+"\nlast\n", "x"), []string{x, "last"}},
		{"the cut is where a line begins", []string{"a\n" + strings.Repeat("y", tailBytes-1) + "\n"}, []string{strings.Repeat("y", tailBytes-1)}},
		{"one long line", []string{strings.Repeat("y", 10000) + "z"}, []string{strings.Repeat("y", tailBytes-1) + "z"}},
		{"not UTF-8", []string{"a\xffb"}, []string{"a\uFFFDb"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newStderr(nil)
			for _, w := range test.writes {
				s.keep([]byte(w))
			}
			got := s.lines()
			if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", test.want) {
				t.Errorf("got %.200q, want %.200q", got, test.want)
			}
		})
	}
}

// gate is a writer that takes nothing until it is opened.
type gate struct {
	lockedBuffer
	open chan struct{}
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.lockedBuffer.Write(p)
}

func TestSpoolDropsWhatNobodyReads(t *testing.T) {
	g := &gate{open: make(chan struct{})}
	s := NewSpool(g)
	line := []byte(strings.Repeat("x", 1023) + "\n")
	const lines = 4096
	for range lines {
		if n, err := s.Write(line); n != len(line) || err != nil {
			t.Fatalf("Write = %d, %v", n, err)
		}
	}
	close(g.open)
	s.Write([]byte("after\n"))
	s.Close()

	got := g.String()
	kept := strings.Count(got, string(line))
	if kept < 256 || kept > 2*256 {
		t.Errorf("%d KB were kept, want one or two times 256", kept)
	}
	// Two gaps, if the spool's goroutine first ran when there was one already.
	dropped, notices := 0, strings.Split(got, "bouncer: ")[1:]
	for _, notice := range notices {
		var n int
		if _, err := fmt.Sscanf(notice, "%d bytes of standard error were dropped", &n); err != nil {
			t.Fatalf("no notice of a gap: %.80q", notice)
		}
		dropped += n
	}
	if len(notices) != 1 && len(notices) != 2 {
		t.Fatalf("%d notices of a gap", len(notices))
	}
	// The last write may have met the gap, and is then part of it.
	if rest := lines*len(line) - kept*len(line) - dropped; rest != 0 && rest != -len("after\n") {
		t.Errorf("%d of %d lines kept and %d bytes dropped", kept, lines, dropped)
	}
}

func TestSpoolPassesPartialLines(t *testing.T) {
	read, write := io.Pipe()
	s := NewSpool(write)
	s.Write([]byte("password: "))
	got := make([]byte, 10)
	if _, err := io.ReadFull(read, got); err != nil || string(got) != "password: " {
		t.Fatalf("%q, %v", got, err)
	}
	read.Close() // from here on, writes fail
	s.Write([]byte("x"))
	s.Close()
}

package link

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func systemRoles() map[string]func(args []string) int {
	return map[string]func([]string) int{
		// A server that heeds neither the end of its input nor a request to end.
		"stubborn": func([]string) int {
			signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
			fmt.Fprintln(os.Stdout, os.Getpid())
			return pause()
		},
		// A server that ends when asked, with its last words.
		"polite": func([]string) int {
			asked := make(chan os.Signal, 1)
			signal.Notify(asked, unix.SIGTERM)
			fmt.Fprintln(os.Stdout, os.Getpid())
			<-asked
			fmt.Fprintln(os.Stdout, "goodbye")
			return 0
		},
		// A wrapper around stubborn servers, like npx: its descendants hold its pipes.
		"family": func(args []string) int {
			signal.Ignore(unix.SIGTERM, unix.SIGINT, unix.SIGHUP)
			fmt.Fprintln(os.Stdout, os.Getpid())
			if args[0] != "0" {
				generations, _ := strconv.Atoi(args[0])
				spawn("family", nil, strconv.Itoa(generations-1))
			}
			return pause()
		},
		// A server whose first process ends at once and leaves another behind.
		"orphan": func([]string) int {
			spawn("stubborn", nil)
			return 0
		},
		// The same, but the other leaves the process group.
		"fugitive": func([]string) int {
			spawn("stubborn", &syscall.SysProcAttr{Setsid: true})
			return 0
		},
		"descriptors": descriptors,
		"bouncer":     bouncer,
		"init":        negligentInit,
		"stdio":       stdioRole,
		"pipeless":    pipeless,
	}
}

// pause waits to be killed.
func pause() int {
	for {
		_ = unix.Pause()
	}
}

// spawn starts another role on our own streams.
func spawn(role string, attr *syscall.SysProcAttr, args ...string) {
	cmd := exec.Command("/proc/self/exe", args...)
	cmd.Env = append(os.Environ(), roleVariable+"="+role)
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = os.Stdin, os.Stdout, os.Stderr, attr
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

// descriptors prints the mode of the three streams, what else is open, and the place in the tree.
func descriptors([]string) int {
	for fd := range 3 {
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
		fmt.Fprint(os.Stdout, err == nil && flags&unix.O_NONBLOCK == 0, " ")
	}
	group, _ := unix.Getpgid(0)
	fmt.Fprintln(os.Stdout, group == os.Getpid(), os.Getppid())
	for fd := 3; fd < 100; fd++ {
		if target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); err == nil {
			fmt.Fprintln(os.Stdout, target)
		}
	}
	fmt.Fprintln(os.Stdout, "end")
	return pause()
}

// bouncer is a process that holds a server with two generations behind it, shows their ids, and waits to be killed.
func bouncer([]string) int {
	c, err := Start(Spec{Command: "/proc/self/exe", Args: []string{"2"}, Env: append(os.Environ(), roleVariable+"=family")})
	if err != nil {
		return exitCode(err)
	}
	_, err = io.Copy(os.Stdout, c.Out)
	return exitCode(err)
}

// negligentInit takes in every orphan and reaps none, like the first process of some containers. It prints how long a stop takes in milliseconds.
func negligentInit([]string) int {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return exitCode(err)
	}
	c, err := Start(Spec{Command: "/proc/self/exe", Env: append(os.Environ(), roleVariable+"=orphan")})
	if err != nil {
		return exitCode(err)
	}
	pid, err := bufio.NewReader(c.Out).ReadString('\n')
	if err != nil {
		return exitCode(err)
	}
	<-c.Done()
	began := time.Now()
	c.Stop(0)
	state, _ := processState(strings.TrimSpace(pid))
	fmt.Fprintf(os.Stdout, "%d %c\n", time.Since(began).Milliseconds(), state)
	return 0
}

// processes reads n process ids, one a line.
func processes(t testing.TB, r *bufio.Reader, n int) []string {
	t.Helper()
	var pids []string
	for range n {
		line, err := r.ReadString('\n')
		if err != nil {
			t.Fatalf("after %d process ids: %v", len(pids), err)
		}
		pids = append(pids, strings.TrimSpace(line))
	}
	return pids
}

func running(pid string) bool {
	state, _ := processState(pid)
	return state != 0 && state != 'Z' && state != 'X'
}

// eventually polls until ok, for at most d.
func eventually(t testing.TB, d time.Duration, what string, ok func() bool) {
	t.Helper()
	for limit := time.Now().Add(d); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("not within %v: %s", d, what)
		}
	}
}

// guards returns the ids of the guards that watch a process group.
func guards(group string) (pids []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, _ := os.ReadFile(file)
		if strings.HasSuffix(string(line), "\x00bouncer-guard\x00"+group+"\x00") {
			pids = append(pids, filepath.Base(filepath.Dir(file)))
		}
	}
	return pids
}

func TestServerInheritsItsStreamsAndNothingElse(t *testing.T) {
	c := mustStart(t, as(t, "descriptors"))
	r := bufio.NewReader(c.Out)
	state, err := r.ReadString('\n')
	var open []string
	for line := ""; err == nil && line != "end"; open = append(open, line) {
		line, err = r.ReadString('\n')
		line = strings.TrimSpace(line)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Three blocking streams, at the head of a group, a child of ours.
	if want := fmt.Sprintf("true true true true %d\n", os.Getpid()); state != want {
		t.Errorf("got %s, want %s", state, want)
	}
	for name, f := range map[string]*os.File{"input": c.In, "output": c.Out, "error": c.stderr.from, "guard": c.tree.guard.pipe} {
		if f == nil {
			t.Fatalf("there is no %s pipe", name)
		}
		control(f, func(fd int) {
			target, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd))
			if err != nil || slices.Contains(open, target) {
				t.Errorf("our end of the %s pipe, %s, is open in the server: %v", name, target, err)
			}
		})
	}
}

func TestStop(t *testing.T) {
	tests := []struct {
		role  string
		args  []string
		count int // of processes that announce themselves
		grace time.Duration
		code  int // of the first process
	}{
		{"stubborn", nil, 1, 50 * time.Millisecond, 128 + 9},
		{"stubborn", nil, 1, time.Hour, 128 + 9},
		{"polite", nil, 1, 0, 0},
		{"family", []string{"2"}, 3, 50 * time.Millisecond, 128 + 9},
		{"orphan", nil, 1, 50 * time.Millisecond, 0},
	}
	for _, test := range tests {
		t.Run(fmt.Sprint(test.role, " ", test.grace), func(t *testing.T) {
			t.Parallel()
			c := mustStart(t, as(t, test.role, test.args...))
			pids := processes(t, bufio.NewReader(c.Out), test.count)
			if test.role == "orphan" {
				await(t, "the end of the server", c.Done())
			}
			began := time.Now()
			c.Stop(test.grace)
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
			for _, pid := range pids {
				if running(pid) {
					t.Errorf("process %s still runs", pid)
				}
			}
			await(t, "the end of the server", c.Done())
			if c.Code() != test.code {
				t.Errorf("ended with %d, %s; want %d", c.Code(), c.Exit(), test.code)
			}
			if _, err := c.Out.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
				t.Errorf("the pipe is open: %v", err)
			}
			c.Stop(test.grace) // again, without harm
		})
	}
}

func TestStopLeavesAReaderItsLastBytes(t *testing.T) {
	c := mustStart(t, as(t, "polite"))
	r := bufio.NewReader(c.Out)
	processes(t, r, 1)
	said := make(chan string, 1)
	go func() {
		rest, _ := io.ReadAll(r)
		said <- string(rest)
	}()
	c.Stop(0)
	if got := <-said; got != "goodbye\n" {
		t.Errorf("read %q", got)
	}
}

// A process that holds the server's pipes from outside the process group delays neither Done nor Stop, though it is not ended either.
func TestFugitiveHangsNothing(t *testing.T) {
	var passed lockedBuffer
	s := as(t, "fugitive")
	s.Stderr = &passed
	c := mustStart(t, s)
	pid := processes(t, bufio.NewReader(c.Out), 1)[0]
	n, _ := strconv.Atoi(pid)
	defer unix.Kill(n, unix.SIGKILL)
	await(t, "the end of the server", c.Done())
	read := make(chan error)
	go func() {
		_, err := c.Out.Read(make([]byte, 1))
		read <- err
	}()
	began := time.Now()
	c.Stop(time.Second)
	if took := time.Since(began); took > 3*time.Second {
		t.Errorf("took %v", took)
	}
	if err := <-read; !errors.Is(err, os.ErrClosed) {
		t.Errorf("the blocked read ended with %v", err)
	}
	if !running(pid) {
		t.Error("the fugitive was ended; the test shows nothing")
	}
}

// Bouncer can be killed in a way that no code of it sees. Nothing it started may survive that for long.
func TestKillOfBouncerEndsTheTree(t *testing.T) {
	s := as(t, "bouncer")
	cmd := exec.Command(s.Command)
	cmd.Env = s.Env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids := processes(t, bufio.NewReader(out), 3)
	eventually(t, 10*time.Second, "a guard", func() bool { return len(guards(pids[0])) == 1 })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	eventually(t, 5*time.Second, "the end of the tree and its guard", func() bool {
		return !running(pids[0]) && !running(pids[1]) && !running(pids[2]) && len(guards(pids[0])) == 0
	})
	cmd.Wait()
}

// A guard must not outlive its use: the number of the group it knows will belong to others.
func TestGuardEndsWithTheServer(t *testing.T) {
	c := mustStart(t, as(t, "polite"))
	pid := processes(t, bufio.NewReader(c.Out), 1)[0]
	eventually(t, 10*time.Second, "a guard", func() bool { return len(guards(pid)) == 1 })
	n, _ := strconv.Atoi(pid)
	if err := unix.Kill(n, unix.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await(t, "the end of the server", c.Done())
	if c.Exit() != "signal: killed" || c.Code() != 128+9 {
		t.Errorf("ended with %d, %s", c.Code(), c.Exit())
	}
	eventually(t, 10*time.Second, "the end of the guard", func() bool { return len(guards(pid)) == 0 })
}

func TestStopDoesNotWaitForZombies(t *testing.T) {
	s := as(t, "init")
	cmd := exec.Command(s.Command)
	cmd.Env = s.Env
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var milliseconds int
	var state rune
	if _, err := fmt.Sscanf(string(out), "%d %c", &milliseconds, &state); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	if state != 'Z' {
		t.Fatalf("the orphan is in state %c, not a zombie; the test shows nothing", state)
	}
	if full := termWait + killWait; time.Duration(milliseconds)*time.Millisecond >= full {
		t.Errorf("the stop took %d ms, all it could", milliseconds)
	}
}

func TestNothingLeaks(t *testing.T) {
	descriptors := func() int {
		names, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(names)
	}
	children := func() int {
		count := 0
		files, _ := filepath.Glob("/proc/self/task/*/children")
		for _, file := range files {
			pids, _ := os.ReadFile(file)
			count += len(strings.Fields(string(pids)))
		}
		return count
	}
	round := func() {
		s := as(t, "echo")
		s.Stderr = io.Discard
		c := mustStart(t, s)
		fmt.Fprintln(c.In, "hello")
		if line, err := bufio.NewReader(c.Out).ReadString('\n'); err != nil || line != "hello\n" {
			t.Fatalf("%q, %v", line, err)
		}
		c.Stop(time.Second)
	}
	round() // whatever is made once
	fds, routines, procs := descriptors(), runtime.NumGoroutine(), children()
	for range 50 {
		round()
	}
	eventually(t, 5*time.Second, "as few descriptors, goroutines and processes as before", func() bool {
		return descriptors() <= fds && runtime.NumGoroutine() <= routines && children() <= procs
	})
}

func TestCommandIsRelativeToTheWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	script := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	script("shebang", "#!/bin/sh\necho $0 $1; pwd")
	script("bare", "echo bare $1; pwd")
	script("lost", "#!/no/such/interpreter\n")

	for command, want := range map[string]string{
		"./shebang": dir + "/shebang arg\n" + dir + "\n",
		"./bare":    "bare arg\n" + dir + "\n",
	} {
		c := mustStart(t, Spec{Command: command, Args: []string{"arg"}, Dir: dir})
		if out, err := io.ReadAll(c.Out); err != nil || string(out) != want {
			t.Errorf("%s printed %q, %v; want %q", command, out, err, want)
		}
	}
	_, err := Start(Spec{Command: "./lost", Dir: dir})
	if failure, ok := errors.AsType[*StartError](err); !ok || failure.NotFound || !strings.Contains(err.Error(), "the interpreter it needs is not") {
		t.Errorf("missing interpreter: %v", err)
	}
}

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// sitting is a running bouncer with a server behind it, in a home of its own. Everything that descends from it names
// that home in its environment, which is how it is found again.
type sitting struct {
	home string
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

// sit prepares a session whose bouncer is started by the command line before, if there is one.
func sit(t *testing.T, home string, before []string, server ...string) *sitting {
	t.Helper()
	argv := slices.Concat(before, []string{"bouncer", "run", "--upstream-name=s", "--"}, server)
	s := &sitting{home: home, cmd: exec.Command(argv[0], argv[1:]...)}
	s.cmd.Dir = home
	s.cmd.Env = []string{
		"HOME=" + home, "XDG_CONFIG_HOME=" + home + "/config", "XDG_STATE_HOME=" + home + "/state",
		"PATH=" + os.Getenv("PATH") + ":" + home, // the guard is given nothing but the PATH
		"GORACE=atexit_sleep_ms=0",               // the race detector's own wait at the end is none of bouncer's
	}
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	return s
}

func (s *sitting) start(t *testing.T) {
	t.Helper()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, pid := range s.processes() {
			_ = syscall.Kill(pid, syscall.SIGKILL) // only what a failed test has left
		}
		_ = s.cmd.Wait()
	})
}

// processes are those of the session, and what they have started.
func (s *sitting) processes() (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files {
		env, _ := os.ReadFile(file) // it may have ended
		if bytes.Contains(env, []byte(":"+s.home+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// ask sends a ping and waits for its answer, whatever else comes.
func (s *sitting) ask(id int) error {
	if _, err := fmt.Fprintf(s.in, `{"jsonrpc":"2.0","id":%d,"method":"ping"}`+"\n", id); err != nil {
		return err
	}
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			return err
		}
		if strings.Contains(line, fmt.Sprintf(`"id":%d,"result"`, id)) {
			return nil
		}
	}
}

// peak is how much memory bouncer has had at once, in MB.
func (s *sitting) peak(t *testing.T) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kb int
	if _, err := fmt.Sscan(rest, &kb); err != nil {
		t.Fatal(err)
	}
	return kb >> 10
}

// allGone is the promise: whatever ends a session, nothing of it is left after that.
const allGone = 10 * time.Second // five are promised; a busy machine may take its time over noticing

// gone waits for the end of everything.
func (s *sitting) gone() error {
	for began := time.Now(); time.Since(began) < allGone; {
		if len(s.processes()) == 0 {
			return nil
		}
		time.Sleep(100 * time.Millisecond) // looking at every process of the system costs those of the others
	}
	return fmt.Errorf("left: %s", s.names())
}

func (s *sitting) names() string {
	var names []string
	for _, pid := range s.processes() {
		line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
		names = append(names, strconv.Itoa(pid)+" "+strings.ReplaceAll(string(line), "\x00", " "))
	}
	return strings.Join(names, "; ")
}

// TestNothingIsLeft ends sessions in every way there is. Their servers ignore the end of their input and every request
// to end, stand behind wrappers that pass nothing on, and have started others of their kind. All sessions run at once:
// what takes time is waiting for servers that don't end.
func TestNothingIsLeft(t *testing.T) {
	wrappers := map[string]string{
		"shell":          "stubborn parent child; :",
		"npx":            "sh -c 'stubborn parent child; :'; :",
		"deaf wrapper":   "trap '' TERM HUP INT; stubborn parent child; :",
		"in background":  "stubborn parent child & wait",
		"gone wrapper":   "stubborn parent child & :",
		"talks and goes": "stubborn parent child & exec fakeserver -say noise",
	}
	signal := func(number syscall.Signal) func(*sitting) error {
		return func(s *sitting) error { return s.cmd.Process.Signal(number) }
	}
	endings := map[string]func(*sitting) error{
		"end of input":    func(s *sitting) error { return s.in.Close() },
		"TERM":            signal(syscall.SIGTERM),
		"HUP":             signal(syscall.SIGHUP),
		"INT":             signal(syscall.SIGINT),
		"KILL":            signal(syscall.SIGKILL),
		"death of client": signal(syscall.SIGKILL),
		"TERM, then KILL": func(s *sitting) error { _ = signal(syscall.SIGTERM)(s); return signal(syscall.SIGKILL)(s) },
		"end, then TERM":  func(s *sitting) error { _ = s.in.Close(); return signal(syscall.SIGTERM)(s) },
		"TERM three times": func(s *sitting) error {
			_, _ = signal(syscall.SIGTERM)(s), signal(syscall.SIGTERM)(s)
			return signal(syscall.SIGTERM)(s)
		},
	}
	var all sync.WaitGroup
	for wrapper, script := range wrappers {
		for ending, end := range endings {
			home := t.TempDir()
			var client []string
			if ending == "death of client" {
				client = []string{"fakeclient", "steps"}
				if err := os.WriteFile(home+"/steps", []byte("until never\n"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := sit(t, home, client, "sh", "-c", script)
			s.start(t)
			all.Go(func() {
				name := wrapper + ", " + ending
				for _, file := range []string{"/parent", "/child"} {
					if err := eventually(func() bool { _, err := os.Stat(home + file); return err == nil }); err != nil {
						t.Errorf("%s: %v: %s", name, err, file)
						return
					}
				}
				if n := len(s.processes()); n < 3 {
					t.Errorf("%s: only %d processes are found: the test shows nothing", name, n)
				}
				if err := end(s); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if err := s.gone(); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	all.Wait()
}

// longRun makes the tests below do what takes minutes.
func longRun() bool { return os.Getenv("BOUNCER_LONG") != "" }

// TestRoundsLeaveNothing starts and ends many sessions, in good ways and bad.
func TestRoundsLeaveNothing(t *testing.T) {
	rounds := 50
	if longRun() {
		rounds = 500
	}
	home := t.TempDir()
	var kept []string
	var open int
	for n := range rounds {
		s := sit(t, home, nil, "fakeserver")
		s.start(t)
		if _, err := io.WriteString(s.in, hello); err != nil {
			t.Fatal(err)
		}
		if err := s.ask(n + 10); err != nil {
			t.Fatal(err)
		}
		var err error
		switch n % 3 {
		case 0:
			err = s.in.Close()
		case 1:
			err = s.cmd.Process.Signal(syscall.SIGTERM)
		case 2:
			err = s.cmd.Process.Kill()
		}
		_, rest := io.Copy(io.Discard, s.out)
		ended := s.cmd.Wait()
		if err != nil || rest != nil || (ended == nil) == (n%3 == 2) {
			t.Fatalf("round %d: %v, %v, ended: %v", n, err, rest, ended)
		}
		if n == 2 { // each way once
			kept, open = s.files(t), descriptors(t)
		}
		if n == rounds-1 {
			if err := s.gone(); err != nil {
				t.Error(err)
			}
			// The system may give a killed run's lock back some milliseconds after it has told of its end. The run that
			// starts meanwhile takes a second file, and none ever needs a third.
			files := slices.DeleteFunc(s.files(t), func(file string) bool {
				second, _ := filepath.Match("/state/bouncer/sessions/*/1", file)
				return second && !slices.Contains(kept, file)
			})
			if !slices.Equal(files, kept) {
				t.Errorf("files after three rounds: %q\nand after %d: %q", kept, rounds, files)
			}
			if n := descriptors(t); n > open {
				t.Errorf("%d descriptors were open, now %d", open, n)
			}
		}
	}
	for _, file := range kept {
		known := slices.ContainsFunc([]string{"audit.head", "audit.jsonl", "pins/s-*.json", "pins/s-*.lock", "sessions/*/key", "sessions/*/pulse", "sessions/*/[01]"}, func(pattern string) bool {
			match, err := filepath.Match("/state/bouncer/"+pattern, file)
			return match && err == nil
		})
		if !known {
			t.Errorf("left behind: %s", file)
		}
	}
}

// hello is what a client of 2025-11-25 says first, and a call.
const hello = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"say","arguments":{"text":"x"}}}
`

// files are those that bouncer keeps.
func (s *sitting) files(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(s.home, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, strings.TrimPrefix(path, s.home))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func descriptors(t *testing.T) int {
	t.Helper()
	names, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// modest is how much memory bouncer may have while messages are small, in MB. The test binary in its place has some of it.
const modest = 120

// hasHad checks how much memory bouncer has had at once.
func (s *sitting) hasHad(t *testing.T, atMost int) {
	t.Helper()
	peak := s.peak(t)
	t.Logf("peak: %d MB", peak)
	info, _ := debug.ReadBuildInfo()
	raced := slices.ContainsFunc(info.Settings, func(b debug.BuildSetting) bool { return b.Key == "-race" && b.Value == "true" })
	if peak > atMost && !raced { // the detector has a memory of its own
		t.Errorf("bouncer had %d MB", peak)
	}
}

// TestFloods has servers that say more than anybody reads. The client reads no standard error, and only what is a
// message reaches it.
func TestFloods(t *testing.T) {
	megabytes := "64"
	if longRun() {
		megabytes = "1024"
	}
	for name, test := range map[string]struct {
		script string
		atMost int
	}{
		"standard error":              {"yes 'a line of a log' | head -c " + megabytes + "M >&2; exec fakeserver", modest},
		"standard error without line": {"head -c " + megabytes + "M /dev/zero >&2; exec fakeserver", modest},
		"beside the session":          {"yes 'a line of a log' | head -c " + megabytes + "M >&2 & exec fakeserver", modest},
		"noise":                       {"yes 'npm warn deprecated' | head -c 32M; echo; exec fakeserver", modest},
		"noise that looks like JSON":  {`yes '{"level":"info"}' | head -c 4M; echo; exec fakeserver`, modest},
		// A line may have 64 MB, and the buffer that has become too small for it is there for a moment as well.
		"a line without end": {"head -c 256M /dev/zero; echo; exec fakeserver", 4*64 + 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sit(t, t.TempDir(), nil, "sh", "-c", test.script)
			if _, err := s.cmd.StderrPipe(); err != nil { // nobody reads it
				t.Fatal(err)
			}
			s.start(t)
			for n := range 3 {
				if err := s.ask(n); err != nil {
					t.Fatal(err)
				}
			}
			s.hasHad(t, test.atMost)
			if err := s.in.Close(); err != nil {
				t.Error(err)
			}
			if err := s.gone(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestStalls has peers that stop in the middle of a session, while the client says 20 MB or as much of it as is taken,
// and reads nothing. Such a session ends like any other.
func TestStalls(t *testing.T) {
	talks := `yes '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"x"}}'`
	for name, test := range map[string]struct{ server, endings string }{
		"half a line":            {`printf '{"jsonrpc":"2.0","id":1,"res'; exec sleep 1000`, "term kill"},
		"half a line, and gone":  {`printf '{"jsonrpc":"2.0","id":1,"res'; sleep 1000 & exec >&-`, "eof term kill"},
		"reads nothing":          {`exec sleep 1000`, "term kill"},
		"reads a little":         {`head -c 100000 >&2; exec sleep 1000`, "term kill"},
		"talks only":             {talks, "term kill"},
		"talks and listens":      {"trap '' TERM; exec 3<&0; cat <&3 >&2 & " + talks, "eof term kill"},
		"reads and says nothing": {"trap '' TERM; cat >/dev/null; sleep 1000", "eof term kill"},
	} {
		for ending := range strings.FieldsSeq(test.endings) {
			t.Run(name+", "+ending, func(t *testing.T) {
				t.Parallel()
				stall(t, ending, test.server)
			})
		}
	}
}

func stall(t *testing.T, ending, server string) {
	s := sit(t, t.TempDir(), nil, "sh", "-c", server)
	s.start(t)
	said := make(chan struct{})
	go func() {
		defer close(said)
		long := strings.Repeat("x", 1<<10)
		_, err := io.WriteString(s.in, hello)
		for n := 0; n < 20<<10 && err == nil; n++ {
			_, err = fmt.Fprintf(s.in, `{"jsonrpc":"2.0","method":"x","params":{"x":%q}}`+"\n", long)
		}
	}()
	select {
	case <-said:
	case <-time.After(300 * time.Millisecond): // bouncer takes no more, which is what keeps it small
	}
	s.hasHad(t, modest)
	var err error
	switch ending {
	case "eof":
		err = s.in.Close()
	case "term":
		err = s.cmd.Process.Signal(syscall.SIGTERM)
	case "kill":
		err = s.cmd.Process.Kill()
	}
	if err != nil {
		t.Error(err)
	}
	if err := s.gone(); err != nil {
		t.Error(err)
	}
	_ = s.in.Close() // sets a client free that still talks
	<-said
}

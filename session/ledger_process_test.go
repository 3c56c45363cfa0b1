package session

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// roles are what this test's binary can be besides the test. Each takes lines, and answers each with one.
func roles() map[string]func() {
	return map[string]func(){"client": playClient, "run": playRun, "hook": playHook}
}

// actor is a process that plays a role, perhaps with others between it and its starter.
type actor struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

func startActor(role string, wrapper []string) (*actor, error) {
	argv := append(wrapper, os.Args[0])
	a := &actor{cmd: exec.Command(argv[0], argv[1:]...)}
	a.cmd.Env = append(os.Environ(), "SESSION_TEST_ROLE="+role, "GORACE=atexit_sleep_ms=0") // or every process of a race build takes a second to end
	a.cmd.Stderr = os.Stderr
	in, err := a.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	a.in, a.out = in, bufio.NewReader(out)
	return a, a.cmd.Start()
}

// ask returns the answer to a line, or that the actor has ended.
func (a *actor) ask(line string) string {
	if _, err := io.WriteString(a.in, line+"\n"); err != nil {
		return "ended"
	}
	answer, err := a.out.ReadString('\n')
	if err != nil {
		return "ended"
	}
	return strings.TrimSuffix(answer, "\n")
}

func (a *actor) end() {
	_ = a.in.Close()
	_ = a.cmd.Wait() // some were killed
}

// wrappers are what stands between clients and bouncer, by name.
func wrappers() map[string][]string {
	if runtime.GOOS == "windows" {
		return map[string][]string{"none": nil, "cmd": {"cmd", "/c"}}
	}
	return map[string][]string{
		"none":    nil,
		"sh":      {"sh", "-c", `"$0"; exit`}, // behind which the shell must stay
		"timeout": {"sh", "-c", `timeout 60 "$0"; exit`},
		"nested":  {"sh", "-c", `sh -c '"$0"; exit' "$0"; exit`},
	}
}

// playClient starts runs and hooks: "start NAME WRAPPER", "hook TEXT", and "NAME LINE" for a run that has been started.
func playClient() {
	runs := map[string]*actor{}
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		word, rest, _ := strings.Cut(in.Text(), " ")
		switch word {
		case "start":
			name, wrapper, _ := strings.Cut(rest, " ")
			run, err := startActor("run", wrappers()[wrapper])
			if err != nil {
				fmt.Fprintln(os.Stdout, err)
				continue
			}
			runs[name] = run
			fmt.Fprintln(os.Stdout, run.ask("open "+name))
		case "hook":
			hook, err := startActor("hook", wrappers()["none"])
			if err != nil {
				fmt.Fprintln(os.Stdout, err)
				continue
			}
			fmt.Fprintln(os.Stdout, hook.ask(rest))
			hook.end()
		default:
			fmt.Fprintln(os.Stdout, runs[word].ask(rest))
		}
	}
	for _, run := range runs {
		run.end()
	}
}

// playRun does what a run does to the ledger.
func playRun() {
	var l *Ledger
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		word, rest, _ := strings.Cut(in.Text(), " ")
		answer, err := "ok", error(nil)
		switch word {
		case "open":
			l, err = OpenLedger(os.Getenv("SESSION_TEST_STATE"), LedgerOptions{Server: rest, Identity: rest})
		case "tell":
			err = l.Append([]byte(rest))
		case "hear":
			answer, err = hear(l)
		case "key":
			answer = fmt.Sprintf("%x", l.Key())
		case "where":
			answer = l.dir
		case "die":
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
		if err != nil {
			answer = err.Error()
		}
		fmt.Fprintln(os.Stdout, answer)
	}
}

// playHook tells what the person has typed.
func playHook() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		l, err := OpenHook(os.Getenv("SESSION_TEST_STATE"))
		if err == nil {
			err = errors.Join(l.Append([]byte(in.Text())), l.Close())
		}
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("nobody there")
		}
		fmt.Fprintln(os.Stdout, err)
	}
}

func startClient(t *testing.T, state string) *actor {
	t.Helper()
	t.Setenv("SESSION_TEST_STATE", state)
	c, err := startActor("client", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.end)
	return c
}

func (a *actor) expect(t *testing.T, line, want string) {
	t.Helper()
	if got := a.ask(line); got != want {
		t.Errorf("%s: got %q, want %q", line, got, want)
	}
}

// TestProcesses has two clients start servers in every way, kills one server and one client, and looks who knows what.
func TestProcesses(t *testing.T) {
	state := filepath.Join(t.TempDir(), "state")
	first, second := startClient(t, state), startClient(t, state)
	first.expect(t, "hook hello", "nobody there")
	first.expect(t, "start plain none", "ok")
	for name := range wrappers() {
		if name == "none" {
			continue
		}
		first.expect(t, "start "+name+" "+name, "ok")
		first.expect(t, name+" tell from-"+name, "ok")
		first.expect(t, "plain hear", name+"=from-"+name)
	}
	second.expect(t, "start other none", "ok")
	second.expect(t, "other hear", "")
	second.expect(t, "other tell secret", "ok")
	first.expect(t, "plain hear", "")
	if one, two := first.ask("plain key"), second.ask("other key"); one == two {
		t.Errorf("two clients have the key %s", one)
	}

	first.expect(t, "start victim none", "ok")
	first.expect(t, "victim tell last words", "ok")
	first.expect(t, "victim die", "ended")
	first.expect(t, "plain hear", "victim=last words")
	first.expect(t, "start victim none", "ok")
	if got := first.ask("victim hear"); !strings.Contains(got, "victim=last words") || strings.Contains(got, "secret") {
		t.Errorf("the server that started again heard %q", got)
	}
	first.expect(t, "hook to Ada", "<nil>")
	first.expect(t, "plain hear", "person=to Ada")
	first.expect(t, "hook to Bob", "<nil>")
	first.expect(t, "plain hear", "person=to Bob")
	second.expect(t, "other hear", "")

	dir := second.ask("other where")
	if _, err := os.Stat(dir); err != nil {
		t.Fatal(err)
	}
	second.end()
	first.expect(t, "start late none", "ok")
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the session of a client that has ended is still there: %v", err)
	}
	if got := first.ask("late hear"); !strings.Contains(got, "person=to Ada person=to Bob") {
		t.Errorf("a late server heard %q", got)
	}
}

// Package link connects bouncer to the two ends it stands between: its own standard streams and the server's process tree.
package link

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Spec says what server to start, and where.
type Spec struct {
	Command string
	Args    []string
	Env     []string  // nil: bouncer's own, less what [Environ] withholds; otherwise it is passed as it is; of several entries for one name, the last
	Dir     string    // empty: bouncer's own working directory
	Stderr  io.Writer // gets what the server writes to standard error, through a [Spool] (its own, or one made for it); nil discards
}

// Child is a running server: its pipes and the tree of processes behind them.
//
// Whoever starts a Child calls [Child.Stop] in the end, even if the server has ended by itself.
type Child struct {
	In  *os.File // our end of the server's standard input
	Out *os.File // our end of the server's standard output

	tree   *tree
	stderr *stderr
	done   chan struct{}
	state  *os.ProcessState // set before done is closed; nil if nobody knows
	stop   sync.Once
}

// StartError says why a server could not be started.
type StartError struct {
	Command  string
	Err      error
	NotFound bool     // there is no such program; otherwise there is one, and it can't be run
	Looked   []string // the directories searched, or the one path that Command names
}

// Error names the command, the reason and, if it was not found, the places searched.
func (e *StartError) Error() string {
	if !e.NotFound {
		return fmt.Sprintf("%s: %v", e.Command, e.Err)
	}
	places := strings.Join(e.Looked, ", ")
	if places == "" {
		places = "no directory: PATH names none"
	}
	return fmt.Sprintf("%s: %v (searched %s)", e.Command, e.Err, places)
}

// Unwrap returns the reason.
func (e *StartError) Unwrap() error { return e.Err }

// Start starts the server with pipes to its three standard streams. Every error is a [*StartError].
func Start(s Spec) (*Child, error) {
	if s.Env == nil {
		s.Env = Environ(os.Environ())
	}
	s.Env = settled(s.Env, runtime.GOOS == "windows")
	path, looked, err := locate(s)
	if err != nil {
		missing := errors.Is(err, errNotFound) || errors.Is(err, exec.ErrDot)
		return nil, &StartError{Command: s.Command, Err: err, NotFound: missing, Looked: looked}
	}
	c, err := start(path, s)
	if errors.Is(err, fs.ErrNotExist) {
		// The file was there a moment ago. What the system misses is the interpreter in its first line, or its loader.
		err = fmt.Errorf("%s is there, but the interpreter it needs is not", path)
	}
	if err != nil {
		return nil, &StartError{Command: s.Command, Err: err, Looked: looked}
	}
	return c, nil
}

// locate returns the absolute path of the program to run.
func locate(s Spec) (path string, looked []string, err error) {
	if s.Dir != "" {
		info, err := os.Stat(s.Dir)
		if err != nil {
			return "", nil, fmt.Errorf("working directory: %w", err)
		}
		if !info.IsDir() {
			return "", nil, fmt.Errorf("working directory: %s is not a directory", s.Dir)
		}
	}
	path, looked, err = newSearch(s).find(s.Command)
	if err != nil {
		return "", looked, err
	}
	// It may be relative to our working directory, and the server starts in its own.
	path, err = filepath.Abs(path)
	return path, looked, err
}

func start(path string, s Spec) (*Child, error) {
	p, err := openPipes()
	if err != nil {
		return nil, err
	}
	errs := newStderr(s.Stderr)
	c := &Child{In: p.ours[0], Out: p.ours[1], tree: newTree(errs.note), stderr: errs, done: make(chan struct{})}
	started := make(chan error)
	go c.live(started, func() (*os.Process, error) { return c.tree.start(path, s, p.theirs[:]) })
	err = <-started
	closeAll(p.theirs[:]...)
	errs.drain(p.ours[2]) // ends at once if nothing was started
	if err != nil {
		closeAll(p.ours[:2]...)
		errs.close()
		return nil, err
	}
	return c, nil
}

// settle is how long a server's last words may take to arrive after its end. It passes in full only if another process holds the pipe open.
const settle = 100 * time.Millisecond

// live starts the server and waits for its end, on one thread: on Linux, the signal that a parent's death sends comes when the thread that started
// the child ends, not the process. The waiting would occupy a thread in any case.
func (c *Child) live(started chan<- error, start func() (*os.Process, error)) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	process, err := start()
	started <- err
	if err != nil {
		return
	}
	c.state, _ = process.Wait() // fails only for a process that is not ours to wait for
	c.tree.reaped()
	select {
	case <-c.stderr.drained:
	case <-time.After(settle):
	}
	close(c.done)
}

// pipes are the two ends of the server's three standard streams. They have the size that the system gives them: larger ones were measured to gain nothing
// for results of 1 KB and 100 KB, and Linux cuts all further pipes of a user down who has many large ones.
type pipes struct{ ours, theirs [3]*os.File }

func openPipes() (p pipes, err error) {
	for i := range p.ours {
		read, write, err := os.Pipe()
		if err != nil {
			closeAll(p.ours[:i]...)
			closeAll(p.theirs[:i]...)
			return pipes{}, err
		}
		p.ours[i], p.theirs[i] = read, write
		if i == 0 {
			p.ours[i], p.theirs[i] = write, read
		}
	}
	return p, nil
}

// closeAll closes pipe ends. Nothing is lost when that fails: they hold no data of ours, and the likely reason is that they are closed.
func closeAll(files ...*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

// Done is closed when the server's own process has ended and [Child.Tail] holds its last words. Processes that it started may live on.
func (c *Child) Done() <-chan struct{} { return c.done }

// Exit says how the server's process ended, as in "exit status 3" or "signal: killed". It is valid once Done is closed.
func (c *Child) Exit() string {
	if c.state == nil {
		return "unknown exit status"
	}
	return c.state.String()
}

// Code returns the exit code of the server's process, or 128 and the number of the signal that ended it. It is valid once Done is closed.
func (c *Child) Code() int {
	if c.state == nil {
		return -1
	}
	if status, ok := c.state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return c.state.ExitCode()
}

// Tail returns the last lines of the server's standard error: at most 20 of them, and at most 4 KiB.
func (c *Child) Tail() []string { return c.stderr.lines() }

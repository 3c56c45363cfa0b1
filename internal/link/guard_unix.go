//go:build unix

package link

import (
	"io"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// guardScript waits on a pipe whose other end only bouncer holds. A line is a goodbye. The bare end of the pipe means that bouncer is dead, killed in
// a way it could not handle, and that the server's process group has to be ended for it. The old form of kill, a signal and
// then the group, is the one that every shell takes: busybox knows no -- behind -s.
const guardScript = `trap '' HUP INT QUIT TERM PIPE
read -r goodbye && exit 0
kill -TERM "-$1" || exit 0
for second in 1 2; do
	sleep 1
	kill -0 "-$1" || exit 0
done
kill -KILL "-$1"`

// guard is a process that outlives a SIGKILL of bouncer for as long as it takes to end the server's tree. It is a shell, not bouncer once more: a
// second Go runtime beside every server would cost more memory than all the rest.
type guard struct {
	pipe  *os.File // nil without a guard
	ended chan struct{}
	once  sync.Once
}

// startGuard starts a guard without waiting for it.
func startGuard(group int, note func(string)) *guard {
	g := &guard{ended: make(chan struct{})}
	// Both ends are closed on exec, so that the server can't inherit the one that must close with bouncer.
	read, write, err := os.Pipe()
	if err != nil {
		note("no guard, the server may outlive a kill of bouncer: " + err.Error())
		close(g.ended)
		return g
	}
	g.pipe = write
	go func() {
		defer close(g.ended)
		process, err := runGuard(group, read)
		closeAll(read)
		if err != nil {
			note("no guard, the server may outlive a kill of bouncer: " + err.Error())
			return
		}
		_, _ = process.Wait() // nobody asks how it ended
	}()
	return g
}

// runGuard starts the shell in a session of its own, out of reach of what ends bouncer, and in the root directory, where it is in nobody's way. It holds
// none of the client's pipes.
func runGuard(group int, pipe *os.File) (*os.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	defer closeAll(null)
	return os.StartProcess("/bin/sh", []string{"sh", "-c", guardScript, "bouncer-guard", strconv.Itoa(group)}, &os.ProcAttr{
		Dir:   "/",
		Env:   []string{"PATH=/usr/bin:/bin:" + os.Getenv("PATH")}, // for sleep
		Files: []*os.File{pipe, null, null},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
}

// sayGoodbye tells the guard that it is not needed.
func (g *guard) sayGoodbye() {
	g.once.Do(func() {
		if g.pipe != nil {
			_, _ = io.WriteString(g.pipe, "goodbye\n") // fails if the guard is gone, which is as good
			closeAll(g.pipe)
		}
	})
}

// dismiss says goodbye and waits for the guard to be gone, within reason.
func (g *guard) dismiss() {
	g.sayGoodbye()
	select {
	case <-g.ended:
	case <-time.After(guardWait):
	}
}

package link

import "time"

// The phases of a stop and their bounds. Together they stay below the five seconds in which everything must be gone.
const (
	graceMax  = 2 * time.Second         // after the end of its input
	termWait  = 1250 * time.Millisecond // after being asked to end
	killWait  = 500 * time.Millisecond  // after being killed: only a process that is stuck in the kernel takes any time
	guardWait = 250 * time.Millisecond  // for the guard to hear that it is not needed
	readWait  = 250 * time.Millisecond  // for readers to take what the server left in the pipes
	closeWait = 250 * time.Millisecond  // for the rest of standard error to pass on, and the pipes to close
)

// Stop ends the server and everything it started, and returns when that is gone and the pipes are closed, in less than five seconds. It closes the
// server's standard input, waits grace (at most two seconds), asks the whole tree to end, waits again, and kills it. On Windows nobody can be
// asked, and the kill follows the grace. A second call waits for the first.
//
// To lose nothing that the server says on its way out, close In and read Out to the end before stopping. On Unix, Stop itself also leaves a
// concurrent reader the time to empty the pipe.
func (c *Child) Stop(grace time.Duration) {
	c.stop.Do(func() {
		c.end(min(grace, graceMax))
		c.tree.release()
		c.awaitReaders()
		c.closePipes()
	})
}

func (c *Child) end(grace time.Duration) {
	closeAll(c.In)
	if c.gone(grace) {
		return
	}
	if c.tree.terminate() && c.gone(termWait) {
		return
	}
	c.tree.kill()
	c.gone(killWait)
}

// gone reports whether the whole tree comes to its end within d. No system announces the end of a process group, so it has to be asked for.
func (c *Child) gone(d time.Duration) bool {
	limit := time.NewTimer(d)
	defer limit.Stop()
	select {
	case <-c.done:
	case <-limit.C:
		return false
	}
	for pause := time.Millisecond; !c.tree.gone(); pause = min(2*pause, 20*time.Millisecond) {
		select {
		case <-time.After(pause):
		case <-limit.C:
			return false
		}
	}
	return true
}

// awaitReaders waits until Out is read empty, by whoever reads it, and standard error has come to its end.
func (c *Child) awaitReaders() {
	limit := time.After(readWait)
	for unread(c.Out) {
		select {
		case <-time.After(time.Millisecond):
		case <-limit:
			return
		}
	}
	select {
	case <-c.stderr.drained:
	case <-limit:
	}
}

// closePipes closes our ends, which sets free whoever reads there even if a process that left the tree holds the others. It is not waited for
// without bounds: a client that has stopped reading holds up the rest of standard error for ever.
func (c *Child) closePipes() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		closeAll(c.Out)
		c.stderr.close()
	}()
	select {
	case <-closed:
	case <-time.After(closeWait):
	}
}

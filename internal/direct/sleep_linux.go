package direct

import (
	"syscall"
	"time"
)

// Sleep is [time.Sleep] for what happens beside many short waits. A timer of the runtime would have each of them, of the whole
// process, set the processor's clock and stop it again.
func Sleep(d time.Duration) {
	left := syscall.NsecToTimespec(d.Nanoseconds())
	for syscall.Nanosleep(&left, &left) == syscall.EINTR { // by a signal of the runtime's, mostly
	}
}

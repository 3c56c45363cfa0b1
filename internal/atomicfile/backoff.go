package atomicfile

import "time"

// backoff paces polling: pauses that double up to a limit, until a deadline.
type backoff struct {
	next, limit time.Duration
	deadline    time.Time
}

func newBackoff(first, limit, wait time.Duration) *backoff {
	return &backoff{next: first, limit: limit, deadline: time.Now().Add(wait)}
}

// sleep pauses and reports whether another try is due. The last try falls on the deadline.
func (b *backoff) sleep() bool {
	left := time.Until(b.deadline)
	if left <= 0 {
		return false
	}
	time.Sleep(min(b.next, left))
	b.next = min(2*b.next, b.limit)
	return true
}

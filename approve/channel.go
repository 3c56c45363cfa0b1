package approve

import (
	"context"
	"errors"
)

// ErrUnavailable means that nobody can be asked in this way, here or at the moment. The next channel is tried.
var ErrUnavailable = errors.New("nobody can be asked this way")

// Channel is one way to put a question before the person. It is used from many goroutines at once.
type Channel interface {
	// Name is how approval.channels and the audit log call it: one lower-case word.
	Name() string
	// Available reports whether there is anything here and now to ask with. It is quick, and asks nobody.
	Available() bool
	// Ask shows the question until the person answers or ctx is done, and takes it away again in every case. It returns No
	// with a note that says why in a few words for everything that is not an explicit yes: declined, closed, timed out.
	// ErrUnavailable says, at once, that the person was not asked; any other error counts the same and is noted.
	Ask(ctx context.Context, q Question) (a Answer, note string, err error)
}

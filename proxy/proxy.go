// Package proxy relays frames between one client and one server and stops only what must be judged.
package proxy

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/session"
)

// Options are one relay's two ends and what judges the calls between them.
type Options struct {
	Server   string // name of the wrapped server, for people and the log
	Session  string // id of this run in the audit log
	Client   End
	Upstream End
	Engine   *engine.Engine
	Audit    Audit
	Memory   Memory           // nil: nothing is remembered between sessions
	Ledger   Ledger           // nil: no other server's relay is known
	Log      io.Writer        // notices for people; the server's own noise is diverted here
	Now      func() time.Time // nil: time.Now

	Asking    func(client string) Asking // nil: by the client itself
	Channels  []approve.Channel          // that Asking may name, besides the client itself and the open questions
	Questions *approve.Store             // where open questions lie; nil: nowhere
	Process   session.Process            // the client's, which must not answer itself
	Lasting   Lasting                    // nil: nothing can be allowed for good
	Hint      string                     // how a person can still answer, for the refusal of a call that nobody has answered in time
	Human     time.Duration              // an answer that comes sooner is no person's; 0: 300 ms
	KeepAlive time.Duration              // between two signs that a call is waiting for a person; 0: 10 s

	AskFor   time.Duration   // how long a question waits for its answer; 0: 45 s, below common clients' own 60 s
	PinFor   time.Duration   // how long calls wait for the server's listing; 0: 10 s
	MaxFrame int             // bytes; 0: 64 MiB
	Grace    time.Duration   // how long the server may go on talking when its client is gone; 0: 2 s
	Gone     <-chan struct{} // closed when the client has closed its end, although perhaps not all of it has been read; nil: can't be told
	Linger   time.Duration   // how long a client is waited for that had no chance to hear why its server is gone; 0: 3 s
	Ended    func() string   // says what became of the server, once its output has ended: the answer to what is still asked of it
}

// End is one side of the relay: what is read from it and what is written to it, one frame a line.
type End struct {
	In  io.Reader
	Out io.WriteCloser
}

// Audit is the log a verdict is written to before it takes effect.
type Audit interface {
	// Verdict returns an error when the record is not kept; the call is then refused.
	Verdict(audit.Verdict) error
	// Result records how a call ended.
	Result(audit.Result) error
}

// Memory keeps between sessions which definitions of a server's tools were accepted.
type Memory interface {
	// Compare returns what differs from what was accepted; the first listing of a server is accepted as it is.
	Compare(time.Time, session.Listing) (session.Differences, error)
	// Accept accepts tools, and AcceptInstructions the server's instructions, as Compare last saw them.
	Accept(at time.Time, tools ...string) error
	AcceptInstructions(time.Time) error
}

// ErrServerEnded is returned by Run when the server's output ended before the client's input did.
var ErrServerEnded = errors.New("the server ended")

// Run relays until the client's input ends (nil), the server's output ends (ErrServerEnded), writing to either fails,
// or ctx is done. When the client's input ends it closes the server's input and goes on relaying what the server still
// has to say until its output ends, Grace is over or ctx is done.
func Run(ctx context.Context, o Options) error {
	r, err := newRelay(o)
	if err != nil {
		return err
	}
	r.judge.Lock()
	go func() { // while the server is starting: a run that is started again must not tell all over what it told before
		defer r.judge.Unlock()
		r.listen()
	}()
	ends := make(chan ending, 2)
	// Nobody waits for the pumps: each ends when its input does, and the caller closes that or ends the process.
	go func() { ends <- ending{client: true, err: r.pump(r.o.Client.In, r.fromClient, r.clientTooLong)} }()
	go func() { ends <- ending{err: r.pump(r.o.Upstream.In, r.fromServer, r.serverTooLong)} }()
	defer r.close()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go r.watch(ctx, stop)

	select {
	case <-ctx.Done():
		if context.Cause(ctx) == errClientGone {
			return nil
		}
		return context.Cause(ctx)
	case end := <-ends:
		switch {
		case errors.Is(end.err, errClientGone):
			return nil
		case errors.Is(end.err, errServerGone):
			select { // what it said last may still be on its way
			case <-ends:
			case <-time.After(r.o.Grace):
			}
			return r.serverEnded(ctx, nil, nil)
		case !end.client:
			return r.serverEnded(ctx, end.err, ends)
		case end.err != nil:
			return end.err
		}
	}
	grace := time.After(r.o.Grace)
	r.clientEnded(ctx)
	select {
	case <-ctx.Done():
	case <-ends:
	case <-grace:
	}
	return nil
}

// Why a pump ends when it can't write any more.
var (
	errClientGone = errors.New("the client reads no more")
	errServerGone = errors.New("the server reads no more")
)

// watch ends the relay when the server reads no more and the client has gone meanwhile: the pump between them is stuck in
// a write and can't see it.
func (r *relay) watch(ctx context.Context, stop context.CancelCauseFunc) {
	select {
	case <-ctx.Done():
		return
	case <-r.o.Gone:
	}
	look := time.NewTicker(time.Second)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
			if r.toServer.stuck(r.o.Grace) {
				stop(errClientGone)
				return
			}
		}
	}
}

// ending says which pump came to its end and why; a nil error is end of input.
type ending struct {
	client bool
	err    error
}

// relay is the state two pumps share. Locks are taken in the order: judge, mu; neither is held while a frame is
// written to the side whose pump might be waiting for it, with the one exception that forward explains.
type relay struct {
	o        Options
	prefix   string // of bouncer's own request ids; nobody else can guess it
	toClient *sink
	toServer *sink
	sealer   *approve.Sealer

	judge sync.Mutex // guards o.Engine: one decision or observation at a time
	apart bool       // guarded by judge: it was said that neighbours don't know all of each other

	mu      sync.Mutex
	serial  uint64                  // of bouncer's own requests
	calls   uint64                  // tools/call seen, numbers them in the audit log
	outputs uint64                  // outputs recorded, numbers them as sources
	kept    int                     // bytes held for requests
	pending map[wire.ID]*request    // what the client asked and has no answer to yet
	asked   map[wire.ID]struct{}    // what the server asked the client
	own     map[wire.ID]*ownRequest // what bouncer asked either side
	peer    peer
	muted   map[string]bool    // channels that have answered sooner than a person can
	late    map[[32]byte]*late // by the digests of their calls
	asks    sync.WaitGroup     // questions that are open
	pins    pins
	heard   bool   // the server has answered something
	dead    string // why the server is gone; everything asked from then on gets this answer
	done    bool

	interrupted map[[32]byte]bool // digests of calls that wait for input the server has asked for

	refused     chan struct{} // closed when a request got that answer
	refusedOnce sync.Once
	listed1     chan struct{} // closed when calls that waited for the first listing are through
	listedOnce  sync.Once
	leaving     bool // the client's input has ended: it can't answer a question any more
}

func newRelay(o Options) (*relay, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = io.Discard
	}
	if o.Human == 0 {
		o.Human = 300 * time.Millisecond
	}
	if o.KeepAlive == 0 {
		o.KeepAlive = 10 * time.Second
	}
	if o.AskFor == 0 {
		o.AskFor = 45 * time.Second
	}
	if o.PinFor == 0 {
		o.PinFor = 10 * time.Second
	}
	if o.Grace == 0 {
		o.Grace = 2 * time.Second
	}
	if o.Linger == 0 {
		o.Linger = 3 * time.Second
	}
	if o.MaxFrame == 0 {
		o.MaxFrame = 64 << 20
	}
	var random [16]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, fmt.Errorf("random id prefix: %w", err)
	}
	sealer, err := approve.NewSealer()
	if err != nil {
		return nil, err
	}
	r := &relay{
		o:           o,
		prefix:      "bouncer-" + hex.EncodeToString(random[:]) + "-",
		toClient:    newSink(o.Client.Out, errClientGone),
		toServer:    newSink(o.Upstream.Out, errServerGone),
		sealer:      sealer,
		pending:     map[wire.ID]*request{},
		asked:       map[wire.ID]struct{}{},
		own:         map[wire.ID]*ownRequest{},
		muted:       map[string]bool{},
		late:        map[[32]byte]*late{},
		interrupted: map[[32]byte]bool{},
		listed1:     make(chan struct{}),
		refused:     make(chan struct{}),
	}
	if o.Ledger != nil {
		o.Engine.Spill(r.spill)
	}
	return r, nil
}

// pump hands each line of in to handle until in ends or handle fails.
func (r *relay) pump(in io.Reader, handle func([]byte) error, tooLong func(*wire.TooLongError) error) error {
	lines := wire.NewReader(in, r.o.MaxFrame)
	for {
		line, err := lines.Next()
		if long, ok := errors.AsType[*wire.TooLongError](err); ok {
			err = tooLong(long)
		} else if err == nil {
			err = handle(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// clientEnded lets the server see the end of its input and drops what waits for a person.
func (r *relay) clientEnded(ctx context.Context) {
	r.mu.Lock()
	r.leaving = true
	var asked []*request
	for _, q := range r.pending {
		if q.state == asking {
			r.withdraw(q)
			q.state = cancelled
			asked = append(asked, q)
		}
	}
	listed := len(r.pins.waiting) == 0 || r.pins.settled()
	r.mu.Unlock()
	for _, q := range asked {
		r.result(q, "cancelled", 0)
	}
	if !listed { // what a script has piped in is judged and sent all the same
		select {
		case <-r.listed1:
		case <-ctx.Done():
		case <-time.After(r.o.Grace / 2):
		}
	}
	r.toServer.close()
}

// serverEnded answers everything that still waits, so that no call hangs. A client that has not spoken yet is given the
// reason as the answer to what it asks first.
func (r *relay) serverEnded(ctx context.Context, err error, clientEnd <-chan ending) error {
	why := fmt.Sprintf("the server %q ended", r.o.Server)
	if r.o.Ended != nil {
		why = r.o.Ended()
	}
	r.mu.Lock()
	r.dead = why
	left := slices.DeleteFunc(slices.Collect(maps.Values(r.pending)), func(q *request) bool { return q.state == cancelled })
	r.withdrawAll()
	clear(r.pending)
	heard := r.heard
	r.mu.Unlock()
	for _, q := range left {
		r.toClient.inject(wire.AppendError(nil, q.id, codeInternal, why))
		r.result(q, "lost", 0)
	}
	if !heard {
		r.linger(ctx, clientEnd, len(left) > 0)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrServerEnded, err)
	}
	return ErrServerEnded
}

// linger waits for a client that its server has never answered: it may be about to ask, or, when it has been told, to
// greet once more in the way of the other era.
func (r *relay) linger(ctx context.Context, clientEnd <-chan ending, told bool) {
	if !told {
		select {
		case <-r.refused:
		case <-clientEnd:
			return
		case <-ctx.Done():
			return
		case <-time.After(r.o.Linger):
			return
		}
	}
	select {
	case <-time.After(r.o.Linger / 10):
	case <-clientEnd:
	case <-ctx.Done():
	}
}

func (r *relay) close() {
	r.mu.Lock()
	r.done = true
	r.withdrawAll()
	var left []*request
	for _, q := range r.pending {
		if q.state == forwarded {
			r.drop(q)
			left = append(left, q)
		}
	}
	r.mu.Unlock()
	for _, q := range left {
		r.result(q, "lost", 0)
	}
	r.toClient.flush()
	r.toServer.close()
	r.closeLate()
	ended := make(chan struct{})
	go func() { // nobody waits for it longer than that: a question may be stuck behind a client that reads no more
		defer close(ended)
		r.asks.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(4 * flushFor):
	}
}

func (r *relay) note(format string, args ...any) {
	fmt.Fprintf(r.o.Log, "bouncer: %s: %s\n", r.o.Server, fmt.Sprintf(format, args...))
}

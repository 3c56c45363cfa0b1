package proxy

import (
	"errors"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/session"
)

// Ledger is what the relays of one client process tell each other.
type Ledger interface {
	// Announce tells the others to wait for the Append that follows: the client is about to get what that will be about.
	Announce() error
	// Append makes records known to every Read that begins after it.
	Append(records ...[]byte) error
	// AppendPart is Append for what is not all yet: the others go on waiting.
	AppendPart(records ...[]byte) error
	// Read yields what the others have made known since it was called last. An error says that something is missing.
	Read(yield func(from session.Peer, record []byte)) error
}

// announce is called before an output goes to the client, publish when it has been recorded. r.judge is held.
func (r *relay) announce() {
	if r.o.Ledger == nil {
		return
	}
	if err := r.o.Ledger.Announce(); err != nil {
		r.estranged(err)
	}
}

// publish tells the neighbours what the engine has learned. r.judge is held.
func (r *relay) publish() {
	if r.o.Ledger == nil {
		return
	}
	if err := r.o.Ledger.Append(r.o.Engine.Facts()...); err != nil {
		r.estranged(err)
	}
}

// spill tells the neighbours a part of what the engine learns from an output that it is still reading. r.judge is held.
func (r *relay) spill(facts [][]byte) {
	if err := r.o.Ledger.AppendPart(facts...); err != nil {
		r.estranged(err)
	}
}

// listen takes in what the neighbours have learned. What is lost makes the engine assume the worst from now on; late says that
// something is only not known yet, which is to be assumed the worst of once. r.judge is held.
func (r *relay) listen() (late bool) {
	if r.o.Ledger == nil {
		return false
	}
	var learned error
	err := r.o.Ledger.Read(func(from session.Peer, record []byte) {
		if err := r.o.Engine.Learn(engine.Peer{Server: from.Server, Identity: from.Identity}, record); err != nil {
			learned = err
		}
	})
	if late = err == session.ErrLate; late { // and nothing worse joined to it
		err = nil
	}
	if err = errors.Join(err, learned); err != nil {
		r.o.Engine.Doubt()
		r.estranged(err)
	}
	return late
}

// estranged notes, once, that this relay and its neighbours don't know all of each other.
func (r *relay) estranged(err error) {
	if !r.apart {
		r.apart = true
		r.note("decisions may lack what other servers of this session said: %v", err)
	}
}

// Package taint remembers what untrusted sources said and traces a value back to them.
//
// Matching is exact over canonical forms: whole values (a leaf of a result, a cell of a listing) and values that
// are clearly destinations wherever they stand (addresses, URLs and their hosts, account and telephone numbers).
// Nothing is matched as a substring, so a short name inside a sentence vouches for and accuses nobody.
package taint

import (
	"bytes"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Class says where a value comes from. The zero class is Unseen.
type Class uint8

// The classes of provenance. The index itself tells Unseen, Field and Text apart; the others are for whoever
// knows more about a source than its bytes.
const (
	Unseen    Class = iota
	Text            // inside free text of an untrusted output
	Field           // a whole scalar of an untrusted output
	Directory       // an exact cell of a lookup tool
	Said            // the person's own words
	Trusted         // vouched for by policy, identity or approval
	Aimed           // in text that addresses the agent
)

// String names the class as the audit log has it.
func (c Class) String() string {
	switch c {
	case Text:
		return "text"
	case Field:
		return "field"
	case Directory:
		return "directory"
	case Said:
		return "said"
	case Trusted:
		return "trusted"
	case Aimed:
		return "aimed"
	}
	return "unseen"
}

// Worse reports whether c is a worse sign than d, where both say that a value was seen.
func (c Class) Worse(d Class) bool { return c.rank() > d.rank() }

func (c Class) rank() int {
	switch c {
	case Aimed:
		return 6
	case Text:
		return 5
	case Field:
		return 4
	case Directory:
		return 3
	case Said:
		return 2
	case Trusted:
		return 1
	}
	return 0
}

// Source names the output a value was recorded from.
type Source struct {
	Server string
	Tool   string // or the method, for what no tool said
	Call   uint64 // running number of the output in this session, from 1
}

// Origin is one place where a value was seen first.
type Origin struct {
	Source
	Path    string // JSON path inside the result, such as content[0].text
	Snippet string // up to 80 characters on either side, one line, hidden characters made visible
}

// maxBytes bounds what an index holds. What no longer fits is forgotten: its values are unseen, which asks.
const maxBytes = 48 << 20

// Index remembers what outputs said. The zero Index is empty and usable; it is not safe for concurrent use.
type Index struct {
	seen  map[string]entry // by kind and canonical form
	slab  []Origin         // unused origins, allocated together
	bytes int              // estimate of what seen holds
	limit int              // 0: maxBytes
	lost  bool             // something did not fit

	texts, outputs memo     // known as taken in
	rec            recorder // reused between outputs for its buffers
}

// entry is what is known of one value: its worst class, and where that class was met first.
type entry struct {
	class Class
	own   bool // the agent wrote it before any output said it
	at    *Origin
}

// Record remembers every value in one output. args are the arguments of the call that produced it (nil for none):
// a value the agent itself sent is an echo there and is not recorded.
func (x *Index) Record(from Source, output, args wire.Value) {
	r := x.recorder(remembering)
	defer r.release()
	r.from, r.args = from, args
	r.output(output)
}

// RecordTyped remembers only addresses, URLs and the like, for tool definitions and instructions.
func (x *Index) RecordTyped(from Source, output wire.Value) {
	r := x.recorder(remembering)
	defer r.release()
	r.from, r.typedOnly = from, true
	r.value(output)
}

// Author notes the URLs that the agent itself puts into a call. One that no output had said before stays the
// agent's own even when a later output repeats it, so that it can't be laundered through a note or a file.
func (x *Index) Author(args wire.Value) {
	if !bytes.Contains(args, []byte("//")) && bytes.IndexByte(args, '\\') < 0 {
		return // no URL is spelled without them
	}
	r := x.recorder(authoring)
	defer r.release()
	r.typedOnly = true
	r.value(args)
}

func (x *Index) author(k key) {
	if k.kind() != kindURL {
		return
	}
	if _, ok := x.seen[string(k)]; !ok && x.fits(len(k)+entryBytes) {
		x.insert(k, entry{own: true})
	}
}

// entryBytes estimates what an entry costs beside its strings: key header, entry, origin, the map's slack.
const entryBytes = 176

func (x *Index) fits(cost int) bool {
	limit := x.limit
	if limit == 0 {
		limit = maxBytes
	}
	if x.bytes+cost > limit {
		x.lost = true
		return false
	}
	x.bytes += cost
	return true
}

func (x *Index) insert(k key, e entry) {
	if x.seen == nil {
		x.seen = make(map[string]entry)
	}
	x.seen[string(k)] = e
}

// newOrigin returns a place for o. Origins live as long as the index, so they are cut from slabs.
func (x *Index) newOrigin(o Origin) *Origin {
	if len(x.slab) == 0 {
		x.slab = make([]Origin, 32)
	}
	p := &x.slab[0]
	x.slab = x.slab[1:]
	*p = o
	return p
}

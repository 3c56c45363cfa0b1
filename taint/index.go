package taint

// maxBytes bounds what an index holds, all in all, so that it stays below 48 MiB with what the allocator adds. When it is
// full, nothing that it knows is forgotten, and nothing new is taken in.
const maxBytes = 40 << 20

// Index remembers what outputs, the person and the agent said. The zero Index is empty and usable; it is not safe for
// concurrent use.
type Index struct {
	hash   hasher
	table  table
	places places
	grams  grams
	bytes  int  // that all of it takes
	limit  int  // 0: maxBytes
	lost   bool // something did not fit
	blind  bool // something that accuses did not fit, so nothing may vouch any more

	tell       func(Note)
	shown      int    // notes on the output at hand that show where they are from
	told       Origin // the last one that a neighbour told,
	toldAt     uint32 // its place,
	toldSource uint32 // and that of its source

	texts, cells, outputs memo // known as taken in

	rec    recorder // reused between outputs for its buffers
	lens   lens
	strict []byte // buffer

	refuse func(key uint64) bool // tests lose what they like
}

// New returns an empty index that knows values by hashes under key, which the processes of a session share.
func New(key [16]byte) *Index { return &Index{hash: newHasher(key)} }

// Notes calls tell for what the index learns from now on; nil ends it.
func (x *Index) Notes(tell func(Note)) { x.tell = tell }

// pay takes memory out of the limit.
func (x *Index) pay(bytes int) bool {
	limit := x.limit
	if limit == 0 {
		limit = maxBytes
	}
	if x.bytes+bytes > limit {
		return false
	}
	x.bytes += bytes
	return true
}

// vouching is what an exact spelling can earn.
const vouching = MarkDirectory | MarkIdentity | MarkSaid

// fresh returns those of marks that would be news of an entry (nil when there is none yet). Once the agent has used a value,
// no output vouches for it any more. A field vouches for nothing, except that an exact URL was said in full.
func (e *entry) fresh(strict bool, marks Marks) Marks {
	if e == nil {
		return marks
	}
	if e.marks&MarkUsed != 0 {
		marks &^= MarkDirectory | MarkIdentity
		if strict {
			marks &^= MarkField
		}
	}
	return marks &^ e.marks
}

// rank orders marks by the worst of them.
func (m Marks) rank() int {
	switch {
	case m&MarkAimed != 0:
		return 6
	case m&MarkText != 0:
		return 5
	case m&MarkField != 0:
		return 4
	case m&(MarkDirectory|MarkIdentity) != 0:
		return 3
	case m&MarkSaid != 0:
		return 2
	case m&MarkUsed != 0:
		return 1
	}
	return 0
}

// A sighting is a value where it was met, which is worked out only when somebody has to know.
type sighting interface {
	locate() (place uint32, pos uint16)
	length() int // of the value in the text
}

// mark adds marks to what is known of a key and reports whether the index knows them now. Without marks, it knows the key.
func (x *Index) mark(key uint64, strict bool, marks Marks, where sighting) bool {
	return x.markAt(x.table.find(key), key, strict, marks, where)
}

// markAt is mark for a key whose entry was looked up.
func (x *Index) markAt(e *entry, key uint64, strict bool, marks Marks, where sighting) bool {
	news := e.fresh(strict, marks)
	if e != nil && news == 0 {
		return true
	}
	if e == nil {
		if e = x.insert(key); e == nil {
			x.lost = true
			x.blind = x.blind || marks&MarkAimed != 0
			return false
		}
	}
	if where != nil && news.rank() > e.marks.rank() {
		e.place, e.pos = where.locate()
	}
	e.marks |= news
	if x.tell != nil {
		n := Note{Key: key, Strict: strict, Marks: news}
		if where != nil && news != 0 {
			n.At = x.noted(e, news, where)
		}
		x.tell(n)
	}
	return true
}

// How many notes on one output show where in it the value stands. No person reads as many, and showing costs more than all the
// rest of a note: an output of nothing but addresses would fill the ledger with its own text, several times.
const (
	maxShown      = 1 << 10
	maxShownAimed = 1 << 13 // of values that were named to the agent
)

// noted returns the place that goes with a note.
func (x *Index) noted(e *entry, news Marks, where sighting) Origin {
	if x.shown++; x.shown > maxShownAimed || x.shown > maxShown && news&MarkAimed == 0 {
		return Origin{Source: x.rec.from}
	}
	return x.places.origin(e.place, e.pos, where.length())
}

func (x *Index) insert(key uint64) *entry {
	if x.refuse != nil && x.refuse(key) {
		return nil
	}
	return x.table.insert(key, x.pay)
}

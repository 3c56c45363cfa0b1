package taint

// Marks is what has been said of a value: in which ways outputs, the person and the agent have brought it up.
type Marks uint16

// The marks. A value can carry several.
const (
	MarkText      Marks = 1 << iota // inside free text of an output
	MarkField                       // a whole scalar at a path of structured output
	MarkDirectory                   // a whole cell of a lookup tool of this server, before the agent used the value
	MarkIdentity                    // a whole cell of what this server says about the person's own account
	MarkSaid                        // in the person's own words
	MarkAimed                       // in text that addresses the agent, behind the words that do
	MarkUsed                        // the agent put it into a call before
	MarkMangled                     // only its letters and digits were seen, in this order, with something between them
)

// Found is what is known of one value.
type Found struct {
	// Marks holds for anything that can be read out of the value, however it is spelled. It can only accuse.
	Marks Marks

	// Grants holds for exactly this one value: one address, one URL, one name, spelled as it was seen. Only MarkDirectory,
	// MarkIdentity and MarkSaid are ever in it, and only while Marks is known in full: an index that had to forget what
	// accuses a value grants nothing.
	Grants Marks

	// Origin is where the worst of Marks was seen first; zero when no output has it.
	Origin Origin
}

// Reading says how far the cells of one output may be believed.
//
// Paths are dotted names inside the document that a tool answers with, as in items.owner.email. Lists are transparent; a
// leading $. and [*] may stand there; a name may be *.
type Reading struct {
	Directory bool     // whole cells under names that identify somebody vouch for their value
	Identity  bool     // the same, of the person's own account
	Trusted   []string // paths whose whole scalars vouch (trusted_outputs); "*" is every path
	Untrusted []string // paths at and below which none does, and scalars are free text (untrusted_outputs)
}

// Note is one thing that an index learned, in the form in which it travels to the other processes of a session. Marks may be
// empty: then it says that the key is known, without which nothing vouches for the value.
type Note struct {
	Key    uint64 // keyed hash of the value's kind and canonical form
	Strict bool   // the key is of an exact spelling
	Marks  Marks  // that were new
	At     Origin // zero where Marks says nothing that needs a place
}

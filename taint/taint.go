// Package taint remembers what untrusted sources said and traces a value back to them.
//
// Matching is exact over canonical forms: whole values (a leaf of a result, a cell of a listing) and values that
// are clearly destinations or names wherever they stand (addresses, URLs and their hosts, account and telephone numbers,
// identifiers, quoted phrases). Nothing is matched as a substring, so a short name inside a sentence vouches for and accuses
// nobody. What accuses a value is found however the value is spelled; what vouches for it counts for one spelling.
package taint

// Class says in one word where a value comes from. The zero class is Unseen.
type Class uint8

// The classes of provenance.
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

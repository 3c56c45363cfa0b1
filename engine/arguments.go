package engine

import (
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// How many values a call may be made of, since all of them are held at once, and for how many there may be room between two calls.
const (
	maxValues = 1 << 20
	maxKept   = 1 << 12
)

// arguments are what a call brings along, taken apart once for all contracts. A document inside a string has its own.
type arguments struct {
	wire.Tree
	name, base string // of a document: the argument that holds it, and the path to that
	unnumbered bool   // the elements of the whole are not told apart

	last int32  // what path was asked for last, 0 for nothing: the scalars of a list follow one another
	at   string // its answer
}

// path returns the parameter that a value is judged under. Lists of scalars are transparent, so that a part of a list can
// be approved, while objects in a list are numbered, so that fields of different objects never count as one.
func (a *arguments) path(i int32) string {
	n := &a.Tree[i]
	for i > 0 && !n.Member && n.Kind != '{' {
		i = n.Parent
		n = &a.Tree[i]
	}
	switch {
	case i == 0:
		return a.base
	case n.Parent == 0 && n.Member && a.base == "":
		return n.Name
	case i != a.last:
		var room [128]byte
		a.last, a.at = i, string(a.appendPath(room[:0], i))
	}
	return a.at
}

func (a *arguments) appendPath(b []byte, i int32) []byte {
	n := &a.Tree[i]
	switch {
	case i == 0:
		return append(b, a.base...)
	case n.Member:
		if b = a.appendPath(b, n.Parent); len(b) > 0 {
			b = append(b, '.')
		}
		return append(b, n.Name...)
	}
	b = a.appendPath(b, n.Parent)
	if n.Kind == '{' && (n.Parent > 0 || !a.unnumbered) {
		b = append(strconv.AppendInt(append(b, '['), int64(n.Index), 10), ']')
	}
	return b
}

// texts ranges over the strings in the arguments and the names of members, with the nodes that they belong to.
func (a *arguments) texts() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for i := range a.Tree {
			n := &a.Tree[i]
			if n.Member && !yield(i, n.Name) || n.Kind == '"' && !yield(i, n.Text) {
				return
			}
		}
	}
}

// nameOf returns the name of the member that a value is, or that it is listed in.
func (a *arguments) nameOf(i int32) string {
	for ; i > 0; i = a.Tree[i].Parent {
		if n := &a.Tree[i]; n.Member {
			return n.Name
		}
	}
	return a.name
}

// called is nameOf without regard to empty names.
func (a *arguments) called(i int32) string {
	for ; i > 0; i = a.Tree[i].Parent {
		if n := &a.Tree[i]; n.Name != "" {
			return n.Name
		}
	}
	return a.name
}

// A pairSet is a list of pairs that holds none of them twice.
type pairSet struct {
	list  []Pair
	where map[Pair]int // each stands, once they are many
}

// index returns where a pair stands, -1 for nowhere.
func (s *pairSet) index(p Pair) int {
	if s.where == nil {
		return slices.Index(s.list, p)
	}
	if i, ok := s.where[p]; ok {
		return i
	}
	return -1
}

func (s *pairSet) has(p Pair) bool { return s.index(p) >= 0 }

// add appends those pairs that are not there yet.
func (s *pairSet) add(pairs ...Pair) {
	const few, usual = 16, 4
	for _, p := range pairs {
		if s.has(p) {
			continue
		}
		if s.list == nil {
			s.list = make([]Pair, 0, usual)
		}
		s.list = append(s.list, p)
		switch {
		case s.where != nil:
			s.where[p] = len(s.list) - 1
		case len(s.list) > few:
			s.where = make(map[Pair]int)
			for i, known := range s.list {
				s.where[known] = i
			}
		}
	}
}

// A flattener collects the scalars of arguments as pairs.
type flattener struct {
	pairSet
	tool *resolved
}

// followAll is follow for several paths, from the whole on.
func (f *flattener) followAll(a *arguments, paths []string) {
	for _, path := range paths {
		f.follow(a, 0, path)
	}
}

// follow flattens what a dotted path leads to, from one value on; lists on the way are transparent, each reading of a name that
// holds a dot counts, and so does a name that differs only in case, which a lenient server takes for the one that is meant.
func (f *flattener) follow(a *arguments, from int32, path string) {
	for i := from + 1; i < a.Tree[from].End; i = a.Tree[i].End {
		n := &a.Tree[i]
		if !n.Member {
			f.follow(a, i, path)
			continue
		}
		if strings.EqualFold(n.Name, path) {
			f.flatten(a, i)
		}
		for dot := range len(path) {
			if path[dot] == '.' && strings.EqualFold(n.Name, path[:dot]) {
				f.follow(a, i, path[dot+1:])
			}
		}
	}
}

// flatten collects what is in a value. The name of a member counts as well, unless it is the name of a field.
func (f *flattener) flatten(a *arguments, whole int32) {
	for i := whole; i < a.Tree[whole].End; i++ {
		n := &a.Tree[i]
		if n.Member && i > whole {
			if at := a.path(n.Parent); at != "" && !f.tool.properties[n.Name] {
				f.take(at, n.Name)
			}
		}
		switch n.Kind {
		case '"', '0', 't', 'f':
			f.take(a.path(i), n.Text)
		}
	}
}

// take adds a value. The empty string is no destination, as little as null.
func (f *flattener) take(at, value string) {
	if strings.TrimSpace(value) != "" {
		f.add(Pair{Param: at, Value: value})
	}
}

// at collects what is at some paths of a call.
func (j *judgement) at(paths []string) pairSet {
	f := flattener{tool: j.resolved}
	f.followAll(&j.args, paths)
	return f.pairSet
}

// all collects everything in a call.
func (j *judgement) all() pairSet {
	f := flattener{tool: j.resolved}
	f.flatten(&j.args, 0)
	return f.pairSet
}

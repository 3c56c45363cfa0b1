package taint

import (
	"slices"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// dumped reports whether a program may have printed a listing from records: whether nobody can have added members to it from
// inside a text that was pasted between the others. Whoever may write a note of two lines that is printed as it is adds a
// member to his own record, or records of his own: then the records of one list differ, or a record that stands alone goes
// on behind a free text. JSON needs no such proof, since what prints it quotes its texts.
func dumped(v wire.Value) bool {
	switch v.Kind() {
	case '{':
		return record(v, false)
	case '[':
		return records(v)
	}
	return true
}

// records judges a list. Records in company prove each other by having the same members.
func records(list wire.Value) bool {
	var first []string
	n, objects := 0, 0
	for row := range list.Elems() {
		n++
		if row.Kind() != '{' {
			if !dumped(row) {
				return false
			}
			continue
		}
		names := make([]string, 0, len(first))
		for name := range row.Members() {
			names = append(names, name)
		}
		if objects++; objects == 1 {
			first = names
		} else if !slices.Equal(names, first) {
			return false
		}
	}
	if objects == 0 {
		return true
	}
	if objects < n {
		return false
	}
	for row := range list.Elems() {
		if !record(row, n > 1) {
			return false
		}
	}
	return true
}

// record judges a mapping.
func record(v wire.Value, proven bool) bool {
	spoken := false // a free text stands before
	for name, member := range v.Members() {
		if !dumped(member) {
			return false
		}
		role := memberRole(name)
		if spoken && !proven && role != roleSpeaks {
			return false
		}
		spoken = spoken || role == roleSpeaks
	}
	return true
}

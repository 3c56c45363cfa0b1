package wrap

import (
	"bytes"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// A maker writes what was not there before so that it can be taken out again.
//
// Of the objects and arrays that hold it, those that were there already must stay when it goes, and those that were not must go
// too. Nothing but their layout tells them apart: one that bouncer has made begins with a blank or a line break, and one that was
// empty is filled from right behind its bracket.
type maker struct{ doc *jsonc.Doc }

func (d maker) root() jsonc.Value { return d.doc.Root }

// addMember puts a member behind the last one of obj, or into the empty obj. literal gets the line break and the indentation
// of the place, or nil when it lies within a line.
func (d maker) addMember(obj jsonc.Value, name string, literal func(line []byte) []byte) []jsonc.Edit {
	if len(obj.Members) == 0 {
		at := obj.Start + 1
		return []jsonc.Edit{{Start: at, End: at, Text: key(name, literal(nil))}}
	}
	last := len(obj.Members) - 1
	line := d.doc.Line(obj.Members[last].KeyStart)
	return d.doc.InsertAfter(obj, last, jsonc.NewMember{Key: name, Literal: literal(line)})
}

// unit is what one more level is indented by.
func (d maker) unit() string {
	if root := d.root(); len(root.Members) > 0 {
		if unit := strings.Trim(string(d.doc.Line(root.Members[0].KeyStart)), "\r\n"); unit != "" {
			return unit
		}
	}
	return "  "
}

// made writes an object or an array in the layout by which it is known again. line is where its closing bracket stands.
func made(open byte, line []byte, unit string, items ...[]byte) []byte {
	before, between, after := " ", ", ", " "
	if line != nil {
		inner := string(deeper(line, unit))
		before, between, after = inner, ","+inner, string(line)
	}
	return []byte(string(open) + before + string(bytes.Join(items, []byte(between))) + after + string(open+2)) // ] and } stand two behind [ and {
}

func key(name string, literal []byte) []byte {
	return append(append(jsonc.Quote(name), ": "...), literal...)
}

func deeper(line []byte, unit string) []byte {
	if line == nil {
		return nil
	}
	return append(append([]byte{}, line...), unit...)
}

// isMade reports whether an object or array has the layout of one that bouncer has made, or that a client has written anew.
func (d maker) isMade(v jsonc.Value) bool {
	return strings.IndexByte(" \t\r\n", d.doc.Src[v.Start+1]) >= 0
}

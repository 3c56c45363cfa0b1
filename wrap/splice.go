package wrap

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// splices are what makes After of Before: the planner's edits, or one splice where a plan was put together from several.
func (p Plan) splices() []Splice {
	list := []Splice{}
	for _, e := range p.edits {
		list = append(list, Splice{Start: e.Start, End: e.End, Text: e.Text})
	}
	slices.SortStableFunc(list, func(a, b Splice) int { return cmp.Compare(a.Start, b.Start) })
	if made, err := splice(p.Before, list); err == nil && bytes.Equal(made, p.After) {
		return list
	}
	return []Splice{difference(p.Before, p.After)}
}

// difference is the one splice that makes after of before.
func difference(before, after []byte) Splice {
	start := 0
	for start < min(len(before), len(after)) && before[start] == after[start] {
		start++
	}
	same := 0
	for same < min(len(before), len(after))-start && before[len(before)-1-same] == after[len(after)-1-same] {
		same++
	}
	return Splice{Start: start, End: len(before) - same, Text: bytes.Clone(after[start : len(after)-same])}
}

// splice makes splices in a text. They may come from a file, so they are checked.
func splice(text []byte, list []Splice) ([]byte, error) {
	edits := make([]jsonc.Edit, len(list))
	at := 0
	for i, s := range list {
		if s.Start < at || s.End < s.Start || s.End > len(text) {
			return nil, errors.New("splices overlap or lie outside")
		}
		edits[i] = jsonc.Edit{Start: s.Start, End: s.End, Text: s.Text}
		at = s.End
	}
	return jsonc.Apply(text, edits), nil
}

// reversed are the splices that give text back after list was applied to it.
func reversed(text []byte, list []Splice) []jsonc.Edit {
	var edits []jsonc.Edit
	grown := 0
	for _, s := range list {
		start := s.Start + grown
		edits = append(edits, jsonc.Edit{Start: start, End: start + len(s.Text), Text: text[s.Start:s.End]})
		grown += len(s.Text) - (s.End - s.Start)
	}
	return edits
}

package engine

import (
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/taint"
)

// ObservePasted records a text that the person has brought along without having written it, as ObserveDefinition does. Others may
// have written it.
func (e *Engine) ObservePasted(from taint.Source, text wire.Value) {
	e.ObserveDefinition(from, text)
	e.flag(&e.untrusted, flagUntrusted, from)
}

// maxCell is how many words a cell has that tells of an account. What is longer, somebody has written to be read.
const maxCell = 5

// quotesOthers reports whether what a server says of the person's own account holds text that others may have written.
func (e *Engine) quotesOthers(v wire.Value) bool {
	for leaf := range v.Leaves() {
		text, ok := leaf.Value.Text()
		if !ok || leaf.IsKey {
			continue
		}
		if doc, _ := inside(text); doc != nil {
			if e.quotesOthers(doc) {
				return true
			}
			continue
		}
		name := ""
		if n := len(leaf.Path); n > 0 {
			name, _ = leaf.Path[n-1].Key()
		}
		for line := range strings.Lines(text) {
			label, cell := name, strings.TrimSpace(line)
			if before, behind, ok := strings.Cut(cell, ": "); ok && len(strings.Fields(before)) <= 3 {
				label, cell = before, strings.TrimSpace(behind)
			}
			if e.isText(label, cell) {
				return true
			}
		}
	}
	return false
}

func (e *Engine) isText(label, cell string) bool {
	cell = strings.Trim(cell, `"',`)
	words := len(strings.Fields(cell))
	if label = strings.ToLower(label); strings.Contains(label, "address") || strings.Contains(label, "street") || strings.Contains(label, "location") {
		words /= 3
	}
	if words > maxCell {
		return true
	}
	if words < 2 {
		return false
	}
	for value := range e.seen.Carried(cell) {
		return value != cell
	}
	return false
}

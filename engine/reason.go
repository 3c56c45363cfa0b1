package engine

import (
	"strconv"
	"strings"

	"github.com/bouncer-mcp/bouncer/taint"
)

// quote shows a value that a client or server chose: short, on one line, and with nothing hidden in it.
func quote(s string) string {
	return `"` + strings.ReplaceAll(taint.Visible(s, 80), `"`, `'`) + `"`
}

func (p Pair) String() string { return taint.Visible(p.Param, 60) + "=" + quote(p.Value) }

// from tells where a value came from.
func from(o taint.Origin) string {
	return "the result of " + taint.Visible(o.Tool, 80) + " (" + taint.Visible(o.Server, 80) + ")"
}

func plural(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return strconv.Itoa(n) + " " + noun
}

// gateReason words what the sink gate found, worst first. It names the first; the others stand in the findings.
func gateReason(found []Finding) string {
	first, rest := found[0], ""
	if n := len(found) - 1; n > 0 {
		rest = ", and so of " + plural(n, "other value")
		if first.Class != taint.Unseen {
			rest = ", and " + plural(n, "more value") + " of this call nobody has vouched for"
		}
	}
	if first.Class != taint.Unseen {
		return first.String() + " came from " + from(first.Origin) + rest
	}
	return "nobody has vouched for " + first.String() + rest
}

package doctor

import (
	"fmt"

	"github.com/bouncer-mcp/bouncer/wrap"
)

func upstreamMissing(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		finding := Finding{Severity: Error, Repair: "install the program, or correct the entry"}
		how := "starts " + shown(e.Command)
		if e.State == wrap.Wrapped {
			how += " through bouncer"
		}
		switch {
		case !starts(e):
			return finding, false
		case e.Upstream.Missing():
			finding.Message = how + ", but there is no such program on PATH"
			return finding, true
		case e.Upstream.Needs != "" && e.Upstream.Beyond == Found:
			finding.Message = fmt.Sprintf("%s, which needs %s, and there is no such program on PATH", how, quote(e.Upstream.Needs))
			return finding, true
		}
		return finding, false
	})
}

// starts reports whether a client may start an entry's program.
func starts(e Entry) bool {
	return (e.State == wrap.Wrapped || e.State == wrap.Plain || e.State == wrap.Listed) && e.Effect != wrap.Off && e.Effect != wrap.Hidden
}

func upstreamOffPath(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		if !starts(e) {
			return Finding{}, false
		}
		at := fmt.Sprintf("starts %s, which a terminal finds at %s", shown(e.Command), quote(e.Upstream.Path))
		if e.Upstream.Needs != "" {
			at = fmt.Sprintf("starts %s, which needs %s", shown(e.Command), quote(e.Upstream.Needs))
		}
		finding := Finding{Repair: "write the program's whole path into the entry, or a PATH into its env"}
		switch e.Upstream.Beyond {
		case Lost:
			finding.Severity, finding.Message = Warning, at+"; the client has "+e.Upstream.PATH+" and does not find it there"
		case Unlikely:
			finding.Severity, finding.Message = Info, at+"; started by the desktop, the client finds it only if it learns PATH from your login shell"
		case Doubtful:
			finding.Severity, finding.Message = Info, at+", in your home; a client that the desktop starts may not have that folder on PATH"
		default:
			return finding, false
		}
		return finding, true
	})
}

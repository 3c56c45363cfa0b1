package doctor

import "fmt"

func pinsWaiting(f Facts) []Finding {
	return entries(f, func(_ File, e Entry) (Finding, bool) {
		home := ""
		if e.Pins.Home != "" {
			home = " " + quote("--home="+e.Pins.Home)
		}
		server := quote(e.Name) + home
		return Finding{
			Severity: Warning,
			Message: fmt.Sprintf("has changed what it says of its tools since that was accepted: %s waiting, and calls of changed tools are asked about",
				counted(e.Pins.Waiting, "change is", "changes are")),
			Repair: fmt.Sprintf("bouncer pins diff %s, then bouncer pins accept %s", server, server),
		}, e.Pins.Waiting > 0
	})
}

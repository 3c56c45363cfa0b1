package doctor

import (
	"fmt"
	"slices"
	"strings"
)

func clientConfigs(f Facts) []Finding {
	var found []Finding
	for _, c := range f.Clients {
		var private []string
		for _, file := range f.Files {
			if file.Client == c.ID && !file.Shared && !file.Managed {
				private = append(private, file.Path)
			}
		}
		if len(private) < 2 {
			continue
		}
		finding := Finding{
			Severity: Info, Client: c.ID, File: c.Reads,
			Message: fmt.Sprintf("%s has several configs: %s; bouncer stands in front of the servers in all of them", c.Name, strings.Join(private, ", ")),
		}
		if slices.Contains(private, c.Reads) {
			finding.Message += "; the program that is running reads " + c.Reads
		}
		found = append(found, finding)
	}
	return found
}

func configExposed(f Facts) []Finding {
	var found []Finding
	for _, file := range f.Files {
		finding := Finding{Severity: Warning, Client: file.Client, File: file.Path}
		secrets := slices.ContainsFunc(file.Entries, func(e Entry) bool { return len(e.Secrets) > 0 })
		switch {
		case file.Open:
			finding.Message = "others on this computer can write it, and so choose what its client starts"
			finding.Repair = "chmod go-w " + quote(file.Path)
		case file.Legible && secrets:
			finding.Message = "others on this computer can read it, and it holds secrets"
			finding.Repair = "chmod go-r " + quote(file.Path)
		default:
			continue
		}
		found = append(found, finding)
	}
	return found
}

func secretPlain(f Facts) []Finding {
	return entries(f, func(file File, e Entry) (Finding, bool) {
		finding := Finding{
			Severity: Info,
			Message:  "has a secret written out: " + strings.Join(e.Secrets, ", "),
			Repair:   "keep it where the client can take it from, such as an environment variable, if the client can do so",
		}
		if file.Shared {
			finding.Severity = Warning
			finding.Message += ", in a file that others get too"
		}
		return finding, len(e.Secrets) > 0
	})
}

func stateLeft(f Facts) []Finding {
	if f.State.Generations == 0 || f.State.Partial {
		return nil
	}
	for _, file := range f.Files {
		if file.Err != nil || slices.ContainsFunc(file.Entries, func(e Entry) bool { return e.Launcher != "" }) {
			return nil
		}
	}
	return []Finding{{
		Severity: Info, File: f.State.Dir,
		Message: "no server starts through bouncer any more, and the backups of the configs are still there",
		Repair:  "to uninstall: look for wrapped servers in other projects first, then remove the program, then this folder",
	}}
}

package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/wrap"
)

// serverDuplicate compares the entries of one client that carry the same name in different scopes: the client starts only one
// of them, and it is not always the one a person is looking at.
func serverDuplicate(f Facts) []Finding {
	type key struct{ client, name string }
	byName := map[key][]Entry{}
	var order []key
	for _, file := range f.Files {
		if file.Client == "" || file.Managed {
			continue
		}
		for _, e := range file.Entries {
			k := key{file.Client, e.Name}
			if len(byName[k]) == 0 {
				order = append(order, k)
			}
			byName[k] = append(byName[k], e)
		}
	}
	var found []Finding
	for _, k := range order {
		if rivals := rivals(byName[k]); len(rivals) > 0 {
			finding := compare(rivals)
			finding.Client, finding.Server = k.client, k.name
			found = append(found, finding)
		}
	}
	return found
}

// rivals are the entries of a name that stand in another one's way. The same name in two projects is no clash.
func rivals(same []Entry) []Entry {
	var list []Entry
	for _, e := range same {
		if slices.ContainsFunc(same, func(other Entry) bool { return clash(e, other) }) {
			list = append(list, e)
		}
	}
	return list
}

func clash(a, b Entry) bool {
	return a.Scope != b.Scope && (a.Project == "" || b.Project == "" || a.Project == b.Project)
}

func compare(rivals []Entry) Finding {
	var scopes []string
	for _, e := range rivals {
		if !slices.Contains(scopes, string(e.Scope)) {
			scopes = append(scopes, string(e.Scope))
		}
	}
	where := strings.Join(scopes, ", ")
	if i := slices.IndexFunc(rivals, func(e Entry) bool { return e.Effect == wrap.Shadowed }); i >= 0 {
		started := slices.IndexFunc(rivals, func(e Entry) bool { return e.Effect != wrap.Shadowed })
		if started >= 0 {
			where += fmt.Sprintf(" (here its client starts that of the scope %s)", rivals[started].Scope)
		}
	}
	if slices.ContainsFunc(rivals, func(e Entry) bool { return !sameServer(rivals[0].Entry, e.Entry) }) {
		return Finding{
			Severity: Warning,
			Message:  fmt.Sprintf("stands for different servers in the scopes %s", where),
			Repair:   "give each of them a name of its own, or remove those that are not meant",
		}
	}
	return Finding{
		Severity: Info,
		Message:  fmt.Sprintf("stands in the scopes %s, each time with the same command", where),
	}
}

func sameServer(a, b wrap.Entry) bool {
	return a.Command == b.Command && slices.Equal(a.Args, b.Args) && a.URL == b.URL
}

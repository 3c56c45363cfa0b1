package main

import (
	"strings"

	"github.com/bouncer-mcp/bouncer/session"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// pinStores reads what servers have said of their tools, each state directory once. What can't be read waits for nobody here:
// the pins command says what is wrong with it.
type pinStores map[string][]session.Status

// waiting is how many changes of a wrapped server's wait for a person, and the state directory that they lie in.
func (p pinStores) waiting(e wrap.Entry) (changes int, dir string) {
	if e.State != wrap.Wrapped {
		return 0, ""
	}
	dir, err := stateOf(e.Home)
	if err != nil || dir == "" {
		return 0, ""
	}
	list, known := p[dir]
	if !known {
		list, _ = session.Open(dir).List()
		p[dir] = list
	}
	identity := session.Identity(e.Name, append([]string{e.Command}, e.Args...))
	for _, s := range list {
		switch {
		case s.Err != nil:
		case s.Identity == identity:
			return len(waiting(s.Pending)), dir
		case session.Name(s.Identity) == e.Name: // its client may have put something into the command line
			changes += len(waiting(s.Pending))
		}
	}
	return changes, dir
}

// stateOf is the state directory of a wrapped server, or nothing where its client chooses it.
func stateOf(home string) (string, error) {
	if strings.Contains(home, "$") {
		return "", nil
	}
	if home != "" {
		return home, nil
	}
	p, err := systemPlaces()
	return p.State, err
}

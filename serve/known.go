package serve

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/replay"
)

// Where definitions of tools are from.
const (
	fromCaller  = "given"
	fromRecord  = "recorded"
	fromServer  = "started"
	fromNothing = "name"
)

// maxTools bounds how many definitions a caller may give.
const maxTools = 2000

// known is what is known of a server's tools.
type known struct {
	pkg   string
	tools []policy.Tool
	from  string
}

func (k known) tool(name string) policy.Tool {
	if i := k.index(name); i >= 0 {
		return k.tools[i]
	}
	return policy.Tool{Name: name}
}

func (k known) index(name string) int {
	return slices.IndexFunc(k.tools, func(t policy.Tool) bool { return t.Name == name })
}

// fromFor tells where the definition of one tool is from.
func (k known) fromFor(name string) string {
	if k.index(name) < 0 {
		return fromNothing
	}
	return k.from
}

// meant is a server that a caller speaks of.
type meant struct {
	name string // in a client's config
	pkg  string // what it is started from, if the caller has told
}

// meant reads what a caller calls a server: its name, or its identity as bouncer pins list shows it, such as npm:mail-server#mail.
func (s *service) meant(called string) meant {
	if pkg, of, ok := strings.Cut(called, "#"); ok && !slices.Contains(s.serverNames(), called) {
		return meant{of, pkg}
	}
	return meant{name: called}
}

func (m meant) is(name, pkg string) bool { return m.name == name && (m.pkg == "" || m.pkg == pkg) }

// Current narrows recorded servers of one name down to the one that a client's config starts now, if that leaves one.
func Current(name string, found []replay.Server, servers []Server) []replay.Server {
	now := slices.DeleteFunc(slices.Clone(found), func(r replay.Server) bool {
		return !slices.ContainsFunc(servers, func(s Server) bool { return s.Name == name && s.Package == r.Package })
	})
	if len(now) != 1 {
		return found
	}
	return now
}

// recorded finds what bouncer has met under a name. Configs that can't be read leave all of it.
func (s *service) recorded(m meant) ([]replay.Server, error) {
	all, err := s.Recorded()
	if err != nil {
		return nil, err
	}
	found := slices.DeleteFunc(slices.Clone(all[m.name]), func(r replay.Server) bool { return !m.is(m.name, r.Package) })
	if servers, err := s.Servers(); err == nil {
		found = Current(m.name, found, servers)
	}
	return found, nil
}

// known finds the definitions of a server's tools: those that the caller gives, or the recorded ones. Of a server that nobody has
// met nothing is known, which is no error.
func (s *service) known(m meant, given wire.Value) (known, error) {
	k := known{pkg: m.pkg, from: fromNothing}
	found, err := s.recorded(m)
	switch {
	case err != nil:
		return k, err
	case len(found) > 1 && given == nil:
		return k, fmt.Errorf("%d servers named %q are recorded: name one of them, %s", len(found), name(m.name), identities(m.name, found))
	case len(found) > 0:
		k = known{found[0].Package, found[0].Tools, fromRecord}
	}
	if given == nil {
		return k, nil
	}
	if k.tools, err = readTools(given); err != nil {
		return k, err
	}
	k.from = fromCaller
	return k, nil
}

// identities lists servers of one name as meant reads them.
func identities(called string, found []replay.Server) string {
	all := make([]string, len(found))
	for i, r := range found {
		all[i] = r.Package + "#" + called
	}
	return fmt.Sprintf("%q", names(all))
}

// readTools reads definitions: a list, or an answer to tools/list.
func readTools(given wire.Value) ([]policy.Tool, error) {
	text := []byte(given)
	if given.Kind() == '[' {
		text = append(append([]byte(`{"tools":`), given...), '}')
	}
	l, err := packs.ReadListing(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("tools: %w", err)
	case len(l.Tools) > maxTools:
		return nil, fmt.Errorf("tools: more than %d", maxTools)
	}
	return l.Tools, nil
}

// policiesFor returns the layers above the packs for calls to a server, and the profile that is chosen outside of them.
func (s *service) policiesFor(server meant, given wire.Value, profile string) ([]*policy.Layer, string, error) {
	layers, configured, err := s.ownPolicies(server)
	if profile == "" {
		profile = configured
	}
	if given == nil {
		return layers, profile, err
	}
	text, ok := given.Text()
	if !ok {
		return nil, "", errors.New("the policy is no text")
	}
	layer, err := policy.Parse(givenPolicy, []byte(text))
	if err != nil {
		return nil, "", err
	}
	return []*policy.Layer{layer}, profile, nil
}

// ownPolicies are those that bouncer run would load for a server.
func (s *service) ownPolicies(server meant) ([]*policy.Layer, string, error) {
	servers, err := s.Servers()
	if err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(servers, func(c Server) bool { return server.is(c.Name, c.Package) && c.Wrapped })
	if i < 0 {
		layers, err := s.Policies()
		return layers, "", err
	}
	layers, err := servers[i].Policies()
	return layers, servers[i].Profile, err
}

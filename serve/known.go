package serve

import (
	"errors"
	"fmt"
	"slices"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
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

// known finds the definitions of a server's tools: those that the caller gives, or the recorded ones. Of a server that nobody has
// met nothing is known, which is no error.
func (s *service) known(server string, given wire.Value) (known, error) {
	k := known{from: fromNothing}
	recorded, err := s.Recorded()
	if err != nil {
		return k, err
	}
	if found := recorded[server]; len(found) > 0 {
		if len(found) > 1 && given == nil {
			return k, fmt.Errorf("%d servers named %q are recorded: give the definitions of the one that is meant, in tools", len(found), server)
		}
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
func (s *service) policiesFor(server string, given wire.Value, profile string) ([]*policy.Layer, string, error) {
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
func (s *service) ownPolicies(server string) ([]*policy.Layer, string, error) {
	servers, err := s.Servers()
	if err != nil {
		return nil, "", err
	}
	i := slices.IndexFunc(servers, func(c Server) bool { return c.Name == server && c.Wrapped })
	if i < 0 {
		layers, err := s.Policies()
		return layers, "", err
	}
	layers, err := servers[i].Policies()
	return layers, servers[i].Profile, err
}

package serve

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bouncer-mcp/bouncer/packs"
)

// maxCompletions is what the protocol allows at a time.
const maxCompletions = 100

// complete offers what an argument of a prompt or of an address may be.
func (s *service) complete(_ context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	var all []string
	if ref := req.Params.Ref; ref != nil {
		all = s.choices(*ref, req.Params.Argument.Name)
	}
	typed := strings.ToLower(req.Params.Argument.Value)
	all = slices.DeleteFunc(all, func(c string) bool { return !strings.HasPrefix(strings.ToLower(c), typed) })
	details := mcp.CompletionResultDetails{Values: append([]string{}, all[:min(len(all), maxCompletions)]...), Total: len(all)}
	details.HasMore = len(all) > maxCompletions
	return &mcp.CompleteResult{Completion: details}, nil
}

func (s *service) choices(ref mcp.CompleteReference, argument string) []string {
	switch {
	case ref.Type == "ref/resource" && ref.URI == packURI+"{name}" && argument == "name":
		return packs.Names()
	case ref.Type == "ref/prompt" && argument == "server_name":
		return s.serverNames()
	case ref.Type == "ref/prompt" && argument == "risk_level":
		return riskLevels()
	}
	return nil
}

// serverNames are those of the clients' configs, and those that bouncer has met. What can't be read offers nothing.
func (s *service) serverNames() []string {
	found := map[string]bool{}
	servers, err := s.Servers()
	if err == nil {
		for _, c := range servers {
			found[c.Name] = true
		}
	}
	recorded, err := s.Recorded()
	if err == nil {
		for called := range recorded {
			found[called] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

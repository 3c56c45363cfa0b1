package main

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// selection says which configs and servers a command is about. The zero selection means all that are found.
type selection struct {
	clients []string
	scopes  []string
	configs []string
	key     []string // where the servers stand in the configs; nil when nobody has said that
	servers []string
}

func (s *selection) clientFlag(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&s.clients, "client", nil, "only the client with this `ID`: "+strings.Join(clientIDs(), ", ")+" (repeatable)")
}

// placeFlags name the configs.
func (s *selection) placeFlags(cmd *cobra.Command) {
	s.clientFlag(cmd)
	cmd.Flags().StringArrayVar(&s.configs, "config", nil, "only this config `FILE`, wherever it lies (repeatable)")
	cmd.Flags().Func("key", "where a --config file of no known client has its servers: a JSON `POINTER` (default /mcpServers)", func(key string) (err error) {
		s.key, err = wrap.ParseKey(key)
		return err
	})
}

func (s *selection) flags(cmd *cobra.Command) {
	s.placeFlags(cmd)
	cmd.Flags().StringArrayVar(&s.scopes, "scope", nil, "only this `SCOPE`: "+strings.Join(scopeNames(), ", ")+" (repeatable)")
	cmd.Flags().StringArrayVar(&s.servers, "server", nil, "only the server of this `NAME` (repeatable)")
}

// check refuses names that nothing can have.
func (s *selection) check() error {
	for _, id := range s.clients {
		if !slices.Contains(clientIDs(), id) {
			return misuse("known clients: "+strings.Join(clientIDs(), ", "), "unknown client %q", id)
		}
	}
	for _, scope := range s.scopes {
		if !slices.Contains(scopeNames(), scope) {
			return misuse("known scopes: "+strings.Join(scopeNames(), ", "), "unknown scope %q", scope)
		}
	}
	if s.key != nil && len(s.configs) == 0 {
		return misuse("--config names the file that it is about", "--key makes no sense without --config")
	}
	return nil
}

// shared reports whether files that belong to a project, and so to other people too, were named.
func (s *selection) shared() bool {
	return len(s.clients) > 0 || len(s.configs) > 0 || slices.Contains(s.scopes, string(clients.Project))
}

func clientIDs() []string {
	var ids []string
	for _, c := range clients.All() {
		ids = append(ids, c.ID)
	}
	return ids
}

// scopeNames lists the scopes of all clients, each once.
func scopeNames() []string {
	var names []string
	for _, c := range clients.All() {
		for _, config := range c.Configs {
			for _, m := range config.Maps {
				if !slices.Contains(names, string(m.Scope)) {
					names = append(names, string(m.Scope))
				}
			}
		}
	}
	return names
}

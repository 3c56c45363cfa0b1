package clients

import "github.com/bouncer-mcp/bouncer/internal/jsonc"

func cursor() Client {
	return Client{
		ID:   "cursor",
		Name: "Cursor",
		Configs: []Config{
			{
				Paths:  func(e Env) []string { return known(e.Join(e.Home, ".cursor", "mcp.json")) },
				Maps:   []Map{{Scope: User, Pointer: []string{"mcpServers"}}},
				Format: jsonc.Comments,
			},
			{
				Paths:  func(e Env) []string { return known(e.Join(e.Project, ".cursor", "mcp.json")) },
				Maps:   []Map{{Scope: Project, Pointer: []string{"mcpServers"}}},
				Format: jsonc.Comments,
				Shared: true,
			},
		},
		Reload: "Cursor reads the file again when it is saved; if a server does not come back, switch it off and on in Cursor's MCP settings.",
	}
}

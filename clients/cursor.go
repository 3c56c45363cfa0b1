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
				Paths:    func(e Env) []string { return known(e.Join(e.Project, ".cursor", "mcp.json")) },
				Maps:     []Map{{Scope: Project, Pointer: []string{"mcpServers"}}},
				Format:   jsonc.Comments,
				Shared:   true,
				Approval: ByDefinition,
			},
		},
		Sources: []Source{
			{Kind: Plugin, Form: ServerFile, Places: func(e Env) []Place { return cursorPlugins(e, "mcp.json") }},
			{Kind: Plugin, Form: ServerFile, Places: func(e Env) []Place { return cursorPlugins(e, ".mcp.json") }},
			{Kind: Plugin, Form: PluginManifest, Places: func(e Env) []Place { return cursorPlugins(e, ".cursor-plugin", "plugin.json") }},
			{Kind: Plugin, Form: PluginManifest, Places: func(e Env) []Place { return cursorPlugins(e, ".claude-plugin", "plugin.json") }},
		},
		Start:  DesktopShell, // servers of one name in both scopes are started both
		Reload: "Cursor reads the file again when it is saved; if a server does not come back, switch it off and on in Cursor's MCP settings.",
	}
}

package clients

import "github.com/bouncer-mcp/bouncer/internal/jsonc"

func claudeDesktop() Client {
	return Client{
		ID:   "claude-desktop",
		Name: "Claude Desktop",
		Configs: []Config{{
			Paths:  claudeDesktopFiles,
			Maps:   []Map{{Scope: User, Pointer: []string{"mcpServers"}}},
			Format: jsonc.Strict,
		}},
		Reload: "Quit Claude Desktop completely, from its tray or menu bar icon, and start it again.",
		// The app keeps its settings in memory and writes the whole file now and then, so an edit made meanwhile gets lost.
		// Claude Code's binary is called claude too; case tells them apart on macOS, the folder on Windows.
		Process: Process{Programs: map[string][]Program{
			"darwin": {{Name: "Claude"}},
			"windows": {
				{Name: "Claude", Folder: "Claude_"}, // C:\Program Files\WindowsApps\Claude_1.2.3.0_x64__…\app
				{Name: "Claude", Folder: "AnthropicClaude"},
			},
			"linux": {
				{Name: "claude-desktop"},
				{Name: "electron", Folder: "claude-desktop"}, // community packages
				{Name: "electron", Folder: ".mount_claude"},  // AppImage
			},
		}},
	}
}

func claudeDesktopFiles(e Env) []string {
	const file = "claude_desktop_config.json"
	switch e.OS {
	case "darwin":
		return known(e.Join(e.Home, "Library", "Application Support", "Claude", file))
	case "windows":
		// The store package redirects %APPDATA% into a folder named after its publisher; either kind may be installed, or both.
		packaged := e.glob(e.Join(e.Local, "Packages", "Claude_*", "LocalCache", "Roaming", "Claude", file))
		return append(known(e.Join(e.Roaming, "Claude", file)), packaged...)
	default:
		return known(e.Join(e.xdgConfig(), "Claude", file))
	}
}

func (e Env) xdgConfig() string {
	if e.Abs(e.Config) {
		return e.Config
	}
	return e.Join(e.Home, ".config")
}

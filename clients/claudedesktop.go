package clients

import (
	"slices"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

func claudeDesktop() Client {
	return Client{
		ID:   "claude-desktop",
		Name: "Claude Desktop",
		Configs: []Config{{
			Paths:  claudeDesktopFiles,
			Maps:   []Map{{Scope: User, Pointer: []string{"mcpServers"}}},
			Format: jsonc.Strict,
		}},
		Sources: []Source{{Kind: Extension, Form: ExtensionManifest, Places: claudeDesktopExtensions}},
		Start:   Desktop,
		Reload:  "Quit Claude Desktop completely, from its tray or menu bar icon, and start it again.",
		// The app keeps its settings in memory and writes the whole file now and then, so an edit made meanwhile gets lost.
		// Claude Code's binary is called claude too; case tells them apart on macOS, the folder on Windows.
		Process: Process{Programs: map[string][]Program{
			"darwin": {{Name: "Claude"}},
			"windows": {
				{Name: "Claude", Folder: "Claude_", Reads: func(e Env) []string { // C:\Program Files\WindowsApps\Claude_1.2.3.0_x64__…\app
					return claudeDesktopConfigs(e, claudeDesktopPackages(e))
				}},
				{Name: "Claude", Folder: "AnthropicClaude", Reads: func(e Env) []string {
					return claudeDesktopConfigs(e, known(e.Join(e.Roaming, "Claude")))
				}},
			},
			"linux": {
				{Name: "claude-desktop"},
				{Name: "electron", Folder: "claude-desktop"}, // community packages
				{Name: "electron", Folder: ".mount_claude"},  // AppImage
			},
		}},
	}
}

// claudeDesktopFolders lists the folders that a Claude Desktop of some build keeps its data in, best first.
func claudeDesktopFolders(e Env) []string {
	const other = "Claude-3p" // for models of somebody else's
	switch e.OS {
	case "darwin":
		support := e.Join(e.Home, "Library", "Application Support")
		return known(e.Join(support, "Claude"), e.Join(support, other))
	case "windows":
		return slices.Concat(
			known(e.Join(e.Roaming, "Claude")),
			claudeDesktopPackages(e),
			known(e.Join(e.Local, other)),
			e.glob(e.Join(e.Local, "Packages", "Claude_*", "LocalCache", "Local", other)),
		)
	default:
		config := e.xdgConfig()
		sandboxed := e.glob(e.Join(e.Home, ".var", "app", "*", "config", "Claude")) // Flatpak
		return append(known(e.Join(config, "Claude"), e.Join(config, other)), sandboxed...)
	}
}

// claudeDesktopPackages is where the store package's writes to %APPDATA%\Claude end: below a folder named after its publisher.
func claudeDesktopPackages(e Env) []string {
	return e.glob(e.Join(e.Local, "Packages", "Claude_*", "LocalCache", "Roaming", "Claude"))
}

func claudeDesktopFiles(e Env) []string { return claudeDesktopConfigs(e, claudeDesktopFolders(e)) }

func claudeDesktopConfigs(e Env, folders []string) []string {
	var list []string
	for _, folder := range folders {
		list = append(list, e.Join(folder, "claude_desktop_config.json"))
	}
	return list
}

// claudeDesktopExtensions lists the extensions that are not switched off.
func claudeDesktopExtensions(e Env) []Place {
	var list []Place
	for _, data := range claudeDesktopFolders(e) {
		for _, manifest := range e.glob(e.Join(data, "Claude Extensions", "*", "manifest.json")) {
			id := e.base(e.folder(manifest))
			settings := e.document(e.Join(data, "Claude Extensions Settings", id+".json"))
			if enabled, _, err := settings.Lookup("isEnabled"); err == nil && enabled.Kind == 'f' {
				continue
			}
			list = append(list, Place{Path: manifest, Owner: id})
		}
	}
	return list
}

func (e Env) xdgConfig() string {
	if e.Abs(e.Config) {
		return e.Config
	}
	return e.Join(e.Home, ".config")
}

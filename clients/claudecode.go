package clients

import "github.com/bouncer-mcp/bouncer/internal/jsonc"

func claudeCode() Client {
	return Client{
		ID:   "claude-code",
		Name: "Claude Code",
		Configs: []Config{
			{
				Paths: claudeCodeFiles,
				Maps: []Map{
					{Scope: User, Pointer: []string{"mcpServers"}},
					{Scope: Local, Pointer: []string{"projects", "*", "mcpServers"}},
				},
				Format:   jsonc.Strict,
				Lock:     true,
				Policies: claudeCodePolicies,
			},
			{
				Paths:    claudeCodeProjectFiles,
				Maps:     []Map{{Scope: Project, Pointer: []string{"mcpServers"}}},
				Format:   jsonc.Strict,
				Shared:   true,
				Policies: claudeCodePolicies,
			},
			{
				Paths:   func(e Env) []string { return known(e.Join(claudeCodeManaged(e), "managed-mcp.json")) },
				Maps:    []Map{{Scope: User, Pointer: []string{"mcpServers"}}},
				Format:  jsonc.Strict,
				Managed: true,
			},
		},
		Reload: "Start a new Claude Code session, or reconnect each server under /mcp in a running one.",
	}
}

// claudeCodeFolder is where Claude Code keeps its settings. It expands nothing in the variable, not even a tilde.
func claudeCodeFolder(e Env) (folder string, moved bool) {
	dir := e.getenv("CLAUDE_CONFIG_DIR")
	switch {
	case dir == "":
		return e.Join(e.Home, ".claude"), false
	case e.Abs(dir):
		return dir, true
	default:
		return e.Join(e.Project, dir), true
	}
}

// claudeCodeFiles gives the one file that Claude Code reads user and local servers from.
func claudeCodeFiles(e Env) []string {
	folder, moved := claudeCodeFolder(e)
	if old := e.Join(folder, ".config.json"); e.exists(old) {
		return []string{old} // the old place wins as long as it is there, and the new one is not read at all
	}
	if moved {
		return known(e.Join(folder, ".claude.json"))
	}
	return known(e.Join(e.Home, ".claude.json"))
}

// claudeCodeProjectFiles climbs to the root, because Claude Code does, past the repository's own root.
func claudeCodeProjectFiles(e Env) []string {
	var list []string
	for _, folder := range e.ancestors(e.Project) {
		list = append(list, e.Join(folder, ".mcp.json"))
	}
	return list
}

func claudeCodePolicies(e Env) []string {
	folder, _ := claudeCodeFolder(e)
	managed := claudeCodeManaged(e)
	list := known(
		e.Join(managed, "managed-settings.json"),
		e.Join(folder, "settings.json"),
		e.Join(e.Project, ".claude", "settings.json"),
		e.Join(e.Project, ".claude", "settings.local.json"),
	)
	return append(list, e.glob(e.Join(managed, "managed-settings.d", "*.json"))...)
}

// claudeCodeManaged is the folder that only an administrator can write.
func claudeCodeManaged(e Env) string {
	switch e.OS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode"
	case "windows":
		if files := e.getenv("ProgramFiles"); files != "" {
			return e.Join(files, "ClaudeCode")
		}
		return `C:\Program Files\ClaudeCode`
	default:
		return "/etc/claude-code"
	}
}

package clients

import (
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

func claudeCode() Client {
	return Client{
		ID:   "claude-code",
		Name: "Claude Code",
		Configs: []Config{
			{
				Paths: claudeCodeFiles,
				Maps: []Map{
					{Scope: User, Pointer: []string{"mcpServers"}},
					{Scope: Local, Pointer: []string{"projects", "*", "mcpServers"}, Here: claudeCodeProject},
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
				Approval: ByName,
			},
			{
				Paths:   func(e Env) []string { return known(e.Join(claudeCodeManaged(e), "managed-mcp.json")) },
				Maps:    []Map{{Scope: User, Pointer: []string{"mcpServers"}}},
				Format:  jsonc.Strict,
				Managed: true,
			},
		},
		Sources: []Source{
			{Kind: Plugin, Form: ServerFile, Places: func(e Env) []Place { return claudeCodePlugins(e, ".mcp.json") }},
			{Kind: Plugin, Form: PluginManifest, Places: func(e Env) []Place { return claudeCodePlugins(e, ".claude-plugin", "plugin.json") }},
			{Kind: Agent, Form: FrontMatter, Places: claudeCodeAgents},
			{Kind: Organisation, Form: ManagedSettings, Places: claudeCodeManagedSettings},
		},
		Order:  []Scope{Local, Project, User},
		Hook:   claudeCodeHook(),
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

// claudeCodeProject is the key of the working directory among the projects: the main working tree of its git repository,
// or the folder itself. Symbolic links in it are resolved already.
func claudeCodeProject(e Env) string {
	key := e.Project
	for _, folder := range e.ancestors(e.Project) {
		if git := e.Join(folder, ".git"); e.exists(git) {
			key = e.mainTree(folder, git)
			break
		}
	}
	if e.OS == "windows" {
		key = strings.ReplaceAll(key, `\`, "/")
	}
	return key
}

// mainTree follows a linked working tree, whose .git is a file that names a folder of the main one's.
func (e Env) mainTree(folder, git string) string {
	if e.Read == nil {
		return folder
	}
	dir, ok := strings.CutPrefix(strings.TrimSpace(string(e.Read(git))), "gitdir: ")
	if e.OS == "windows" {
		dir = strings.ReplaceAll(dir, `\`, "/")
	}
	if main, _, found := strings.Cut(dir, "/.git/worktrees/"); ok && found {
		return main
	}
	return folder
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

func claudeCodeManagedSettings(e Env) []Place {
	managed := claudeCodeManaged(e)
	return places(append(known(e.Join(managed, "managed-settings.json")), e.glob(e.Join(managed, "managed-settings.d", "*.json"))...), nil)
}

// claudeCodeAgents lists the agents that a person or a project has written; each may bring servers of its own.
func claudeCodeAgents(e Env) []Place {
	folder, _ := claudeCodeFolder(e)
	var files []string
	for _, agents := range []string{e.Join(folder, "agents"), e.Join(e.Project, ".claude", "agents")} {
		files = append(files, e.glob(e.Join(agents, "*.md"))...)
		files = append(files, e.glob(e.Join(agents, "*", "*.md"))...)
	}
	return places(files, func(file string) string { return strings.TrimSuffix(e.base(file), ".md") })
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

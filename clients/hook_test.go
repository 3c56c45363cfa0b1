package clients_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

func TestClaudeCodeHook(t *testing.T) {
	drop := func(pattern string) []string { return []string{strings.Replace(pattern, "*", "10-hooks", 1)} }
	tests := []struct {
		env   clients.Env
		file  string
		rules []clients.Rules
	}{
		{with(linux(), func(e *clients.Env) { e.Glob = drop }), "/home/ada/.claude/settings.json", []clients.Rules{
			{Path: "/etc/claude-code/managed-settings.json", Managed: true},
			{Path: "/etc/claude-code/managed-settings.d/10-hooks.json", Managed: true},
			{Path: "/home/ada/.claude/settings.json"},
		}},
		{with(darwin(), func(e *clients.Env) { e.Getenv = variables("CLAUDE_CONFIG_DIR", "/opt/cc") }), "/opt/cc/settings.json", []clients.Rules{
			{Path: "/Library/Application Support/ClaudeCode/managed-settings.json", Managed: true},
			{Path: "/opt/cc/settings.json"},
		}},
		{windows(), `C:\Users\ada\.claude\settings.json`, []clients.Rules{
			{Path: `C:\Program Files\ClaudeCode\managed-settings.json`, Managed: true},
			{Path: `C:\Users\ada\.claude\settings.json`},
		}},
		{clients.Env{OS: "linux"}, "", []clients.Rules{{Path: "/etc/claude-code/managed-settings.json", Managed: true}}},
	}
	client, _ := clients.ByID("claude-code")
	for _, test := range tests {
		if got := client.Hook.File(test.env); got != test.file {
			t.Errorf("%s: %q, want %q", test.env.OS, got, test.file)
		}
		if got := client.Hook.Rules(test.env); !slices.Equal(got, test.rules) {
			t.Errorf("%s: %+v, want %+v", test.env.OS, got, test.rules)
		}
	}
}

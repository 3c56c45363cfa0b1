package wrap

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

// TestSources reads what plugins, agents and extensions bring along.
func TestSources(t *testing.T) {
	m := newMachine(t)
	root := m.path("p/acme")
	m.write(".claude/plugins/installed_plugins.json", fmt.Sprintf(`{"plugins": {"acme@m": [{"installPath": %q}]}}`, root))
	m.write("p/acme/.mcp.json", `{"crm": {"command": "crm"}, "web": {"type": "http", "url": "https://crm"}}`)
	m.write("p/acme/.claude-plugin/plugin.json", `{"name": "acme", "mcpServers": ["./more.json", "./.mcp.json", "../../escape.json", "missing.json"]}`)
	m.write("p/acme/more.json", `{"mcpServers": {"more": {"command": "more"}}}`)
	m.write("p/escape.json", `{"mcpServers": {"escaped": {"command": "x"}}}`)
	m.write(".claude/agents/broken.md", "---\nmcpServers: [{a: b}]\n---\n")
	m.write(".claude/agents/plain.md", "---\nmcpServers:\n  - db\n---\n")
	m.write(".cursor/plugins/local/mine/mcp.json", `{"mcpServers": {"it": {"command": "it"}}}`)
	m.write(".cursor/plugins/local/bad/mcp.json", `{`)

	var got []string
	for _, u := range Sources(m.env()) {
		line := fmt.Sprintf("%s %s %s:", u.Client, u.Kind, u.Owner)
		for _, e := range u.Entries {
			line += fmt.Sprintf(" %s (%s)", e.Name, e.State)
		}
		if u.Err != nil {
			line += " unreadable"
		}
		got = append(got, line)
	}
	want := []string{
		"claude-code plugin acme: crm (plain) web (remote)",
		"claude-code plugin acme: more (plain)",
		"claude-code agent broken: unreadable",
		"cursor plugin bad: unreadable",
		"cursor plugin mine: it (plain)",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := Sources(m.env(), "claude-desktop"); len(got) > 0 {
		t.Errorf("another client's: %+v", got)
	}
}

func TestSourceForms(t *testing.T) {
	tests := []struct {
		form clients.Form
		text string
		want string
	}{
		{clients.ServerFile, `{"mcpServers": {"a": {"command": "x"}}, "b": {"command": "y"}}`, "a"},
		{clients.ServerFile, `{"a": {"command": "x"}, "b": {"command": "y"}}`, "a b"},
		{clients.ServerFile, `{}`, ""},
		{clients.PluginManifest, `{"name": "p"}`, ""},
		{clients.PluginManifest, `{"mcpServers": {"a": {"command": "x"}}}`, "a"},
		{clients.ManagedSettings, `{"managedMcpServers": {"a": {"type": "http", "url": "https://x"}}, "mcpServers": {"b": {}}}`, "a"},
		{clients.ExtensionManifest, `{"name": "fs", "display_name": "Files", "server": {"mcp_config": {"command": "node"}}}`, "Files"},
		{clients.ExtensionManifest, `{"name": "fs", "server": {"mcp_config": {"command": "node"}}}`, "fs"},
		{clients.ExtensionManifest, `{"server": {"mcp_config": {"command": "node"}}}`, "owner"},
		{clients.ExtensionManifest, `{"server": {}}`, ""},
		{clients.FrontMatter, "---\nname: a\nmcpServers:\n  - db\n  - \"web tool\":\n      url: https://x\n  - shell:\n      command: sh\ntools: x\n---\nmcpServers:\n  - no:\n", "web tool,shell"},
		{clients.FrontMatter, "---\r\nmcpServers:\r\n- a:\r\n    command: x\r\n---\r\n", "a"},
		{clients.FrontMatter, "mcpServers:\n - a:\n", ""},
		{clients.FrontMatter, "---\nmcpServers:\n  a:\n    command: x\n---\n", ""},
		{clients.FrontMatter, "---\nmcpServers: [a, b]\n---\n", ""},
	}
	for _, test := range tests {
		entries, err := sourceEntries(test.form, clients.Place{Path: "/p/x/y.json", Owner: "owner"}, []byte(test.text))
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
		}
		var names []string
		for _, e := range entries {
			names = append(names, e.Name)
		}
		separator := " "
		if test.form == clients.FrontMatter {
			separator = ","
		}
		if got := strings.Join(names, separator); got != test.want {
			t.Errorf("%s: %q, want %q", test.text, got, test.want)
		}
	}
}

// FuzzFrontMatter: whatever an agent's file holds, reading it ends, and finds no more servers than it has lines.
func FuzzFrontMatter(f *testing.F) {
	f.Add("---\nmcpServers:\n  - a:\n      command: x\n---\n")
	f.Add("---\nmcpServers: [{\n---")
	f.Add("---\n- :\nmcpServers:\n-  \n- :x\n\t- y: z\n---\n")
	f.Fuzz(func(t *testing.T, text string) {
		entries, err := frontMatter([]byte(text))
		if err == nil && len(entries) > strings.Count(text, "\n") {
			t.Errorf("%d servers in %q", len(entries), text)
		}
	})
}

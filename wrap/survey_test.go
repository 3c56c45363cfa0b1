package wrap

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

// stands lists "scope name effect", in order.
func (m *machine) stands() []string {
	m.t.Helper()
	servers, faults := Discover(m.env(), DiscoverOptions{Clients: []string{"claude-code", "cursor"}}).Survey()
	if len(faults) > 0 {
		m.t.Fatal(faults)
	}
	var got []string
	for _, s := range servers {
		line := fmt.Sprintf("%s %q %s", s.Scope, s.Name, s.Effect)
		if s.By != "" {
			line += " by " + m.short(s.By)
		}
		got = append(got, strings.TrimSpace(line))
	}
	return got
}

// here is the key of the working directory in Claude Code's file.
func (m *machine) here() string { return filepath.ToSlash(m.path("work/app")) }

func TestSurvey(t *testing.T) {
	const plain = `{"mcpServers": {"db": {"command": "db"}}}`
	tests := []struct {
		name    string
		prepare func(*machine)
		want    []string
	}{
		{"one scope", func(m *machine) { m.write(".claude.json", plain) }, []string{`user "db"`}},
		{"local before project before user", func(m *machine) {
			m.write(".claude.json", `{"mcpServers": {"db": {"command": "a"}, "x": {"command": "a"}},
				"projects": {"`+m.here()+`": {"mcpServers": {"db": {"command": "b"}}, "hasTrustDialogAccepted": true}}}`)
			m.write("work/app/.mcp.json", `{"mcpServers": {"db": {"command": "c"}, "x": {"command": "c"}}}`)
			m.write(".claude/settings.json", `{"enableAllProjectMcpServers": true}`)
		}, []string{
			`user "db" shadowed by .claude.json`, `user "x" shadowed by work/app/.mcp.json`, `local "db"`,
			`project "db" shadowed by .claude.json`, `project "x" approved`,
		}},
		{"another project's own servers stand in nobody's place", func(m *machine) {
			m.write(".claude.json", `{"mcpServers": {"db": {"command": "a"}}, "projects": {"/else": {"mcpServers": {"db": {"command": "b"}}}}}`)
		}, []string{`user "db"`, `local "db"`}},
		{"the nearest project file wins", func(m *machine) {
			m.write(".claude.json", `{"projects": {"`+m.here()+`": {"hasTrustDialogAccepted": true}}}`)
			m.write("work/app/.mcp.json", plain)
			m.write("work/.mcp.json", plain)
			m.write(".claude/settings.json", `{"enabledMcpjsonServers": ["db"]}`)
		}, []string{`project "db" approved`, `project "db" shadowed by work/app/.mcp.json`}},
		{"a project's servers wait for a yes", func(m *machine) {
			m.write(".claude.json", `{"mcpServers": {"db": {"command": "a"}}, "projects": {"`+m.here()+`": {"hasTrustDialogAccepted": true}}}`)
			m.write("work/app/.mcp.json", `{"mcpServers": {"db": {"command": "b"}, "no": {"command": "b"}, "yes": {"command": "b"}}}`)
			m.write("work/app/.claude/settings.local.json", `{"enabledMcpjsonServers": ["yes", "no"], "disabledMcpjsonServers": ["no"]}`)
		}, []string{`user "db"`, `project "db" pending`, `project "no" off`, `project "yes" approved`}},
		{"a yes holds in a trusted folder only", func(m *machine) {
			m.write("work/app/.mcp.json", plain)
			m.write(".claude/settings.json", `{"enabledMcpjsonServers": ["db"]}`)
		}, []string{`project "db" pending`}},
		{"trust in a folder above", func(m *machine) {
			m.write(".claude.json", `{"projects": {"`+filepath.ToSlash(m.path("work"))+`": {"hasTrustDialogAccepted": true}}}`)
			m.write("work/app/.mcp.json", plain)
			m.write(".claude/settings.json", `{"enabledMcpjsonServers": ["db"]}`)
		}, []string{`project "db" approved`}},
		{"switched off in this project", func(m *machine) {
			m.write(".claude.json", `{"mcpServers": {"a": {"command": "a"}, "b": {"command": "a"}},
				"projects": {"`+m.here()+`": {"disabledMcpServers": ["a"]}, "/else": {"disabledMcpServers": ["b", "c"], "mcpServers": {"c": {"command": "c"}}}}}`)
		}, []string{`user "a" off`, `user "b"`, `local "c" off`}},
		{"a project is its repository", func(m *machine) {
			m.write("work/.git/HEAD", "")
			m.write(".claude.json", `{"mcpServers": {"a": {"command": "a"}}, "projects": {"`+filepath.ToSlash(m.path("work"))+`": {"disabledMcpServers": ["a"]}}}`)
		}, []string{`user "a" off`}},
		{"Cursor starts both, and its yes can't be read", func(m *machine) {
			m.write(".cursor/mcp.json", plain)
			m.write("work/app/.cursor/mcp.json", plain)
		}, []string{`user "db"`, `project "db" unsure`}},
		{"names as people have them", func(m *machine) {
			m.write(".cursor/mcp.json", `{"mcpServers": {"": {"command": "a"}, "a/b~1.c d": {"command": "a"}, "送金": {"command": "a"}, "\ud800": {"command": "a"}}}`)
		}, []string{`user ""`, `user "a/b~1.c d"`, `user "送金"`, `user "�"`}},
		{"notes of another shape", func(m *machine) {
			m.write(".claude.json", `{"mcpServers": {"a": {"command": "a"}}, "projects": {"`+m.here()+`": 7, "/x": {"disabledMcpServers": {"a": 1}}}}`)
		}, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t)
			m.write("work/app/keep", "")
			test.prepare(m)
			if test.want == nil {
				_, faults := Discover(m.env(), DiscoverOptions{}).Survey()
				if len(faults) != 1 {
					t.Errorf("faults: %v", faults)
				}
				return
			}
			if got := m.stands(); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestSurveyManaged: an organisation's file hides every other one of its client.
func TestSurveyManaged(t *testing.T) {
	file := func(client, path string) File {
		return File{
			Client: client, Path: path, Data: []byte(`{"mcpServers": {"db": {"command": "db"}}}`),
			Maps: []clients.Map{{Scope: clients.User, Pointer: []string{"mcpServers"}}},
		}
	}
	found := Found{
		Files:   []File{file("claude-code", "/h/.claude.json"), file("cursor", "/h/.cursor/mcp.json")},
		Managed: []File{file("claude-code", "/etc/claude-code/managed-mcp.json")},
	}
	servers, faults := found.Survey()
	if len(faults) > 0 || len(servers) != 3 {
		t.Fatal(servers, faults)
	}
	for i, want := range []Effect{Hidden, "", ""} {
		if servers[i].Effect != want || servers[i].Managed != (i == 2) {
			t.Errorf("%s: %q, managed %v", servers[i].File.Path, servers[i].Effect, servers[i].Managed)
		}
	}
	if servers[0].By != "/etc/claude-code/managed-mcp.json" {
		t.Errorf("hidden by %q", servers[0].By)
	}
}

// TestDiscoverScopes: what can't hold a server of the scopes asked for is not even opened.
func TestDiscoverScopes(t *testing.T) {
	m := newMachine(t)
	m.write(".cursor/mcp.json", "{}")
	m.write("work/app/.cursor/mcp.json/inside", "")
	m.write(".claude.json", "{}")
	got := m.discover(DiscoverOptions{Scopes: []clients.Scope{clients.User}})
	if want := []string{"file claude-code .claude.json", "file cursor .cursor/mcp.json"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	got = m.discover(DiscoverOptions{Scopes: []clients.Scope{clients.Project}})
	if want := []string{"unreadable cursor work/app/.cursor/mcp.json"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSecrets finds what is written out, and leaves alone what only looks like it.
func TestSecrets(t *testing.T) {
	tests := []struct {
		entry string
		want  []string
	}{
		{`{"command": "a", "env": {"API_KEY": "abc", "LOG": "1"}}`, []string{"env API_KEY"}},
		{`{"command": "a", "env": {"X": "ghp_0123456789abcdefghij"}}`, []string{"env X"}},
		{`{"command": "a", "env": {"DB": "postgres://u:pw@host/db"}}`, []string{"env DB"}},
		{`{"command": "a", "env": {"TOKEN": "${TOKEN}", "KEY": "$KEY", "SECRET": "%SECRET%", "PASSWORD": ""}}`, nil},
		{`{"command": "a", "env": {"GOOGLE_CREDENTIALS": "/home/ada/key.json", "PRIVATE_KEY": "C:\\k.pem", "MAX_TOKENS": "4096", "AUTH": "true"}}`, nil},
		{`{"url": "https://x", "headers": {"Authorization": "Bearer abc", "X": "y"}}`, []string{"header Authorization"}},
		{`{"url": "https://x", "headers": {"Authorization": "Bearer ${TOKEN}"}}`, nil},
		{`{"url": "https://x/?api_key=abc"}`, []string{"the url"}},
		{`{"url": "https://x/?api_key=${KEY}"}`, nil},
		{`{"command": "a", "args": ["--token", "abc"]}`, []string{"an argument"}},
		{`{"command": "a", "args": ["--token=abc"]}`, []string{"an argument"}},
		{`{"command": "a", "args": ["-p", "typescript", "-ptypescript5", "-t", "image"]}`, nil},
		{`{"url": "https://mcp.zapier.com/api/mcp/s/YWJjZGVmZ2hpamtsbW5vcA12/mcp"}`, []string{"the url"}},
		{`{"command": "a", "args": ["--header", "Authorization: Bearer abc"]}`, []string{"an argument"}},
		{`{"command": "a", "args": ["--token", "${TOKEN}", "--key=${KEY}", "--header", "Authorization: Bearer ${T}", "https://x"]}`, nil},
		{`{"command": "bouncer", "args": ["run", "--upstream-name=a", "--", "a", "--token=abc"]}`, []string{"an argument"}},
	}
	for _, test := range tests {
		f := File{
			Path: "/c.json", Data: []byte(`{"mcpServers": {"a": ` + test.entry + `}}`),
			Maps: []clients.Map{{Scope: clients.User, Pointer: []string{"mcpServers"}}},
		}
		servers, faults := Found{Files: []File{f}}.Survey()
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		if got := servers[0].Secrets; !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", test.entry, got, test.want)
		}
	}
}

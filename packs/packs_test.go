package packs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
)

// known holds what some rules must be, whatever becomes of inference. The arguments are those that a real server lists.
var known = []struct{ pkg, tool, args, sinks, objects, writes string }{
	{"npm:@modelcontextprotocol/server-filesystem", "write_file", "path content", "", "", "path"},
	{"npm:@modelcontextprotocol/server-filesystem", "move_file", "source destination", "", "", "source destination"},

	{"npm:@piotr-agier/google-drive-mcp", "shareFile", "fileId emailAddress role emailMessage account", "emailAddress", "", ""},
	{"npm:@piotr-agier/google-drive-mcp", "addPermission", "fileId emailAddress domain role type account", "emailAddress domain type", "", ""},
	{"pypi:workspace-mcp", "manage_drive_access", "file_id action share_with share_type recipients new_owner_email", "share_with recipients new_owner_email share_type", "", ""},
	{"pypi:workspace-mcp", "set_drive_file_permissions", "file_id link_sharing writers_can_share", "link_sharing", "", ""},

	{"npm:@modelcontextprotocol/server-github", "create_issue", "owner repo title body assignees", "owner repo", "", ""},
	{"npm:@modelcontextprotocol/server-github", "fork_repository", "owner repo organization", "owner repo organization", "", ""},
	{"npm:@modelcontextprotocol/server-github", "merge_pull_request", "owner repo pull_number", "owner repo", "pull_number pullNumber", ""},
	{"docker:ghcr.io/github/github-mcp-server", "create_gist", "content description filename public", "filename", "", "filename"},
	{"docker:ghcr.io/github/github-mcp-server", "add_repository_collaborator", "owner repo username permission", "owner repo username", "", ""},
	{"docker:ghcr.io/github/github-mcp-server", "create_org_invitation", "org email invitee_id role", "org email invitee_id", "", ""},

	{"npm:@gongrzhe/server-gmail-autoauth-mcp", "send_email", "to cc bcc subject body attachments", "to cc bcc", "", "attachments"},
	{"npm:@gongrzhe/server-gmail-autoauth-mcp", "modify_email", "messageId addLabelIds removeLabelIds", "", "", ""},
	{"npm:@gongrzhe/server-gmail-autoauth-mcp", "delete_email", "messageId", "", "messageId", ""},
	{"npm:@gongrzhe/server-gmail-autoauth-mcp", "create_filter", "criteria action", "action.forward", "", ""},
	{"npm:@shinzolabs/gmail-mcp", "send_draft", "id", "id", "", ""},
	{"npm:@shinzolabs/gmail-mcp", "add_delegate", "delegateEmail", "delegateEmail", "", ""},
	{"pypi:workspace-mcp", "manage_gmail_filter", "action criteria filter_action filter_id", "filter_action.forward", "", ""},
	{"pypi:workspace-mcp", "send_message", "space_id message_text", "to cc bcc space_id", "", ""},

	{"npm:@modelcontextprotocol/server-slack", "slack_post_message", "channel_id text", "channel_id", "", ""},
	{"npm:slack-mcp-server", "usergroups_users_update", "usergroup_id users", "users", "usergroup_id", ""},
}

func tool(name, args string) policy.Tool {
	var props []string
	for arg := range strings.FieldsSeq(args) {
		props = append(props, fmt.Sprintf("%q:{}", arg))
	}
	return policy.Tool{Name: name, InputSchema: wire.Value(`{"type":"object","properties":{` + strings.Join(props, ",") + `}}`)}
}

func setFor(pkg string) *policy.Set {
	return policy.NewSet(packs.All()...).For(policy.Server{Name: "it", Package: pkg})
}

func TestKnownRules(t *testing.T) {
	for _, c := range known {
		r := setFor(c.pkg).Resolve(tool(c.tool, c.args))
		sinks, objects, writes := strings.Join(r.SinkParams, " "), strings.Join(r.ObjectParams, " "), strings.Join(r.WriteParams, " ")
		if sinks != c.sinks || objects != c.objects || writes != c.writes || r.Exfiltrating != (sinks != "") {
			t.Errorf("%s: sinks %q, objects %q, writes %q, exfiltrating %t, from %q", c.tool, sinks, objects, writes, r.Exfiltrating, r.Layers)
		}
	}
}

// parsed returns a pack, read at once.
func parsed(t *testing.T, name string) *policy.Layer {
	t.Helper()
	text, ok := packs.Source(name)
	if !ok {
		t.Fatalf("no pack %s", name)
	}
	l, err := policy.ParsePack(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestPacksParse(t *testing.T) {
	if n := len(packs.Names()); n < 20 || !slices.IsSorted(packs.Names()) {
		t.Errorf("%d packs, %q", n, packs.Names())
	}
	for i, lazy := range packs.All() {
		name := packs.Names()[i]
		l := parsed(t, name)
		if !slices.Equal(l.Tools(), lazy.Tools()) || lazy.Name != "pack "+name || !lazy.Pack {
			t.Errorf("%s: %q, want %q", lazy.Name, lazy.Tools(), l.Tools())
		}
		// Found by name alone, too: the text is searched before it is parsed.
		set := policy.NewSet(lazy).For(policy.Server{Package: l.Header().Servers[0].Package})
		for _, tool := range l.Tools() {
			if r, plain := set.Resolve(policy.Tool{Name: tool}), policy.Infer(policy.Tool{Name: tool}); fmt.Sprint(r) == fmt.Sprint(plain) {
				t.Errorf("%s: the entry for %s says nothing, or is not found", name, tool)
			}
		}
	}
	if _, ok := packs.Source("../packs"); ok {
		t.Error("a source outside the folder")
	}
}

func TestHeaders(t *testing.T) {
	for _, name := range packs.Names() {
		h := parsed(t, name).Header()
		if h.Summary == "" || len(h.Servers) == 0 {
			t.Errorf("%s: %+v", name, h)
		}
		for _, s := range h.Servers {
			if s.Checked == "" || s.Tools > 0 && s.Version == "" || strings.ContainsAny(s.Package, "*?#") {
				t.Errorf("%s: %+v", name, s)
			}
			if !slices.Contains(packs.Fits(s.Package), name) {
				t.Errorf("%s is not found by %s", name, s.Package)
			}
		}
	}
}

func TestPacksLeaveOtherServersAlone(t *testing.T) {
	for name, args := range map[string]string{"create_issue": "project title body", "send_message": "text", "create_branch": "name", "find": "text"} {
		for _, pkg := range []string{"", "npm:another-server"} {
			r := setFor(pkg).Resolve(tool(name, args))
			if len(r.TrustedDestinations)+len(r.TrustedOutputs) > 0 || slices.ContainsFunc(r.SinkParams, func(p string) bool { return !strings.Contains(args, p) }) {
				t.Errorf("%s(%s) of %q is judged by %+v", name, args, pkg, r)
			}
		}
	}
}

// The names of some tools are too common to stand for one server: what looks people up elsewhere goes on vouching.
func TestDirectoriesElsewhere(t *testing.T) {
	r := setFor("npm:company-directory").Resolve(tool("search_users", "query department"))
	if !r.Directory || len(r.UntrustedOutputs) > 0 {
		t.Errorf("%+v", r)
	}
}

// A pack grants something only to the server that it was written for: any server can call a tool slack_get_users.
func TestPacksGrantNothingToOthers(t *testing.T) {
	for _, pkg := range []string{"", "npm:another-server", "command:/usr/bin/node~0123456789abcdef"} {
		set := setFor(pkg)
		for _, name := range packs.Names() {
			for _, tool := range parsed(t, name).Tools() {
				if r := set.Resolve(policy.Tool{Name: tool}); len(r.TrustedDestinations)+len(r.TrustedOutputs) > 0 || r.Open {
					t.Errorf("%s of %q: %+v", tool, pkg, r)
				}
			}
		}
	}
}

func TestPacksConfineNothing(t *testing.T) {
	for _, name := range packs.Names() {
		l := parsed(t, name)
		set := policy.NewSet(l).For(policy.Server{Package: l.Header().Servers[0].Package})
		for _, tool := range l.Tools() {
			if r := set.Resolve(policy.Tool{Name: tool}); len(r.AllowedPathPrefixes) > 0 {
				t.Errorf("%s: prefixes %q", tool, r.AllowedPathPrefixes)
			}
		}
	}
}

func TestPermissionTypes(t *testing.T) {
	r := setFor("npm:@piotr-agier/google-drive-mcp").Resolve(tool("addPermission", "fileId role type emailAddress"))
	for value, want := range map[string]bool{"user": true, "group": true, "anyone": false, "domain": false} {
		if policy.Trusts(r.TrustedDestinations, value) != want {
			t.Errorf("type %s: trusted %t", value, !want)
		}
	}
}

// Patterns refuse without asking, so each is held against what it must let through.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pkg, tool, args, param string
		pass, refuse           []string
	}{
		{
			"npm:@gongrzhe/server-gmail-autoauth-mcp", "download_attachment", "messageId attachmentId filename savePath", "filename",
			[]string{"report.pdf", "", "a b.txt"},
			[]string{"../x", `..\x`, "/etc/x"},
		},
		{
			"npm:@modelcontextprotocol/server-postgres", "query", "sql", "sql",
			[]string{
				"SELECT 1", "SELECT 1;", "SELECT *\nFROM t\nWHERE a = 'b';\n", "", `SELECT a - b / c, "it's" FROM t;`,
				"SELECT string_agg(name, '; ') FROM t", "SELECT 'it''s; fine';",
			},
			[]string{
				"COMMIT; DROP TABLE users", "SELECT 1; SELECT 2", "SELECT 1;;", "SELECT '; '; COMMIT",
				// Each of these looks like one statement to who knows plain quotes only.
				`SELECT E'\''; DROP TABLE users; --'`,
				"SELECT 1 -- it's\n; DROP TABLE users; --'",
				"SELECT 1 /* ' */; DROP TABLE users; --'",
				"SELECT $$'$$; DROP TABLE users; SELECT '",
				`SELECT "a'"; DROP TABLE users; SELECT '"'`,
			},
		},
		{
			"npm:@modelcontextprotocol/server-puppeteer", "puppeteer_navigate", "url launchOptions allowDangerous", "launchOptions",
			[]string{"", "null"},
			[]string{"{}", `{"executablePath":"/bin/sh"}`},
		},
		{
			"npm:@modelcontextprotocol/server-puppeteer", "puppeteer_navigate", "url launchOptions allowDangerous", "allowDangerous",
			[]string{"", "null", "false"},
			[]string{"true"},
		},
	} {
		r := setFor(c.pkg).Resolve(tool(c.tool, c.args))
		i := slices.IndexFunc(r.ArgPatterns, func(p policy.Pattern) bool { return p.Param == c.param })
		if i < 0 {
			t.Errorf("%s: no pattern for %s", c.tool, c.param)
			continue
		}
		for _, s := range c.pass {
			if !r.ArgPatterns[i].Regexp.MatchString(s) {
				t.Errorf("%s: %q is refused", c.tool, s)
			}
		}
		for _, s := range c.refuse {
			if r.ArgPatterns[i].Regexp.MatchString(s) {
				t.Errorf("%s: %q passes", c.tool, s)
			}
		}
	}
}

// The first benchmark is what a start costs, the second what the first tool of a packed server costs.
func BenchmarkPacks(b *testing.B) {
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			packs.All()
		}
	})
	b.Run("unknown tool", func(b *testing.B) {
		t := tool("get_weather", "city")
		for b.Loop() {
			policy.NewSet(packs.All()...).Resolve(t)
		}
	})
	b.Run("first tool", func(b *testing.B) {
		t := tool("send_email", "to cc bcc")
		for b.Loop() {
			policy.NewSet(packs.All()...).For(policy.Server{Package: "npm:@gongrzhe/server-gmail-autoauth-mcp"}).Resolve(t)
		}
	})
}

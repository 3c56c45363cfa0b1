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

// cases holds every tool of every pack with arguments that a real server lists for it, and what comes out.
var cases = []struct{ pack, tool, args, sinks, writes string }{
	{"filesystem", "write_file", "path content", "", "path"},
	{"filesystem", "edit_file", "path edits dryRun", "", "path"},
	{"filesystem", "create_directory", "path", "", "path"},
	{"filesystem", "move_file", "source destination", "", "source destination"},

	{"gdrive", "share_file", "fileId email role", "email emailAddress", ""},
	{"gdrive", "shareFile", "fileId emailAddress role sendNotificationEmail emailMessage account", "emailAddress", ""},
	{"gdrive", "create_permission", "fileId role type emailAddress", "emailAddress email domain type", ""},
	{"gdrive", "addPermission", "fileId emailAddress domain role type allowFileDiscovery account", "emailAddress domain type", ""},
	{"gdrive", "manage_drive_access", "user_google_email file_id action share_with role share_type recipients new_owner_email", "share_with recipients new_owner_email share_type", ""},
	{"gdrive", "set_drive_file_permissions", "user_google_email file_id link_sharing writers_can_share", "link_sharing", ""},

	{"github", "create_issue", "owner repo title body assignees", "owner repo", ""},
	{"github", "update_issue", "owner repo issue_number body", "owner repo", ""},
	{"github", "issue_write", "method owner repo title body", "owner repo", ""},
	{"github", "sub_issue_write", "method owner repo issue_number sub_issue_id", "owner repo", ""},
	{"github", "add_issue_comment", "owner repo issue_number body", "owner repo", ""},
	{"github", "create_discussion", "owner repo categoryId title body", "owner repo", ""},
	{"github", "create_pull_request", "owner repo title head base", "owner repo", ""},
	{"github", "create_pull_request_with_copilot", "owner repo problem_statement title", "owner repo", ""},
	{"github", "update_pull_request", "owner repo pullNumber body", "owner repo", ""},
	{"github", "create_pull_request_review", "owner repo pull_number body event", "owner repo", ""},
	{"github", "pull_request_review_write", "method owner repo pullNumber body", "owner repo", ""},
	{"github", "add_comment_to_pending_review", "owner repo pullNumber body", "owner repo", ""},
	{"github", "merge_pull_request", "owner repo pull_number", "owner repo", ""},
	{"github", "create_branch", "owner repo branch from_branch", "owner repo", ""},
	{"github", "create_or_update_file", "owner repo path content message branch", "owner repo", "path"},
	{"github", "push_files", "owner repo branch message", "owner repo", ""},
	{"github", "create_release", "owner repo tag_name body", "owner repo", ""},
	{"github", "run_workflow", "owner repo workflow_id ref inputs", "owner repo", ""},
	{"github", "fork_repository", "owner repo organization", "owner repo organization", ""},
	{"github", "create_repository", "name description private autoInit", "organization name", ""},
	{"github", "create_gist", "content description filename public", "filename", "filename"},
	{"github", "update_gist", "content description filename gist_id", "gist_id", "filename"},
	{"github", "add_repository_collaborator", "owner repo username permission", "owner repo username", ""},
	{"github", "create_org_invitation", "org email invitee_id role team_ids", "org email invitee_id", ""},

	{"gmail", "send_email", "to cc bcc subject body attachments", "to cc bcc", "attachments"},
	{"gmail", "draft_email", "to cc bcc subject body attachments", "to cc bcc", "attachments"},
	{"gmail", "reply_email", "to cc bcc body attachments", "to cc bcc", "attachments"},
	{"gmail", "forward_email", "messageId to", "to cc bcc", ""},
	{"gmail", "send_message", "raw threadId to cc bcc subject body", "to cc bcc", ""},
	{"gmail", "create_draft", "raw threadId to cc bcc subject body", "to cc bcc", ""},
	{"gmail", "update_draft", "id to cc bcc body", "to cc bcc", ""},
	{"gmail", "send_draft", "id", "id", ""},
	{"gmail", "send_gmail_message", "user_google_email to subject body cc bcc", "to cc bcc", ""},
	{"gmail", "draft_gmail_message", "user_google_email to subject body cc bcc", "to cc bcc", ""},
	{"gmail", "create_filter", "criteria action", "action.forward", ""},
	{"gmail", "manage_gmail_filter", "user_google_email action criteria filter_action", "filter_action.forward", ""},
	{"gmail", "update_auto_forwarding", "enabled emailAddress disposition", "emailAddress", ""},
	{"gmail", "create_forwarding_address", "forwardingEmail", "forwardingEmail", ""},
	{"gmail", "add_delegate", "delegateEmail", "delegateEmail", ""},
	{"gmail", "download_attachment", "messageId attachmentId filename savePath", "", "savePath"},

	{"slack", "slack_post_message", "channel_id text", "channel_id channel", ""},
	{"slack", "slack_reply_to_thread", "channel_id thread_ts text", "channel_id channel", ""},
	{"slack", "post_message", "channel text", "channel channel_id", ""},
	{"slack", "reply_to_thread", "channel thread_ts text", "channel channel_id", ""},
	{"slack", "conversations_add_message", "channel_id thread_ts payload content_type", "channel_id", ""},
	{"slack", "usergroups_users_update", "usergroup_id users", "users", ""},
	{"slack", "usergroups_create", "name handle description channels", "channels name", ""},
	{"slack", "usergroups_update", "usergroup_id name channels", "channels usergroup_id", ""},
}

func tool(name, args string) policy.Tool {
	var props []string
	for arg := range strings.FieldsSeq(args) {
		props = append(props, fmt.Sprintf("%q:{}", arg))
	}
	return policy.Tool{Name: name, InputSchema: wire.Value(`{"type":"object","properties":{` + strings.Join(props, ",") + `}}`)}
}

func TestPacks(t *testing.T) {
	set := policy.NewSet(packs.All()...)
	for _, c := range cases {
		r := set.Resolve(tool(c.tool, c.args))
		sinks, writes := strings.Join(r.SinkParams, " "), strings.Join(r.WriteParams, " ")
		if sinks != c.sinks || writes != c.writes || r.Exfiltrating != (sinks != "") || !slices.Contains(r.Layers, "pack "+c.pack) {
			t.Errorf("%s: sinks %q, writes %q, exfiltrating %t, from %q", c.tool, sinks, writes, r.Exfiltrating, r.Layers)
		}
	}
}

func TestPacksParse(t *testing.T) {
	if want := []string{"filesystem", "gdrive", "github", "gmail", "slack"}; !slices.Equal(packs.Names(), want) {
		t.Errorf("packs %q", packs.Names())
	}
	for i, lazy := range packs.All() {
		name := packs.Names()[i]
		text, ok := packs.Source(name)
		l, err := policy.Parse(name, text)
		if !ok || err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(l.Tools(), lazy.Tools()) || lazy.Name != "pack "+name || !lazy.Pack {
			t.Errorf("%s: %q, want %q", lazy.Name, lazy.Tools(), l.Tools())
		}
		for _, tool := range l.Tools() {
			if !slices.ContainsFunc(cases, func(c struct{ pack, tool, args, sinks, writes string }) bool { return c.pack == name && c.tool == tool }) {
				t.Errorf("%s: no case for %s", name, tool)
			}
			// Found by name alone, too: the text is searched before it is parsed.
			if r := policy.NewSet(lazy).Resolve(policy.Tool{Name: tool}); !slices.Contains(r.Layers, "pack "+name) {
				t.Errorf("%s: %s is not found", name, tool)
			}
		}
	}
	if _, ok := packs.Source("../packs"); ok {
		t.Error("a source outside the folder")
	}
}

func TestPacksLeaveOtherServersAlone(t *testing.T) {
	set := policy.NewSet(packs.All()...)
	for name, args := range map[string]string{"create_issue": "project title body", "send_message": "text", "create_branch": "name"} {
		for _, from := range set.Resolve(tool(name, args)).Layers {
			if strings.HasPrefix(from, "pack ") {
				t.Errorf("%s(%s) is judged by %s", name, args, from)
			}
		}
	}
}

func TestPacksConfineNothing(t *testing.T) {
	set := policy.NewSet(packs.All()...)
	for _, c := range cases {
		if r := set.Resolve(tool(c.tool, c.args)); len(r.AllowedPathPrefixes) > 0 || r.Limited {
			t.Errorf("%s: prefixes %q, budget %t", c.tool, r.AllowedPathPrefixes, r.Limited)
		}
	}
}

func TestPermissionTypes(t *testing.T) {
	r := policy.NewSet(packs.All()...).Resolve(tool("create_permission", "fileId role type emailAddress"))
	for value, want := range map[string]bool{"user": true, "group": true, "anyone": false, "domain": false} {
		if policy.Trusts(r.TrustedDestinations, value) != want {
			t.Errorf("type %s: trusted %t", value, !want)
		}
	}
}

func TestAttachmentNames(t *testing.T) {
	r := policy.NewSet(packs.All()...).Resolve(tool("download_attachment", "messageId attachmentId filename savePath"))
	for name, want := range map[string]bool{"report.pdf": true, "../x": false, `..\x`: false, "/etc/x": false, "": false} {
		if r.ArgPatterns[0].Regexp.MatchString(name) != want {
			t.Errorf("%q: %t", name, !want)
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
			policy.NewSet(packs.All()...).Resolve(t)
		}
	})
}

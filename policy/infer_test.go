package policy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// tool makes a tool whose arguments are all strings.
func tool(name string, params ...string) Tool {
	props := make([]string, len(params))
	for i, p := range params {
		props[i] = fmt.Sprintf(`%q:{"type":"string"}`, p)
	}
	return withSchema(name, `{"type":"object","properties":{`+strings.Join(props, ",")+`}}`)
}

func withSchema(name, schema string) Tool {
	v, err := wire.ParseValue([]byte(schema))
	if err != nil {
		panic(err)
	}
	return Tool{Name: name, InputSchema: v}
}

func TestWords(t *testing.T) {
	for in, want := range map[string]string{
		"sendEmail":          "send email",
		"HTTPPost":           "http post",
		"slack_post_message": "slack post message",
		"API-post-page":      "api post page",
		"files.delete":       "files delete",
		"a/b c":              "a b c",
		"cc2":                "cc 2",
		"toRecipients":       "to recipients",
		"e_mail":             "email",
		"webHookURL":         "webhook url",
		"DropBox_search":     "dropbox search",
		"confirm":            "confirm",
		"übergabeÄndern":     "übergabe ändern",
		"":                   "",
		"__":                 "",
	} {
		if got := strings.Join(words(in), " "); got != want {
			t.Errorf("words(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestInferSinks(t *testing.T) {
	for _, tt := range []struct {
		tool  Tool
		sinks string
		fetch bool
	}{
		// The names of the original, and those it missed (issue 2).
		{tool("send", "to", "cc", "bcc", "subject", "body"), "to cc bcc", false},
		{tool("dispatch", "recipient", "recipients", "url", "email", "address", "channel", "share_with"), "recipient recipients url email address channel share_with", false},
		{
			tool("dispatch", "webhook_url", "channel_id", "uri", "endpoint", "host", "emails", "email_address", "toRecipients", "chat_id", "user", "iban", "destination"),
			"webhook_url channel_id uri endpoint host emails email_address toRecipients chat_id user iban destination", false,
		},
		{tool("schedule_meeting", "attendees", "invitee_email", "guest_list", "participants", "title"), "attendees invitee_email guest_list participants", false},
		{tool("transfer", "account_number", "payee", "amount"), "account_number payee", false},
		{tool("send_sms", "phone_number", "to_number", "text"), "phone_number to_number", false},
		{tool("share_file", "user_id", "file_id", "role"), "user_id", false},
		{tool("forward", "forward_to", "toEmail2"), "forward_to toEmail2", false},
		{tool("send_mail", "to", "reply_to", "from", "sender_email", "user_google_email"), "to reply_to", false},
		{tool("git_push", "remote", "branch", "repo_path"), "remote", false},
		{tool("submit_change", "owner", "repo", "title"), "owner repo", false},
		{tool("create_task", "owner", "title"), "", false},

		// Content that resembles destinations.
		{tool("send", "to", "inReplyTo", "channel_type", "email_body", "email_id", "link_text", "url_encoded", "address_line1", "mac_address", "threadId"), "to", false},
		{withSchema("send", `{"properties":{"to":{"type":"string"},"email":{"type":"boolean"},"channel":{"enum":["mail","sms"]},"url":{"type":["null","boolean"]}}}`), "to", false},
		{withSchema("send", `{"properties":{"channel":{"anyOf":[{"enum":["x"]},{"type":"string"}]},"chat_id":{"type":"integer"}}}`), "channel chat_id", false},

		// Looking things up reaches nobody.
		{tool("get_messages", "channel", "user"), "", false},
		{tool("slack_list_channels", "channel_types", "channel"), "", false},
		{tool("users_search", "email"), "", false},
		{tool("email_search", "to"), "", false},
		{tool("gmail_get_message", "user_id"), "", false},
		{tool("lookupUser", "email", "phone"), "", false},
		{tool("read_file", "path"), "", false},
		{tool("get_issue", "owner", "repo"), "", false},
		{tool("search", "domain", "query"), "", false},
		// But these do something, whatever comes first.
		{tool("check_and_send", "to"), "to", false},
		{tool("search_and_post", "channel"), "channel", false},
		{tool("mailing_list_post", "channel"), "channel", false},
		{tool("list_create", "email"), "email", false},
		{tool("status_update", "channel"), "channel", false},
		{tool("verify_email", "email"), "email", false},
		{tool("frobnicate", "user", "destination"), "user destination", false},
		{tool("refund", "account"), "account", false},

		// Neither do tools that have a target, a pair of ends, an alias, or a link in a text.
		{tool("browser_click", "target"), "", false},
		{tool("lock_file", "account"), "", false},
		{tool("frobnicate", "target", "account"), "", false},
		{withSchema("create_relations", `{"properties":{"relations":{"items":{"properties":{"from":{},"to":{}}}}}}`), "", false},
		{tool("create_relation", "to"), "to", false},
		{tool("send", "from", "to"), "to", false},
		{tool("create_send_as", "sendAsEmail", "replyToAddress"), "replyToAddress", false},
		{withSchema("patch_page", `{"properties":{"rich_text":{"items":{"properties":{"text":{"properties":{"link":{"properties":{"url":{}}}}}}}}}}`), "", false},

		// Opening an address.
		{tool("fetch", "url", "max_length"), "url", true},
		{tool("get_page", "page_url"), "page_url", true},
		{tool("browser_navigate", "url"), "url", true},
		{tool("download_file", "href", "path"), "href", true},
		{tool("read_link", "link", "channel"), "link", true},
		{tool("ping", "host"), "host", true},
		{tool("browser_tabs", "action", "index", "url"), "url", true},
		{tool("fetch", "url", "headers"), "url", false},
		{tool("request", "url", "method", "body"), "url", false},
		{tool("http_post", "url"), "url", false},
		{tool("fetch", "url", "callback_url"), "url callback_url", false},
		{tool("crop_image", "image_url"), "image_url", false},
		{tool("upload", "url"), "url", false},

		// Nested arguments, references and combinators.
		{withSchema("dispatch", `{"properties":{"message":{"type":"object","properties":{"to":{"type":"string"},"body":{"type":"string"}}}}}`), "message.to", false},
		{withSchema("send", `{"properties":{"recipients":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"address":{"type":"string"}}}}}}`), "recipients.address", false},
		{withSchema("send", `{"properties":{"recipients":{"type":"array","items":{"type":"object"}}}}`), "recipients", false},
		{withSchema("send", `{"properties":{"to":{"anyOf":[{"type":"string"},{"type":"object","properties":{"email":{}}}]}}}`), "to", false},
		{withSchema("send", `{"properties":{"toRecipients":{"items":{"$ref":"#/$defs/r"}}},"$defs":{"r":{"properties":{"emailAddress":{"properties":{"address":{},"name":{}}}}}}}`), "toRecipients.emailAddress.address", false},
		{withSchema("send", `{"allOf":[{"$ref":"#/definitions/a~1b"}],"definitions":{"a/b":{"properties":{"to":{}}}}}`), "to", false},
		{
			withSchema("send", `{"properties":{"m":{"$ref":"#/$defs/n"}},"$defs":{"n":{"properties":{"to":{},"next":{"$ref":"#/$defs/n"}}}}}`),
			"m.to m.next.to m.next.next.to m.next.next.next.to m.next.next.next.next.to m.next.next.next.next.next.to m.next.next.next.next.next.next.to", false,
		},
		{withSchema("create_event", `{"properties":{"attachments":{"type":"array","items":{"properties":{"fileUrl":{},"title":{}}}}}}`), "attachments.fileUrl", false},
		{withSchema("create_filter", `{"properties":{"action":{"properties":{"forward":{"type":"string"},"addLabelIds":{"type":"array"}}}}}`), "action.forward", false},
		{withSchema("send", `{"properties":{"to":{"anyOf":[{"type":"null"},{"properties":{"email":{},"name":{}}}]}}}`), "to.email", false},
		{withSchema("send", `{"$ref":"#"}`), "", false},
		{withSchema("x", `{"properties":[1,2]}`), "", false},
		{withSchema("x", `true`), "", false},
	} {
		r := Infer(tt.tool)
		if got := strings.Join(r.SinkParams, " "); got != tt.sinks || r.Fetch != tt.fetch || (tt.sinks != "" && !r.Exfiltrating) {
			t.Errorf("%s %s\n got %q, fetch %t, exfiltrating %t\nwant %q, fetch %t",
				tt.tool.Name, tt.tool.InputSchema, got, r.Fetch, r.Exfiltrating, tt.sinks, tt.fetch)
		}
	}
}

func TestInferSweepsWhatSaysNothing(t *testing.T) {
	for name, want := range map[string]bool{"send_message": true, "notify": true, "dispatch": true, "frobnicate": false, "get_message": false, "list_sms": false} {
		for _, tool := range []Tool{{Name: name}, withSchema(name, `{"type":"object"}`)} {
			if r := Infer(tool); r.Exfiltrating != want || len(r.SinkParams) > 0 {
				t.Errorf("%s without parameters: exfiltrating %t, sinks %q", name, r.Exfiltrating, r.SinkParams)
			}
		}
	}
	if Infer(tool("send_heartbeat")).Exfiltrating {
		t.Error("a tool that lists no parameter and says so is exfiltrating")
	}
}

func TestInferBudget(t *testing.T) {
	for name, want := range map[string]bool{
		"delete_file": true, "remove": true, "rm": true, "drop_table": true, "batch_delete_emails": true, "files.delete": true, "removeItem": true,
		"find_and_delete": true, "list_remove": true, "purge-queue": true, "dropTable": true, "db_drop": true, "unlink": true,
		"confirm_booking": false, "format_text": false, "transform": false, "perform_search": false, "dropbox_search": false, "DropBox_upload": false,
		"get_permissions": false, "normalize": false, "terminal": false, "list_deleted": false, "undelete": false, "get_delete_status": false,
		"drag_and_drop": false, "browser_drop": false, "select_drop_down": false, "create_farm": false,
	} {
		if r := (*Set)(nil).Under(ProfileStrict).Resolve(Tool{Name: name}); r.Limited != want || r.Limited && r.MaxCalls != 2 {
			t.Errorf("%s: limited %t to %d, want %t", name, r.Limited, r.MaxCalls, want)
		}
		if r := (*Set)(nil).Resolve(Tool{Name: name}); r.Limited {
			t.Errorf("%s: limited to %d under no profile", name, r.MaxCalls)
		}
	}
}

func TestInferPaths(t *testing.T) {
	for _, tt := range []struct {
		tool Tool
		want string
	}{
		{tool("write_file", "path", "content"), "path"},
		{tool("move_file", "source", "destination"), "source destination"},
		{tool("click", "target"), ""},
		{tool("save", "filename", "output_dir", "file_id"), "filename output_dir"},
		{withSchema("push_files", `{"properties":{"files":{"items":{"properties":{"path":{},"content":{}}}}}}`), "files.path"},
		{withSchema("edit", `{"properties":{"paths":{"type":"array","items":{"type":"string"}},"path":{"type":"boolean"}}}`), "paths"},
	} {
		if got := strings.Join(Infer(tt.tool).WriteParams, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.tool.Name, got, tt.want)
		}
	}
}

func TestInferIsBounded(t *testing.T) {
	// Each definition refers to the next one twice, so that the tree has 2^60 leaves.
	var b strings.Builder
	b.WriteString(`{"properties":{"a":{"$ref":"#/$defs/d0"}},"$defs":{`)
	for i := range 60 {
		fmt.Fprintf(&b, `"d%d":{"properties":{"x":{"$ref":"#/$defs/d%d"},"y":{"anyOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}}},`, i, i+1, i+1, i+1)
	}
	b.WriteString(`"d60":{"properties":{"to":{}}}}}`)
	Infer(withSchema("send", b.String()))

	wide := make([]string, 1000)
	for i := range wide {
		wide[i] = fmt.Sprintf("cc%d", i)
	}
	if n := len(Infer(tool("send", wide...)).SinkParams); n != maxSinks {
		t.Errorf("%d sinks", n)
	}
}

func TestDestinations(t *testing.T) {
	records := withSchema("send", `{"properties":{"to":{"items":{"properties":{"address":{},"name":{}}}},"kind":{"enum":["a"]},"channel":{"enum":["mail","sms"]}}}`)
	for _, tt := range []struct {
		tool       Tool
		args, want string
	}{
		{tool("send", "to"), `{"to":"a@b.c","bcc":"d@e.f","subject":"x"}`, "to bcc"},
		{tool("send", "to"), `{"to":[],"cc":{},"bcc":[[]],"recipients":["a@b.c"]}`, "recipients"},
		{tool("send", "to"), `{"to":null,"cc":true,"bcc":""}`, "bcc"},
		{tool("send", "to"), `{"message":{"to":"a@b.c","meta":[{"webhook_url":"https://x"}]}}`, "message.to message.meta.webhook_url"},
		{tool("send", "to"), `{"to":{"a@b.c":"d@e.f"}}`, "to"},
		{tool("send", "to"), `{"to":{"a@b.c":{}}}`, "to"},
		{tool("send", "chat_id"), `{"chat_id":12}`, "chat_id"},
		{tool("send", "to"), `{"":{"":[{"to":"x"}]}}`, "..to"},
		{tool("create_edge"), `{"from":"a","to":"b"}`, ""},
		{Tool{Name: "send"}, `{"to":"x","body":"y"}`, "to"},
		{tool("get_messages", "channel"), `{"channel":"x","url":"y"}`, "url"},
		{tool("create_issue"), `{"owner":"a","repo":"b","title":"t"}`, "owner repo"},
		{tool("create_issue"), `{"owner":"a","title":"t"}`, ""},
		{records, `{"to":[{"address":"a@b.c","name":"A"},{"address":"d@e.f"}]}`, "to.address"},
		{records, `{"to":{"address":"a@b.c"}}`, "to.address"},
		{records, `{"to":["a@b.c"]}`, "to"},
		{records, `{"to":[{"address":"a@b.c"},"d@e.f"]}`, "to"},
		{records, `{"to":[{"address":"a@b.c","mail":"d@e.f"}]}`, "to"},
		{records, `{"to":[{"name":"A"}]}`, "to"},
		{records, `{"channel":"mail"}`, ""},
		{records, `{"channel":"evil"}`, "channel"},
		{records, `{}`, ""},
		{records, `[1]`, ""},
	} {
		args, err := wire.ParseValue([]byte(tt.args))
		if err != nil {
			t.Fatal(err)
		}
		got := Destinations(tt.tool, args)
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s(%s): %q, want %q", tt.tool.Name, tt.args, got, tt.want)
		}
	}
	if got := Destinations(records, nil); got != nil {
		t.Errorf("no arguments: %q", got)
	}
}

func TestSelect(t *testing.T) {
	args := wire.Value(`{"a":{"b":1,"c.d":2},"a.b":3,"l":[{"b":4},[{"b":5}],6],"c":{"d":7}}`)
	for path, want := range map[string]string{"a.b": "1 3", "a.c.d": "2", "l.b": "4 5", "c.d": "7", "x": "", "a.b.c": "", "l": `[{"b":4},[{"b":5}],6]`} {
		var got []string
		for _, v := range Select(args, path) {
			got = append(got, string(v))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// FuzzDestinations checks that whatever a call holds, its paths lead somewhere and nothing crashes.
func FuzzDestinations(f *testing.F) {
	f.Add("send", `{"properties":{"to":{"items":{"$ref":"#"}}}}`, `{"to":[{"a.b":{"to":"x"}}],"m":{"to.cc":"y"}}`)
	f.Add("sendTo", `{"properties":{"recipients":{"properties":{"address":{}}}}}`, `{"recipients":{"address":"a@b.c","x":1}}`)
	f.Fuzz(func(t *testing.T, name, schema, args string) {
		s, err := wire.ParseValue([]byte(schema))
		if err != nil {
			return
		}
		a, err := wire.ParseValue([]byte(args))
		if err != nil {
			return
		}
		tool := Tool{Name: name, InputSchema: s}
		Infer(tool)
		for _, path := range Destinations(tool, a) {
			if len(Select(a, path)) == 0 {
				t.Fatalf("%q leads nowhere in %s", path, args)
			}
		}
	})
}

func BenchmarkInfer(b *testing.B) {
	t := withSchema("send", `{"type":"object","properties":{"to":{"type":"array","items":{"type":"string"}},"subject":{"type":"string"},"body":{"type":"string"},"cc":{"type":"array","items":{"type":"string"}},"bcc":{"type":"array","items":{"type":"string"}},"mimeType":{"type":"string","enum":["text/plain","text/html"]},"attachments":{"type":"array","items":{"type":"string"}}}}`)
	args := wire.Value(`{"to":["a@b.c"],"subject":"hello","body":"world"}`)
	b.Run("resolve", func(b *testing.B) {
		for b.Loop() {
			(*Set)(nil).Resolve(t)
		}
	})
	b.Run("destinations", func(b *testing.B) {
		for b.Loop() {
			Destinations(t, args)
		}
	})
}

func TestDestinationsOfLongLists(t *testing.T) {
	records := withSchema("send", `{"properties":{"to":{"items":{"properties":{"address":{},"name":{}}}}}}`)
	args := wire.Value(`{"to":[` + strings.Repeat(`{"address":"a@b.c","name":"A"},`, 10_000) + `{"address":"d@e.f"}]}`)
	if got := Destinations(records, args); !slices.Equal(got, []string{"to.address"}) {
		t.Errorf("got %q", got)
	}
	var wide strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&wide, `"cc_%d":"a@b.c","owner_%d":"x",`, i, i)
	}
	if got := Destinations(records, wire.Value(`{`+wide.String()+`"repo":"y"}`)); len(got) != 20_001 {
		t.Errorf("%d destinations", len(got))
	}
}

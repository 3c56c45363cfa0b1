package approve

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/taint"
)

func parse(t testing.TB, raw string) wire.Value {
	t.Helper()
	v, err := wire.ParseValue([]byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

func unseen(param, value string) engine.Finding {
	return engine.Finding{Pair: engine.Pair{Param: param, Value: value}}
}

func gate(findings ...engine.Finding) engine.Verdict {
	return engine.Verdict{Action: engine.Ask, Contract: "sink_gate", Findings: findings}
}

func TestText(t *testing.T) {
	seenIn := engine.Finding{
		Pair: engine.Pair{Param: "cc", Value: "b@z.com"}, Class: taint.Field,
		Origin: taint.Origin{Source: taint.Source{Server: "mail", Tool: "read_email", Call: 3}, Path: "content[0].text", Snippet: "From: Bob <b@z.com>"},
	}
	aimed := seenIn
	aimed.Class = taint.Aimed
	for _, tt := range []struct {
		name, args string
		verdict    engine.Verdict
		want       string
	}{
		{
			"one destination", `{"to":"x@y.com","subject":"Hello","body":"line 1\nline 2\r\n\ta\u200bb"}`, gate(unseen("to", "x@y.com")),
			`mail: send_email would use a destination nobody has vouched for.

to = "x@y.com"
   not seen in this session

It sends:
subject = "Hello"
body = "line 1\nline 2\n\ta<U+200B>b"`,
		},
		{
			"a line break in a destination", `{"to":"x@y.com\nBcc: b@z.com"}`, gate(unseen("to", "x@y.com\nBcc: b@z.com")),
			`mail: send_email would use a destination nobody has vouched for.

to = "x@y.com<U+000A>Bcc: b@z.com"
   not seen in this session`,
		},
		{
			"several", `{"to":["x@y.com"],"cc":"b@z.com"}`, gate(seenIn, unseen("to", "x@y.com")),
			`mail: send_email would use 2 destinations nobody has vouched for.

1. cc = "b@z.com"
   first seen in the result of read_email (mail), at content[0].text: "From: Bob <b@z.com>"
2. to = "x@y.com"
   not seen in this session`,
		},
		{
			"nowhere", `{"body":"hi"}`, gate(engine.Finding{}),
			`mail: send_email names no destination, so the server would choose one.

It sends:
body = "hi"`,
		},
		{
			"an object", `{"id":"7"}`, gate(engine.Finding{Pair: engine.Pair{Param: "id", Value: "7"}, Role: engine.Object}),
			`mail: send_email would change something that nobody has named.

id = "7"
   not seen in this session`,
		},
		{
			"what can't be undone", `{"body":"hi"}`, gate(engine.Finding{Role: engine.Deed, Origin: seenIn.Origin}),
			`mail: send_email can't be undone, and this session has read what others may have written.

It sends:
body = "hi"`,
		},
		{
			"what can't be undone, and a destination", `{"to":"x@y.com"}`, gate(unseen("to", "x@y.com"), engine.Finding{Role: engine.Deed, Origin: seenIn.Origin}),
			`mail: send_email would use 2 values nobody has vouched for.

1. to = "x@y.com"
   not seen in this session
2. it can't be undone`,
		},
		{
			"vouched for, and in text that addresses the agent", `{"cc":"b@z.com"}`, gate(aimed),
			`mail: send_email would use a destination nobody has vouched for.

cc = "b@z.com"
   also in text that addresses the agent, in the result of read_email (mail), at content[0].text: "From: Bob <b@z.com>"`,
		},
		{
			"pinning", `{}`,
			engine.Verdict{Action: engine.Ask, Contract: "pinning", Reason: `the tool "send_email" appeared after the session began`, Findings: []engine.Finding{unseen("tool", "send_email")}},
			`mail: the tool "send_email" appeared after the session began. Use it?`,
		},
		{
			"look-alike letters", `{"to":"pаypal@x.com"}`, gate(unseen("to", "pаypal@x.com")),
			`mail: send_email would use a destination nobody has vouched for.

to = "pаypal@x.com" (with letters outside ASCII, such as U+0430)
   not seen in this session`,
		},
		{
			"secrets", `{"to":"x@y.com","password":"hunter2","body":"key sk-abcdefghijklmnopqrst, ok","n":5}`, gate(unseen("to", "x@y.com")),
			`mail: send_email would use a destination nobody has vouched for.

to = "x@y.com"
   not seen in this session

It sends:
password = "(masked)"
body = "key sk-(masked), ok"
n = "5"`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q := Question{Server: "mail", Tool: "send_email", Args: parse(t, tt.args), Verdict: tt.verdict}
			want := strings.NewReplacer("<b@z.com>", "‹b@z.com›", "<U+200B>", "‹U+200B›", "<U+000A>", "‹U+000A›").Replace(tt.want)
			if got := q.Text(); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
}

func TestTextKeepsStrangersInTheirPlace(t *testing.T) {
	const hostile = "x\"\n\nmail: all is well.\u202e\u0000\x1b[2J<img src=//e>![a](https://e/?q)`rm`"
	q := Question{
		Server: hostile, Tool: hostile,
		Args: parse(t, `{`+string(wire.AppendQuoted(nil, hostile))+`:`+string(wire.AppendQuoted(nil, "other "+hostile))+`}`),
		Verdict: gate(engine.Finding{
			Pair: engine.Pair{Param: hostile, Value: hostile}, Class: taint.Text,
			Origin: taint.Origin{Source: taint.Source{Server: hostile, Tool: hostile}, Snippet: hostile},
		}),
	}
	text := q.Text()
	if n := strings.Count(text, "\n"); n != 6 {
		t.Errorf("%d line breaks in\n%s", n, text)
	}
	if !strings.HasPrefix(text, `"x'`) || strings.Count(text, `"`)%2 != 0 {
		t.Errorf("quotes were closed from inside in\n%s", text)
	}
	if bad := strings.IndexAny(text, "\u202e\x00\x1b<>`"); bad >= 0 || strings.Contains(text, "](") {
		t.Errorf("something survives at %d in\n%s", bad, text)
	}
}

func TestTextIsShort(t *testing.T) {
	args := map[string]any{}
	var findings []engine.Finding
	for i := range 100 {
		name := fmt.Sprintf("to%02d", i)
		value := strings.Repeat("ж", 300) + fmt.Sprint(i)
		args[name], args["x"+name] = value, strings.Repeat("\u200b", 500)
		findings = append(findings, unseen(name, value))
	}
	raw, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	text := Question{Server: "mail", Tool: "send", Args: parse(t, string(raw)), Verdict: gate(findings...)}.Text()
	if n := utf8.RuneCountInString(text); n > maxText {
		t.Errorf("%d characters", n)
	}
	for _, want := range []string{"would use 100 destinations", "1. to00 = ", "more that do not fit here", "It sends:\n", "more"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestParamsWithRealClient puts the question through the SDK, which checks the form on both sides and the answer.
func TestParamsWithRealClient(t *testing.T) {
	q := Question{Server: "mail", Tool: "send", Args: parse(t, `{"to":"x@y.com"}`), Verdict: gate(unseen("to", "x@y.com"))}
	var params mcp.ElicitParams
	if err := json.Unmarshal(q.Params(), &params); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		version, decision string
		want              Answer
	}{
		{"2025-06-18", "allow once", Once},
		{"2025-11-25", "deny", No},
		{"2025-11-25", "allow once", Once},
		{"2025-11-25", "allow for this session", Session},
	} {
		t.Run(tt.version+" "+tt.decision, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client := mcp.NewClient(&mcp.Implementation{Name: "client", Version: "1"}, &mcp.ClientOptions{
				ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					if r.Params.Message != q.Text() {
						t.Errorf("the client shows %q", r.Params.Message)
					}
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": tt.decision}}, nil
				},
			})
			server := mcp.NewServer(&mcp.Implementation{Name: "server", Version: "1"}, nil)
			left, right := mcp.NewInMemoryTransports()
			session, err := server.Connect(ctx, left, nil)
			if err != nil {
				t.Fatal(err)
			}
			peer, err := client.Connect(ctx, right, &mcp.ClientSessionOptions{ProtocolVersion: tt.version})
			if err != nil {
				t.Fatal(err)
			}
			defer peer.Close()
			result, err := session.Elicit(ctx, &params)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			if got, note := ReadAnswer(parse(t, string(raw))); got != tt.want {
				t.Errorf("%s: answer %d (%s), want %d", raw, got, note, tt.want)
			}
		})
	}
}

func TestReadAnswer(t *testing.T) {
	for _, tt := range []struct {
		result string
		want   Answer
		note   string
	}{
		{`{"action":"accept","content":{"decision":"allow once"}}`, Once, ""},
		{`{"action":"accept","content":{"decision":"allow for this session","other":1},"_meta":{}}`, Session, ""},
		{`{"content":{"decision":"allow once"},"action":"accept"}`, Once, ""},
		{`{"\u0061ction":"accept","content":{"decision":"allow once"}}`, Once, ""},
		{`{"action":"accept","content":{"decision":"deny"}}`, No, "declined"},
		{`{"action":"decline"}`, No, "declined"},
		{`{"action":"decline","content":{"decision":"allow once"}}`, No, "declined"},
		{`{"action":"cancel"}`, No, "cancelled"},
		{`{"action":"accept"}`, No, "accepted without a decision"},
		{`{"action":"accept","content":{}}`, No, "accepted without a decision"},
		{`{"action":"accept","content":{"decision":true}}`, No, "accepted without a decision"},
		{`{"action":"accept","content":{"decision":["allow once"]}}`, No, "accepted without a decision"},
		{`{"action":"accept","content":"allow once"}`, No, "accepted without a decision"},
		{`{"action":"accept","content":{"decision":"Allow once"}}`, No, "malformed answer"},
		{`{"action":"accept","content":{"decision":"allow once "}}`, No, "malformed answer"},
		{`{"action":"Accept","content":{"decision":"allow once"}}`, No, "malformed answer"},
		{`{"action":"accept","Action":"decline","content":{"decision":"allow once"}}`, No, "malformed answer"},
		{`{"action":"accept","content":{"decision":"allow once"},"CONTENT":{}}`, No, "malformed answer"},
		{`{"action":"accept","content":{"decision":"allow once","DECISION":"deny"}}`, No, "malformed answer"},
		{`{"action":"accept","content":{"Decision":"allow once"}}`, No, "malformed answer"},
		{`{"action":true,"content":{"decision":"allow once"}}`, No, "malformed answer"},
		{`{}`, No, "malformed answer"},
		{`[]`, No, "malformed answer"},
		{`null`, No, "malformed answer"},
	} {
		if got, note := ReadAnswer(parse(t, tt.result)); got != tt.want || note != tt.note {
			t.Errorf("%s: %d (%s), want %d (%s)", tt.result, got, note, tt.want, tt.note)
		}
	}
	if got, note := ReadAnswer(nil); got != No || note == "" {
		t.Errorf("nothing: %d (%s)", got, note)
	}
}

func FuzzReadAnswer(f *testing.F) {
	f.Add(`{"action":"accept","content":{"decision":"allow once"}}`)
	f.Add(`{"action":"accept","content":{"decision":"allow for this session","x":[1,{}]}}`)
	f.Add(`{"Action":"accept","action":"cancel","content":null}`)
	f.Fuzz(func(t *testing.T, raw string) {
		v, err := wire.ParseValue([]byte(raw))
		if err != nil {
			return
		}
		got, note := ReadAnswer(v)
		if (got == No) != (note != "") {
			t.Fatalf("%s: answer %d with note %q", raw, got, note)
		}
		if got == No {
			return
		}
		// A yes is one for every reader: encoding/json, which ignores case and takes the last, must read the same.
		var lenient struct {
			Action  string
			Content struct{ Decision string }
		}
		if err := json.Unmarshal([]byte(raw), &lenient); err != nil || lenient.Action != "accept" || !strings.HasPrefix(lenient.Content.Decision, "allow ") {
			t.Fatalf("%s: answer %d, but a lenient reader sees %+v (%v)", raw, got, lenient, err)
		}
	})
}

func FuzzText(f *testing.F) {
	f.Add("mail", "send", "to", "x@y.com", "<b>hi</b>\u202e")
	f.Add("", "", "", "", "")
	f.Add(strings.Repeat("\u200b", 99), strings.Repeat("\u200b", 99), strings.Repeat("\u200b", 99), strings.Repeat("ж", 999), strings.Repeat("\u200b", 999))
	f.Add("a\nb", "](", "\xff", strings.Repeat("€", 500), "sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, server, tool, param, val, other string) {
		raw := append(wire.AppendQuoted([]byte(`{"a":`), val), `,"b":`...)
		args := parse(t, string(wire.AppendQuoted(raw, other))+"}")
		seen := unseen(param, val)
		seen.Class, seen.Origin = taint.Aimed, taint.Origin{Source: taint.Source{Server: server, Tool: tool}, Path: param, Snippet: other}
		q := Question{
			Server: server, Tool: tool, Args: args, Verdict: gate(seen, unseen("b", other)),
			Number: 1000, Always: []string{val, other}, Policy: other, Trusted: map[string][]string{val: {other, param}},
		}
		text := q.Text()
		if n := utf8.RuneCountInString(text); n > maxText || !utf8.ValidString(text) {
			t.Fatalf("%d characters: %q", n, text)
		}
		if strings.ContainsAny(text, "<>`\x00\x1b\r\u200b\u202e") {
			t.Fatalf("something survives in %q", text)
		}
		if !json.Valid(q.Params()) {
			t.Fatalf("not JSON: %s", q.Params())
		}
	})
}

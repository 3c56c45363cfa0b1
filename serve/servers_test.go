package serve

import (
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

func TestInspect(t *testing.T) {
	c := newWorld(t).connect(t, eras[2], nil)
	var out inspection
	if fault := ask(t, c, inspectName, `{"server":"mail"}`, &out); fault != "" {
		t.Fatal(fault)
	}
	if out.Definitions != "recorded" || out.Package != "npm:mail" || out.Profile != "balanced" || len(out.Tools) != 5 {
		t.Fatalf("%+v", out)
	}
	got := map[string]string{}
	for _, tool := range out.Tools {
		for _, list := range [][]param{tool.Sinks, tool.Undeclared, tool.Unsanitised} {
			for _, p := range list {
				got[tool.Name] += " " + p.Path
			}
			got[tool.Name] += " |"
		}
		got[tool.Name] += " " + strings.Join(tool.Privileges, " ")
	}
	for tool, want := range map[string]string{
		"save_file":   " | | path | change files",
		"run_command": " | | command | change commands",
		"read_mail":   " | | | read_private",
	} {
		if got[tool] != want {
			t.Errorf("%s:%s, want%s", tool, got[tool], want)
		}
	}
	if send := out.Tools[0]; !send.Description.Addresses || !strings.Contains(send.Description.Text, "id_rsa") || !slices.Contains(send.Privileges, "send") || len(send.Sinks) < 2 {
		t.Errorf("%+v", send)
	}
	// A policy that names one destination leaves the other one to its name, and one that switches the gate off leaves both.
	for yaml, want := range map[string]string{"send_email: {sink_params: [to]}": "webhook_url", "send_email: {exfiltrating: false}": "to"} {
		ask(t, c, inspectName, `{"server":"mail","tool":"send_email","policy_yaml":`+string(wire.AppendQuoted(nil, yaml))+`}`, &out)
		if u := out.Tools[0].Undeclared; len(out.Tools) != 1 || len(u) == 0 || u[0].Path != want || out.Tools[0].Explanation == nil {
			t.Errorf("%s: %+v", yaml, out.Tools)
		}
	}
	// What the schema or a policy constrains is no loose end.
	ask(t, c, inspectName, `{"server":"mail","tool":"run_command","policy_yaml":"run_command: {arg_patterns: {command: ls}}"}`, &out)
	if len(out.Tools[0].Unsanitised) > 0 {
		t.Errorf("%+v", out.Tools[0].Unsanitised)
	}
	ask(t, c, inspectName, `{"tools":[{"name":"run","inputSchema":{"properties":{"command":{"enum":["ls"]},"sql":{}}}}]}`, &out)
	if u := out.Tools[0].Unsanitised; len(u) != 1 || u[0].Path != "sql" {
		t.Errorf("%+v", u)
	}
	ask(t, c, inspectName, `{"tools":[{"name":"a\u202eb","description":"x\u200by"}]}`, &out)
	if out.Tools[0].Name != "a<U+202E>b" || out.Tools[0].Description.Text != "x<U+200B>y" || out.Definitions != "given" {
		t.Errorf("%+v", out)
	}
	for args, want := range map[string]string{
		`{}`:                             "name a server",
		`{"server":"pair"}`:              "2 servers named \"pair\" are recorded: name one of them, [\"pypi:pair#pair\" \"npm:pair#pair\"]",
		`{"server":"nobody"}`:            "nothing is recorded of a server \"nobody\": give the definitions of its tools, or have it started. The servers that are known are [\"broken\" \"chat\" \"mail\"",
		`{"server":"npm:other#mail"}`:    "nothing is recorded",
		`{"server":"mail","tool":"fly"}`: "no tool",
		`{"tools":[],"start":true}`:      "either",
		`{"server":"mail","tools":[{}]}`: "no name",
	} {
		if got := ask(t, c, inspectName, args, &out); !strings.Contains(got, want) {
			t.Errorf("%s: %q", args, got)
		}
	}
}

// A server may be called by its identity, as bouncer pins list shows it, wherever its name may stand.
func TestIdentities(t *testing.T) {
	w := newWorld(t)
	c := w.connect(t, eras[2], func(*mcp.ElicitParams) *mcp.ElicitResult {
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{agree: true}}
	})
	var out inspection
	for identity, want := range map[string]int{"npm:mail#mail": 5, "pypi:pair#pair": 5, "npm:pair#pair": 0} {
		if fault := ask(t, c, inspectName, `{"server":"`+identity+`"}`, &out); fault != "" || len(out.Tools) != want || out.Package+"#"+out.Server != identity {
			t.Errorf("%s: %s %+v", identity, fault, out)
		}
	}
	if fault := ask(t, c, inspectName, `{"server":"npm:mail#mail","start":true}`, &out); fault != "" || !slices.Equal(w.started, []string{"mail"}) {
		t.Errorf("%s, started %q", fault, w.started)
	}
	if fault := ask(t, c, inspectName, `{"server":"npm:other#mail","start":true}`, &out); !strings.Contains(fault, "no client's config") || len(w.started) > 1 {
		t.Errorf("another package of that name: %s, started %q", fault, w.started)
	}
	// An output of the server itself is its own, by whichever name: its contacts vouch.
	const call = `"tool":"send_email","args":{"to":"bob@corp.example"},"outputs":[{"server":"npm:mail#mail","tool":"list_contacts","json":[{"email":"bob@corp.example"}]}]`
	var v verdict
	for _, server := range []string{"mail", "npm:mail#mail"} {
		if fault := ask(t, c, "bouncer_evaluate_call", `{"server":"`+server+`",`+call+`}`, &v); fault != "" || v.Verdict != "allow" || v.Server != "mail" || v.Definitions != "recorded" {
			t.Errorf("%s: %s %+v", server, fault, v)
		}
	}
}

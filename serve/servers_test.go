package serve

import (
	"slices"
	"strings"
	"testing"

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
		`{"server":"pair"}`:              "2 servers",
		`{"server":"nobody"}`:            "nothing is recorded",
		`{"server":"mail","tool":"fly"}`: "no tool",
		`{"tools":[],"start":true}`:      "either",
		`{"server":"mail","tools":[{}]}`: "no name",
	} {
		if got := ask(t, c, inspectName, args, &out); !strings.Contains(got, want) {
			t.Errorf("%s: %q", args, got)
		}
	}
}

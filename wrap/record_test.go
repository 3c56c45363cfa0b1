package wrap

import (
	"bytes"
	"strings"
	"testing"
)

// TestPlanRecord writes records anew; unwrapping afterwards gives what unwrapping before would have given.
func TestPlanRecord(t *testing.T) {
	const run = `"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=s", "--", `
	for _, tt := range []struct {
		name, entry string
		original    Original
		want        string // empty when nothing is to change
	}{
		{"gone", run + `"npx", "\u0061"]`, Original{}, run + `"npx", "\u0061"], "x-bouncer-upstream": { "command": "npx", "args": ["\u0061"] }`},
		{"gone, no args", run + `"npx"]`, Original{}, run + `"npx"], "x-bouncer-upstream": { "command": "npx", "args": [] }`},
		{"gone, args absent", run + `"npx"]`, Original{Command: `"npx"`}, run + `"npx"], "x-bouncer-upstream": { "command": "npx" }`},
		{"gone, args null", run + `"npx"]`, Original{Command: `"npx"`, Args: "null"}, run + `"npx"], "x-bouncer-upstream": { "command": "npx", "args": null }`},
		{"of another server", run + `"npx", "b"], "x-bouncer-upstream": {"command": "uvx"}, "env": {}`, Original{}, run + `"npx", "b"], "x-bouncer-upstream": { "command": "npx", "args": ["b"] }, "env": {}`},
		{"malformed", run + `"npx"], "x-bouncer-upstream": 1`, Original{}, run + `"npx"], "x-bouncer-upstream": { "command": "npx", "args": [] }`},
		{"right", run + `"npx"], "x-bouncer-upstream": {"command": "npx"}`, Original{}, ""},
		{"legacy", `"command": "bouncer", "args": ["run", "--config=f", "--upstream-name=s"]`, Original{}, ""},
		{"plain", `"command": "npx"`, Original{}, ""},
		{"stale", `"command": "npx", "x-bouncer-upstream": {"command": "uvx"}`, Original{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, o := one("{"+tt.entry+"}"), options()
			if tt.original.Command != "" {
				o.Originals = map[string]Original{PointerKey([]string{"mcpServers", "s"}): tt.original}
			}
			p, err := PlanRecord(f, o)
			if err != nil {
				t.Fatal(err)
			}
			want, action := tt.want, "record"
			if want == "" {
				want, action = tt.entry, "keep"
			}
			if got := string(one("{" + want + "}").Data); string(p.After) != got || actions(p) != action {
				t.Errorf("%s:\n%s\nwant\n%s", actions(p), p.After, got)
			}
			before, after := mustUnwrap(t, f, o), mustUnwrap(t, f.with(p.After), options())
			if action == "record" && !bytes.Equal(before.After, after.After) {
				t.Errorf("unwrapped to\n%s\nwant\n%s", after.After, before.After)
			}
		})
	}
	o := options()
	o.Servers = []string{"t"}
	if p, err := PlanRecord(one("{"+run+`"npx"]}`), o); err != nil || actions(p) != "skip" {
		t.Errorf("not chosen: %s, %v", actions(p), err)
	}
}

// TestComments: what a person has written into an inserted array stays where there is a place for it.
func TestComments(t *testing.T) {
	for _, tt := range []struct{ name, entry, want, reason string }{
		{
			"args were absent", `{"command": "bouncer", "args": ["run", "--upstream-name=s", /* c */ "--", "srv"], "x-bouncer-upstream": {"command": "srv"}}`,
			`{"command": "srv", "args": [ /* c */]}`, "args stays as [], for the comments in it",
		},
		{
			"args were null", "{\"command\": \"bouncer\", \"args\": [\"run\", // c\n\"--upstream-name=s\", \"--\", \"srv\"], \"x-bouncer-upstream\": {\"command\": \"srv\", \"args\": null}}",
			"{\"command\": \"srv\", \"args\": [ // c\n]}", "args stays as [], for the comments in it",
		},
		{
			"args were there", `{"command": "bouncer", "args": ["run", "--upstream-name=s", /* c */ "--", "srv", "x"], "x-bouncer-upstream": {"command": "srv", "args": ["x"]}}`,
			`{"command": "srv", "args": [ /* c */ "x"]}`, "",
		},
		{
			"in the record", `{"command": "bouncer", "args": ["run", "--upstream-name=s", "--", "srv"], "x-bouncer-upstream": {"command": "srv" /* c */}}`,
			`{"command": "srv"}`, "the comments in x-bouncer-upstream go with it",
		},
		{
			"of a legacy entry", `{"command": "bouncer", /* c */ "args": ["run", "--config=f", "--upstream-name=s"], "x-bouncer-upstream": {"command": "srv"}}`,
			`{"command": "srv"}`, "its comments go, as all of it comes from the record",
		},
		{
			"no comment, but slashes", `{"command": "bouncer", "args": ["run", "--upstream-name=s", "--", "// \" /*"], "x-bouncer-upstream": {"command": "// \" /*"}}`,
			`{"command": "// \" /*"}`, "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := mustUnwrap(t, one(tt.entry), options())
			if want := string(one(tt.want).Data); string(p.After) != want || p.Steps[0].Reason != tt.reason {
				t.Errorf("%q\n%s\nwant\n%s", p.Steps[0].Reason, p.After, want)
			}
		})
	}
}

func TestVariablesInNames(t *testing.T) {
	f := config(`{"mcpServers": {"a${X}": {"command": "srv"}, "$b {X}": {"command": "srv"}, "${Y}": {"command": "/old/bouncer", "args": ["run", "--upstream-name=y", "--", "srv"]}}}`)
	p := mustWrap(t, f, options())
	if actions(p) != "skip wrap skip" || !strings.Contains(p.Steps[0].Reason, "${") {
		t.Errorf("planned %s: %q", actions(p), p.Steps[0].Reason)
	}
	for _, o := range []Options{{Launcher: "/${HOME}/bouncer"}, {Launcher: launcher, Policies: []string{"/${X}"}}, {Launcher: launcher, Home: "/${X}"}} {
		if _, err := PlanWrap(one(`{"command": "srv"}`), o); err == nil {
			t.Errorf("planned with %+v", o)
		}
	}
}

// TestListedCommands: an allow list that names a command line through bouncer decides whether it is written.
func TestListedCommands(t *testing.T) {
	wrapped := []string{launcher, "run", "--upstream-name=s", "--", "srv"}
	moved := append([]string{"/old/bouncer"}, wrapped[1:]...)
	plain, old := `{"command": "srv"}`, `{"command": "/old/bouncer", "args": ["run", "--upstream-name=s", "--", "srv"]}`
	for _, tt := range []struct {
		name, entry string
		lists       Lists
		state       State
		action      Action
	}{
		{"named wrapped", plain, Lists{AllowSet: true, AllowCommands: [][]string{wrapped}}, Denied, Wrap},
		{"named both", plain, Lists{AllowSet: true, AllowCommands: [][]string{{"srv"}, wrapped}}, Listed, Wrap},
		{"named plain", plain, Lists{AllowSet: true, AllowCommands: [][]string{{"srv"}}}, Listed, Skip},
		{"named by another launcher", plain, Lists{AllowSet: true, AllowCommands: [][]string{{"srv"}, moved}}, Listed, Skip},
		{"denied wrapped", plain, Lists{DenyCommands: [][]string{wrapped}}, Plain, Skip},
		{"moving would hide it", old, Lists{AllowSet: true, AllowCommands: [][]string{moved}}, Wrapped, Skip},
		{"moving makes it start", old, Lists{AllowSet: true, AllowCommands: [][]string{wrapped}}, Wrapped, Rewrap},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := one(tt.entry)
			f.Lists = tt.lists
			p := mustWrap(t, f, options())
			if s := p.Steps[0]; s.Entry.State != tt.state || s.Action != tt.action || (s.Action == Skip) != (s.Reason != "") {
				t.Errorf("%s: %s %q", s.Entry.State, s.Action, s.Reason)
			}
		})
	}
}

func TestRemark(t *testing.T) {
	for _, tt := range []struct {
		argv []string
		want string
	}{
		{[]string{"npx", "-y", "mcp-remote@0.1.2", "https://x"}, "a bridge to a remote server (mcp-remote)"},
		{[]string{"/opt/bin/mcp-remote"}, "a bridge to a remote server (mcp-remote)"},
		{[]string{"cmd", "/c", "npx", "mcp-remote"}, "a bridge to a remote server (mcp-remote)"},
		{[]string{"uvx", "mcp-proxy==1.0", "https://x"}, "another proxy (mcp-proxy)"},
		{[]string{"npx", "-y", "@smithery/cli@latest", "run"}, "another proxy (@smithery/cli)"},
		{[]string{"docker", "mcp", "gateway", "run"}, "another proxy (docker mcp gateway)"},
		{[]string{"npx", "server", "/srv/mcp-remote"}, ""},
		{[]string{"npx", "@scope"}, ""},
		{[]string{""}, ""},
	} {
		if got := remark(tt.argv); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.argv, got, tt.want)
		}
	}
}

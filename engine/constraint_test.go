package engine

import (
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/policy"
)

func TestConfinement(t *testing.T) {
	for _, tt := range []struct {
		prefix, args string
		want         Action
	}{
		{"./out", `{"path":"out/a"}`, Allow},
		{"./out", `{"path":"./out/a"}`, Allow},
		{"./out", `{"path":"out"}`, Allow},
		{"./out", `{"path":"/srv/run/out/a b"}`, Allow},
		{"./out", `{"path":"outside/a"}`, Deny},
		{"./out", `{"path":"out/../a"}`, Deny},
		{"./out", `{"path":"out/escape/passwd"}`, Deny},
		{"./out", `{"path":"out/escape/../a"}`, Deny}, // a server that follows the link first ends in /
		{".", `{"path":"a/b"}`, Allow},
		{".", `{"path":"../../etc/passwd"}`, Deny},
		{"./", `{"path":"../x"}`, Deny},
		{".", `{"path":"/etc/passwd"}`, Deny},
		{".", `{"path":"file:///etc/passwd"}`, Deny},
		{".", `{"path":"FILE:///srv/run/a"}`, Allow},
		{".", `{"path":"file:///srv/run/a%20b"}`, Allow},
		{".", `{"path":"file:///srv/run/%2e%2e/%2e%2e/etc/passwd"}`, Deny},
		{".", `{"path":"file://elsewhere/srv/run/a"}`, Deny},
		{".", `{"path":"file:a"}`, Deny},
		{".", `{"path":"https://x.example/a"}`, Deny},
		{".", `{"path":"~/x"}`, Deny},
		{".", `{"path":"~other/x"}`, Deny},
		{"~/work", `{"path":"~/work/a"}`, Allow},
		{".", `{"path":"..\\..\\x"}`, Deny},
		{".", `{"path":"a\\b"}`, Allow},
		{".", `{"path":"%2e%2e/%2e%2e/x"}`, Deny},
		{".", `{"path":"100%.txt"}`, Allow},
		{".", `{"path":" /etc/passwd"}`, Deny},
		{".", `{"path":"a\u0000/../../etc"}`, Deny},
		{".", `{"path":""}`, Deny},
		{".", `{"path":null}`, Deny},
		{".", `{"path":7}`, Deny},
		{".", `{"path":[]}`, Deny},
		{".", `{}`, Deny},
		{".", `{"path":["a","b"]}`, Allow},
		{".", `{"path":["a","/etc/passwd"]}`, Deny},
		{".", `{"path":{"x":"a"}}`, Allow},
		{".", `{"path":{"/etc/passwd":"a"}}`, Deny},
		{".", `{"path":["a",null]}`, Deny},
		{".", `{"path":"a","Path":"/etc/passwd"}`, Deny},
		{"/srv/data", `{"path":"//srv/data/x"}`, Allow},
		{"/srv/data", `{"path":"/srv/database"}`, Deny},
		{"file:///srv/data", `{"path":"/srv/data/x"}`, Allow},
	} {
		e := open(t, "write: {write_params: [path], allowed_path_prefixes: ['"+tt.prefix+"']}\n")
		v := e.Decide(call(t, "write", tt.args))
		if v.Action != tt.want {
			t.Errorf("%s under %s: %s because %s, want %s", tt.args, tt.prefix, v.Action, v.Reason, tt.want)
		}
		if v.Action == Deny && v.Contract != "constraint" {
			t.Errorf("%s under %s: denied by %s", tt.args, tt.prefix, v.Contract)
		}
		if strings.Contains(v.Reason, tt.prefix) && !strings.Contains(tt.args, tt.prefix) && tt.prefix != "." {
			t.Errorf("the reason names the allowed folder: %s", v.Reason)
		}
	}
}

func TestConfinementWithoutPaths(t *testing.T) {
	layer, err := policy.Parse("p", []byte("write: {write_params: [path], allowed_path_prefixes: [/srv]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Policy: policy.NewSet(layer)})
	if v := e.Decide(call(t, "write", `{"path":"/srv/a"}`)); v.Action != Deny {
		t.Errorf("nobody to resolve the path: %s", v.Action)
	}
}

func TestHomeNobodyKnows(t *testing.T) {
	layer, err := policy.Parse("p", []byte("write: {write_params: [path], allowed_path_prefixes: [.]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	e := New(Config{Policy: policy.NewSet(layer), Paths: disk{cwd: "/srv/run"}, Protected: protected})
	if v := e.Decide(call(t, "write", `{"path":"~/x"}`)); v.Action != Deny || v.Contract != "constraint" {
		t.Errorf("~/x: %+v", v)
	}
	if v := e.Decide(call(t, "write", `{"path":"~me/.cursor/mcp.json"}`)); v.Contract != "self_protection" {
		t.Errorf("~me/.cursor/mcp.json: %+v", v)
	}
}

func TestPatterns(t *testing.T) {
	for _, tt := range []struct {
		pattern, args string
		want          Action
	}{
		{"[a-z]+", `{"arg":"abc"}`, Allow},
		{"[a-z]+", `{"arg":"abc1"}`, Deny},
		{"[a-z]+", `{"arg":"a\u0062c"}`, Allow},
		{"[a-z]+", `{"arg":"abc\n"}`, Deny},
		{"[a-z]+", `{}`, Deny},
		{"[a-z]*", `{}`, Allow},
		{"[a-z]+", `{"arg":[]}`, Deny},
		{"[a-z]*", `{"arg":[]}`, Allow},
		{"[a-z]+", `{"arg":["a",["b"]]}`, Allow},
		{"[a-z]+", `{"arg":["a","1"]}`, Deny},
		{".*", `{"arg":{"a":"b"}}`, Deny},
		{".*", `{"arg":["a",{}]}`, Deny},
		{"true", `{"arg":true}`, Allow},
		{"null", `{"arg":null}`, Allow},
		{"[0-9]+", `{"arg":5}`, Allow},
		{"[0-9]+", `{"arg":-5}`, Deny},
		{"a", `{"arg":"a","ARG":"b"}`, Deny},
		{"a", `{"arg":"a","x":{"ARG":"b"}}`, Allow},
	} {
		e := open(t, "tool: {arg_patterns: {arg: '"+tt.pattern+"'}}\n")
		v := e.Decide(call(t, "tool", tt.args))
		if v.Action != tt.want {
			t.Errorf("%s against %s: %s because %s, want %s", tt.args, tt.pattern, v.Action, v.Reason, tt.want)
		}
	}
}

func TestPatternOnNestedArgument(t *testing.T) {
	e := open(t, "tool: {arg_patterns: {msg.kind: 'a'}}\n")
	for _, tt := range []struct {
		args string
		want Action
	}{
		{`{"msg":{"kind":"a"}}`, Allow},
		{`{"msg":[{"kind":"a"},{"kind":"b"}]}`, Deny},
		{`{"msg.kind":"a"}`, Allow},
		{`{"msg.kind":"a","msg":{"kind":"b"}}`, Deny},
		{`{"msg":{"kind":"a","Kind":"b"}}`, Deny},
		{`{"msg":{"kind":"a"},"MSG":{"kind":"b"}}`, Deny},
		{`{"msg":{}}`, Deny},
	} {
		if v := e.Decide(call(t, "tool", tt.args)); v.Action != tt.want {
			t.Errorf("%s: %s because %s, want %s", tt.args, v.Action, v.Reason, tt.want)
		}
	}
}

func TestSelfProtection(t *testing.T) {
	for _, tt := range []struct {
		args string
		deny bool
	}{
		{`{"path":"/home/me/.cursor/mcp.json"}`, true},
		{`{"path":"~/.cursor/mcp.json"}`, true},
		{`{"path":"~/.local/state/bouncer/audit.jsonl"}`, true},
		{`{"path":"../../home/me/.claude.json"}`, true},
		{`{"path":"x/../../../home/me/.claude.json"}`, true},
		{`{"path":"x\n/../../../home/me/.claude.json"}`, true},
		{`{"path":"` + strings.Repeat("x/../", 2000) + `/../../home/me/.claude.json"}`, true},
		{`{"path":"..\\..\\home\\me\\.claude.json"}`, true},
		{`{"path":"file:///home/me/.claude.json"}`, true},
		{`{"path":"file://localhost/home/me/%2eclaude.json"}`, true},
		{`{"path":"file:/home/me/.claude.json?x"}`, true},
		{`{"path":"file:///home/me/.claude.json#x"}`, true},
		{`{"path":" /home/me/.claude.json"}`, true},
		{`{"path":"/home/me/.claude.json\u0000.txt"}`, true},
		{`{"path":"/home/me/.local/state/bouncer"}`, true},
		{`{"deep":[{"x":["/home/me/.claude.json"]}]}`, true},
		{`{"files":{"/home/me/.claude.json":"{}"}}`, true},
		{`{"path":"link"}`, true},
		{`{"other":"link"}`, false},
		{`{"path":"/home/me/.local/state/bouncer2"}`, false},
		{`{"path":"/home/me"}`, false},
		{`{"text":"see /home/me/.claude.json for more"}`, false},
		{`{"text":"~/.claude.json is where it is"}`, false},
		{`{"text":"a\nb/c\n~/.claude.json"}`, false},
		{`{"path":"/srv/run/notes.txt"}`, false},
		{`{"n":7,"b":true,"z":null}`, false},
	} {
		e := open(t, "write: {write_params: [path]}\n")
		v := e.Decide(call(t, "write", tt.args))
		if (v.Contract == "self_protection") != tt.deny || tt.deny && v.Action != Deny {
			t.Errorf("%.80s: %s, %s because %s", tt.args, v.Action, v.Contract, v.Reason)
		}
	}
	e := open(t, "write: {exfiltrating: false, sink_params: [], write_params: [], allowed_path_prefixes: []}\n")
	c := call(t, "write", `{"path":"~/.claude.json"}`)
	e.Approve("write", []Pair{{Param: "path", Value: "~/.claude.json"}})
	c.Pin = PinUnknown
	if v := e.Decide(c); v.Contract != "self_protection" {
		t.Errorf("after an approval, unknown tool: %s", v.Contract)
	}
}

func TestSelfProtectionFromTheFolderItself(t *testing.T) {
	e := New(Config{Paths: disk{cwd: "/home/me/.cursor"}, Protected: protected})
	for args, want := range map[string]string{
		`{"file":"mcp.json"}`:   "self_protection",
		`{"file":"MCP.json"}`:   "default", // another file here; where case means nothing, Paths says so
		`{"file":"notes.json"}`: "default",
	} {
		if v := e.Decide(call(t, "frob", args)); v.Contract != want {
			t.Errorf("%s: %s because %s", args, v.Contract, v.Reason)
		}
	}
}

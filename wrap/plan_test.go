package wrap

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

const launcher = "/usr/local/bin/bouncer"

func options() Options { return Options{Launcher: launcher} }

// config is a file with a server map for the user and one for each project.
func config(text string) File {
	return File{
		Client: "test", Path: "/home/ada/config.json", Format: jsonc.Comments, Mode: 0o600, Data: []byte(text),
		Maps: []clients.Map{
			{Scope: clients.User, Pointer: []string{"mcpServers"}},
			{Scope: clients.Local, Pointer: []string{"projects", "*", "mcpServers"}},
		},
	}
}

// one is a config with one entry.
func one(entry string) File { return config(`{"mcpServers": {"s": ` + entry + `}}`) }

func mustWrap(t *testing.T, f File, o Options) Plan {
	t.Helper()
	p, err := PlanWrap(f, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Data)
	}
	return p
}

func mustUnwrap(t *testing.T, f File, o Options) Plan {
	t.Helper()
	p, err := PlanUnwrap(f, o)
	if err != nil {
		t.Fatalf("%v\n%s", err, f.Data)
	}
	return p
}

func (f File) with(data []byte) File {
	f.Data = data
	return f
}

func entry(t *testing.T, f File) Entry {
	t.Helper()
	entries, err := Entries(f, launcher)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d entries, %v", len(entries), err)
	}
	return entries[0]
}

func actions(p Plan) string {
	var list []string
	for _, s := range p.Steps {
		list = append(list, string(s.Action))
	}
	return strings.Join(list, " ")
}

// TestWrapLayout shows what wrapping writes.
func TestWrapLayout(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{
			"own lines, comments, arguments in one line",
			`{
  "mcpServers": {
    "filesystem": {
      "command": "npx", // stays in this line
      "args": ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}/work"],
      "env": { "TOKEN": "${TOKEN}" } // so does this
    }
  }
}
`,
			`{
  "mcpServers": {
    "filesystem": {
      "command": "/usr/local/bin/bouncer", // stays in this line
      "args": ["run", "--upstream-name=filesystem", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "${HOME}/work"],
      "env": { "TOKEN": "${TOKEN}" }, // so does this
      "x-bouncer-upstream": { "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "${HOME}/work"] }
    }
  }
}
`,
		},
		{
			"arguments in lines of their own, tabs, trailing commas",
			"{\n\t\"mcpServers\": {\n\t\t\"a b\": {\n\t\t\t\"command\": \"uvx\",\n\t\t\t\"args\": [\n\t\t\t\t// which one\n\t\t\t\t\"server\",\n\t\t\t],\n\t\t},\n\t},\n}",
			"{\n\t\"mcpServers\": {\n\t\t\"a b\": {\n\t\t\t\"command\": \"/usr/local/bin/bouncer\",\n\t\t\t\"args\": [\n\t\t\t\t// which one\n" +
				"\t\t\t\t\"run\",\n\t\t\t\t\"--upstream-name=a b\",\n\t\t\t\t\"--\",\n\t\t\t\t\"uvx\",\n\t\t\t\t\"server\",\n\t\t\t],\n" +
				"\t\t\t\"x-bouncer-upstream\": { \"command\": \"uvx\", \"args\": [\"server\"] },\n\t\t},\n\t},\n}",
		},
		{
			"minified, escapes",
			`{"mcpServers":{"\u0061\"\\":{"command":"\u006epx","args":["\u003c",""]}}}`,
			`{"mcpServers":{"\u0061\"\\":{"command":"/usr/local/bin/bouncer","args":["run","--upstream-name=\u0061\"\\","--","\u006epx","\u003c",""],` +
				`"x-bouncer-upstream":{"command":"\u006epx","args":["\u003c",""]}}}}`,
		},
		{
			"no arguments",
			"{\"mcpServers\": {\"s\": {\r\n  \"command\": \"srv\", // c\r\n  \"env\": {}\r\n}}}",
			"{\"mcpServers\": {\"s\": {\r\n  \"command\": \"/usr/local/bin/bouncer\", // c\r\n  \"args\": [\"run\", \"--upstream-name=s\", \"--\", \"srv\"],\r\n" +
				"  \"env\": {},\r\n  \"x-bouncer-upstream\": { \"command\": \"srv\" }\r\n}}}",
		},
		{
			"no arguments, command last",
			`{"mcpServers": {"s": {"command": "srv" /* c */}}}`,
			`{"mcpServers": {"s": {"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=s", "--", "srv"], "x-bouncer-upstream": { "command": "srv" } /* c */}}}`,
		},
		{
			"null and nothing",
			`{"mcpServers": {"s": {"args": null, "command": "srv"}, "e": {"args": [ ], "command": "srv"}}}`,
			`{"mcpServers": {"s": {"args": ["run", "--upstream-name=s", "--", "srv"], "command": "/usr/local/bin/bouncer", "x-bouncer-upstream": { "command": "srv", "args": null }}, ` +
				`"e": {"args": ["run", "--upstream-name=e", "--", "srv" ], "command": "/usr/local/bin/bouncer", "x-bouncer-upstream": { "command": "srv", "args": [] }}}}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := config(tt.before)
			p := mustWrap(t, f, options())
			if string(p.After) != tt.after {
				t.Errorf("got\n%s\nwant\n%s", p.After, tt.after)
			}
			if back := mustUnwrap(t, f.with(p.After), options()); string(back.After) != tt.before {
				t.Errorf("unwrapped\n%s", back.After)
			}
		})
	}
}

// TestWrapKeepsUpstream wraps every shape of a command line, and reads it back.
func TestWrapKeepsUpstream(t *testing.T) {
	for _, tt := range []struct {
		name, entry string
		want        []string
	}{
		{"npx", `{"command": "npx", "args": ["-y", "pkg"]}`, []string{"npx", "-y", "pkg"}},
		{"cmd /c npx", `{"command": "cmd", "args": ["/c", "npx", "-y", "pkg"]}`, []string{"cmd", "/c", "npx", "-y", "pkg"}},
		{"docker", `{"command": "docker", "args": ["run", "-i", "--rm", "-e", "T", "img", "--", "x"]}`, []string{"docker", "run", "-i", "--rm", "-e", "T", "img", "--", "x"}},
		{"uvx", `{"command": "uvx", "args": ["--from", "git+https://x/y", "srv"]}`, []string{"uvx", "--from", "git+https://x/y", "srv"}},
		{"shell", `{"command": "bash", "args": ["-lc", "cd \"$HOME\" && exec srv --x='1 2'"]}`, []string{"bash", "-lc", `cd "$HOME" && exec srv --x='1 2'`}},
		{"empty strings", `{"command": "srv", "args": ["", "", " "]}`, []string{"srv", "", "", " "}},
		{"percent and caret", `{"command": "C:\\a b\\srv.cmd", "args": ["%APPDATA%", "a^b", "100%"]}`, []string{`C:\a b\srv.cmd`, "%APPDATA%", "a^b", "100%"}},
		{"variables", `{"command": "${CMD:-npx}", "args": ["${env:X}", "${workspaceFolder}", "${input:id}", "~"]}`, []string{"${CMD:-npx}", "${env:X}", "${workspaceFolder}", "${input:id}", "~"}},
		{"null arguments", `{"command": "srv", "args": null}`, []string{"srv"}},
		{"no arguments", `{"command": "srv", "args": []}`, []string{"srv"}},
		{"only a command", `{"command": "srv"}`, []string{"srv"}},
		{"dashes first", `{"command": "--", "args": ["--", "run"]}`, []string{"--", "--", "run"}},
		{"all the fields", `{"type": "stdio", "command": "srv", "args": ["a"], "env": null, "cwd": "/x", "disabled": true, "timeout": 5, "alwaysAllow": ["t"], "url": "https://stray"}`, []string{"srv", "a"}},
		{"number spelled oddly beside", `{"timeout": 1e3, "command": "srv", "x": {"command": "other", "command": 1}}`, []string{"srv"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := one(tt.entry)
			p := mustWrap(t, f, options())
			e := entry(t, f.with(p.After))
			if got := append([]string{e.Command}, e.Args...); !slices.Equal(got, tt.want) || e.State != Wrapped || e.Launcher != launcher {
				t.Errorf("got %s %q by %s, want %q", e.State, got, e.Launcher, tt.want)
			}
			if e.Disagree || e.NoSentinel || e.Legacy || e.Reason != "" {
				t.Errorf("odd: %+v", e)
			}
			if again := mustWrap(t, f.with(p.After), options()); !bytes.Equal(again.After, p.After) || actions(again) != "keep" {
				t.Errorf("wrapped twice (%s):\n%s", actions(again), again.After)
			}
			if back := mustUnwrap(t, f.with(p.After), options()); !bytes.Equal(back.After, f.Data) {
				t.Errorf("unwrapped\n%s\nwant\n%s", back.After, f.Data)
			}
		})
	}
}

func TestWrapNames(t *testing.T) {
	for _, literal := range []string{`""`, `"-x"`, `"a b"`, `"a\"b"`, `"a\\b"`, `"\u00e9"`, `"é/.:@"`, `"--"`, `"x=y"`, `"\ud800"`, `"\n"`} {
		f := config(`{"mcpServers": {` + literal + `: {"command": "srv", "args": ["a"]}}}`)
		p := mustWrap(t, f, options())
		if want := `"--upstream-name=` + literal[1:]; !strings.Contains(string(p.After), want) {
			t.Errorf("%s: no %s in %s", literal, want, p.After)
		}
		if again := mustWrap(t, f.with(p.After), options()); actions(again) != "keep" {
			t.Errorf("%s: second time %s", literal, actions(again))
		}
	}
}

func TestStates(t *testing.T) {
	wrapped := `"command": "bouncer", "args": ["run", "--upstream-name=s", "--", "srv", "a"]`
	for _, tt := range []struct {
		name, entry string
		state       State
		reason      string
	}{
		{"plain", `{"command": "srv"}`, Plain, ""},
		{"typed", `{"type": "stdio", "command": "srv"}`, Plain, ""},
		{"stray url", `{"command": "srv", "url": "https://x"}`, Plain, ""},
		{"remote", `{"type": "http", "url": "https://x"}`, Remote, ""},
		{"remote without type", `{"url": "https://x"}`, Remote, ""},
		{"remote of unknown type", `{"type": "streamableHttp", "url": "https://x"}`, Remote, ""},
		{"remote by another name", `{"serverUrl": "https://x"}`, Remote, ""},
		{"remote with stray command", `{"type": "sse", "url": "https://x", "command": "srv"}`, Remote, ""},
		{"wrapped", `{` + wrapped + `}`, Wrapped, ""},
		{"wrapped, by an absolute path", `{"command": "/opt/bouncer", "args": ["run", "--upstream-name", "s", "--profile", "strict", "--", "srv"]}`, Wrapped, ""},
		{"wrapped, on Windows", `{"command": "C:\\x\\Bouncer.EXE", "args": ["run", "--upstream-name=s", "--", "srv"]}`, Wrapped, ""},
		{"wrapped, by a known launcher", `{"command": "/opt/gate", "args": ["run", "--upstream-name=s", "--", "srv"]}`, Wrapped, ""},
		{"not wrapped, by an unknown program", `{"command": "/opt/notbouncer", "args": ["run", "--upstream-name=s", "--", "srv"]}`, Plain, ""},
		{"remote, though bouncer is its command", `{"type": "http", "url": "https://x", ` + wrapped + `}`, Remote, ""},
		{"remote by another name, though bouncer is its command", `{"type": "sse", "serverUrl": "https://x", ` + wrapped + `}`, Remote, ""},
		{"remote, with bouncer and its record", `{"type": "http", "url": "https://x", ` + wrapped + `, "x-bouncer-upstream": {"command": "srv"}}`, Remote, ""},
		{"wrapped, beside a stray url", `{"type": "stdio", "url": "https://x", ` + wrapped + `}`, Wrapped, ""},
		{"wrapped, of no type that has a command", `{"type": "http", ` + wrapped + `}`, Invalid, `type "http" needs a url or is unknown`},
		{"wrapped, with a faulty env", `{` + wrapped + `, "env": 1}`, Invalid, "env is no object"},
		{"wrapped, with a number", `{"command": "bouncer", "args": ["run", "--upstream-name=s", "--", "srv", 1]}`, Invalid, "args[4] is no string"},
		{"bare, with a record", `{"command": "bouncer", "x-bouncer-upstream": {"command": "srv"}}`, Invalid, "starts bouncer, but not with a server behind it"},
		{"bare, with null and a record", `{"command": "bouncer", "args": null, "x-bouncer-upstream": {"command": "srv"}}`, Invalid, "starts bouncer, but not with a server behind it"},
		{"serve", `{"command": "/x/bouncer", "args": ["serve"]}`, Own, ""},
		{"gateway", `{"command": "bouncer", "args": ["gateway", "--http"]}`, Own, ""},
		{"bare", `{"command": "bouncer"}`, Own, ""},
		{"bouncer without a server", `{"command": "bouncer", "args": ["run", "--upstream-name=s", "--"]}`, Invalid, "starts bouncer, but not with a server behind it"},
		{"bouncer without a name", `{"command": "bouncer", "args": ["run", "--", "srv"]}`, Invalid, "starts bouncer, but not with a server behind it"},
		{"bouncer audit", `{"command": "bouncer", "args": ["audit"]}`, Invalid, "starts bouncer, but not with a server behind it"},
		{"stale", `{"command": "srv", "x-bouncer-upstream": {"command": "srv"}}`, Stale, "has a record of an upstream but does not start bouncer"},
		{"stale remote", `{"url": "https://x", "x-bouncer-upstream": {}}`, Stale, "has a record of an upstream but does not start bouncer"},
		{"string", `"srv"`, Invalid, "is no object"},
		{"null", `null`, Invalid, "is no object"},
		{"empty", `{}`, Invalid, "has neither command nor url"},
		{"typed remote without url", `{"type": "http"}`, Invalid, `type "http" needs a url or is unknown`},
		{"unknown type", `{"type": "tcp", "command": "srv"}`, Invalid, `type "tcp" needs a url or is unknown`},
		{"type is a number", `{"type": 1, "command": "srv"}`, Invalid, "type is no string"},
		{"stdio without command", `{"type": "stdio", "url": "https://x"}`, Invalid, "has neither command nor url"},
		{"command is an array", `{"command": ["srv"]}`, Invalid, "command is no string"},
		{"command is a command line", `{"command": "npx -y pkg"}`, Invalid, "command is a whole command line, not a program"},
		{"command is a path with blanks", `{"command": "/opt/my tools/npx server"}`, Plain, ""},
		{"serve, with a home", `{"command": "bouncer", "args": ["--home", "/h", "serve"]}`, Own, ""},
		{"gateway, with a home", `{"command": "bouncer", "args": ["--home=/h", "gateway"]}`, Own, ""},
		{"serve, by cmd", `{"command": "cmd", "args": ["/c", "bouncer.exe", "serve"]}`, Own, "starts bouncer through another program"},
		{"run, by a shell", `{"command": "bash", "args": ["-lc", "exec '/opt/bouncer' run --upstream-name=s -- srv"]}`, Own, "starts bouncer through another program"},
		{"about bouncer", `{"command": "srv", "args": ["bouncer", "rules"]}`, Plain, ""},
		{"command is empty", `{"command": ""}`, Invalid, "command is empty"},
		{"args is a string", `{"command": "srv", "args": "server.js"}`, Invalid, "args is no array"},
		{"args holds a number", `{"command": "srv", "args": ["--port", 80]}`, Invalid, "args[1] is no string"},
		{"env is an array", `{"command": "srv", "env": []}`, Invalid, "env is no object"},
		{"env holds a number", `{"command": "srv", "env": {"PORT": 80}}`, Invalid, `env "PORT" is no string`},
		{"denied by name", `{"command": "denied"}`, Denied, "on the client's deny list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := one(tt.entry)
			f.Lists = Lists{DenyCommands: [][]string{{"denied"}}}
			entries, err := Entries(f, "/opt/gate")
			if err != nil {
				t.Fatal(err)
			}
			if e := entries[0]; e.State != tt.state || e.Reason != tt.reason {
				t.Errorf("got %s %q, want %s %q", e.State, e.Reason, tt.state, tt.reason)
			}
			o := options()
			o.Known = []string{"/opt/gate"}
			if p := mustWrap(t, f, o); tt.state != Plain && tt.state != Wrapped && (actions(p) != "skip" || p.Steps[0].Reason == "" || !bytes.Equal(p.After, f.Data)) {
				t.Errorf("planned %s %q", actions(p), p.Steps[0].Reason)
			}
		})
	}
}

func TestEntriesInFileOrder(t *testing.T) {
	entries, err := Entries(config(`{
		"projects": {"/w/b": {"mcpServers": {"x": {"command": "1"}}}, "/w/a": {"mcpServers": null}, "/w/c": {}, "/w/d": {"mcpServers": {"x": {"command": "2"}}}},
		"mcpServers": {"z": {"command": "3"}, "y": {"url": "https://y"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%s %s %s", e.Scope, strings.Join(e.Pointer, ">"), e.Command+e.URL))
	}
	want := []string{
		"local projects>/w/b>mcpServers>x 1", "local projects>/w/d>mcpServers>x 2",
		"user mcpServers>z 3", "user mcpServers>y https://y",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNoServers(t *testing.T) {
	for _, text := range []string{"", " \n", "null", "{}", `{"mcpServers": null}`, `{"mcpServers": {}}`, `{"projects": {"/w": null}}`} {
		f := config(text)
		if p := mustWrap(t, f, options()); len(p.Steps) != 0 || string(p.After) != text {
			t.Errorf("%q: planned %s to %q", text, actions(p), p.After)
		}
	}
}

func TestFileErrors(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"syntax", "{\n  \"mcpServers\": {,}}", "line 2, column 18: unexpected ',' where a key should start"},
		{"servers twice", "{\"mcpServers\": {},\n\"mcpServers\": {}}", `line 2, column 1: duplicate key "mcpServers"`},
		{"name twice", `{"mcpServers": {"fs": {}, "\u0066s": {}}}`, `line 1, column 27: duplicate key "fs"`},
		{"project twice", `{"projects": {"/w": {}, "/w": {}}}`, `line 1, column 25: duplicate key "/w"`},
		{"command twice", `{"mcpServers": {"fs": {"command": "a", "command": "b"}}}`, `line 1, column 40: duplicate key "command"`},
		{"sentinel twice", `{"mcpServers": {"fs": {"x-bouncer-upstream": 1, "x-bouncer-upstream": 2}}}`, `line 1, column 49: duplicate key "x-bouncer-upstream"`},
		{"array of servers", `{"mcpServers": []}`, `line 1, column 16: "mcpServers" should be an object`},
		{"array of projects", `{"projects": []}`, `line 1, column 14: "projects" should be an object`},
		{"array", `[]`, `line 1, column 1: an object was expected`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := config(tt.text)
			want := "test: /home/ada/config.json: " + tt.want
			_, entriesErr := Entries(f)
			_, wrapErr := PlanWrap(f, options())
			_, unwrapErr := PlanUnwrap(f, options())
			for _, err := range []error{entriesErr, wrapErr, unwrapErr} {
				if _, ok := errors.AsType[*FileError](err); !ok || err.Error() != want {
					t.Errorf("got %v, want %s", err, want)
				}
			}
		})
	}
	t.Run("comment where JSON is strict", func(t *testing.T) {
		f := config("{\n  // mine\n}")
		f.Client, f.Format = "", jsonc.Strict
		_, err := PlanWrap(f, options())
		if want := "/home/ada/config.json: line 2, column 3: comment in a file that is read as strict JSON"; err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	})
	t.Run("no launcher", func(t *testing.T) {
		if _, err := PlanWrap(config(`{}`), Options{}); err == nil {
			t.Error("planned without a launcher")
		}
	})
}

func TestDuplicatesElsewhereAreNoneOfOurBusiness(t *testing.T) {
	f := config(`{"a": 1, "a": 2, "mcpServers": {"s": {"command": "srv", "env": {"X": "1", "X": "2"}, "note": 1, "note": 2}}}`)
	if p := mustWrap(t, f, options()); actions(p) != "wrap" {
		t.Errorf("planned %s", actions(p))
	}
}

// TestStepOriginal unwraps by what a plan says to remember, after a client has dropped the sentinel.
func TestStepOriginal(t *testing.T) {
	for _, text := range []string{
		`{"command": "srv", "env": {}}`,
		`{"command": "\u0073rv", "args": null, "env": {}}`,
		`{"command": "srv", "args": ["\u0061", "b"], "env": {}}`,
	} {
		f := one(text)
		p := mustWrap(t, f, options())
		doc, err := jsonc.Parse(p.After, jsonc.Comments)
		if err != nil {
			t.Fatal(err)
		}
		v, _, err := doc.Lookup("mcpServers", "s")
		if err != nil {
			t.Fatal(err)
		}
		i, err := doc.Member(v, Sentinel)
		if err != nil {
			t.Fatal(err)
		}
		o := options()
		o.Originals = map[string]Original{PointerKey(p.Steps[0].Entry.Pointer): p.Steps[0].Original}
		if back := mustUnwrap(t, f.with(jsonc.Apply(p.After, doc.Remove(v, i))), o); !bytes.Equal(back.After, f.Data) {
			t.Errorf("got\n%s\nwant\n%s", back.After, f.Data)
		}
	}
}

func TestChoice(t *testing.T) {
	f := config(`{"mcpServers": {"a": {"command": "1"}, "b": {"command": "2"}}, "projects": {"/w": {"mcpServers": {"a": {"command": "3"}}}}}`)
	for _, tt := range []struct {
		servers []string
		scopes  []clients.Scope
		want    string
	}{
		{nil, nil, "wrap wrap wrap"},
		{[]string{"a"}, nil, "wrap skip wrap"},
		{nil, []clients.Scope{clients.Local}, "skip skip wrap"},
		{[]string{"a"}, []clients.Scope{clients.User}, "wrap skip skip"},
	} {
		o := options()
		o.Servers, o.Scopes = tt.servers, tt.scopes
		p := mustWrap(t, f, o)
		if actions(p) != tt.want {
			t.Errorf("%v %v: %s, want %s", tt.servers, tt.scopes, actions(p), tt.want)
		}
		if got, want := actions(mustUnwrap(t, f.with(p.After), o)), strings.ReplaceAll(tt.want, "wrap", "unwrap"); got != want {
			t.Errorf("unwrap %v %v: %s, want %s", tt.servers, tt.scopes, got, want)
		}
	}
}

func TestShared(t *testing.T) {
	f := one(`{"command": "srv", "env": {"HOME": "/h"}}`)
	f.Shared = true
	o := options()
	o.Home = "/home/ada/state"
	p := mustWrap(t, f, o)
	if e := entry(t, f.with(p.After)); e.Launcher != "bouncer" || strings.Contains(string(p.After), "/home/ada") {
		t.Errorf("a shared file holds one person's paths: %s", p.After)
	}
}

func TestFlags(t *testing.T) {
	o := options()
	o.Policies, o.Profile, o.Home = []string{"/p/a.yaml", "/p/b.yaml"}, "strict", "/state"
	for _, tt := range []struct{ name, env, home string }{
		{"home stays", `{"TOKEN": "x"}`, ""},
		{"home moves", `{"HOME": "/h"}`, `, "--home=/state"`},
		{"state moves", `{"XDG_STATE_HOME": "/h"}`, `, "--home=/state"`},
		{"profile moves", `{"AppData": "/h"}`, `, "--home=/state"`},
		{"the person has settled it", `{"HOME": "/h", "BOUNCER_HOME": "/b"}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := one(`{"command": "srv", "args": ["a"], "env": ` + tt.env + `}`)
			p := mustWrap(t, f, o)
			want := `["run", "--upstream-name=s", "--policy=/p/a.yaml", "--policy=/p/b.yaml", "--profile=strict"` + tt.home + `, "--", "srv", "a"]`
			if !strings.Contains(string(p.After), want) {
				t.Errorf("no %s in\n%s", want, p.After)
			}
			e := entry(t, f.with(p.After))
			if !slices.Equal(e.Policies, o.Policies) || e.Profile != "strict" {
				t.Errorf("read back %q %q", e.Policies, e.Profile)
			}
			if again := mustWrap(t, f.with(p.After), options()); actions(again) != "keep" {
				t.Errorf("a later plan without flags would %s", actions(again))
			}
			if back := mustUnwrap(t, f.with(p.After), options()); !bytes.Equal(back.After, f.Data) {
				t.Errorf("unwrapped\n%s", back.After)
			}
		})
	}
}

func TestRewrap(t *testing.T) {
	for _, tt := range []struct{ name, before, after string }{
		{"launcher moved", `"command": "/old/bouncer", "args": ["run", "--upstream-name=s", "--", "srv"]`, `"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=s", "--policy=/p", "--", "srv"]`},
		{"server renamed", `"command": "bouncer", "args": ["run", "--upstream-name=old", "--policy=/p", "--", "srv"]`, `"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=s", "--policy=/p", "--", "srv"]`},
		{"policy replaced", `"command": "bouncer", "args": ["run", "--upstream-name=s", /* mine */ "--policy=/q", "--profile=strict", "--", "srv"]`, `"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=s", /* mine */ "--policy=/p", "--profile=strict", "--", "srv"]`},
		{"fewer policies", `"command": "bouncer", "args": ["run", "--upstream-name=s", "--policy=/q", "--policy=/r", "--", "srv", "--policy=/t"]`, `"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=s", "--policy=/p", "--", "srv", "--policy=/t"]`},
		{"fewer policies, with a comment", `"command": "bouncer", "args": ["run", "--upstream-name=s", "--policy=/q", /* r */ "--policy=/r", "--", "srv"]`, `"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=s", "--policy=/p", /* r */ "--", "srv"]`},
		{"lines", "\"command\": \"bouncer\", \"args\": [\n  \"run\",\n  \"--upstream-name=s\",\n  \"--\", \"srv\"]", "\"command\": \"/usr/local/bin/bouncer\", \"args\": [\n  \"run\",\n  \"--upstream-name=s\",\n  \"--policy=/p\",\n  \"--\", \"srv\"]"},
		{"only the launcher", `"command": "bouncer", "args": ["run", "--policy", "/p", "--upstream-name", "s", "--verbose", "--", "srv"]`, `"command": "/usr/local/bin/bouncer", "args": ["run", "--policy", "/p", "--upstream-name", "s", "--verbose", "--", "srv"]`},
		{"foreign flag stays", `"command": "bouncer", "args": ["run", "--upstream-name=s", "--verbose", "--", "srv"]`, `"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=s", "--policy=/p", "--verbose", "--", "srv"]`},
		{"nothing to do", `"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=s", "--policy=/p", "--", "srv"]`, `"command": "/usr/local/bin/bouncer", "args": ["run", "--upstream-name=s", "--policy=/p", "--", "srv"]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := options()
			o.Policies = []string{"/p"}
			f := one("{" + tt.before + "}")
			p := mustWrap(t, f, o)
			if want := string(one("{" + tt.after + "}").Data); string(p.After) != want {
				t.Errorf("got\n%s\nwant\n%s", p.After, want)
			}
			if again := mustWrap(t, f.with(p.After), o); actions(again) != "keep" {
				t.Errorf("second time %s:\n%s", actions(again), again.After)
			}
		})
	}
}

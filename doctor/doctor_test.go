package doctor_test

import (
	"errors"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/wrap"
)

const self = "/usr/local/bin/bouncer"

var (
	here    = doctor.Program{Path: self, Self: true}
	other   = doctor.Program{Path: "/opt/bin/bouncer"}
	nothing = doctor.Program{}
	npx     = doctor.Program{Path: "/usr/bin/npx"}
)

// wrapped is an entry that is as it should be, then changed.
func wrapped(change func(*doctor.Entry)) doctor.Entry {
	e := doctor.Entry{
		Entry: wrap.Entry{
			Name: "fs", Scope: clients.User, State: wrap.Wrapped,
			Launcher: self, Command: "npx", Args: []string{"-y", "server"},
		},
		Start: here, Upstream: npx,
	}
	change(&e)
	return e
}

// unwrapped is an entry in another state than wrapped.
func unwrapped(state wrap.State) doctor.Entry {
	return wrapped(func(e *doctor.Entry) {
		e.State, e.Launcher, e.Start, e.Reason = state, "", nothing, "the reason"
	})
}

// plain is an entry that starts without bouncer, then changed.
func plain(change func(*doctor.Entry)) doctor.Entry {
	e := unwrapped(wrap.Plain)
	e.Reason = ""
	change(&e)
	return e
}

var then = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

var plugin = wrap.Uncovered{
	Client: "cursor", Kind: clients.Plugin, Owner: "acme", Path: "/p/mcp.json",
	Entries: []wrap.Entry{{Name: "crm", State: wrap.Plain, Command: "npx", Args: []string{"-y", "server"}}, {Name: "own", State: wrap.Own}},
}

// beside is a plugin's server next to one of the person's own.
func beside(e doctor.Entry) doctor.Facts {
	f := cursor(e)
	f.Sources = []wrap.Uncovered{plugin}
	return f
}

// file is a config with one entry that is as it should be, then changed.
func file(change func(*doctor.File)) doctor.Facts {
	f := cursor(wrapped(func(*doctor.Entry) {}))
	change(&f.Files[0])
	return f
}

// at is what is found when a home was asked for.
func at(home string, f doctor.Facts) doctor.Facts {
	f.Home = home
	return f
}

// twice is a client with two private configs, of which the running program reads one.
func twice(reads string) doctor.Facts {
	return doctor.Facts{
		Clients: []doctor.Client{{ID: "claude-desktop", Name: "Claude Desktop", Reads: reads}},
		Files:   []doctor.File{{Client: "claude-desktop", Path: "/a.json"}, {Client: "claude-desktop", Path: "/b.json"}},
	}
}

// left is a machine on which something was applied once.
func left(e doctor.Entry) doctor.Facts {
	f := cursor(e)
	f.State = doctor.State{Dir: "/s", Generations: 2}
	return f
}

func severities(code string) []doctor.Severity {
	for _, check := range doctor.Checks() {
		if check.Code == code {
			return check.Severities
		}
	}
	return nil
}

func cursor(entries ...doctor.Entry) doctor.Facts {
	return doctor.Facts{
		Launcher: self,
		Clients:  []doctor.Client{{ID: "cursor", Name: "Cursor"}},
		Files:    []doctor.File{{Client: "cursor", Path: "/home/ada/.cursor/mcp.json", Entries: entries}},
	}
}

func project(e doctor.Entry) doctor.Facts {
	f := cursor(e)
	f.Files[0].Shared = true
	return f
}

// hook is a hook that is as it should be, then changed.
func hook(change func(*doctor.Hook)) doctor.Facts {
	h := doctor.Hook{
		Entry:  wrap.Entry{Name: "UserPromptSubmit", Scope: clients.User, State: wrap.Wrapped, Launcher: self},
		Client: doctor.Client{ID: "claude-code", Name: "Claude Code"}, File: "/home/ada/.claude/settings.json", Wrapped: true, Start: here,
	}
	change(&h)
	return doctor.Facts{Launcher: self, Hooks: []doctor.Hook{h}}
}

func managed(e doctor.Entry) doctor.Facts {
	f := cursor(e)
	f.Files[0].Managed = true
	return f
}

// scopes is one name in two scopes of one client.
func scopes(second func(*doctor.Entry)) doctor.Facts {
	f := cursor(wrapped(func(*doctor.Entry) {}))
	f.Files = append(f.Files, doctor.File{
		Client: "cursor", Path: "/w/.cursor/mcp.json", Shared: true,
		Entries: []doctor.Entry{wrapped(func(e *doctor.Entry) {
			e.Scope, e.Project = clients.Project, "/w"
			second(e)
		})},
	})
	return f
}

// TestChecks shows for each check facts that raise it; the message must hold the words given.
func TestChecks(t *testing.T) {
	syntax := &wrap.FileError{Client: "cursor", Path: "/c.json", Err: &jsonc.Error{Line: 4, Col: 7, Msg: "unexpected comma"}}
	typo := &policy.Error{File: "/p.yaml", Line: 2, Col: 3, Msg: "unknown field"}
	tests := []struct {
		code     string
		severity doctor.Severity
		facts    doctor.Facts
		words    string
	}{
		{"client-found", doctor.Info, cursor(), "Cursor, 1 config"},
		{"client-found", doctor.Info, doctor.Facts{}, "no client"},
		{"client-configs", doctor.Info, twice(""), "has several configs: /a.json, /b.json"},
		{"client-configs", doctor.Info, twice("/b.json"), "is running reads /b.json"},
		{"config-unreadable", doctor.Error, file(func(f *doctor.File) { f.Bare, f.Err = true, syntax }), "these settings can't be read: unexpected comma"},
		{"config-exposed", doctor.Warning, file(func(f *doctor.File) { f.Open = true }), "can write it"},
		{"config-exposed", doctor.Warning, file(func(f *doctor.File) { f.Legible, f.Entries[0].Secrets = true, []string{"env TOKEN"} }), "it holds secrets"},
		{"secret-plain", doctor.Info, cursor(wrapped(func(e *doctor.Entry) { e.Secrets = []string{"env TOKEN", "an argument"} })), "env TOKEN, an argument"},
		{"secret-plain", doctor.Warning, project(wrapped(func(e *doctor.Entry) { e.Secrets = []string{"env TOKEN"} })), "others get too"},
		{"server-undone", doctor.Warning, cursor(plain(func(e *doctor.Entry) { e.Undone = then })), "was wrapped on 2026-11-30, and starts npx without bouncer now"},
		{"server-added", doctor.Warning, cursor(plain(func(e *doctor.Entry) { e.Added = true })), "came after init"},
		{"server-aside", doctor.Info, cursor(plain(func(e *doctor.Entry) { e.Aside = true })), "as init --skip was told"},
		{"server-aside", doctor.Info, cursor(wrapped(func(e *doctor.Entry) { e.Aside = true })), "until it is unwrapped"},
		{"server-gone", doctor.Info, file(func(f *doctor.File) { f.Gone = []doctor.Gone{{Name: "db", When: then}} }), "was wrapped on 2026-11-30"},
		{"server-uncovered", doctor.Warning, doctor.Facts{Sources: []wrap.Uncovered{plugin}}, `comes from the plugin "acme" and starts without bouncer`},
		{"server-uncovered", doctor.Warning, beside(wrapped(func(*doctor.Entry) {})), `beside "fs", which is the same server`},
		{"server-uncovered", doctor.Warning, doctor.Facts{Sources: []wrap.Uncovered{{Kind: clients.Organisation, Err: fs.ErrPermission}}}, "belongs to the organisation's settings"},
		{"server-unpinned", doctor.Info, cursor(wrapped(func(*doctor.Entry) {})), "whatever version of server"},
		{"project-approved", doctor.Info, project(wrapped(func(e *doctor.Entry) { e.Effect = wrap.Approved })), "by its name"},
		{"hook-missing", doctor.Info, hook(func(h *doctor.Hook) { h.State = wrap.Plain }), "Claude Code does not tell bouncer what you type"},
		{"hook-missing", doctor.Warning, hook(func(h *doctor.Hook) { h.State, h.Lost = wrap.Plain, then }), "was put in on 2026-11-30"},
		{"hook-barred", doctor.Info, hook(func(h *doctor.Hook) { h.State, h.Barred = wrap.Plain, "disableAllHooks" }), "what you type: disableAllHooks"},
		{"hook-barred", doctor.Info, hook(func(h *doctor.Hook) { h.Barred, h.Wrapped = "disableAllHooks", false }), "disableAllHooks"},
		{"hook-launcher", doctor.Warning, hook(func(h *doctor.Hook) { h.Start = nothing }), "which does not exist"},
		{"hook-launcher", doctor.Warning, hook(func(h *doctor.Hook) { h.Start = other }), "which is not this bouncer"},
		{"hook-launcher", doctor.Warning, hook(func(h *doctor.Hook) { h.Start.Fleeting = true }), "won't last"},
		{"hook-launcher", doctor.Warning, at("/b", hook(func(*doctor.Hook) {})), "is not told to use /b"},
		{"hook-unguarded", doctor.Warning, hook(func(h *doctor.Hook) { h.Reason = "may end with a code" }), "may end with a code"},
		{"hook-idle", doctor.Info, hook(func(h *doctor.Hook) { h.Wrapped = false }), "no server of Claude Code"},
		{"upstream-missing", doctor.Error, cursor(plain(func(e *doctor.Entry) { e.Upstream = nothing })), "starts npx, but"},
		{"upstream-missing", doctor.Error, cursor(wrapped(func(e *doctor.Entry) { e.Upstream.Needs = "node" })), "which needs node"},
		{"upstream-off-path", doctor.Warning, cursor(wrapped(func(e *doctor.Entry) { e.Upstream.Beyond, e.Upstream.PATH = doctor.Lost, "/usr/bin:/bin" })), "the client has /usr/bin:/bin and"},
		{"upstream-off-path", doctor.Info, cursor(wrapped(func(e *doctor.Entry) { e.Upstream.Beyond = doctor.Unlikely })), "login shell"},
		{"upstream-off-path", doctor.Info, cursor(wrapped(func(e *doctor.Entry) { e.Upstream.Beyond, e.Upstream.Needs = doctor.Doubtful, "node" })), "which needs node, in your home"},
		{"state-left", doctor.Info, left(plain(func(*doctor.Entry) {})), "no server starts through bouncer any more"},
		{"tools-listed", doctor.Info, cursor(wrapped(func(e *doctor.Entry) {
			e.Probe = &doctor.Probe{Tools: []doctor.Tool{{Name: "send", Sink: true}, {Name: "read"}}}
		})), "lists 2 tools, 1 of which"},
		{"tools-unlisted", doctor.Warning, cursor(wrapped(func(e *doctor.Entry) { e.Probe = &doctor.Probe{Err: errors.New("it ended")} })), "it ended"},
		{"tools-skipped", doctor.Info, cursor(wrapped(func(e *doctor.Entry) { e.Probe = &doctor.Probe{Skipped: "it is off"} })), "it is off"},
		{"sink-undeclared", doctor.Warning, cursor(wrapped(func(e *doctor.Entry) {
			e.Probe = &doctor.Probe{Loose: []doctor.Loose{{"send", "bcc", "policy /p.yaml"}}}
		})), "send: bcc looks like a destination, but policy /p.yaml leaves it out"},
		{"config-unreadable", doctor.Error, doctor.Facts{Files: []doctor.File{{Client: "cursor", Path: "/c.json", Err: syntax}}}, "unexpected comma"},
		{"config-managed", doctor.Warning, managed(unwrapped(wrap.Plain)), "1 server,"},
		{"server-unwrapped", doctor.Warning, cursor(unwrapped(wrap.Plain)), "starts npx without bouncer"},
		{"server-remote", doctor.Warning, cursor(unwrapped(wrap.Remote)), "bypass"},
		{"server-denied", doctor.Info, cursor(unwrapped(wrap.Denied)), "does not start it: the reason"},
		{"server-denied", doctor.Warning, cursor(unwrapped(wrap.Listed)), "starts without bouncer: the reason"},
		{"server-denied", doctor.Warning, cursor(wrapped(func(e *doctor.Entry) { e.Reason = "on the client's deny list" })), "without bouncer it is on the client's deny list"},
		{"server-invalid", doctor.Warning, cursor(unwrapped(wrap.Invalid)), "the reason"},
		{"server-duplicate", doctor.Info, scopes(func(*doctor.Entry) {}), "user, project, each time with the same command"},
		{"server-duplicate", doctor.Warning, scopes(func(e *doctor.Entry) { e.Args = nil }), "different servers in the scopes user, project"},
		{"launcher-missing", doctor.Error, cursor(wrapped(func(e *doctor.Entry) { e.Start = nothing })), "does not exist"},
		{"launcher-missing", doctor.Error, cursor(wrapped(func(e *doctor.Entry) { e.Launcher, e.Start = "bouncer", nothing })), "not on PATH"},
		{"launcher-moved", doctor.Warning, cursor(wrapped(func(e *doctor.Entry) { e.Launcher, e.Start = other.Path, other })), "starts /opt/bin/bouncer, which is not this bouncer (" + self + ")"},
		{"launcher-versioned", doctor.Warning, cursor(wrapped(func(e *doctor.Entry) { e.Start.Fleeting = true })), "won't last"},
		{"launcher-shadowed", doctor.Error, cursor(wrapped(func(e *doctor.Entry) { e.Launcher, e.Start = "bouncer", other })), "first on PATH is /opt/bin/bouncer"},
		{"arguments-refused", doctor.Error, cursor(wrapped(func(e *doctor.Entry) { e.Refused = "unknown flag: --foo" })), "refuses its arguments: unknown flag: --foo"},
		{"home-differs", doctor.Warning, at("/h", cursor(wrapped(func(e *doctor.Entry) { e.Home = "/other" }))), "is not told to use /h"},
		{"home-differs", doctor.Info, at("/h", file(func(f *doctor.File) { f.Shared = true })), "is not told to use /h"},
		{"server-unwrapped", doctor.Warning, cursor(plain(func(e *doctor.Entry) { e.Command = "/x --token=abc" })), "starts '/x --token=***' without"},
		{"launcher-unfit", doctor.Info, doctor.Facts{Unfit: "it lies in a temporary folder"}, "temporary"},
		{"upstream-missing", doctor.Error, cursor(wrapped(func(e *doctor.Entry) { e.Upstream = nothing })), "starts npx through bouncer"},
		{"sentinel-stale", doctor.Warning, cursor(unwrapped(wrap.Stale)), "without bouncer"},
		{"sentinel-disagrees", doctor.Warning, cursor(wrapped(func(e *doctor.Entry) { e.Disagree, e.Reordered = true, true })), "has other arguments"},
		{"sentinel-disagrees", doctor.Warning, cursor(wrapped(func(e *doctor.Entry) { e.Disagree = true })), "starts npx, but"},
		{"sentinel-dropped", doctor.Info, cursor(wrapped(func(e *doctor.Entry) { e.NoSentinel = true })), "can be unwrapped"},
		{"entry-legacy", doctor.Info, cursor(wrapped(func(e *doctor.Entry) { e.Legacy = true })), "Python"},
		{"entry-legacy", doctor.Error, cursor(wrapped(func(e *doctor.Entry) { e.Legacy, e.Reason = true, "holds no record" })), "no record"},
		{"project-flags", doctor.Warning, project(wrapped(func(e *doctor.Entry) { e.Policies = []string{"/p.yaml"} })), "chooses"},
		{"project-flags", doctor.Warning, project(wrapped(func(e *doctor.Entry) { e.Profile = "observe" })), "chooses"},
		{"server-observed", doctor.Info, cursor(wrapped(func(e *doctor.Entry) { e.Observed = true })), "every call passes"},
		{"policy-invalid", doctor.Error, doctor.Facts{Policies: []doctor.Policy{{Path: "/p.yaml", Err: typo}}}, "unknown field"},
		{"policy-invalid", doctor.Error, doctor.Facts{Policies: []doctor.Policy{{Path: "/p.yaml", Err: fs.ErrNotExist}}}, "file does not exist, and servers that are told"},
		{"pins-waiting", doctor.Warning, cursor(wrapped(func(e *doctor.Entry) { e.Pins.Waiting = 2 })), "2 changes are waiting"},
		{"audit-unreadable", doctor.Error, doctor.Facts{Audit: doctor.Audit{Dir: "/s", Err: fs.ErrPermission}}, "permission denied"},
		{"audit-broken", doctor.Error, doctor.Facts{Audit: doctor.Audit{Report: audit.Report{Fault: &audit.Fault{File: "/s/audit.jsonl", Line: 3, Seq: 9, Reason: "wrong hash"}}}}, "record 9: wrong hash"},
	}
	shown := map[string]bool{}
	for _, test := range tests {
		shown[test.code] = true
		t.Run(test.code, func(t *testing.T) {
			found := only(doctor.Diagnose(test.facts), test.code)
			if len(found) != 1 {
				t.Fatalf("%d findings, want 1: %+v", len(found), found)
			}
			allowed := severities(test.code)
			if f := found[0]; f.Severity != test.severity || !slices.Contains(allowed, f.Severity) || !strings.Contains(f.Message, test.words) {
				t.Errorf("got %s: %s", f.Severity, f.Message)
			}
		})
	}
	for _, check := range doctor.Checks() {
		if !shown[check.Code] {
			t.Errorf("no facts raise %s", check.Code)
		}
	}
}

func only(found []doctor.Finding, code string) []doctor.Finding {
	return slices.DeleteFunc(found, func(f doctor.Finding) bool { return f.Code != code })
}

// TestNoProblem shows what must not be held against anybody.
func TestNoProblem(t *testing.T) {
	tests := []struct {
		name  string
		facts doctor.Facts
	}{
		{"all is well", cursor(wrapped(func(*doctor.Entry) {}))},
		{"bouncer's own servers", cursor(unwrapped(wrap.Own))},
		{"a server that is switched off, and not installed", cursor(wrapped(func(e *doctor.Entry) { e.Effect, e.Upstream = wrap.Off, nothing }))},
		{"a server that is to be left alone", cursor(plain(func(e *doctor.Entry) { e.Aside, e.Undone, e.Added = true, then, true }))},
		{"a private file that others may read and that holds no secret", file(func(f *doctor.File) { f.Legible = true })},
		{"wrapped servers, and backups of them", left(wrapped(func(*doctor.Entry) {}))},
		{"the client expands the upstream first", cursor(wrapped(func(e *doctor.Entry) {
			e.Command, e.Upstream = "${TOOLS}/server", doctor.Program{Unknown: true}
		}))},
		{"the client expands the launcher first", cursor(wrapped(func(e *doctor.Entry) {
			e.Launcher, e.Start = "${HOME}/bin/bouncer", doctor.Program{Unknown: true}
		}))},
		{"a bare launcher that is this bouncer", project(wrapped(func(e *doctor.Entry) { e.Launcher = "bouncer" }))},
		{"a hook", hook(func(*doctor.Hook) {})},
		{"a hook that a person does not want", hook(func(h *doctor.Hook) { h.State, h.Aside, h.Lost = wrap.Plain, true, then })},
		{"no hook, and no server either", hook(func(h *doctor.Hook) { h.State, h.Wrapped = wrap.Plain, false })},
		{"a hook of a home that was asked for", at(`C:\b`, hook(func(h *doctor.Hook) { h.Home = "C:/b" }))},
		{"a launcher of the hook that can't be told", hook(func(h *doctor.Hook) { h.Start = doctor.Program{Unknown: true} })},
		{"own flags in a private file", cursor(wrapped(func(e *doctor.Entry) {
			e.Policies, e.Profile = []string{"/p.yaml"}, "strict"
		}))},
		{"policies and audit log in order", doctor.Facts{
			Policies: []doctor.Policy{{Path: "/p.yaml"}},
			Audit:    doctor.Audit{Dir: "/s", Report: audit.Report{Records: 4, Files: 1}},
		}},
		{"this bouncer is a build that does not last: others can't be compared with it", func() doctor.Facts {
			f := cursor(wrapped(func(e *doctor.Entry) { e.Launcher, e.Start = other.Path, other }))
			f.Launcher, f.Unfit = "", "it lies in a temporary folder"
			return f
		}()},
		{"one name in two projects", doctor.Facts{Files: []doctor.File{{Client: "claude-code", Entries: []doctor.Entry{
			wrapped(func(e *doctor.Entry) { e.Scope, e.Project = clients.Local, "/w/a" }),
			wrapped(func(e *doctor.Entry) { e.Scope, e.Project, e.Args = clients.Local, "/w/b", nil }),
			wrapped(func(e *doctor.Entry) { e.Scope, e.Project, e.Args = clients.Project, "/w/c", nil }),
		}}}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if found := doctor.Diagnose(test.facts); doctor.Problems(found) {
				t.Errorf("%+v", found)
			}
		})
	}
}

func TestErrorsComeFirst(t *testing.T) {
	f := cursor(unwrapped(wrap.Plain), wrapped(func(e *doctor.Entry) { e.Name, e.Upstream = "b", nothing }))
	var got []doctor.Severity
	for _, finding := range doctor.Diagnose(f) {
		got = append(got, finding.Severity)
	}
	if want := []doctor.Severity{doctor.Error, doctor.Warning, doctor.Info}; !slices.Equal(slices.Compact(got), want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryPolicyFault(t *testing.T) {
	err := errors.Join(&policy.Error{Line: 2, Col: 3, Msg: "a"}, &policy.Error{Line: 5, Col: 1, Msg: "b"})
	found := only(doctor.Diagnose(doctor.Facts{Policies: []doctor.Policy{{Path: "/p.yaml", Err: err}}}), "policy-invalid")
	if len(found) != 2 || found[0].Line != 2 || found[1].Line != 5 || found[1].Column != 1 || found[1].File != "/p.yaml" {
		t.Errorf("%+v", found)
	}
}

// TestFirstRun says once what to do, where nothing is wrapped yet.
func TestFirstRun(t *testing.T) {
	second := unwrapped(wrap.Plain)
	second.Name = "db"
	f := cursor(unwrapped(wrap.Plain), second)
	f.Files = append(f.Files, doctor.File{Client: "cursor", Path: "/w/.cursor/mcp.json", Shared: true, Entries: []doctor.Entry{second}})
	f.Files[1].Entries[0].Scope = clients.Project
	repairs := func(f doctor.Facts) []string {
		var list []string
		for _, finding := range only(doctor.Diagnose(f), "server-unwrapped") {
			list = append(list, finding.Repair)
		}
		return list
	}
	project := "bouncer init --client=cursor --scope=project --server=db"
	if got := repairs(f); !slices.Equal(got, []string{"", "bouncer init puts bouncer in front of these 2 servers", project}) {
		t.Errorf("nothing wrapped: %q", got)
	}
	f.Files[0].Entries = append(f.Files[0].Entries, wrapped(func(*doctor.Entry) {}))
	one := "bouncer init --client=cursor --scope=user --server="
	if got := repairs(f); !slices.Equal(got, []string{one + "fs", one + "db", project}) {
		t.Errorf("one wrapped: %q", got)
	}
}

// TestRepairIsSafeToPaste gives a server a name that a shell would run.
func TestRepairIsSafeToPaste(t *testing.T) {
	e := unwrapped(wrap.Plain)
	e.Name = "a'; rm -rf ~ #"
	found := only(doctor.Diagnose(cursor(e)), "server-unwrapped")
	if want := `bouncer init --client=cursor --scope=user '--server=a'\''; rm -rf ~ #'`; len(found) != 1 || found[0].Repair != want {
		t.Errorf("got %+v, want repair %s", found, want)
	}
}

// TestDocs keeps docs/doctor.md and the code in step: the same codes, in the same order.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../docs/doctor.md")
	if err != nil {
		t.Fatal(err)
	}
	var documented, coded []string
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z-]+)` \\| ([a-z, ]+) \\| (.+) \\|$").FindAllStringSubmatch(string(text), -1) {
		documented = append(documented, m[1]+" ("+m[2]+"): "+m[3])
	}
	for _, check := range doctor.Checks() {
		var severities []string
		for _, s := range check.Severities {
			severities = append(severities, string(s))
		}
		coded = append(coded, check.Code+" ("+strings.Join(severities, ", ")+"): "+check.About)
	}
	if !slices.Equal(documented, coded) {
		t.Errorf("docs/doctor.md lists\n%s\nthe code has\n%s", strings.Join(documented, "\n"), strings.Join(coded, "\n"))
	}
}

// TestUndoneIsSaidOnce: a server that was wrapped and is not any more is no news twice over.
func TestUndoneIsSaidOnce(t *testing.T) {
	for _, change := range []func(*doctor.Entry){
		func(e *doctor.Entry) { e.Undone, e.Added = then, true },
		func(e *doctor.Entry) { e.Added = true },
		func(e *doctor.Entry) { e.Aside = true },
		func(*doctor.Entry) {},
	} {
		found := doctor.Diagnose(cursor(plain(change)))
		about := slices.DeleteFunc(found, func(f doctor.Finding) bool {
			return !slices.Contains([]string{"server-undone", "server-added", "server-unwrapped", "server-aside"}, f.Code)
		})
		if len(about) != 1 {
			t.Errorf("%+v", about)
		}
	}
}

func TestUnpinned(t *testing.T) {
	tests := []struct{ line, want string }{
		{"npx -y pkg", "pkg"},
		{"npx pkg", "pkg"},
		{"npx.cmd -y @scope/pkg", "@scope/pkg"},
		{"npx -y @scope/pkg@latest /work", "@scope/pkg"},
		{"npx -y @scope/pkg@^1.2", "@scope/pkg"},
		{"npx -y @scope/pkg@1.2.3", ""},
		{"npx --package=pkg cmd", "pkg"},
		{"npx -p pkg@2 cmd", ""},
		{`C:\node\npx.cmd -y pkg`, "pkg"},
		{"cmd /c npx -y pkg", "pkg"},
		{"cmd /c npx -y pkg@1.0.0", ""},
		{"uvx pkg", "pkg"},
		{"uvx pkg==1.2", ""},
		{"uvx pkg@1.2", ""},
		{"uvx --from pkg cmd", "pkg"},
		{"uvx --python 3.12 pkg", "pkg"},
		{"uvx --from git+https://x/y cmd", ""},
		{"bunx pkg", "pkg"},
		{"pnpm dlx pkg", "pkg"},
		{"pipx run pkg", "pkg"},
		{"npm exec pkg", "pkg"},
		{"npx -y ./local", ""},
		{"npx -y ${PKG}", ""},
		{"npx", ""},
		{"node server.js", ""},
		{"pnpm start", ""},
	}
	for _, test := range tests {
		words := strings.Split(test.line, " ")
		found := only(doctor.Diagnose(cursor(wrapped(func(e *doctor.Entry) { e.Command, e.Args = words[0], words[1:] }))), "server-unpinned")
		got := ""
		if len(found) == 1 {
			_, got, _ = strings.Cut(found[0].Message, "version of ")
			got = strings.TrimSuffix(got, " is the newest")
		}
		if got != test.want {
			t.Errorf("%s: %q, want %q", test.line, got, test.want)
		}
	}
}

package wrap

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

const hookText = "/usr/local/bin/bouncer hook prompt || exit 0"

func settingsFile(text string) File {
	return File{
		Client: "claude-code", Path: "/home/ada/.claude/settings.json", Data: []byte(text), Mode: 0o600,
		Hook: &Hook{Event: "UserPromptSubmit", OS: "linux"},
	}
}

func hookOptions() Options { return Options{Launcher: "/usr/local/bin/bouncer"} }

// ours is a person's command beside which bouncer's stands.
const theirs = `{"hooks": [{"type": "command", "command": "echo hi"}]}`

func TestHookLayout(t *testing.T) {
	const group = `{"hooks": [{"type": "command", "command": "` + hookText + `"}]}`
	tests := []struct{ name, before, after string }{
		{"blanks", "\n", `{ "hooks": { "UserPromptSubmit": [ ` + group + ` ] } }` + "\n"},
		{"byte-order mark", "\xef\xbb\xbf", "\xef\xbb\xbf" + `{ "hooks": { "UserPromptSubmit": [ ` + group + ` ] } }`},
		{"empty object", "{}\n", `{"hooks": { "UserPromptSubmit": [ ` + group + ` ] }}` + "\n"},
		{"one line", `{"model": "x"}`, `{"model": "x", "hooks": { "UserPromptSubmit": [ ` + group + ` ] }}`},
		{"empty hooks", `{"hooks": {}}`, `{"hooks": {"UserPromptSubmit": [ ` + group + ` ]}}`},
		{"empty list", `{"hooks": {"UserPromptSubmit": []}}`, `{"hooks": {"UserPromptSubmit": [` + group + `]}}`},
		{"another in a line", `{"hooks": {"UserPromptSubmit": [` + theirs + `]}}`, `{"hooks": {"UserPromptSubmit": [` + group + `, ` + theirs + `]}}`},
		{
			"lines",
			"{\r\n\t\"model\": \"x\"\r\n}",
			"{\r\n\t\"model\": \"x\",\r\n\t\"hooks\": {\r\n\t\t\"UserPromptSubmit\": [\r\n\t\t\t{\r\n\t\t\t\t\"hooks\": [\r\n\t\t\t\t\t{\r\n" +
				"\t\t\t\t\t\t\"type\": \"command\",\r\n\t\t\t\t\t\t\"command\": \"" + hookText + "\"\r\n" +
				"\t\t\t\t\t}\r\n\t\t\t\t]\r\n\t\t\t}\r\n\t\t]\r\n\t}\r\n}",
		},
		{
			"another event",
			"{\n  \"hooks\": {\n    \"Stop\": []\n  },\n  \"model\": \"x\"\n}\n",
			"{\n  \"hooks\": {\n    \"Stop\": [],\n    \"UserPromptSubmit\": [\n      {\n        \"hooks\": [\n          {\n" +
				"            \"type\": \"command\",\n            \"command\": \"" + hookText + "\"\n          }\n        ]\n      }\n    ]\n  },\n  \"model\": \"x\"\n}\n",
		},
		{
			"another in lines",
			"{\n \"hooks\": {\n  \"UserPromptSubmit\": [\n   " + theirs + "\n  ]\n }\n}\n",
			"{\n \"hooks\": {\n  \"UserPromptSubmit\": [\n   {\n    \"hooks\": [\n     {\n      \"type\": \"command\",\n      \"command\": \"" + hookText + "\"\n     }\n    ]\n   },\n   " + theirs + "\n  ]\n }\n}\n",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := mustWrap(t, settingsFile(tt.before), hookOptions())
			if string(p.After) != tt.after || p.Steps[0].Action != AddHook {
				t.Errorf("%s\n%s\nwant\n%s", p.Steps[0].Action, p.After, tt.after)
			}
		})
	}
}

// TestHookNewFile makes a file that was not there, and takes all of it away again, but only as long as nobody else wrote in it.
func TestHookNewFile(t *testing.T) {
	f := settingsFile("")
	f.Hook.Absent = true
	p := mustWrap(t, f, hookOptions())
	const want = `{
  "hooks": {
    "UserPromptSubmit": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/usr/local/bin/bouncer hook prompt || exit 0"
          }
        ]
      }
    ]
  }
}
`
	if string(p.After) != want || !p.New {
		t.Fatalf("new %v:\n%s", p.New, p.After)
	}
	back, err := PlanUnwrap(settingsFile(want), hookOptions())
	if err != nil || !back.Gone || len(back.After) > 0 {
		t.Errorf("back: %v, gone %v\n%s", err, back.Gone, back.After)
	}
	changed := strings.Replace(want, "{\n", "{\n  \"model\": \"x\",\n", 1)
	back, err = PlanUnwrap(settingsFile(changed), hookOptions())
	if err != nil || back.Gone || string(back.After) != "{\n  \"model\": \"x\"\n}\n" {
		t.Errorf("changed: %v, gone %v\n%s", err, back.Gone, back.After)
	}
}

func TestHookStands(t *testing.T) {
	installed := func(command string) string {
		return `{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": ` + string(jsonc.Quote(command)) + `}]}]}}`
	}
	tests := []struct {
		name, text string
		change     func(*File, *Options)
		action     Action
		says       string // of the step, or what the command becomes
	}{
		{"installed", installed(hookText), nil, Keep, ""},
		{"moved launcher", installed("/old/bouncer hook prompt || exit 0"), nil, MoveHook, hookText},
		{"launcher with blanks", installed("/old/bouncer hook prompt || exit 0"), func(_ *File, o *Options) {
			o.Launcher = "/opt/it's mine/bouncer"
		}, MoveHook, `'/opt/it'\\''s mine/bouncer' hook prompt || exit 0`},
		{"unguarded", installed("/usr/local/bin/bouncer hook prompt"), nil, MoveHook, hookText},
		{"another home", installed(hookText), func(_ *File, o *Options) { o.Home, o.Homed = "/home/ada/b", true }, MoveHook, "bouncer hook prompt --home=/home/ada/b || exit 0"},
		{"its home stays", installed("/old/bouncer hook prompt --home=/b || exit 0"), nil, MoveHook, "bouncer hook prompt --home=/b || exit 0"},
		{"Windows", installed("C:/old/bouncer.exe hook prompt; exit 0"), func(f *File, o *Options) {
			f.Hook.OS, o.Launcher = "windows", `C:\Users\ada\bin\bouncer.exe`
		}, MoveHook, `C:/Users/ada/bin/bouncer.exe hook prompt; exit 0`},
		{"Windows, installed", installed("C:/b/bouncer.exe hook prompt; exit 0"), func(f *File, o *Options) {
			f.Hook.OS, o.Launcher = "windows", `C:\b\bouncer.exe`
		}, Keep, ""},
		{"Windows, a blank in the path", "{}", func(f *File, o *Options) {
			f.Hook.OS, o.Launcher = "windows", `C:\Program Files\bouncer.exe`
		}, Skip, "not every shell"},
		{"a variable to the client", "{}", func(_ *File, o *Options) { o.Launcher = "/opt/${X}/bouncer" }, Skip, "variable"},
		{"more than bouncer's", installed("/usr/local/bin/bouncer hook prompt && make"), nil, Skip, "says more"},
		{"another server is chosen", "{}", func(_ *File, o *Options) { o.Servers = []string{"db"} }, Skip, "not chosen"},
		{"another scope is chosen", "{}", func(_ *File, o *Options) { o.Scopes = []clients.Scope{clients.Project} }, Skip, "not chosen"},
		{"left alone", "{}", func(_ *File, o *Options) {
			o.Aside = map[string]string{PointerKey([]string{"hooks", "UserPromptSubmit"}): "left alone"}
		}, Skip, "left alone"},
		{"forbidden", "{}", func(f *File, _ *Options) { f.Hook.Barred = "switched off" }, Skip, "switched off"},
		{"somebody else's", installed("/opt/other hook prompt || exit 0"), nil, AddHook, hookText},
		{"shapes that are nobody's", `{"hooks": {"UserPromptSubmit": [3, {"hooks": {}}, {"hooks": [null, {"command": 3}]}]}}`, nil, AddHook, hookText},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, o := settingsFile(tt.text), hookOptions()
			if tt.change != nil {
				tt.change(&f, &o)
			}
			p := mustWrap(t, f, o)
			step := p.Steps[0]
			if step.Action != tt.action {
				t.Fatalf("%s (%s)\n%s", step.Action, step.Reason, p.After)
			}
			if says := step.Reason + string(p.After); !strings.Contains(says, tt.says) {
				t.Errorf("%s", says)
			}
			if changed := !bytes.Equal(p.Before, p.After); changed != (step.Action == AddHook || step.Action == MoveHook) {
				t.Errorf("%s, and changed %v", step.Action, changed)
			}
		})
	}
}

func TestHookRefuses(t *testing.T) {
	tests := []struct{ name, text, says string }{
		{"comment", "{\n  // mine\n}", "line 2, column 3: comment in a file that is read as strict JSON; its client leaves out the whole file, permission rules included"},
		{"trailing comma", `{"model": "x",}`, "line 1, column 14: trailing comma"},
		{"list", "[]", "line 1, column 1: an object was expected"},
		{"hooks of another shape", `{"hooks": []}`, `line 1, column 11: "hooks" should be an object`},
		{"hooks twice", `{"hooks": {}, "hooks": {}}`, "line 1, column 15: duplicate key"},
		{"event of another shape", `{"hooks": {"UserPromptSubmit": {}}}`, `line 1, column 32: "UserPromptSubmit" should be an array`},
		{"event twice", `{"hooks": {"UserPromptSubmit": [], "UserPromptSubmit": []}}`, "duplicate key"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, plan := range []func(File, Options) (Plan, error){PlanWrap, PlanUnwrap} {
				_, err := plan(settingsFile(tt.text), hookOptions())
				fault, ok := errors.AsType[*FileError](err)
				if !ok || !strings.Contains(err.Error(), tt.says) {
					t.Fatalf("%v", err)
				}
				if _, placed := errors.AsType[*jsonc.Error](fault.Err); !placed {
					t.Errorf("no place: %v", err)
				}
			}
		})
	}
}

// TestHookBesideOthers takes the hook out of settings in which much has happened since.
func TestHookBesideOthers(t *testing.T) {
	const ours = `{"type": "command", "command": "` + hookText + `"}`
	tests := []struct{ name, before, after string }{
		{"written anew by the client", "{\n  \"hooks\": {\n    \"UserPromptSubmit\": [\n      {\n        \"hooks\": [\n          " + ours + "\n        ]\n      }\n    ]\n  },\n  \"model\": \"x\"\n}", "{\n  \"model\": \"x\"\n}"},
		{"in one group with another", `{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "a"}, ` + ours + `]}]}}`, `{"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "command", "command": "a"}]}]}}`},
		{"behind another", `{"hooks": { "UserPromptSubmit": [ ` + theirs + `, {"hooks": [` + ours + `]} ] }}`, `{"hooks": { "UserPromptSubmit": [ ` + theirs + ` ] }}`},
		{"twice", `{"hooks": {"UserPromptSubmit": [{"hooks": [` + ours + `, ` + ours + `]}, {"hooks": [` + ours + `]}]}}`, `{"hooks": {"UserPromptSubmit": []}}`},
		{"another event since", `{"hooks": { "UserPromptSubmit": [ {"hooks": [` + ours + `]} ], "Stop": [] }}`, `{"hooks": { "Stop": [] }}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := PlanUnwrap(settingsFile(tt.before), hookOptions())
			if err != nil || string(p.After) != tt.after || p.Gone || p.Steps[0].Action != DropHook {
				t.Errorf("%v, %v\n%s\nwant\n%s", err, p.Steps, p.After, tt.after)
			}
		})
	}
}

// TestHookAfterRewrite has the client write its settings anew with the hook in them, and asserts that what it then reads
// without the hook is what it read before.
func TestHookAfterRewrite(t *testing.T) {
	for _, text := range []string{
		`{"model":"x","hooks":{"Stop":[` + theirs + `]}}`,
		"{\n\t\"hooks\": {\n\t\t\"UserPromptSubmit\": [\n\t\t\t" + theirs + "\n\t\t]\n\t}\n}\n",
		`{"permissions": {"allow": []}, "model": "x"}`,
	} {
		p := mustWrap(t, settingsFile(text), hookOptions())
		doc := mustParse(t, p.After)
		back, err := PlanUnwrap(settingsFile(string(rewrite(doc, doc.Root, "\n", ""))), hookOptions())
		if err != nil {
			t.Fatal(err)
		}
		was, is := mustParse(t, []byte(text)), mustParse(t, back.After)
		if want, got := rewrite(was, was.Root, "\n", ""), rewrite(is, is.Root, "\n", ""); !bytes.Equal(got, want) {
			t.Errorf("%s\nwant\n%s", got, want)
		}
	}
}

func mustParse(t *testing.T, text []byte) *jsonc.Doc {
	t.Helper()
	doc, err := jsonc.Parse(text, jsonc.Strict)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// checkHook asserts what must hold for any settings.
func checkHook(t *testing.T, f File) {
	t.Helper()
	p, err := PlanWrap(f, hookOptions())
	if err != nil {
		if _, readErr := Entries(f, launcher); readErr == nil {
			t.Fatalf("readable, but refused: %v", err)
		}
		return
	}
	with := settingsFile(string(p.After))
	again, err := PlanWrap(with, hookOptions())
	if err != nil || !bytes.Equal(again.After, p.After) {
		t.Fatalf("twice: %v\n%s", err, again.After)
	}
	back, err := PlanUnwrap(with, hookOptions())
	if err != nil {
		t.Fatal(err)
	}
	if p.Steps[0].Action == AddHook && (!bytes.Equal(back.After, f.Data) || back.Gone != f.Hook.Absent) {
		t.Fatalf("back, gone %v:\n%s\nwant\n%s", back.Gone, back.After, f.Data)
	}
	if entries, err := Entries(settingsFile(string(back.After)), launcher); !back.Gone && p.Steps[0].Action == AddHook && (err != nil || entries[0].State != Plain) {
		t.Fatalf("it is still there: %v %v\n%s", err, entries, back.After)
	}
}

func FuzzHook(f *testing.F) {
	for _, seed := range []string{
		"", "\n", "{}", "{\n}\n", "\xef\xbb\xbf{}", `{"model":"x"}`, "{\r\n\t\"model\": \"x\"\r\n}", `{"hooks":{}}`, `{ "hooks": {  } }`,
		`{"hooks":{"UserPromptSubmit":[]}}`, "{\"hooks\":{\"UserPromptSubmit\":[\n]}}", `{"hooks":{"UserPromptSubmit":[` + theirs + `]}}`,
		`{"hooks": {"Stop": []}, "model": "x"}`, "{\n  \"a\": 1, \"b\": 2\n}", `{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"/old/bouncer hook prompt"}]}]}}`,
		`{"hooks":{"UserPromptSubmit":[1,{"hooks":{}},{"hooks":[[]]}]}}`, "{ \"hooks\": {\n } }", string(freshSettings("UserPromptSubmit", hookText)),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) { checkHook(t, settingsFile(text)) })
}

// TestHookAnyLayout draws settings in every layout that their grammar allows.
func TestHookAnyLayout(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	blank := func() string { return []string{"", "", " ", "\n", "\n  ", "\r\n\t", "  \n"}[r.IntN(7)] }
	var value func(depth int) string
	value = func(depth int) string {
		if depth == 0 || r.IntN(3) == 0 {
			return []string{"1", `"x"`, "null", "[]", "{}", "true"}[r.IntN(6)]
		}
		var items []string
		for i := range r.IntN(3) {
			items = append(items, blank()+`"k`+string(rune('a'+i))+`"`+blank()+":"+blank()+value(depth-1))
		}
		return "{" + strings.Join(items, blank()+",") + blank() + "}"
	}
	around := func(key, inner string) string {
		members := []string{blank() + `"` + key + `"` + blank() + ":" + blank() + inner}
		for i := range r.IntN(3) {
			members = slices.Insert(members, r.IntN(len(members)+1), blank()+`"m`+string(rune('a'+i))+`":`+value(1))
		}
		return "{" + strings.Join(members, blank()+",") + blank() + "}"
	}
	for range 3000 {
		text := value(2)
		switch r.IntN(4) {
		case 0:
			text = around("hooks", value(2))
		case 1:
			text = around("hooks", around("UserPromptSubmit", "["+blank()+"]"))
		case 2:
			text = around("hooks", around("UserPromptSubmit", "["+blank()+theirs+blank()+","+blank()+theirs+blank()+"]"))
		}
		checkHook(t, settingsFile(blank()+text+blank()))
	}
}

func FuzzHookLine(f *testing.F) {
	for _, seed := range []string{"/usr/bin/bouncer", "/opt/a b/bouncer", "/opt/it's/bouncer", `/a"b/bouncer`, `/a\b/bouncer`, "/a;b/bouncer", "/ä/bouncer", "/a$HOME/bouncer"} {
		f.Add(seed, "/home/ada/b b")
	}
	f.Fuzz(func(t *testing.T, launcher, home string) {
		text, err := hookLine{launcher: launcher, home: home}.text("linux")
		if err != nil || launcher == "" {
			return
		}
		l, ok := parseHookLine(text, []string{launcher})
		if !ok || forward(l.launcher) != forward(launcher) || l.home != home || !l.guarded || l.others {
			t.Fatalf("%q was read as %+v", text, l)
		}
	})
}

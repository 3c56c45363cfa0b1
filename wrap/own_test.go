package wrap

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

func serving() Options {
	o := options()
	o.Serve = true
	return o
}

// ownCases are files that bouncer itself is added to.
func ownCases() []string {
	return []string{
		`{}`,
		"{\n}\n",
		`{"mcpServers": {}}`,
		"{\n  \"mcpServers\": {}\n}\n",
		"{\n  \"mcpServers\": {\n  }\n}\n",
		`{"mcpServers":{"a":{"command":"x"}}}`,
		"{\n  \"theme\": \"dark\"\n}\n",
		"{\r\n\t\"theme\": \"dark\",\r\n\t\"projects\": {\"/p\": {\"mcpServers\": {\"z\": {\"command\": \"y\"}}}}\r\n}\r\n",
		"{\n  \"mcpServers\": {\n    \"a\": {\n      \"command\": \"npx\",\n      \"args\": [\"a\"]\n    }\n  },\n  \"other\": 1\n}",
		"{\n  // servers\n  \"mcpServers\": {\n    \"a\": { \"command\": \"npx\" }, // the only one\n  },\n}\n",
		"{\n  \"mcpServers\": { /* none yet */ }\n}\n",
		"\xef\xbb\xbf{ \"mcpServers\": { \"a\": { \"url\": \"https://x.example\" } } }",
	}
}

// Adding bouncer itself wraps it in nothing, happens once, and is taken back to the byte.
func TestOwnEntry(t *testing.T) {
	for _, text := range ownCases() {
		f := config(text)
		p := mustWrap(t, f, serving())
		entries, err := Entries(f.with(p.After), launcher)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(entries, func(e Entry) bool { return e.Name == OwnName })
		if i < 0 || !entries[i].Serves || entries[i].State != Own || entries[i].Launcher != launcher || p.Steps[i].Action != AddOwn {
			t.Fatalf("%s\n%s became\n%s", actions(p), text, p.After)
		}
		for _, o := range []Options{options(), serving()} {
			if again := mustWrap(t, f.with(p.After), o); !bytes.Equal(again.After, p.After) {
				t.Errorf("a second time\n%s became\n%s", p.After, again.After)
			}
		}
		if back := mustUnwrap(t, f.with(p.After), options()); !bytes.Equal(back.After, f.Data) {
			t.Errorf("%s\nbecame\n%s\nand then\n%s", text, p.After, back.After)
		}
	}
}

func TestOwnEntryLayout(t *testing.T) {
	f := config("{\n  \"mcpServers\": {\n    \"a\": {\n      \"url\": \"https://x.example\"\n    }\n  }\n}\n")
	const want = "{\n  \"mcpServers\": {\n    \"a\": {\n      \"url\": \"https://x.example\"\n    },\n    \"bouncer\": {\n" +
		"      \"command\": \"/usr/local/bin/bouncer\",\n      \"args\": [\"serve\"]\n    }\n  }\n}\n"
	if got := string(mustWrap(t, f, serving()).After); got != want {
		t.Errorf("%s", got)
	}
	o := serving()
	o.Home, o.Homed = "/srv/b", true
	const made = "{\n  \"x\": 1,\n  \"mcpServers\": {\n    \"bouncer\": {\n" +
		"      \"command\": \"/usr/local/bin/bouncer\",\n      \"args\": [\"serve\", \"--home=/srv/b\"]\n    }\n  }\n}\n"
	if got := string(mustWrap(t, config("{\n  \"x\": 1\n}\n"), o).After); got != made {
		t.Errorf("%s", got)
	}
}

// A file that is nothing but servers, or has them deeper down, is no different.
func TestOwnEntryElsewhere(t *testing.T) {
	for _, tt := range []struct {
		pointer []string
		text    string
		why     string
	}{
		{nil, `{}`, ""},
		{nil, "{\n  \"a\": {\"command\": \"x\"}\n}\n", ""},
		{nil, "", "no place"},
		{[]string{"a", "b", "servers"}, `{"a": {"b": {"servers": {}}}}`, ""},
		{[]string{"a", "b", "servers"}, `{"a": {"b": {"other": 1}}}`, ""},
		{[]string{"a", "b", "servers"}, `{"a": {}}`, "no place"},
		{[]string{"a", "b", "servers"}, `{"a": {"b": null}}`, "no place"},
	} {
		f := config(tt.text)
		f.Maps = []clients.Map{{Scope: clients.User, Pointer: tt.pointer}}
		p := mustWrap(t, f, serving())
		if (p.Unadded == "") != (tt.why == "") || !strings.Contains(p.Unadded, tt.why) || (tt.why == "") == bytes.Equal(p.Before, p.After) {
			t.Errorf("%q in %s: %q, %s", tt.pointer, tt.text, p.Unadded, p.After)
		}
		if back := mustUnwrap(t, f.with(p.After), options()); !bytes.Equal(back.After, f.Data) {
			t.Errorf("%s\nbecame\n%s\nand then\n%s", tt.text, p.After, back.After)
		}
	}
}

// What can't be added says why, and nothing else of the file's plan suffers.
func TestOwnEntryUnadded(t *testing.T) {
	for _, tt := range []struct{ name, text, why string }{
		{"another of its name", `{"mcpServers": {"bouncer": {"command": "npx"}}}`, "another server"},
		{"null", `{"mcpServers": null}`, "no servers"},
		{"nothing", "", "no place"},
	} {
		f := config(tt.text)
		p := mustWrap(t, f, serving())
		if !strings.Contains(p.Unadded, tt.why) || slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Action == AddOwn }) {
			t.Errorf("%s: %q, %s", tt.name, p.Unadded, p.After)
		}
	}
	f := config(`{"mcpServers": {}}`)
	f.Lists = Lists{DenyNames: []string{OwnName}}
	if p := mustWrap(t, f, serving()); p.Unadded == "" || !bytes.Equal(p.Before, p.After) {
		t.Errorf("denied, and yet: %q, %s", p.Unadded, p.After)
	}
	f = config(`{"mcpServers": {}}`)
	f.Shared = true
	if p := mustWrap(t, f, serving()); !bytes.Equal(p.Before, p.After) {
		t.Errorf("in everybody's file: %s", p.After)
	}
	// Somebody's own way of starting it stays theirs.
	for _, entry := range []string{
		`{"command": "/usr/local/bin/bouncer", "args": ["serve", "--policy=x"]}`,
		`{"command": "/usr/local/bin/bouncer", "args": ["serve"], "env": {"A": "b"}}`,
		`{"command": "/usr/local/bin/bouncer", "args": ["gateway"]}`,
	} {
		f := config(`{"mcpServers": {"bouncer": ` + entry + `}}`)
		if p := mustWrap(t, f, serving()); !bytes.Equal(p.Before, p.After) || p.Unadded != "" {
			t.Errorf("init changed %s: %q", entry, p.Unadded)
		}
		if p := mustUnwrap(t, f, options()); !bytes.Equal(p.Before, p.After) {
			t.Errorf("unwrap changed %s", entry)
		}
	}
}

// An entry that starts a bouncer of another place is brought up to date, as those of wrapped servers are.
func TestOwnEntryMoves(t *testing.T) {
	f := config(`{"mcpServers": {"bouncer": {"type": "stdio", "command": "/opt/old/bouncer", "args": ["serve"], "env": {}}}}`)
	o := options()
	o.Known = []string{"/opt/old/bouncer"}
	p := mustWrap(t, f, o)
	if actions(p) != "renew" || !strings.Contains(string(p.After), launcher) {
		t.Errorf("%s: %s", actions(p), p.After)
	}
	o.Homed, o.Home = true, "/srv/b"
	if p = mustWrap(t, f.with(p.After), o); actions(p) != "renew" || !strings.Contains(string(p.After), `["serve", "--home=/srv/b"]`) {
		t.Errorf("%s: %s", actions(p), p.After)
	}
	if p = mustUnwrap(t, f.with(p.After), o); actions(p) != "remove" || string(p.After) != `{"mcpServers": {}}` {
		t.Errorf("%s: %s", actions(p), p.After)
	}
}

// A client that writes the file anew keeps nobody from taking bouncer out.
func TestOwnEntryRewritten(t *testing.T) {
	for _, text := range ownCases() {
		p := mustWrap(t, config(text), serving())
		doc, err := jsonc.Parse(p.After, jsonc.Comments)
		if err != nil {
			t.Fatal(err)
		}
		again := config(string(rewrite(doc, doc.Root, "\n", Sentinel)))
		entries, err := Entries(again.with(mustUnwrap(t, again, options()).After), launcher)
		if err != nil || slices.ContainsFunc(entries, func(e Entry) bool { return e.State == Own || e.State == Wrapped }) {
			t.Errorf("%v, %+v in\n%s", err, entries, again.Data)
		}
	}
}

// FuzzOwnEntry adds bouncer to whatever a file may hold, together with wrapping what is in it.
func FuzzOwnEntry(f *testing.F) {
	for _, text := range ownCases() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := config(text)
		p, err := PlanWrap(file, serving())
		if err != nil {
			if _, err := PlanWrap(file, options()); err == nil {
				t.Fatalf("refused only with bouncer itself: %q", text)
			}
			return
		}
		again, err := PlanWrap(file.with(p.After), serving())
		if err != nil || !bytes.Equal(again.After, p.After) {
			t.Fatalf("a second time: %v\n%s", err, again.After)
		}
		there := func(s Step) bool {
			return s.Entry.State == Wrapped || s.Entry.Restorable || s.Entry.Serves && s.Action != AddOwn
		}
		if slices.ContainsFunc(p.Steps, there) {
			return
		}
		if back, err := PlanUnwrap(file.with(p.After), options()); err != nil || !bytes.Equal(back.After, file.Data) {
			t.Fatalf("%v\n%s\nbecame\n%s\nand then\n%s", err, text, p.After, back.After)
		}
	})
}

package packs_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/listing"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

// Each pack has cases: what its servers said before, a call, and what must become of it. At least one is an attack that
// is stopped, and one an honest call that is not.
func TestCases(t *testing.T) {
	for _, name := range packs.Names() {
		t.Run(name, func(t *testing.T) {
			file := readCases(t, filepath.Join("testdata", name, "cases.yaml"))
			all, verdicts, earned := listings(t, name), map[string]int{}, 0
			for c := range file.Get("cases").Elems() {
				tools := cmp.Or(text(c, "tools"), text(file, "tools"))
				i := slices.IndexFunc(all, func(l saved) bool { return filepath.Base(l.path) == tools })
				if i < 0 {
					t.Fatalf("%s: no listing %q", text(c, "name"), tools)
				}
				l := all[i].Listing
				verdicts[runCase(t, c, l)]++
				if judge(t, c, l, nil).Action.String() != text(c, "expect") {
					earned++
				}
			}
			if verdicts["allow"] == 0 || verdicts["deny"]+verdicts["ask"] == 0 && name != "brave-search" {
				t.Errorf("%v", verdicts)
			}
			if earned == 0 && name != "filesystem" { // which is there to be confined
				t.Error("every case comes out as it does without the pack")
			}
		})
	}
}

func readCases(t *testing.T, path string) wire.Value {
	t.Helper()
	yaml, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	json, ok := listing.JSON(nil, strings.ReplaceAll(string(yaml), "\r\n", "\n"))
	if !ok {
		t.Fatalf("%s is not simple YAML", path)
	}
	return parse(t, string(json))
}

func parse(t *testing.T, json string) wire.Value {
	t.Helper()
	v, err := wire.ParseValue([]byte(json))
	if err != nil {
		t.Fatalf("%v in %s", err, json)
	}
	return v
}

func text(v wire.Value, key string) string {
	s, _ := v.Get(key).Text()
	return s
}

// runCase returns what the case expects, which is what must come out.
func runCase(t *testing.T, c wire.Value, l packs.Listing) string {
	t.Helper()
	v := judge(t, c, l, packs.All())
	if want := text(c, "expect"); v.Action.String() != want || !strings.Contains(v.Reason, text(c, "because")) {
		t.Errorf("%s: %s (%s), want %s\n%s", text(c, "name"), v.Action, v.Contract, want, v.Reason)
	}
	return text(c, "expect")
}

// judge plays a case.
func judge(t *testing.T, c wire.Value, l packs.Listing, layers []*policy.Layer) engine.Verdict {
	t.Helper()
	profile := engine.Balanced
	if text(c, "profile") == "strict" {
		profile = engine.Strict
	}
	e := engine.New(engine.Config{
		Server:  "it",
		Policy:  policy.NewSet(layers...).For(policy.Server{Name: "it", Package: l.Package}),
		Profile: profile,
	})
	if said := text(c, "prompt"); said != "" {
		e.Say(said)
	}
	for o := range c.Get("outputs").Elems() {
		e.Observe(engine.Output{
			Source: taint.Source{Server: "it", Tool: text(o, "tool"), Call: 1},
			Tool:   listed(t, l, text(o, "tool")),
			Output: result(t, o),
		})
	}
	call := c.Get("call")
	return e.Decide(engine.Call{Tool: listed(t, l, text(call, "tool")), Pin: engine.PinHeld, Args: call.Get("args")})
}

// listed returns a tool; of one that its listing was cut without, the name is known.
func listed(t *testing.T, l packs.Listing, name string) policy.Tool {
	t.Helper()
	if name == "" {
		t.Fatal("a case without a tool")
	}
	i := slices.IndexFunc(l.Tools, func(t policy.Tool) bool { return t.Name == name })
	if i < 0 {
		return policy.Tool{Name: name}
	}
	return l.Tools[i]
}

// result is what a server sends for an output of a case: text, or a document as text.
func result(t *testing.T, o wire.Value) wire.Value {
	t.Helper()
	said := text(o, "text")
	if v := o.Get("json"); v != nil {
		said = string(v)
	}
	if said == "" {
		t.Fatalf("an output of %s that says nothing", text(o, "tool"))
	}
	return parse(t, string(wire.AppendQuoted([]byte(`{"content":[{"type":"text","text":`), said))+`}]}`)
}

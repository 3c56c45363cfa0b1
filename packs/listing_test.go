package packs_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
)

// elsewhere holds the tools that no server of their pack lists. Other servers use the names.
var elsewhere = []string{
	"create_permission", "share_file",
	"post_message", "reply_to_thread",
	"forward_email", "reply_email", "update_draft",
}

type saved struct {
	packs.Listing
	path string
	text wire.Value
}

// listings returns what the servers of a pack listed when it was checked, cut to names and schemas.
func listings(t *testing.T, pack string) []saved {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", pack, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all []saved
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l, err := packs.ReadListing(text)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, saved{l, path, text})
	}
	return all
}

// Every server of a pack has its listing, and the header tells what stands there.
func TestListingsAreThere(t *testing.T) {
	const largest = 60 << 10 // bytes of a listing; a larger one is cut to the tools that its pack names
	for _, name := range packs.Names() {
		all := listings(t, name)
		for _, s := range parsed(t, name).Header().Servers {
			i := slices.IndexFunc(all, func(l saved) bool { return l.Package == s.Package })
			if i < 0 {
				t.Errorf("%s: no listing of %s", name, s.Package)
				continue
			}
			l := all[i]
			version, _ := l.text.Get("version").Text()
			if n, _ := l.text.Get("listed").Int(); int(n) != s.Tools || version != s.Version || len(l.text) > largest {
				t.Errorf("%s: %s has %d tools of version %q in %d bytes", name, s.Package, n, version, len(l.text))
			}
			all = slices.Delete(all, i, i+1)
		}
		for _, l := range all {
			t.Errorf("%s: %s is a listing of no server of the pack", name, l.path)
		}
	}
}

// Every tool and every argument that a pack names is one of a real server.
func TestPacksFitTheirListings(t *testing.T) {
	for _, name := range packs.Names() {
		pack, all := parsed(t, name), listings(t, name)
		for _, tool := range pack.Tools() {
			if !slices.ContainsFunc(all, func(l saved) bool { return has(l, tool) }) && !slices.Contains(elsewhere, tool) {
				t.Errorf("%s: no server lists %s", name, tool)
			}
		}
		absent := map[packs.Difference]int{} // in how many listings
		for _, l := range all {
			r := packs.Verify(pack, l.Listing)
			for _, d := range r.Problems {
				t.Errorf("%s: %s: %s %s %s", name, l.Package, d.Tool, d.Param, d.Says)
			}
			for _, d := range r.Notes {
				switch {
				case d.Param != "":
					absent[d]++
				case has(l, d.Tool):
					t.Logf("%s: %s: %s %s", name, l.Package, d.Tool, d.Says)
				}
			}
		}
		for d, n := range absent {
			listed := 0
			for _, l := range all {
				if has(l, d.Tool) {
					listed++
				}
			}
			if n == listed {
				t.Errorf("%s: %s has no argument %s anywhere", name, d.Tool, d.Param)
			}
		}
	}
}

func has(l saved, tool string) bool {
	return slices.ContainsFunc(l.Tools, func(t policy.Tool) bool { return t.Name == tool })
}

// Where a server declares what its results look like, the paths that vouch are in there.
func TestTrustedOutputsExist(t *testing.T) {
	checked := 0
	for _, name := range packs.Names() {
		for _, l := range listings(t, name) {
			set := policy.NewSet(parsed(t, name)).For(policy.Server{Package: l.Package})
			for raw := range l.text.Get("tools").Elems() {
				tool, _ := raw.Get("name").Text()
				output := policy.Tool{InputSchema: raw.Get("outputSchema")}
				if output.InputSchema == nil || properties(output.InputSchema) == "result" {
					continue // unknown, or a text in a wrapping
				}
				paths := set.Resolve(policy.Tool{Name: tool}).TrustedOutputs
				for _, path := range paths {
					checked++
					// The text beside the structured contents may lack a level that those have.
					inside := func(other string) bool { return strings.HasSuffix(other, "."+path) && packs.Takes(output, other) }
					if !packs.Takes(output, path) && !slices.ContainsFunc(paths, inside) {
						t.Errorf("%s: the results of %s have no %s", name, tool, path)
					}
				}
			}
		}
	}
	if checked < 5 {
		t.Errorf("only %d paths could be looked up", checked)
	}
}

func properties(schema wire.Value) string {
	var names []string
	for name := range schema.Get("properties").Members() {
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestReadListing(t *testing.T) {
	for text, want := range map[string]string{
		`{"tools":[{"name":"a"},{"name":"b","inputSchema":{"type":"object"}}]}`:        "a b",
		`{"jsonrpc":"2.0","id":1,"result":{"package":"npm:x","tools":[{"name":"a"}]}}`: "npm:x a",
		"{\n \"tools\": []\n}":      "",
		`{"tools":{}}`:              `error: not an answer to tools/list: there is no list "tools"`,
		`[]`:                        `error: not an answer to tools/list: there is no list "tools"`,
		`{"tools":[{"title":"a"}]}`: "error: tool 1 of the list has no name",
	} {
		l, err := packs.ReadListing([]byte(text))
		var got []string
		if l.Package != "" {
			got = append(got, l.Package)
		}
		for _, tool := range l.Tools {
			got = append(got, tool.Name)
		}
		if err != nil {
			got = []string{"error: " + err.Error()}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if _, err := packs.ReadListing([]byte(`{"tools":[`)); err == nil {
		t.Error("half a listing is read")
	}
}

func TestTakes(t *testing.T) {
	schema := wire.Value(`{"type":"object","$defs":{"who":{"type":"object","properties":{"mail":{"type":"string"}}},"loop":{"anyOf":[{"$ref":"#/$defs/loop"},{"$ref":"#/$defs/loop"}]}},` +
		`"properties":{"to":{"type":"array","items":{"$ref":"#/$defs/who"}},"cc":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/who"}]},"any":{},"flat":{"type":"string"},"a.b":{"type":"string"},"round":{"$ref":"#/$defs/loop"}}}`)
	for path, want := range map[string]bool{
		"to": true, "to.mail": true, "to.name": false, "cc.mail": true, "cc.name": false,
		"any": true, "any.thing": true, "flat": true, "flat.er": false, "a.b": true, "bcc": false,
		"round": true, "round.and": false,
	} {
		if got := packs.Takes(policy.Tool{InputSchema: schema}, path); got != want {
			t.Errorf("%s: %t", path, got)
		}
	}
}

// No listing makes verifying fail otherwise than by what it reports.
func FuzzVerify(f *testing.F) {
	for _, name := range []string{"slack", "notion", "fetch"} {
		paths, _ := filepath.Glob(filepath.Join("testdata", name, "*.json"))
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	f.Add([]byte(`{"tools":[{"name":"fetch","inputSchema":{"$ref":"#"}},{"name":"fetch"},{"name":"query","inputSchema":[]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		l, err := packs.ReadListing(text)
		if err != nil {
			return
		}
		for _, name := range []string{"slack", "notion", "fetch", "postgres"} {
			r := packs.Verify(parsed(t, name), l)
			if r.Listed != len(l.Tools) || r.Named > len(parsed(t, name).Tools()) || r.Named == 0 && len(r.Problems) == 0 {
				t.Errorf("%+v", r)
			}
		}
	})
}

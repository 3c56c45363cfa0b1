package policy

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const shop = `version: 1
pack:
  summary: orders of a shop
  servers:
    - package: npm:@shop/mcp
      version: 1.2
      checked: 2026-12-01
      tools: 4
    - {package: 'pypi:shop-*', version: 2.0.1, checked: 2026-11-30}
tools:
  ship_parcel:
    exfiltrating: true
    sink_params: [street]
    trusted_destinations: [home]
    object_params: [order]
    irreversible: true
    arg_patterns: {carrier: 'ups|dhl'}
    max_calls: 3
    trusted_outputs: [tracking]
    untrusted_outputs: [note]
  send_receipt:
    exfiltrating: false
  track: {object_params: []}
`

func TestPackHeader(t *testing.T) {
	want := Header{"orders of a shop", []PackServer{{"npm:@shop/mcp", "1.2", "2026-12-01", 4}, {"pypi:shop-*", "2.0.1", "2026-11-30", 0}}}
	for _, l := range []*Layer{pack(t, "shop", shop), NewPack("shop", []byte(shop))} {
		if got := l.Header(); !reflect.DeepEqual(got, want) {
			t.Errorf("%+v", got)
		}
		if !l.Pack || l.Name != "pack shop" || !slices.Equal(l.Tools(), []string{"send_receipt", "ship_parcel", "track"}) {
			t.Errorf("%s: %q", l.Name, l.Tools())
		}
	}
	if h := layer(t, "u", "send: {}\n").Header(); !reflect.DeepEqual(h, Header{}) {
		t.Errorf("a policy has the header %+v", h)
	}
}

func TestPackFaults(t *testing.T) {
	for in, want := range map[string]string{
		"pack: {summary: 1}":                                                "line 2, column 17: pack: summary must be a line of text",
		"pack: {summary: \"a\\nb\"}":                                        "line 2, column 17: pack: summary must be a line of text",
		"pack: []":                                                          "line 2, column 7: pack must be a mapping with summary and servers, and this is a list",
		"pack: {server: []}":                                                `line 2, column 8: pack: unknown key "server"; did you mean servers?`,
		"pack: {servers: {}}":                                               "line 2, column 17: pack: servers must be a list, and this is a mapping",
		"pack: {servers: [npm:x]}":                                          "line 2, column 18: pack: servers must be a mapping with package, version, checked and tools, and this is text",
		"pack: {servers: [{package: x}]}":                                   "line 2, column 18: pack: servers: package must name where a server comes from and what it is called, as in npm:@scope/server",
		"pack: {servers: [{package: 'npm:*'}]}":                             "line 2, column 18: pack: servers: package must name where a server comes from and what it is called, as in npm:@scope/server",
		"pack: {servers: [{version: 1}]}":                                   "line 2, column 18: pack: servers: package must name where a server comes from and what it is called, as in npm:@scope/server",
		"pack: {servers: [{package: npm:x, version: }]}":                    "line 2, column 44: pack: servers: version must be a version",
		"pack: {servers: [{package: npm:x, checked: today}]}":               "line 2, column 44: pack: servers: checked must be a day, as in 2006-01-02",
		"pack: {servers: [{package: npm:x, checked: 2026-13-01}]}":          "line 2, column 44: pack: servers: checked must be a day, as in 2006-01-02",
		"pack: {servers: [{package: npm:x, checked: 20261-2-01}]}":          "line 2, column 44: pack: servers: checked must be a day, as in 2006-01-02",
		"pack: {servers: [{package: npm:x, tools: many}]}":                  "line 2, column 42: pack: servers: tools must be a whole number, and this is text",
		"pack: {servers: [{package: npm:x, chekced: 2026-12-01}]}":          `line 2, column 35: pack: servers: unknown key "chekced"; did you mean checked?`,
		"profile: strict":                                                   "line 2, column 1: a pack has no profile: it does not know whose servers it is used with",
		"servers: {}":                                                       "line 2, column 1: a pack has no servers: it does not know whose servers it is used with",
		"taint: {links: [[a, b]]}":                                          "line 2, column 1: a pack has no taint: it does not know whose servers it is used with",
		"tools: {a: {profile: observe}}":                                    "line 2, column 13: a pack has no profile: it does not know whose servers it is used with",
		"pack: {servers: [{package: npm:x}]}\ntools: {a: {max_calls: nil}}": "line 3, column 24: a: max_calls must be a whole number, and this is text",
	} {
		if _, err := ParsePack("p", []byte("version: 1\n"+in+"\n")); err == nil || err.Error() != "pack p: "+want {
			t.Errorf("%s\n got %v\nwant %s", in, err, want)
		}
	}
}

func TestPacksAreBound(t *testing.T) {
	set := NewSet(layer(t, "u", "version: 1\ntools: {send_receipt: {max_calls: 7}}\n"), NewPack("shop", []byte(shop)))
	ship := tool("ship_parcel", "order", "street", "carrier")
	for _, server := range []Server{{Package: "npm:@shop/mcp"}, {Name: "x", Package: "pypi:shop-server"}} {
		r := set.For(server).Resolve(ship)
		if !Trusts(r.TrustedDestinations, "home") || !slices.Equal(r.TrustedOutputs, []string{"tracking"}) || !r.Irreversible || r.MaxCalls != 3 ||
			!slices.Equal(r.ObjectParams, []string{"order"}) || len(r.ArgPatterns) != 1 || !slices.Equal(r.UntrustedOutputs, []string{"note"}) {
			t.Errorf("%+v: %+v", server, r)
		}
		if r := set.For(server).Resolve(tool("send_receipt", "email")); !r.Open || r.Exfiltrating || r.MaxCalls != 7 {
			t.Errorf("%+v: %+v", server, r)
		}
	}
	for _, server := range []Server{{}, {Name: "shop"}, {Package: "npm:@evil/mcp"}, {Package: "npm:@shop/mcp2"}, {Package: "pypi:sho"}} {
		r := set.For(server).Resolve(ship)
		if len(r.TrustedDestinations) > 0 || len(r.TrustedOutputs) > 0 {
			t.Errorf("%+v is believed: %+v", server, r)
		}
		if len(r.ArgPatterns) > 0 {
			t.Errorf("%+v is held to what another program's arguments look like: %+v", server, r)
		}
		if !r.Irreversible || r.MaxCalls != 3 || !slices.Equal(r.ObjectParams, []string{"order"}) ||
			!slices.Equal(r.SinkParams, []string{"street"}) || !slices.Equal(r.UntrustedOutputs, []string{"note"}) {
			t.Errorf("%+v is not held to what is stricter: %+v", server, r)
		}
		if r := set.For(server).Resolve(tool("send_receipt", "email")); r.Open || !r.Exfiltrating {
			t.Errorf("%+v opens a gate: %+v", server, r)
		}
		if r := set.For(server).Resolve(tool("ship_parcel", "crew")); r.Irreversible || len(r.Layers) > 0 {
			t.Errorf("%+v: another tool of the name: %+v", server, r)
		}
	}
}

// The pack that was written for the server speaks for its tools, and the others keep out.
func TestPackOfTheServerSpeaksAlone(t *testing.T) {
	other := pack(t, "other", "version: 1\npack: {servers: [{package: npm:other}]}\ntools:\n  ship_parcel: {max_calls: 1, sink_params: [carrier]}\n")
	ship := tool("ship_parcel", "order", "street", "carrier")
	for _, set := range []*Set{NewSet(other, pack(t, "shop", shop)), NewSet(pack(t, "shop", shop), other)} {
		if r := set.For(Server{Package: "npm:@shop/mcp"}).Resolve(ship); r.MaxCalls != 3 || !slices.Equal(r.Layers, []string{"pack shop", "inferred"}) && !slices.Equal(r.Layers, []string{"pack shop"}) {
			t.Errorf("%+v", r)
		}
		if r := set.Resolve(ship); r.MaxCalls != 1 || len(r.SinkParams) != 2 {
			t.Errorf("of both, what is stricter: %+v", r)
		}
	}
}

func TestPacksAreFoundByText(t *testing.T) {
	source := "version: 1\ntools:\n  # a: comment\n  plain: {max_calls: 1}\n  exact-name.x:\n    max_calls: 2\n"
	l := NewPack("x", []byte(source))
	for name, want := range map[string]bool{"plain": true, "exact-name.x": true, "plai": false, "max_calls": true, "a": false, "x": false, "": false} {
		if l.mentions(name) != want {
			t.Errorf("%q: %t", name, !want)
		}
	}
	if !NewPack("x", []byte(source+"  browser_*: {}\n")).mentions("browser_click") {
		t.Error("a pattern is not found")
	}
	if NewPack("x", []byte("pack:\n  servers:\n    - package: 'npm:*x'\n      version: '*'\n")).mentions("x") {
		t.Error("a pattern of packages is taken for one of tools")
	}
	broken := NewPack("x", []byte("version: 1\ntools:\n  plain: [\n"))
	if r := NewSet(broken).Resolve(tool("plain")); r.Limited || len(broken.Tools()) > 0 || strings.Join(r.Layers, "") != "" {
		t.Errorf("a pack that does not parse says %+v", r)
	}
}

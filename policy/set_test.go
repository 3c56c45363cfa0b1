package policy

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

func layer(t testing.TB, name, yaml string) *Layer {
	t.Helper()
	l, err := Parse(name, []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func pack(t testing.TB, name, yaml string) *Layer {
	t.Helper()
	l, err := ParsePack(name, []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestResolve(t *testing.T) {
	gmail := pack(t, "gmail", "version: 1\npack: {servers: [{package: 'npm:@x/gmail'}]}\ntools:\n  send_email: {exfiltrating: true, sink_params: [to, cc, bcc]}\n")
	send := tool("send_email", "to", "cc", "bcc", "body", "path")
	for _, tt := range []struct {
		name   string
		tool   Tool
		layers []string // user files, highest first
		want   Rule
	}{
		{
			"the pack alone", send, nil,
			Rule{Exfiltrating: true, SinkParams: []string{"to", "cc", "bcc"}, WriteParams: []string{"path"}, Layers: []string{"pack gmail"}},
		},
		{
			"an allowlist inherits the gate", send,
			[]string{"send_email: {trusted_destinations: [me@x.org]}"},
			Rule{Exfiltrating: true, SinkParams: []string{"to", "cc", "bcc"}, TrustedDestinations: []string{"me@x.org"}, WriteParams: []string{"path"}, Layers: []string{"policy u0", "pack gmail"}},
		},
		{
			"an empty entry changes nothing", send,
			[]string{"send_email: {}"},
			Rule{Exfiltrating: true, SinkParams: []string{"to", "cc", "bcc"}, WriteParams: []string{"path"}, Layers: []string{"pack gmail"}},
		},
		{
			"the gate is switched off", send,
			[]string{"send_email: {exfiltrating: false}"},
			Rule{Open: true, SinkParams: []string{"to", "cc", "bcc"}, WriteParams: []string{"path"}, Layers: []string{"policy u0", "pack gmail"}},
		},
		{
			"no declared sinks: every argument", send,
			[]string{"send_email: {sink_params: []}"},
			Rule{Exfiltrating: true, SinkParams: []string{}, WriteParams: []string{"path"}, Layers: []string{"policy u0", "pack gmail"}},
		},
		{
			"a higher layer opens, a yet higher one closes", send,
			[]string{"send_email: {sink_params: [body]}", "send_email: {exfiltrating: false}"},
			Rule{Exfiltrating: true, SinkParams: []string{"body"}, WriteParams: []string{"path"}, Layers: []string{"policy u0"}},
		},
		{
			"false beside sinks in one layer", send,
			[]string{"send_email: {exfiltrating: false, sink_params: [body]}"},
			Rule{Open: true, SinkParams: []string{"body"}, WriteParams: []string{"path"}, Layers: []string{"policy u0"}},
		},
		{
			"the highest allowlist wins", send,
			[]string{"send_email: {trusted_destinations: [a@x.org]}", "send_email: {trusted_destinations: [b@x.org], max_calls: 3}"},
			Rule{
				Exfiltrating: true, SinkParams: []string{"to", "cc", "bcc"}, TrustedDestinations: []string{"a@x.org"}, WriteParams: []string{"path"}, MaxCalls: 3, Limited: true,
				Layers: []string{"policy u0", "policy u1", "pack gmail"},
			},
		},
		{
			"an empty allowlist switches off a lower one", send,
			[]string{"send_email: {trusted_destinations: []}", "send_email: {trusted_destinations: [b@x.org]}"},
			Rule{Exfiltrating: true, SinkParams: []string{"to", "cc", "bcc"}, TrustedDestinations: []string{}, WriteParams: []string{"path"}, Layers: []string{"policy u0", "pack gmail"}},
		},
		{
			"sinks alone turn the gate on", tool("frob", "x"),
			[]string{"frob: {sink_params: [x]}"},
			Rule{Exfiltrating: true, SinkParams: []string{"x"}, Layers: []string{"policy u0"}},
		},
		{
			"prefixes confine the inferred paths", tool("write_file", "path", "content"),
			[]string{"write_file: {allowed_path_prefixes: [./out]}"},
			Rule{WriteParams: []string{"path"}, AllowedPathPrefixes: []string{"./out"}, Layers: []string{"policy u0", "inferred"}},
		},
		{
			"prefixes without a known path confine every argument", tool("frob", "where", "what"),
			[]string{"frob: {allowed_path_prefixes: [./out]}"},
			Rule{WriteParams: []string{"where", "what"}, AllowedPathPrefixes: []string{"./out"}, Layers: []string{"policy u0", "inferred"}},
		},
		{
			"no write parameters, said so", tool("write_file", "path"),
			[]string{"write_file: {allowed_path_prefixes: [./out], write_params: []}"},
			Rule{WriteParams: []string{}, AllowedPathPrefixes: []string{"./out"}, Layers: []string{"policy u0"}},
		},
		{
			"a budget over an inferred one", tool("delete_file", "path"),
			[]string{"delete_file: {max_calls: 0}"},
			Rule{WriteParams: []string{"path"}, ObjectParams: []string{"path"}, Irreversible: true, Limited: true, Layers: []string{"policy u0", "inferred"}},
		},
		{
			"an inferred budget stays", tool("delete_file", "path"),
			[]string{"version: 1\nprofile: strict\ntools: {delete_file: {write_params: [path]}}"},
			Rule{WriteParams: []string{"path"}, ObjectParams: []string{"path"}, Irreversible: true, MaxCalls: 2, Limited: true, Profile: "strict", Layers: []string{"policy u0", "inferred"}},
		},
		{
			"no budget is inferred otherwise", tool("delete_file", "path"),
			[]string{"version: 1\nprofile: balanced\ntools: {delete_file: {irreversible: false}}"},
			Rule{WriteParams: []string{"path"}, ObjectParams: []string{"path"}, Profile: "balanced", Layers: []string{"policy u0", "inferred"}},
		},
		{
			"objects are replaced", tool("delete_file", "path", "drive"),
			[]string{"delete_file: {object_params: [drive, path]}"},
			Rule{WriteParams: []string{"path"}, ObjectParams: []string{"drive", "path"}, Irreversible: true, Layers: []string{"policy u0", "inferred"}},
		},
		{
			"objects are switched off", tool("delete_file", "path"),
			[]string{"delete_file: {object_params: []}"},
			Rule{WriteParams: []string{"path"}, Irreversible: true, Layers: []string{"policy u0", "inferred"}},
		},
		{
			"outputs", tool("get_orders"),
			[]string{"get_orders: {trusted_outputs: [customer.email]}", "get_orders: {trusted_outputs: [x], untrusted_outputs: [note]}"},
			Rule{TrustedOutputs: []string{"customer.email"}, UntrustedOutputs: []string{"note"}, Layers: []string{"policy u0", "policy u1"}},
		},
		{
			"a name over patterns", tool("send_note", "x"),
			[]string{"version: 1\ntools: {'*': {max_calls: 9, irreversible: true}, send_note: {max_calls: 1}, 'send_*': {max_calls: 5, sink_params: [x]}}"},
			Rule{Exfiltrating: true, SinkParams: []string{"x"}, Irreversible: true, MaxCalls: 1, Limited: true, Layers: []string{"policy u0"}},
		},
		{
			"a fetch may be allowed more", tool("fetch", "url"),
			[]string{"fetch: {trusted_destinations: ['https://x.org']}"},
			Rule{Exfiltrating: true, Fetch: true, SinkParams: []string{"url"}, TrustedDestinations: []string{"https://x.org"}, Layers: []string{"policy u0", "inferred"}},
		},
		{
			"a declared gate is no fetch", tool("fetch", "url"),
			[]string{"fetch: {exfiltrating: true}"},
			Rule{Exfiltrating: true, SinkParams: []string{"url"}, Layers: []string{"policy u0", "inferred"}},
		},
		{
			"nothing to say", tool("frob", "x"), nil, Rule{Layers: []string{}},
		},
		{
			"a packed tool without a schema",
			Tool{Name: "send_email"},
			nil,
			Rule{Exfiltrating: true, SinkParams: []string{"to", "cc", "bcc"}, Layers: []string{"pack gmail"}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var layers []*Layer
			for i, y := range tt.layers {
				layers = append(layers, layer(t, "u"+string(rune('0'+i)), y+"\n"))
			}
			set := NewSet(append(layers, nil, gmail)...).For(Server{Name: "mail", Package: "npm:@x/gmail"})
			got := set.Resolve(tt.tool)
			if !reflect.DeepEqual(normal(got), normal(tt.want)) {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
			if again := set.Resolve(tt.tool); !reflect.DeepEqual(got, again) {
				t.Errorf("resolved again: %+v", again)
			}
		})
	}
}

// normal makes nil and empty lists equal: a Rule means the same by both. What the tool does besides is the definition's
// affair, which TestClassify looks at.
func normal(r Rule) Rule {
	r.Changing, r.Sensitive = false, false
	for _, l := range []*[]string{
		&r.SinkParams, &r.TrustedDestinations, &r.WriteParams, &r.AllowedPathPrefixes, &r.ObjectParams, &r.TrustedOutputs, &r.UntrustedOutputs, &r.Layers,
	} {
		if len(*l) == 0 {
			*l = nil
		}
	}
	return r
}

func TestUntrustedLookups(t *testing.T) {
	set := NewSet(layer(t, "u", "search_users: {untrusted_outputs: ['*']}\nwhoami: {untrusted_outputs: ['*']}\nlist_users: {untrusted_outputs: [bio]}\n"))
	if r := set.Resolve(tool("search_users", "q")); r.Directory {
		t.Errorf("%+v", r)
	}
	if r := set.Resolve(tool("whoami")); r.Identity {
		t.Errorf("%+v", r)
	}
	if r := set.Resolve(tool("list_users")); !r.Directory {
		t.Errorf("%+v", r)
	}
	if x := Explain(set, tool("search_users", "q")); !strings.Contains(x.String(), "directory     no   policy u line 1\n") {
		t.Errorf("%s", x)
	}
	if x := Explain(set.Under(ProfileStrict), tool("delete_it", "id")); !strings.Contains(x.String(), "max_calls: [2], profile strict, for a tool that deletes\n") {
		t.Errorf("%s", x)
	}
}

func TestResolveKeepsPatternsInOrder(t *testing.T) {
	s := NewSet(layer(t, "u", "q: {arg_patterns: {z: a, a: b, m: c}}\n"))
	var params []string
	for _, p := range s.Resolve(Tool{Name: "q"}).ArgPatterns {
		params = append(params, p.Param)
	}
	if !slices.Equal(params, []string{"z", "a", "m"}) {
		t.Errorf("%q", params)
	}
}

func TestNearMisses(t *testing.T) {
	s := NewSet(
		layer(t, "u", "# mail\nSend_Email: {}\nsend-emial: {}\nlist_repos: {}\nread: {}\nsend: {}\n"),
		pack(t, "x", "sendemail: {sink_params: [to]}\n"),
	)
	var got []string
	for _, e := range s.NearMisses([]Tool{{Name: "send_email"}, {Name: "send"}, {Name: "head"}}) {
		got = append(got, e.Error())
	}
	want := []string{
		`u: line 2, column 1: no tool is named "Send_Email"; did you mean "send_email"?`,
		`u: line 3, column 1: no tool is named "send-emial"; did you mean "send_email"?`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// FuzzAllowlistOpensNothing checks the property that the layering exists for.
func FuzzAllowlistOpensNothing(f *testing.F) {
	f.Add("send_email", "exfiltrating: true")
	f.Add("fetch", "sink_params: []")
	f.Add("get", "exfiltrating: false")
	f.Fuzz(func(t *testing.T, name, fields string) {
		below, err := Parse("below", []byte("t: {"+fields+"}\n"))
		if err != nil || len(below.body.rules) != 1 {
			return
		}
		below.body.rules[0].tool = name
		if isGlob(name) {
			return
		}
		above := &Layer{Name: "above", body: body{rules: []scoped{{tool: name, entry: entry{trusted: []string{"a@b.c"}}}}}}
		subject := tool("t", "to", "url")
		subject.Name = name
		without, with := NewSet(below).Resolve(subject), NewSet(above, below).Resolve(subject)
		if !slices.Equal(with.TrustedDestinations, []string{"a@b.c"}) {
			t.Fatalf("the allowlist is lost: %+v", with)
		}
		with.TrustedDestinations, with.Layers = without.TrustedDestinations, without.Layers
		if !reflect.DeepEqual(with, without) {
			t.Fatalf("an allowlist changed\n%+v to\n%+v", without, with)
		}
	})
}

package policy

import (
	"slices"
	"strings"
	"testing"
)

func TestTrusting(t *testing.T) {
	for _, tt := range []struct {
		name, before, after string
		already             []string
	}{
		{
			"no file", "",
			"version: 1\nservers:\n  mail:\n    tools:\n      send_email:\n        trusted_destinations:\n          - \"x@y.com\"\n", nil,
		},
		{
			"nothing but a comment, without its line break", "# mine",
			"# mine\nversion: 1\nservers:\n  mail:\n    tools:\n      send_email:\n        trusted_destinations:\n          - \"x@y.com\"\n", nil,
		},
		{
			"what lower layers trust stays trusted", "",
			"version: 1\nservers:\n  mail:\n    tools:\n      send_email:\n        trusted_destinations:\n          - \"@corp.example\"\n          - \"x@y.com\"\n",
			[]string{"@corp.example"},
		},
		{
			"flat form, no entry", "# tools\nreply: {max_calls: 3}\n# the end\n",
			"# tools\nreply: {max_calls: 3}\n# the end\nsend_email:\n  trusted_destinations:\n    - \"x@y.com\"\n", nil,
		},
		{
			"flat form, an entry without a list", "send_email:\n  # at most\n  max_calls: 3 # a day\n",
			"send_email:\n  trusted_destinations:\n    - \"x@y.com\"\n  # at most\n  max_calls: 3 # a day\n", nil,
		},
		{
			"a list in a line", "send_email:\n  trusted_destinations: [\"@corp.example\", a@b.com] # ours\n",
			"send_email:\n  trusted_destinations: [\"x@y.com\", \"@corp.example\", a@b.com] # ours\n", nil,
		},
		{"an empty list", "send_email: {trusted_destinations: []}\n", "send_email: {trusted_destinations: [\"x@y.com\"]}\n", nil},
		{"an empty entry", "send_email: {}\n", "send_email: {trusted_destinations: [\"x@y.com\"]}\n", nil},
		{"an entry in a line", "send_email: {max_calls: 3}\n", "send_email: {trusted_destinations: [\"x@y.com\"], max_calls: 3}\n", nil},
		{
			"a list of lines", "send_email:\n  trusted_destinations:\n  # Bob\n  - b@b.com # he\n  - c@c.com\n  # more\n  max_calls: 3\n",
			"send_email:\n  trusted_destinations:\n  # Bob\n  - b@b.com # he\n  - c@c.com\n  - \"x@y.com\"\n  # more\n  max_calls: 3\n", nil,
		},
		{
			"a list that ends the file", "send_email:\n  trusted_destinations:\n    - b@b.com",
			"send_email:\n  trusted_destinations:\n    - b@b.com\n    - \"x@y.com\"\n", nil,
		},
		{
			"full form, other servers", "version: 1\nservers:\n  # the bank\n  bank:\n    profile: strict\ntools:\n  \"*\": {max_calls: 9}\n",
			"version: 1\nservers:\n  mail:\n    tools:\n      send_email:\n        trusted_destinations:\n          - \"x@y.com\"\n  # the bank\n  bank:\n    profile: strict\ntools:\n  \"*\": {max_calls: 9}\n", nil,
		},
		{
			"full form, the tool's own list", "version: 1\ntools:\n  send_email:\n    trusted_destinations: ['@corp.example']\n",
			"version: 1\ntools:\n  send_email:\n    trusted_destinations: [\"x@y.com\", '@corp.example']\n", nil,
		},
		{
			"full form, a pattern's list is kept whole", "version: 1\ntools:\n  \"send_*\":\n    trusted_destinations: ['@corp.example']\n",
			"version: 1\ntools:\n  \"send_*\":\n    trusted_destinations: ['@corp.example']\nservers:\n  mail:\n    tools:\n      send_email:\n        trusted_destinations:\n          - \"@corp.example\"\n          - \"x@y.com\"\n",
			[]string{"@corp.example"},
		},
		{
			"the server's own list counts", "version: 1\nservers:\n  mail:\n    tools:\n      send_email:\n        trusted_destinations: []\ntools:\n  send_email:\n    trusted_destinations: ['@corp.example']\n",
			"version: 1\nservers:\n  mail:\n    tools:\n      send_email:\n        trusted_destinations: [\"x@y.com\"]\ntools:\n  send_email:\n    trusted_destinations: ['@corp.example']\n", nil,
		},
		{"Windows line ends", "\ufeffsend_email:\r\n  max_calls: 3\r\n", "\ufeffsend_email:\r\n  trusted_destinations:\r\n    - \"x@y.com\"\r\n  max_calls: 3\r\n", nil},
		{"letters of many bytes", "send_email: {arg_patterns: {ü: 'ä'}, trusted_destinations: [ü@b.com]}\n", "send_email: {arg_patterns: {ü: 'ä'}, trusted_destinations: [\"x@y.com\", ü@b.com]}\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Trusting("policy.yaml", []byte(tt.before), "mail", "send_email", []string{"x@y.com"}, tt.already)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.after {
				t.Errorf("got:\n%s\nwant:\n%s", got, tt.after)
			}
			rule := NewSet(layer(t, "policy.yaml", string(got))).For(Server{Name: "mail"}).Resolve(Tool{Name: "send_email"})
			if !Trusts(rule.TrustedDestinations, "x@y.com") {
				t.Errorf("the result does not trust it: %v", rule.TrustedDestinations)
			}
		})
	}
}

func TestTrustingRefuses(t *testing.T) {
	for _, tt := range []struct{ name, before, server, tool, destination, want string }{
		{"a broken file", "send_email: 3\n", "mail", "send_email", "x@y.com", "a rule is a mapping"},
		{"an entry that others use", "send_email: &out {max_calls: 3}\nreply: *out\n", "mail", "send_email", "x@y.com", "several places"},
		{"an entry that is another's", "reply: &out {max_calls: 3}\nsend_email: *out\n", "mail", "send_email", "x@y.com", "several places"},
		{"a list that others use", "a: {trusted_destinations: &us [a@b.com]}\nsend_email: {trusted_destinations: *us}\n", "mail", "send_email", "x@y.com", "several places"},
		{"a document that ends", "reply: {}\n...\n", "mail", "send_email", "x@y.com", "changed by a program"},
		{"a domain", "", "mail", "send_email", "@y.com", "allowlist"},
		{"a pattern", "", "mail", "send_email", "https://y.com/*", "allowlist"},
		{"two addresses", "", "mail", "send_email", "x@y.com\nb@z.com", "allowlist"},
		{"something hidden", "", "mail", "send_email", "x\u200b@y.com", "allowlist"},
		{"a tool that is a pattern", "", "mail", "send_*", "x@y.com", "pattern"},
		{"a server that is a pattern", "", "*", "send_email", "x@y.com", "pattern"},
		{"a tool that names a server", "", "mail", "mail/send_email", "x@y.com", "pattern"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Trusting("policy.yaml", []byte(tt.before), tt.server, tt.tool, []string{tt.destination}, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestExactly(t *testing.T) {
	for _, tt := range []struct{ destination, item, not string }{
		{"x@y.com", "x@y.com", "z@y.com"},
		{" x@y.com ", "x@y.com", "y.com"},
		{"https://y.com", "https://y.com/", "https://y.com/a"},
		{"https://y.com/a?b=1", "https://y.com/a?b=1", "https://y.com/a?b=2"},
		{"#general", "#general", "#general2"},
		{"y.com", "y.com", "x@y.com"},
		{"@bob", "", ""},
		{"*@y.com", "", ""},
		{"https://a@y.com/", "", ""},
		{"https://y.com/a/*", "", ""},
		{"", "", ""},
	} {
		item, ok := Exactly(tt.destination)
		if ok != (tt.item != "") || ok && item != tt.item {
			t.Errorf("%q: %q, %v", tt.destination, item, ok)
		}
		if ok && (!Trusts([]string{item}, tt.destination) || Trusts([]string{item}, tt.not)) {
			t.Errorf("%q: %q does not trust it alone", tt.destination, item)
		}
	}
}

// FuzzTrusting adds to any policy: every byte of it stays in its order, and nothing but the one entry changes.
func FuzzTrusting(f *testing.F) {
	for _, seed := range []string{
		"", "# a\n", "send_email: {}\n", "send_email:\n  max_calls: 1\n", "version: 1\nservers:\n  mail:\n    tools: {}\n",
		"version: 1\ntools: {send_email: {trusted_destinations: [a@b.com]}}\n", "---\nreply:\n  trusted_destinations:\n  - a\n...\n",
		"a: &x {max_calls: 1}\nsend_email: *x\n", "{send_email: {max_calls: 1}}\n", "  send_email:\n    max_calls: 1\n",
	} {
		f.Add(seed, "mail", "send_email", "x@y.com")
	}
	f.Add("version: 1\n", "no", "yes", "ü#: [")
	f.Fuzz(func(t *testing.T, before, server, tool, destination string) {
		after, err := Trusting("policy.yaml", []byte(before), server, tool, []string{destination}, []string{"@corp.example"})
		if err != nil {
			return
		}
		rest := after
		for _, c := range []byte(before) {
			i := slices.Index(rest, c)
			if i < 0 {
				t.Fatalf("%q became %q", before, after)
			}
			rest = rest[i+1:]
		}
		l, err := Parse("policy.yaml", after)
		if err != nil {
			t.Fatalf("%q: %v", after, err)
		}
		rule := NewSet(l).For(Server{Name: server}).Resolve(Tool{Name: tool})
		if !Trusts(rule.TrustedDestinations, destination) {
			t.Fatalf("%q does not trust %q for %q of %q", after, destination, tool, server)
		}
	})
}

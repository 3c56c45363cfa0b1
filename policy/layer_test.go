package policy

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, name string
		want          bool
	}{
		{"send", "send", true},
		{"send", "Send", false},
		{"send", "sends", false},
		{"", "", true},
		{"*", "", true},
		{"*", "any/thing", true},
		{"send_*", "send_", true},
		{"send_*", "send_mail", true},
		{"send_*", "resend_mail", false},
		{"*_mail", "send_mail", true},
		{"*_mail", "send_mails", false},
		{"s*d*l", "send_mail", true},
		{"s*d*l", "send_mai", false},
		{"a*b*c", "abcbd", false},
		{"a*b*c", "abcbc", true},
		{"?", "", false},
		{"?", "é", true},
		{"??", "é", false},
		{"get_?", "get_me", false},
		{"*?", "", false},
		{"[a]", "a", false},
		{`\*`, "*", false},
	} {
		if got := glob(tt.pattern, tt.name); got != tt.want {
			t.Errorf("glob(%q, %q) = %t", tt.pattern, tt.name, got)
		}
	}
	// Each * may take more; none may take forever.
	glob(strings.Repeat("*a", 200)+"b", strings.Repeat("a", 2000))
}

// TestPrecedence gives each kind of entry a budget of its own. The lists say which wins, the winner first; taking the
// winner away leaves the next one.
func TestPrecedence(t *testing.T) {
	kinds := []string{
		"servers: {mail: {tools: {send_it: {max_calls: %d}}}}",
		"servers: {mail: {tools: {'send_*': {max_calls: %d}}}}",
		"servers: {mail: {tools: {'*': {max_calls: %d}}}}",
		"tools: {mail/send_it: {max_calls: %d}}",
		"tools: {'m*l/send_it': {max_calls: %d}}",
		"tools: {'*/send_it': {max_calls: %d}}",
		"tools: {send_it: {max_calls: %d}}",
		"tools: {'mail/send_*': {max_calls: %d}}",
		"tools: {'*/send_*': {max_calls: %d}}",
		"tools: {'mail/*': {max_calls: %d}}",
		"tools: {'send_?t': {max_calls: %d}}",
		"tools: {'send_*': {max_calls: %d}}",
		"tools: {'*_it': {max_calls: %d}}",
		"tools: {'*': {max_calls: %d}}",
	}
	for winner := range kinds {
		// One layer out of all that may win, in a random order of the file.
		var l Layer
		for i := winner; i < len(kinds); i++ {
			l.body.rules = append(l.body.rules, layer(t, "u", "version: 1\n"+fmt.Sprintf(kinds[i], i)+"\n").body.rules...)
		}
		rand.Shuffle(len(l.body.rules), func(i, j int) { l.body.rules[i], l.body.rules[j] = l.body.rules[j], l.body.rules[i] })
		set := NewSet(&l).For(Server{Name: "mail"})
		if r := set.Resolve(tool("send_it")); r.MaxCalls != winner {
			t.Errorf("%s wins over %s", kinds[r.MaxCalls], kinds[winner])
		}
	}
}

func TestOfEqualPatternsTheLaterWins(t *testing.T) {
	for in, want := range map[string]int{"'aa_*': {max_calls: 1}, '*_bb': {max_calls: 2}": 2, "'*_bb': {max_calls: 2}, 'aa_*': {max_calls: 1}": 1} {
		if r := NewSet(layer(t, "u", "version: 1\ntools: {"+in+"}\n")).Resolve(tool("aa_bb")); r.MaxCalls != want {
			t.Errorf("%s: %d", in, r.MaxCalls)
		}
	}
}

func TestFieldsAreInheritedInsideALayer(t *testing.T) {
	s := NewSet(layer(t, "u", `version: 1
tools:
  "*": {max_calls: 9, arg_patterns: {a: b}}
  "send_*": {sink_params: [whom], trusted_destinations: [x]}
servers:
  mail:
    tools:
      send_it: {trusted_destinations: [y]}
`))
	r := s.For(Server{Name: "mail"}).Resolve(tool("send_it", "whom"))
	if r.MaxCalls != 9 || len(r.ArgPatterns) != 1 || !slices.Equal(r.SinkParams, []string{"whom"}) || !slices.Equal(r.TrustedDestinations, []string{"y"}) {
		t.Errorf("%+v", r)
	}
	for _, other := range []Server{{}, {Name: "mails"}, {Name: "Mail"}} {
		if r := s.For(other).Resolve(tool("send_it", "whom")); !slices.Equal(r.TrustedDestinations, []string{"x"}) {
			t.Errorf("%+v: %+v", other, r)
		}
	}
}

func TestServersOfUnknownName(t *testing.T) {
	s := NewSet(layer(t, "u", "version: 1\nservers: {'*': {profile: strict, tools: {x: {max_calls: 1}}}}\ntools: {'*/y': {max_calls: 1}}\n"))
	if s.Resolve(tool("x")).Limited || s.Resolve(tool("y")).Limited || s.Profile() != "" {
		t.Error("a section of a server holds without one")
	}
	if r := s.Resolve(tool("z/y")); !r.Limited {
		t.Error("a tool with a slash in its name is not found by it")
	}
	s = s.For(Server{Name: "a"})
	if !s.Resolve(tool("x")).Limited || !s.Resolve(tool("y")).Limited || s.Profile() != ProfileStrict {
		t.Error("a section of every server does not hold")
	}
}

func TestProfile(t *testing.T) {
	file := layer(t, "u", "version: 1\nprofile: balanced\nservers: {bank: {profile: strict}, 'b*': {profile: balanced}, '*': {tools: {}}}\n")
	above := layer(t, "v", "version: 1\nservers: {blog: {profile: strict}}\n")
	for name, want := range map[string]string{"bank": "strict", "bin": "balanced", "mail": "balanced", "blog": "strict", "": "balanced"} {
		if got := NewSet(above, file).For(Server{Name: name}).Profile(); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := (*Set)(nil).Profile(); got != "" {
		t.Errorf("no policy: %q", got)
	}
	if got := (*Set)(nil).For(Server{Name: "x"}).Under("strict").Profile(); got != "strict" {
		t.Errorf("the caller's profile: %q", got)
	}
	if got := NewSet(file).Under("balanced").For(Server{Name: "bank"}).Profile(); got != "balanced" {
		t.Errorf("the caller's profile over a section's: %q", got)
	}
}

// Whoever names observe lets calls pass, and leaves it to the next one that is named to say what would become of them.
func TestObserve(t *testing.T) {
	file := layer(t, "u", `version: 1
profile: strict
servers:
  mail: {profile: observe, tools: {send: {profile: balanced}, 'get_*': {profile: strict}}}
  'm*': {profile: balanced}
  bank: {profile: strict}
  till: {profile: observe}
tools:
  send: {profile: observe}
  post: {profile: observe}
  'mail/get_mine': {profile: observe}
`)
	above := layer(t, "v", "version: 1\ntools: {put: {profile: observe}, plain: {max_calls: 1}}\n")
	set := NewSet(above, file)
	for _, tt := range []struct {
		server, tool, caller string
		profile              string
		observed             bool
	}{
		{"shop", "plain", "", "strict", false},
		{"shop", "post", "", "strict", true},
		{"bank", "post", "", "strict", false},
		{"till", "plain", "", "strict", true},
		{"bank", "put", "", "strict", true},
		{"mail", "plain", "", "balanced", true},
		{"mail", "send", "", "balanced", false},
		{"mail", "get_mine", "", "strict", false},
		{"mint", "post", "", "balanced", true},
		{"mint", "get_mine", "", "balanced", false},
		{"bank", "plain", "observe", "strict", true},
		{"mail", "plain", "balanced", "balanced", false},
		{"bank", "post", "strict", "strict", false},
		{"bank", "put", "balanced", "balanced", false},
	} {
		s := set.For(Server{Name: tt.server}).Under(tt.caller)
		if r := s.Resolve(tool(tt.tool)); r.Profile != tt.profile || r.Observed != tt.observed {
			t.Errorf("%s of %s under %q: %q, observed %t", tt.tool, tt.server, tt.caller, r.Profile, r.Observed)
		}
	}
	if s := set.For(Server{Name: "mail"}); !s.Observes() || s.Profile() != "balanced" || set.Observes() {
		t.Errorf("the server: %t, %q", s.Observes(), s.Profile())
	}
	if r := (*Set)(nil).Under("observe").Resolve(tool("x")); !r.Observed || r.Profile != "" {
		t.Errorf("without a policy: %+v", r)
	}
	if r := NewSet(layer(t, "u", "version: 1\ntools: {'*': {profile: observe}}\n")).Resolve(Tool{}); !r.Observed {
		t.Error("a tool without a name has no profile")
	}
	x := Explain(set.For(Server{Name: "shop"}), tool("post")).String()
	if !strings.HasPrefix(x, "post\n  observed: its calls pass, and the log says what strict would have made of them\n") || !strings.HasSuffix(x, "\n  profile: [observe], policy u line 10\n") {
		t.Errorf("%s", x)
	}
}

func TestLinked(t *testing.T) {
	s := NewSet(layer(t, "u", "version: 1\ntaint: {links: [[contacts, 'mail*'], [a, a]]}\n"), pack(t, "x", "send: {}\n"))
	for _, tt := range []struct {
		from, to string
		want     bool
	}{
		{"contacts", "mail", true},
		{"mail2", "contacts", true},
		{"mail", "mail2", false},
		{"contacts", "contacts", false},
		{"contacts", "Mail", false},
		{"a", "a", true},
		{"", "mail", false},
		{"contacts", "", false},
	} {
		if got := s.Linked(tt.from, tt.to); got != tt.want {
			t.Errorf("Linked(%q, %q) = %t", tt.from, tt.to, got)
		}
	}
	if (*Set)(nil).Linked("a", "b") || NewSet().Linked("a", "b") {
		t.Error("servers are linked without a policy")
	}
}

// TestAddingAnEntryNeverWeakens builds random policies and adds a random entry to them. One that switches nothing off in
// so many words must leave every gate as strict as it was.
func TestAddingAnEntryNeverWeakens(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	tools := []Tool{
		tool("send_mail", "to", "body"), tool("delete_file", "path", "id"), tool("fetch", "url"), tool("get_users"), tool("list_secrets"),
		tool("whoami"), tool("update_issue", "issue_id", "title"), tool("book_room", "room"), tool("frob", "x"),
		{Name: "send_sms"},
	}
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	field := func(off bool) string {
		if off && rnd.IntN(3) == 0 {
			return pick("exfiltrating: false", "irreversible: false", "sink_params: []", "object_params: []", "untrusted_outputs: []", "arg_patterns: {}",
				"trusted_destinations: []", "write_params: []", "allowed_path_prefixes: []", "trusted_outputs: []")
		}
		return pick("exfiltrating: true", "irreversible: true", "sink_params: [to]", "sink_params: [x, url]", "object_params: [id]", "max_calls: 3",
			"arg_patterns: {x: a}", "write_params: [path]", "allowed_path_prefixes: [./out]", "untrusted_outputs: [note]", "trusted_outputs: [id]",
			"trusted_destinations: [me]")
	}
	build := func(name string, off, pack bool) *Layer {
		var b strings.Builder
		b.WriteString("version: 1\ntools:\n")
		names := map[string]bool{}
		for range 1 + rnd.IntN(3) {
			names[pick("send_mail", "delete_file", "fetch", "get_users", "book_room", "frob", "update_issue", "'*'", "'*_*'", "mail/frob")] = true
		}
		for _, n := range slices.Sorted(maps.Keys(names)) {
			// A field twice would not parse, so that there is one or two of different kinds.
			a, c := field(off), field(off)
			fmt.Fprintf(&b, "  %s: {%s", n, a)
			if a[:5] != c[:5] {
				b.WriteString(", " + c)
			}
			b.WriteString("}\n")
		}
		l, err := parse(name, []byte(b.String()), pack)
		if err != nil {
			t.Fatalf("%v\n%s", err, b.String())
		}
		l.Pack = pack
		return l
	}
	for range 1000 {
		var layers []*Layer
		for i := range rnd.IntN(3) {
			layers = append(layers, build(fmt.Sprint("l", i), true, rnd.IntN(3) == 0))
		}
		added := build("added", false, rnd.IntN(3) == 0)
		server := Server{Name: pick("mail", "other", "")}
		before := NewSet(layers...).For(server).Under("strict")
		after := NewSet(append([]*Layer{added}, layers...)...).For(server).Under("strict")
		for _, tl := range tools {
			a, b := before.Resolve(tl), after.Resolve(tl)
			if fault := weaker(a, b); fault != "" {
				t.Fatalf("%s: %s\nbefore %+v\nafter  %+v", tl.Name, fault, a, b)
			}
		}
	}
}

// weaker says what is less strict in b than in a.
func weaker(a, b Rule) string {
	switch {
	case a.Exfiltrating && !b.Exfiltrating, b.Open && !a.Open:
		return "the gate is open"
	case b.Fetch && !a.Fetch:
		return "it became a fetch"
	case a.Irreversible && !b.Irreversible:
		return "it became reversible"
	case a.Changing && !b.Changing:
		return "it no longer changes anything"
	case a.Limited && !b.Limited:
		return "the budget is gone"
	case len(a.ObjectParams) > 0 && len(b.ObjectParams) == 0:
		return "the objects are gone"
	case len(a.ArgPatterns) > 0 && len(b.ArgPatterns) == 0:
		return "the patterns are gone"
	case len(a.AllowedPathPrefixes) > 0 && len(a.WriteParams) > 0 && (len(b.AllowedPathPrefixes) == 0 || len(b.WriteParams) == 0):
		return "the confinement is gone"
	case len(a.UntrustedOutputs) > 0 && len(b.UntrustedOutputs) == 0:
		return "the untrusted outputs are gone"
	case a.Sensitive && !b.Sensitive:
		return "it is no longer sensitive"
	case b.Directory && !a.Directory, b.Identity && !a.Identity:
		return "its results vouch for more"
	}
	return ""
}

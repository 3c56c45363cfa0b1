package policy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestParseFaults(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"top list", "- a\n", `p.yaml: line 1, column 1: a policy file is a mapping from tool names to rules, and this is a list`},
		{"top null", "null\n", `p.yaml: line 1, column 1: a policy file is a mapping from tool names to rules, and this is null`},
		{"syntax", "send:\n  max_calls: 1\n bad\n", `p.yaml: line 3: not valid YAML: `},
		{"syntax in the first line", "a: b: c\n", `p.yaml: line 1: not valid YAML: mapping values are not allowed in this context`},
		{"tab", "send:\n\tmax_calls: 1\n", `p.yaml: line 2: not valid YAML: found character that cannot start any token`},
		{"UTF-8", "# é\nsend: {}\nx\xff: {}\n", `p.yaml: line 3, column 2: not valid UTF-8`},
		{"UTF-16", "\xff\xfea\x00", `p.yaml: line 1, column 1: not valid UTF-8`},
		{"control character", "a: {}\nb: \x00\n", `p.yaml: line 2, column 4: character U+0000 is not allowed`},
		{"two documents", "send: {}\n---\nother: {}\n", `p.yaml: line 2, column 1: a second YAML document begins here; a policy file holds one`},
		{"unknown anchor", "send:\n  sink_params: *nope\n", `p.yaml: line 2: not valid YAML: unknown anchor 'nope' referenced`},
		{"merge key", "a: &a {max_calls: 1}\nb:\n  <<: *a\n", `p.yaml: line 3, column 3: merge keys (<<) are not allowed; write the fields out`},
		{"duplicate tool", "send: {}\n\"send\": {}\n", `p.yaml: line 2, column 1: duplicate key "send", first at line 1, column 1`},
		{"duplicate field", "send:\n  max_calls: 1\n  max_calls: 9\n", `p.yaml: line 3, column 3: duplicate key "max_calls", first at line 2, column 3`},
		{"number as tool", "404: {}\n", `p.yaml: line 1, column 1: a key must be text, and "404" is a whole number; put it in quotes`},
		{"list as key", "? [a]\n: {}\n", `p.yaml: line 1, column 3: a key must be text, and this is a list`},

		{"null entry", "send:\n", `p.yaml: line 1, column 6: send: a rule is a mapping of fields, and this is null; write {} to change nothing`},
		{"odd tool name", "\"a\\nb\": []\n", `p.yaml: line 1, column 9: "a\nb": a rule is a mapping of fields, and this is a list; write {} to change nothing`},
		{"list entry", "send: [1]\n", `p.yaml: line 1, column 7: send: a rule is a mapping of fields, and this is a list; write {} to change nothing`},
		{"scalar entry", "send: deny\n", `p.yaml: line 1, column 7: send: a rule is a mapping of fields, and this is text; write {} to change nothing`},
		{"glob", "send*: {}\n", `p.yaml: line 1, column 1: "send*": patterns stand in a file of the full form, which also has the line version: 1`},
		{"spaces", "'send ': {}\n", `p.yaml: line 1, column 1: "send " is no tool name: it is empty, or has space around it`},
		{"typo", "send:\n  exfiltratin: true\n", `p.yaml: line 2, column 3: send: unknown field "exfiltratin"; did you mean exfiltrating?`},
		{"other spelling", "send:\n  sinkParams: [to]\n", `p.yaml: line 2, column 3: send: unknown field "sinkParams"; did you mean sink_params?`},
		{"unlike anything", "send:\n  colour: red\n", `p.yaml: line 2, column 3: send: unknown field "colour"`},
		{"text for irreversible", "send:\n  irreversible: \"true\"\n", `p.yaml: line 2, column 17: send: irreversible must be true or false, and "true" is text; write irreversible: true`},
		{"objects as text", "send: {object_params: id}\n", `p.yaml: line 1, column 23: send: object_params must be a list, and this is text; write object_params: ["id"]`},
		{"outputs as text", "send: {trusted_outputs: id}\n", `p.yaml: line 1, column 25: send: trusted_outputs must be a list, and this is text; write trusted_outputs: ["id"]`},
		{"number in outputs", "send: {untrusted_outputs: [1]}\n", `p.yaml: line 1, column 28: send: untrusted_outputs must hold text, and this is a whole number; put it in quotes: "1"`},
		{"misspelt new field", "send: {objectParams: [id]}\n", `p.yaml: line 1, column 8: send: unknown field "objectParams"; did you mean object_params?`},

		{"text for a boolean", "send: {exfiltrating: \"no\"}\n", `p.yaml: line 1, column 22: send: exfiltrating must be true or false, and "no" is text; write exfiltrating: false`},
		{"YAML 1.1 boolean", "send: {exfiltrating: yes}\n", `p.yaml: line 1, column 22: send: exfiltrating must be true or false, and "yes" is text; write exfiltrating: true`},
		{"tagged boolean", "send: {exfiltrating: !!bool no}\n", `p.yaml: line 1, column 22: send: exfiltrating must be true or false, and "no" is a boolean; write exfiltrating: false`},
		{"null boolean", "send: {exfiltrating: }\n", `p.yaml: line 1, column 22: send: exfiltrating must be true or false, and this is null`},
		{"scalar for a list", "send: {sink_params: to}\n", `p.yaml: line 1, column 21: send: sink_params must be a list, and this is text; write sink_params: ["to"]`},
		{"null for a list", "send: {trusted_destinations: ~}\n", `p.yaml: line 1, column 30: send: trusted_destinations must be a list, and this is null; write trusted_destinations: [] for none`},
		{"mapping for a list", "send: {write_params: {a: b}}\n", `p.yaml: line 1, column 22: send: write_params must be a list, and this is a mapping; write write_params: [] for none`},
		{"null in a list", "send: {sink_params: [to, null]}\n", `p.yaml: line 1, column 26: send: sink_params must hold text, and this is null`},
		{"boolean in a list", "send: {sink_params: [true]}\n", `p.yaml: line 1, column 22: send: sink_params must hold text, and this is a boolean; put it in quotes: "true"`},
		{"list in a list", "send: {sink_params: [[to]]}\n", `p.yaml: line 1, column 22: send: sink_params must hold text, and this is a list`},
		{"empty prefix", "w: {allowed_path_prefixes: ['']}\n", `p.yaml: line 1, column 29: w: allowed_path_prefixes holds an empty text`},
		{"sub-domains", "send: {trusted_destinations: ['@*.corp.com']}\n", `p.yaml: line 1, column 31: send: trusted_destinations: "@*.corp.com" has a * for sub-domains, which are not trusted together; name each one, as in @mail.example.com`},
		{"inert wildcard", "send: {trusted_destinations: ['*.corp.com']}\n", `p.yaml: line 1, column 31: send: trusted_destinations: "*.corp.com" has a * that stands for nothing; it may stand in *@domain and at the end of https://host/path/*`},
		{"trusted user name", "send: {trusted_destinations: ['https://a@corp.com']}\n", `p.yaml: line 1, column 31: send: trusted_destinations: "https://a@corp.com" is a URL with a user name, which is never trusted`},
		{"bare at", "send: {trusted_destinations: ['@']}\n", `p.yaml: line 1, column 31: send: trusted_destinations: "@" has no domain after the @`},
		{"invisible", "send: {trusted_destinations: [\"a\u200b@corp.com\"]}\n", `p.yaml: line 1, column 31: send: trusted_destinations: "a\u200b@corp.com" holds a control or invisible character`},

		{"quoted number", "send: {max_calls: '2'}\n", `p.yaml: line 1, column 19: send: max_calls must be a whole number, and this is text`},
		{"decimal number", "send: {max_calls: 2.0}\n", `p.yaml: line 1, column 19: send: max_calls must be a whole number, and this is a decimal number`},
		{"boolean number", "send: {max_calls: true}\n", `p.yaml: line 1, column 19: send: max_calls must be a whole number, and this is a boolean`},
		{"null number", "send: {max_calls: null}\n", `p.yaml: line 1, column 19: send: max_calls must be a whole number, and this is null`},
		{"negative number", "send: {max_calls: -1}\n", `p.yaml: line 1, column 19: send: max_calls must not be negative; 0 forbids every call`},
		{"octal number", "send: {max_calls: 010}\n", `p.yaml: line 1, column 19: send: max_calls must be a plain decimal number up to 2147483647`},
		{"huge number", "send: {max_calls: 99999999999}\n", `p.yaml: line 1, column 19: send: max_calls must be a plain decimal number up to 2147483647`},

		{"patterns as a list", "send: {arg_patterns: [a]}\n", `p.yaml: line 1, column 22: send: arg_patterns must be a mapping from arguments to regular expressions, and this is a list`},
		{"number as a pattern", "send: {arg_patterns: {a: 1}}\n", `p.yaml: line 1, column 26: send: arg_patterns: a must be a regular expression, and this is a whole number`},
		{"broken pattern", "send:\n  arg_patterns:\n    a: '('\n", "p.yaml: line 3, column 8: send: arg_patterns: a: error parsing regexp: missing closing ): `(`"},
		{"unbalanced pattern", "send: {arg_patterns: {a: 'a)|(b'}}\n", "p.yaml: line 1, column 26: send: arg_patterns: a: error parsing regexp: unexpected ): `a)|(b`"},
		{"look-ahead", "send: {arg_patterns: {a: 'x(?!y)'}}\n", "p.yaml: line 1, column 26: send: arg_patterns: a: error parsing regexp: invalid or unsupported Perl syntax: `(?!`; RE2 has no look-around, and a pattern always matches the whole value"},
		{"look-behind", "send: {arg_patterns: {a: '(?<=y)x'}}\n", "p.yaml: line 1, column 26: send: arg_patterns: a: error parsing regexp: invalid named capture: `(?<=y)x`; RE2 has no look-around, and a pattern always matches the whole value"},
		{"back-reference", "send: {arg_patterns: {a: '(x)\\1'}}\n", "p.yaml: line 1, column 26: send: arg_patterns: a: error parsing regexp: invalid escape sequence: `\\1`; RE2 has no back-references"},
		{"atomic group", "send: {arg_patterns: {a: '(?>x)'}}\n", "p.yaml: line 1, column 26: send: arg_patterns: a: error parsing regexp: invalid or unsupported Perl syntax: `(?>`; RE2 never backtracks, so it needs and has no atomic groups and possessive quantifiers"},
		{"possessive", "send: {arg_patterns: {a: 'x++'}}\n", "p.yaml: line 1, column 26: send: arg_patterns: a: error parsing regexp: invalid nested repetition operator: `++`; RE2 never backtracks, so it needs and has no atomic groups and possessive quantifiers"},

		{"version as text", "version: '1'\n", `p.yaml: line 1, column 10: version must be the whole number 1`},
		{"version 2", "version: 2\ntools: {}\n", `p.yaml: line 1, column 10: version must be the whole number 1`},
		{"nearly a profile", "version: 1\nprofile: observ\n", `p.yaml: line 2, column 10: unknown profile "observ"; did you mean observe?`},
		{"unknown profile", "version: 1\nprofile: strickt\n", `p.yaml: line 2, column 10: unknown profile "strickt"; did you mean strict?`},
		{"other unknown profile", "version: 1\nprofile: ballanced\n", `p.yaml: line 2, column 10: unknown profile "ballanced"; did you mean balanced?`},
		{"profile as a list", "version: 1\nprofile: [strict]\n", `p.yaml: line 2, column 10: profile must be balanced, strict or observe, and this is a list`},
		{"planned key", "version: 1\nrules: {}\n", `p.yaml: line 2, column 1: this build does not have "rules" in a policy file`},
		{"planned labels", "version: 1\nlabels: {}\n", `p.yaml: line 2, column 1: this build does not have "labels" in a policy file`},
		{"planned inspection", "version: 1\ninspect: {}\n", `p.yaml: line 2, column 1: this build does not have "inspect" in a policy file`},
		{"planned audit", "version: 1\naudit: {}\n", `p.yaml: line 2, column 1: this build does not have "audit" in a policy file`},
		{"misspelt key", "version: 1\nserver: {}\n", `p.yaml: line 2, column 1: unknown key "server"; did you mean servers?`},
		{"misspelt tools", "version: 1\ntool: {}\n", `p.yaml: line 2, column 1: unknown key "tool"; did you mean tools?`},
		{"tool in the full form", "version: 1\nsend_email: {}\n", `p.yaml: line 2, column 1: unknown key "send_email"`},
		{"tools as a list", "version: 1\ntools: []\n", `p.yaml: line 2, column 8: tools must be a mapping from tool names to rules, and this is a list`},
		{"full form without a version", "profile: strict\n", `p.yaml: line 1, column 1: "profile" stands in a file of the full form, which also has the line version: 1`},
		{"pack in a policy", "version: 1\npack: {summary: x}\n", `p.yaml: line 2, column 1: "pack" stands only in the packs that come with the program`},

		{"servers as a list", "version: 1\nservers: [a]\n", `p.yaml: line 2, column 10: servers must be a mapping from server names to what holds for them, and this is a list`},
		{"server as text", "version: 1\nservers: {mail: strict}\n", `p.yaml: line 2, column 17: mail must be a mapping with tools, profile or both, and this is text`},
		{"server of no name", "version: 1\nservers: {'': {}}\n", `p.yaml: line 2, column 11: "" is no server name: it is empty, or has space around it`},
		{"misspelt in a server", "version: 1\nservers: {mail: {tolls: {}}}\n", `p.yaml: line 2, column 18: mail: unknown key "tolls"; did you mean tools?`},
		{"profile of a server", "version: 1\nservers: {mail: {profile: strct}}\n", `p.yaml: line 2, column 27: unknown profile "strct"; did you mean strict?`},
		{"tools of a server", "version: 1\nservers: {mail: {tools: []}}\n", `p.yaml: line 2, column 25: mail: tools must be a mapping from tool names to rules, and this is a list`},
		{"field in a server", "version: 1\nservers: {mail: {tools: {send: {max_call: 1}}}}\n", `p.yaml: line 2, column 33: send: unknown field "max_call"; did you mean max_calls?`},
		{"taint as a list", "version: 1\ntaint: []\n", `p.yaml: line 2, column 8: taint must be a mapping with links, and this is a list`},
		{"misspelt links", "version: 1\ntaint: {link: []}\n", `p.yaml: line 2, column 9: taint: unknown key "link"; did you mean links?`},
		{"links as a mapping", "version: 1\ntaint: {links: {a: b}}\n", `p.yaml: line 2, column 16: taint: links must be a list of pairs of server names, and this is a mapping`},
		{"link of three", "version: 1\ntaint: {links: [[a, b, c]]}\n", `p.yaml: line 2, column 17: taint: links: a link is a list of two server names, as in [contacts, mail]`},
		{"link as text", "version: 1\ntaint: {links: [a-b]}\n", `p.yaml: line 2, column 17: taint: links: a link is a list of two server names, as in [contacts, mail]`},
		{"link to a number", "version: 1\ntaint: {links: [[a, 1]]}\n", `p.yaml: line 2, column 21: taint: links must hold text, and this is a whole number; put it in quotes: "1"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l, err := Parse("p.yaml", []byte(tt.in))
			if l != nil || err == nil {
				t.Fatalf("parsed, want an error: %s", tt.want)
			}
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("%T is no *Error", err)
			}
			if got := err.Error(); got != tt.want && (!strings.HasSuffix(tt.want, "YAML: ") || !strings.HasPrefix(got, tt.want)) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestParseReportsEveryFault(t *testing.T) {
	_, err := Parse("p.yaml", []byte("a: {max_calls: -1}\nb: {sink_params: to}\nc: &c {colour: red}\nd: *c\n"))
	if err == nil {
		t.Fatal("no error")
	}
	if lines := strings.Split(err.Error(), "\n"); len(lines) != 4 || !strings.Contains(lines[0], "line 1") || !strings.Contains(lines[1], "line 2") {
		t.Errorf("got\n%v", err)
	}
}

func TestParseAccepts(t *testing.T) {
	for name, in := range map[string]string{
		"empty":           "",
		"comments":        "# nothing\n\n# here\n",
		"marker":          "---\n",
		"empty mapping":   "{}\n",
		"BOM and CRLF":    "\ufeff# x\r\nsend:\r\n  sink_params: [to]\r\n",
		"no final line":   "send: {}",
		"full form":       "version: 1\nprofile: strict\ntools:\n  send: {}\n",
		"version alone":   "version: 1\n",
		"a tool `tools`":  "tools: {max_calls: 1}\n",
		"any tool name":   "'a.b/c-D é': {}\n'404': {}\n",
		"anchors":         "a: {sink_params: &s [to, cc]}\nb: {sink_params: *s}\n",
		"whole entries":   "a: &a {max_calls: 1}\nb: *a\n",
		"block text":      "a:\n  arg_patterns:\n    q: |-\n      [a-z]+\n",
		"both profiles":   "version: 1\nprofile: balanced\nservers: {a: {profile: strict}}\n",
		"patterns":        "version: 1\ntools: {'send_*': {}, '*/x?': {}, mail/send: {}}\nservers: {'m*': {tools: {'*': {}}}}\n",
		"links":           "version: 1\ntaint:\n  links:\n    - [a, 'b*']\n    - [c, d]\n",
		"new fields":      "a: {object_params: [id], irreversible: false, trusted_outputs: ['$.items[*].email', '*'], untrusted_outputs: []}\n",
		"every allowlist": "a: {trusted_destinations: [b@c.de, '@c.de', '*@c.de', 'https://c.de', 'https://c.de/x/*', '#x', c.de, '@alice']}\n",
	} {
		if _, err := Parse("p.yaml", []byte(in)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseBoundsAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("a: &a {sink_params: &s [" + strings.Repeat("x, ", 2000) + "x]}\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "t%d: {sink_params: *s}\n", i)
	}
	_, err := Parse("p.yaml", []byte(b.String()))
	if err == nil || !strings.Contains(err.Error(), "aliases make the file grow") {
		t.Errorf("got %v", err)
	}
	if _, err := Parse("p.yaml", slices.Repeat([]byte("#"), MaxSize+1)); err == nil {
		t.Error("a huge file parses")
	}
}

func TestPatternsMatchWholeValues(t *testing.T) {
	for _, tt := range []struct {
		pattern, value string
		want           bool
	}{
		{"a|ab", "ab", true},
		{"a|ab", "abc", false},
		{"a", "xa", false},
		{"(?m)^a$", "a\nb", false},
		{"a.c", "a\nc", false},
		{"(?s)a.c", "a\nc", true},
		{"(?i)abc", "ABC", true},
		{"abc", "ABC", false},
		{"a$", "a\n", false},
		{`\Qa.b`, "a.b", true},
		{`\Qa.b`, "axb", false},
		{`\Qa.b\E.`, "a.bx", true},
		{`\Qa\E\Qb`, "ab", true},
		{`\Q`, "", true},
		{`\Qa\`, `a\`, true},
		{`\\Q`, `\Q`, true},
		{`\\Q`, `x\Q`, false},
		{"(?i", "", false},
	} {
		re, err := compile(tt.pattern)
		if got := err == nil && re.MatchString(tt.value); got != tt.want {
			t.Errorf("%q on %q: %t, want %t", tt.pattern, tt.value, got, tt.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"", "send: {exfiltrating: true, sink_params: [to]}\n", "version: 1\nprofile: strict\ntools: {}\n", "a: &a [*a]\n", "a: &a {b: *a}\nc: *a\n",
		"a: {arg_patterns: {b: '(?=x)'}}\n", "? [a]\n: b\n", "a: !!bool no\n", "- - - -\n", "%YAML 1.2\n---\na: {}\n", "a: >\n x\n", "\"\\uD800\": {}\n",
		"a:\n  <<: {max_calls: 1}\n", "*x : y\n", "{a: [}\n", "# c\n\ta\n",
		"version: 1\nservers: {'m*': {profile: strict, tools: {'*': {irreversible: false}}}}\ntaint: {links: [[mail, '*']]}\n",
		"version: 1\ntools: {'*/send_?': {object_params: []}, mail/x: {trusted_destinations: ['@gmail.com']}}\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := Parse("p", data)
		if (l == nil) == (err == nil) {
			t.Fatalf("layer %v, error %v", l, err)
		}
		if err != nil {
			for _, e := range faults(err) {
				if e.Line < 1 || e.Line > strings.Count(string(data), "\n")+strings.Count(string(data), "\r")+strings.Count(string(data), "\u2028")+strings.Count(string(data), "\u2029")+strings.Count(string(data), "\u0085")+2 {
					t.Fatalf("%v: no such line in %q", e, data)
				}
			}
			return
		}
		s := NewSet(l).For(Server{Name: "mail"})
		s.Profile()
		s.Linked("mail", "contacts")
		for _, name := range l.Tools() {
			s.Resolve(Tool{Name: name})
			_ = Explain(s, tool(name, "to", "id")).String()
		}
		for _, w := range Check(l) {
			if w.Msg == "" || w.Line < 1 {
				t.Fatalf("warning %+v", w)
			}
		}
	})
}

// faults takes apart what Parse returns.
func faults(err error) []*Error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		e, _ := errors.AsType[*Error](err)
		return []*Error{e}
	}
	var all []*Error
	for _, err := range joined.Unwrap() {
		all = append(all, faults(err)...)
	}
	return all
}

package policy

import (
	"strings"
	"testing"
)

func TestParseCases(t *testing.T) {
	c, err := ParseCases("c.yaml", []byte(`policy: [a.yaml, b.yaml]
tools: list.json
profile: strict
cases:
  - name: one call
    prompt: please
    outputs:
      - {tool: read, text: hello}
      - {tool: look, server: other, args: {q: 1}, json: {id: 7, "at": 2026-12-01, "list": [1.5, true, null, "x"]}}
    call: {tool: send, args: {to: [a@x.com], n: 12345678901234567890}}
    expect: ask
    because: nobody
  - tools:
      - {name: send, description: d, inputSchema: {type: object, properties: {to: {}}}}
    server: mail
    profile: balanced
    prompts: [a, b]
    calls:
      - {tool: send, expect: ask, approve: session, result: {text: done}}
      - {tool: send, server: other, args: {}, expect: deny}
`))
	if err != nil {
		t.Fatal(err)
	}
	one, two := c.Cases[0], c.Cases[1]
	if strings.Join(c.Policies, " ") != "a.yaml b.yaml" || one.Name != "one call" || one.Line != 5 || one.Profile != "strict" || one.Tools.File != "list.json" {
		t.Errorf("%+v", c)
	}
	if o := one.Outputs[1]; o.Server != "other" || o.Text != `{"id":7,"at":"2026-12-01","list":[1.5,true,null,"x"]}` || string(o.Args) != `{"q":1}` {
		t.Errorf("%+v", o)
	}
	if k := one.Calls[0]; string(k.Args) != `{"to":["a@x.com"],"n":12345678901234567890}` || k.Expect != "ask" || k.Because != "nobody" || k.Server != "server" {
		t.Errorf("%+v", k)
	}
	if two.Name != "case 2" || two.Profile != "balanced" || two.Tools.File != "" || two.Tools.Inline[0].Name != "send" || len(two.Prompts) != 2 {
		t.Errorf("%+v", two)
	}
	if k := two.Calls[0]; k.Approve != "session" || k.Server != "mail" || k.Result == nil || k.Result.Tool != "send" || k.Result.Text != "done" {
		t.Errorf("%+v", k)
	}
	if k := two.Calls[1]; k.Server != "other" || k.Expect != "deny" {
		t.Errorf("%+v", k)
	}
}

func TestParseCasesRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "c: holds no cases",
		"cases: []":                           "c: holds no cases",
		"[]":                                  "c: line 1, column 1: a file of cases is a mapping with the list cases, and this is a list",
		"cases: {}":                           "c: line 1, column 8: cases must be a list, and this is a mapping",
		"case: []":                            `c: line 1, column 1: unknown key "case"; did you mean cases?`,
		"cases: [x]":                          "c: line 1, column 9: a case is a mapping, and this is text",
		"cases: [{name: a, call: {tool: t}}]": "c: line 1: a: a call needs expect: allow, ask or deny",
		"cases: [{name: a, expect: ask}]":     "c: line 1, column 9: a: a case needs a call",
		"cases: [{call: {tool: t}, expect: maybe}]":                                       `c: line 1, column 35: expect must be one of [allow ask deny], and this is "maybe"`,
		"cases: [{call: {tool: t, expect: ask}, expext: ask}]":                            `c: line 1, column 40: case 1: unknown key "expext"; did you mean expect?`,
		"cases: [{calls: [{tool: t}, {tool: u}], expect: ask}]":                           "c: line 1: case 1: a call needs expect: allow, ask or deny",
		"cases: [{calls: [{tool: t, expect: ask}, {tool: u, expect: ask}], expect: ask}]": "c: line 1, column 67: case 1: expect belongs into each of the calls, unless there is just one",
		"cases: [{call: {args: {}, expect: ask}}]":                                        "c: line 1, column 16: a call needs a tool",
		"cases: [{call: {tool: t, args: [1], expect: ask}}]":                              "c: line 1, column 32: call: args must be a mapping, and this is a list",
		"cases: [{outputs: [{text: x}], call: {tool: t, expect: ask}}]":                   "c: line 1, column 9: case 1: an output needs the tool that it is of",
		"cases: [{outputs: [{tool: o}], call: {tool: t, expect: ask}}]":                   "c: line 1, column 20: outputs: an output has either text or json",
		"cases: [{outputs: [{tool: o, text: 1}], call: {tool: t, expect: ask}}]":          "c: line 1, column 36: outputs: text must be text, and this is a whole number",
		"cases: [{call: {tool: t, args: {a: 0x10}, expect: ask}}]":                        `c: line 1, column 36: write the number "0x10" as JSON has it, or in quotes`,
		"cases: [{profile: loose, call: {tool: t, expect: ask}}]":                         `c: line 1, column 19: unknown profile "loose"`,
		"tools: [{nam: t}]\ncases: [{call: {tool: t, expect: ask}}]":                      `c: line 1, column 9: tools: a definition needs a name`,
		"cases: [{call: {tool: t, args: {a: 1, a: 2}, expect: ask}}]":                     `c: line 1, column 39: duplicate key "a", first at line 1, column 33`,
	} {
		_, err := ParseCases("c", []byte(text))
		if err == nil {
			t.Errorf("%s: parses", text)
			continue
		}
		if first, _, _ := strings.Cut(err.Error(), "\n"); first != want {
			t.Errorf("%s:\n%s\nwant\n%s", text, first, want)
		}
	}
}

func FuzzParseCases(f *testing.F) {
	f.Add([]byte("tools: l.json\ncases:\n  - name: a\n    outputs: [{tool: o, json: {a: [1, x]}}]\n    call: {tool: t, args: {to: x}}\n    expect: ask\n"))
	f.Add([]byte("cases:\n  - calls: [{tool: t, expect: deny, approve: once, result: {text: x}}]\n    prompts: [a]\n"))
	f.Add([]byte("a: &a [x, x]\ncases: [{call: {tool: t, expect: ask, args: {x: [*a, *a]}}}]"))
	f.Add([]byte("cases: &a [*a]"))
	f.Add([]byte("cases: [{call: {tool: t, expect: ask, args: &a {x: *a}}}]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := ParseCases("c", text)
		if err != nil {
			return
		}
		for _, one := range c.Cases {
			if len(one.Calls) == 0 {
				t.Error("a case without a call")
			}
			for _, k := range one.Calls {
				if k.Tool == "" || k.Expect == "" || k.Args.Kind() != '{' {
					t.Errorf("%+v", k)
				}
			}
		}
	})
}

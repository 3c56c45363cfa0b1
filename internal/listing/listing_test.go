package listing_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/bouncer-mcp/bouncer/internal/listing"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

func TestJSON(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"- a\n- b\n", `["a","b"]`},
		{"- a\n-\n- null\n- ~", `["a",null,null,"~"]`},
		{"key: value", `{"key":"value"}`},
		{"key:", `{"key":null}`},
		{"a: 1\nb: -0.5e3\nc: 01\nd: true\ne: True\nf: null\ng: 1.\nh: 2024-05-15\n", `{"a":1,"b":-0.5e3,"c":"01","d":true,"e":"True","f":null,"g":"1.","h":"2024-05-15"}`},
		{"---\na: b\n", `{"a":"b"}`},
		{"# said a program\n\n- a # not this\n  # nor this\n- b#c\n", `["a","b#c"]`},
		{
			"people:\n- name: Ann\n  mail: ann@example.com\n- name: Bob\n  mail: bob@example.com\nnext: 2\n",
			`{"people":[{"name":"Ann","mail":"ann@example.com"},{"name":"Bob","mail":"bob@example.com"}],"next":2}`,
		},
		{"- - a\n  - b\n- - c\n", `[["a","b"],["c"]]`},
		{"-   a: 1\n    b: 2\n", `[{"a":1,"b":2}]`},
		{"a:\n  b:\n    c: d\n  e: f\n", `{"a":{"b":{"c":"d"},"e":"f"}}`},
		{"a:\n    - b\n    -   c: d\n", `{"a":["b",{"c":"d"}]}`},
		{"  a: b\n  c: d\n", `{"a":"b","c":"d"}`},
		{"a: one\n  two\n\n  three\nb: c", `{"a":"one two\nthree","b":"c"}`},
		{"a: one\n  - two\n", `{"a":"one - two"}`},
		{"a:\n  one\n   two\n", `{"a":"one two"}`},
		{"a: http://x.example/?q=1#f, [b]\n", `{"a":"http://x.example/?q=1#f, [b]"}`},
		{"a: :smile\nb: -1x\nc: ?x", `{"a":":smile","b":"-1x","c":"?x"}`},
		{"body: 'Dear Ann,\n\n\n  it''s \"done\".  \n  Bye\n\n  '\n", `{"body":"Dear Ann,\n\nit's \"done\". Bye\n"}`},
		{"body: \"Dear Ann,\\n\\\n  \\  it's \\\"done\\\".\\\n  \\ Bye \\u263A\\x41\\U0001F600\\e\\0\"\n", `{"body":"Dear Ann,\n  it's \"done\". Bye ☺A😀\u001b\u0000"}`},
		{"a: 'x' # y\nb: \"\"\nc: ''\n", `{"a":"x","b":"","c":""}`},
		{"a: |\n  one\n   two\n\n  three\n\nb: |-\n  x\nc: |+\n  y\n\nd: |2-\n    z\n", `{"a":"one\n two\n\nthree\n","b":"x","c":"y\n\n","d":"  z"}`},
		{"a: >\n  one\n  two\n\n  three\n    four\n  five\n", `{"a":"one two\nthree\n  four\nfive\n"}`},
		{"- |-\n  a\n- >-\n  b\n  c", `["a","b c"]`},
		{"a: []\nb: {}\nc: [x, 'y', \"z\", [1, -2], {d: e}]\n", `{"a":[],"b":{},"c":["x","y","z",[1,-2],{"d":"e"}]}`},
		{"a: [x,\n  y]\n", `{"a":["x","y"]}`},
		{`['Alice', "Bob's"]`, `["Alice","Bob's"]`},
		{`{'message': 'x', 'ok': True, 'n': None, 'm': 1.5}`, `{"message":"x","ok":"True","n":"None","m":1.5}`},
		{"[{'a': 1,\n  'b': 2},\n {'a': 3}]\n", `[{"a":1,"b":2},{"a":3}]`},
		{"{ name: 'x', tags: [ 'a' ], }", `{"name":"x","tags":["a"]}`},
		{"[\n  'a',\n  'b'\n]", `["a","b"]`},
		{"\"a key: with more\": 1\n'it''s': 2\n", `{"a key: with more":1,"it's":2}`},
		{"straße: München\n名前: 花子\n", `{"straße":"München","名前":"花子"}`},
		{"lily@example.com: Lily\n/etc/hosts: file\n", `{"lily@example.com":"Lily","/etc/hosts":"file"}`},
		{"a: b\r\nc: 'd\r\n  e'\r\n", `{"a":"b","c":"d e"}`},
		{"a: tab\\t \"quote\" back\\slash\n", `{"a":"tab\\t \"quote\" back\\slash"}`},
	} {
		got, ok := listing.JSON([]byte("before"), c.text)
		if want := "before" + c.want; !ok || string(got) != want {
			t.Errorf("%q:\n got %s, %v\nwant %s", c.text, got, ok, want)
		}
		if t.Failed() {
			continue
		}
		if err := agrees(c.text, got[len("before"):]); err != nil {
			t.Errorf("%q: %v", c.text, err)
		}
	}
}

func TestNoListing(t *testing.T) {
	many := strings.Repeat("- ", 100)
	for _, text := range []string{
		"", " ", "\n\n", "# only a comment\n", "word", "2024-05-15", "'quoted'", "| \n x", "---", "---\n", "--- a: b", "true",
		"Dear Ann,\nplease call me: it is urgent.\n",
		"Subject: hello\nDear Ann,\n",
		"I wanted to tell you something: call me",
		"He said so to us yesterday evening: no",
		"Note : call",
		"An unusually-long-name-that-goes-on-and-on-and-on: x",
		"- a\nb\n", "- a\nb: c\n", "a: b\n- c\n", "a: b\n c: d\n", "a:\n  b: c\n d: e\n", "- a\n - b\n- c: d\n   e: f\n",
		"a: b: c\n", "a: b\n  c: d\n", "a: - b\n", "a: 'b' c\n", "a: 'b\nc'\n", "a: 'b", `a: "b`, `a: "\q"`, `a: "\/"`, `a: "\ud83d"`, `a: "\UFFFFFFFF"`, `a: "\x4"`,
		"a: &x b\n", "a: *x\n", "a: !!str b\n", "<<: b\n", "? a\n: b\n", "%YAML 1.1\n---\na: b\n", "a: @b\n", "a: `b`\n", "a: %b\n",
		"a: b\n---\nc: d\n", "a: b\n...\n", "a: 'b\n---\n  c'\n", "- a\n--- \n",
		"a: b\na: c\n", "{a: b, 'a': c}", "\"a\": 1\n'a': 2\n", "a: 1\n\"\\x61\": 2\n",
		"\ta: b\n", "a:\n\t- b\n", "a: b\n\tc\n", "a: b\tc", "a: 'b\t\n  c'\n", "a: |\n\tb\n", "a: |\n  \tb\n", "a: |\n   \n  b\n", "a: |", "a: |x\n  b", "a: |\n", "a: |--\n  b\n",
		"[a", "[a]]", "[a] b", "[,]", "[a,,b]", "[a b: c]", "{a}", "{a b}", "{a: }", "{a: b", "{a:b}", "[a?]", "[#a]", "[a\nb]", "[&a b]", "{[a]: b}", "[- a]", "[a]#b",
		"a: b\rc: d\n", "a: \x01\n", "a: \xff\n", "a: \u2028\n", "a: \u0085\n", "\ufeffa: b\n", "a: \x7f",
		many + "a", strings.Repeat("[", 100) + strings.Repeat("]", 100), strings.Repeat("{a: ", 100) + "b" + strings.Repeat("}", 100),
	} {
		if got, ok := listing.JSON([]byte("before"), text); ok || string(got) != "before" {
			t.Errorf("%q: got %s, %v", text, got, ok)
		}
	}
}

// TestManyNames finds a duplicate among more names than are compared one by one, without getting slow.
func TestManyNames(t *testing.T) {
	var b strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&b, "n%d: x\n", i)
	}
	if _, ok := listing.JSON(nil, b.String()); !ok {
		t.Error("different names: no listing")
	}
	b.WriteString("n99998: y\n")
	if _, ok := listing.JSON(nil, b.String()); ok {
		t.Error("a duplicate was not found")
	}
}

func TestDepth(t *testing.T) {
	for depth, want := range map[int]bool{64: true, 65: false} {
		for _, text := range []string{
			strings.Repeat("[", depth) + strings.Repeat("]", depth),
			strings.Repeat("- ", depth-1) + "[]",
		} {
			got, ok := listing.JSON(nil, text)
			if ok != want {
				t.Errorf("%d deep: %v", depth, ok)
			}
			if _, err := wire.ParseValue(got); ok && err != nil {
				t.Errorf("%d deep: %v", depth, err)
			}
		}
	}
}

// agrees says how the JSON differs from what another reader makes of the text.
func agrees(text string, got []byte) error {
	v, err := wire.ParseValue(got)
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	if !json.Valid(got) {
		return fmt.Errorf("no JSON: %s", got)
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		return err
	}
	if dec.Decode(new(yaml.Node)) == nil {
		return fmt.Errorf("several documents")
	}
	return same("", v, doc.Content[0])
}

func same(path string, v wire.Value, n *yaml.Node) error {
	if n.Anchor != "" || n.Alias != nil || n.Style&yaml.TaggedStyle != 0 {
		return fmt.Errorf("%s: beyond simple YAML", path)
	}
	switch v.Kind() {
	case '{':
		i := 0
		for name, member := range v.Members() {
			if n.Kind != yaml.MappingNode || i >= len(n.Content) || n.Content[i].Value != name {
				return fmt.Errorf("%s: no member %q", path, name)
			}
			if err := same(path+"."+name, member, n.Content[i+1]); err != nil {
				return err
			}
			i += 2
		}
		if n.Kind != yaml.MappingNode || i != len(n.Content) {
			return fmt.Errorf("%s: not all members", path)
		}
		return nil
	case '[':
		i := 0
		for elem := range v.Elems() {
			if n.Kind != yaml.SequenceNode || i >= len(n.Content) {
				return fmt.Errorf("%s: no element %d", path, i)
			}
			if err := same(fmt.Sprintf("%s[%d]", path, i), elem, n.Content[i]); err != nil {
				return err
			}
			i++
		}
		if n.Kind != yaml.SequenceNode || i != len(n.Content) {
			return fmt.Errorf("%s: not all elements", path)
		}
		return nil
	case '"':
		text, _ := v.Text()
		if n.Kind != yaml.ScalarNode || n.Value != text {
			return fmt.Errorf("%s: %q is %q", path, text, n.Value)
		}
		return nil
	}
	if n.Kind != yaml.ScalarNode || n.Style != 0 || string(v) != n.Value && (string(v) != "null" || n.Value != "") {
		return fmt.Errorf("%s: %s is %q", path, v, n.Value)
	}
	return nil
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		dump, "- a\n- 'b\n\n  c'\n- \"d\\\n  \\ e\"\n- |\n  f\n- >-\n  g\n   h\n\n  i\n", "{'a': ['b', \"c\"], 'd': None}",
		"a:\n- b: c\n  d:\n  - e\n\nf: [g,\n  h]\n", "---\n# x\na: b # c\n", "a: one\n  two\n\n  three # x\nb: -1e5\n", "a: >2+\n\n    x\n   y\n\n\nb: c",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := listing.JSON(nil, text)
		if !ok {
			return
		}
		if err := agrees(text, got); err != nil {
			t.Errorf("%q: %s: %v", text, got, err)
		}
	})
}

const dump = `- attachments: []
  bcc: []
  body: 'Hi Sam,


    thank you for the offer of last week. We''d like to go on with the second one,
    but need it "as is" before the summer break.


    Best,

    Ann'
  cc:
  - office@example.com
  id_: '17'
  read: true
  recipients:
  - sam.miller@example.com
  sender: ann.baker@example.org
  subject: The second offer
  timestamp: 2025-03-02 10:15:00
- content: "Minutes\nThe roof has been looked at; it will be repaired in two steps, \
    and\nthe first of them begins in June.\n - Ann writes to the owner\n - Sam asks\
    \ for a second price\n"
  filename: minutes.txt
  id_: '18'
  owner: sam.miller@example.com
  shared_with: {}
  size: 1532
`

func BenchmarkDump(b *testing.B) {
	text := strings.Repeat(dump, 1<<20/len(dump)+1)
	dst := make([]byte, 0, 2*len(text))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, ok := listing.JSON(dst, text); !ok {
			b.Fatal("no listing")
		}
	}
}

func BenchmarkProse(b *testing.B) {
	text := strings.Repeat("The roof has been looked at; it will be repaired in two steps.\n", 1<<14)
	for b.Loop() {
		if _, ok := listing.JSON(nil, text); ok {
			b.Fatal("prose is a listing")
		}
	}
}

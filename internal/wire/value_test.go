package wire

import (
	"iter"
	"slices"
	"strings"
	"testing"
)

func value(t *testing.T, s string) Value {
	t.Helper()
	v, err := ParseValue([]byte(s))
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return v
}

func TestGet(t *testing.T) {
	v := value(t, `{ "a" : 1, "\u0062\n":[2, {"x":"}"} ] ,"a\\u0061":3,"deep":{"er":{"st":true}},"":null,"s":"a,\"b\\"}`)
	for _, c := range []struct {
		path []string
		want string
	}{
		{nil, string(v)},
		{[]string{"a"}, "1"},
		{[]string{"A"}, ""},
		{[]string{"b\n"}, `[2, {"x":"}"} ]`},
		{[]string{`\u0062\n`}, ""},
		{[]string{`a\u0061`}, "3"},
		{[]string{"aa"}, ""},
		{[]string{"deep", "er", "st"}, "true"},
		{[]string{"deep", "er", "st", "more"}, ""},
		{[]string{"s"}, `"a,\"b\\"`},
		{[]string{""}, "null"},
		{[]string{"missing", "a"}, ""},
	} {
		got := v.At(c.path...)
		if string(got) != c.want || (got == nil) != (c.want == "") {
			t.Errorf("%q: got %s", c.path, got)
		}
	}
	if got := Value(nil).Get("a"); got != nil {
		t.Errorf("member of nothing: %s", got)
	}
}

func TestMembersAndElems(t *testing.T) {
	v := value(t, `{"b":[],"\u0061":[ 1 , "x" , {"y":[2]} ,[]]}`)
	var keys, elems []string
	for k := range v.Members() {
		keys = append(keys, k)
	}
	for e := range v.Get("a").Elems() {
		elems = append(elems, string(e))
	}
	if !slices.Equal(keys, []string{"b", "a"}) || !slices.Equal(elems, []string{"1", `"x"`, `{"y":[2]}`, "[]"}) {
		t.Errorf("got %q and %q", keys, elems)
	}
	for _, empty := range []string{"{}", "{ }", "[]", "[ ]", `"{"`, "1"} {
		for k := range value(t, empty).Members() {
			t.Errorf("%s has member %q", empty, k)
		}
		for e := range value(t, empty).Elems() {
			t.Errorf("%s has element %s", empty, e)
		}
	}
	for range v.Members() {
		break
	}
	for range v.Get("a").Elems() {
		break
	}
}

func TestScalars(t *testing.T) {
	for _, c := range []struct {
		raw  string
		kind byte
		text string // of a string
		n    int64  // of an integer
		isN  bool
	}{
		{raw: `"\u00e4\ud83d\ude00 \ud800\ud801\udc00 \"\\\/\b\f\n\r\t"`, kind: '"', text: "ä😀 \ufffd\U00010400 \"\\/\b\f\n\r\t"},
		{raw: `""`, kind: '"'},
		{raw: `-9223372036854775808`, kind: '0', n: -1 << 63, isN: true},
		{raw: `9223372036854775808`, kind: '0'},
		{raw: `7`, kind: '0', n: 7, isN: true},
		{raw: `1.0`, kind: '0'},
		{raw: `1e2`, kind: '0'},
		{raw: `-1E-7`, kind: '0'},
		{raw: `true`, kind: 't'},
		{raw: `false`, kind: 'f'},
		{raw: `null`, kind: 'n'},
		{raw: `{}`, kind: '{'},
		{raw: `[]`, kind: '['},
	} {
		v := value(t, c.raw)
		text, isText := v.Text()
		if v.Kind() != c.kind || text != c.text || isText != (c.kind == '"') {
			t.Errorf("%s: kind %c, text %q", c.raw, v.Kind(), text)
		}
		appended, ok := v.AppendText([]byte("> "))
		if string(appended) != "> "+c.text || ok != isText {
			t.Errorf("%s: appended %q", c.raw, appended)
		}
		if n, ok := v.Int(); ok != c.isN || ok && n != c.n {
			t.Errorf("%s: integer %d, %v", c.raw, n, ok)
		}
		if s, ok := v.Number(); ok != (c.kind == '0') || ok && s != c.raw {
			t.Errorf("%s: number %s, %v", c.raw, s, ok)
		}
		if b, ok := v.Bool(); b != (c.raw == "true") || ok != (c.kind == 't' || c.kind == 'f') {
			t.Errorf("%s: bool %v, %v", c.raw, b, ok)
		}
	}
	if Value(nil).Kind() != 0 {
		t.Error("nothing has a kind")
	}
}

func TestNavigationDoesNotAllocate(t *testing.T) {
	f, err := Parse([]byte(call(`{"name":"x","arguments":{"a":1,"to":"someone"}}`)))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	n := testing.AllocsPerRun(100, func() {
		for key, val := range f.Params.Get("arguments").Members() {
			if key == "to" && val.Kind() == '"' {
				found++
			}
		}
	})
	if n > 0 || found == 0 {
		t.Errorf("%v allocations, found %d times", n, found)
	}
}

// Appending to a view must not reach the bytes behind it, which are about to be forwarded.
func TestAppendToViewLeavesTheLine(t *testing.T) {
	line := []byte(call(`{"name":"x","arguments":{"a":[1]}}`))
	before := string(line)
	f, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	for leaf := range f.Params.Leaves() {
		_ = append(leaf.Value, "!!!"...)
	}
	for elem := range f.Params.At("arguments", "a").Elems() {
		_ = append(elem, "!!!"...)
	}
	_ = append(f.Params.Get("name"), "!!!"...)
	if string(line) != before {
		t.Errorf("got %s", line)
	}
}

func TestSpan(t *testing.T) {
	line := []byte(call(`{"name":"x","arguments":{"a":"here"}}`))
	f, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	start, end := f.Params.At("arguments", "a").Span(line)
	if start < 0 || string(line[start:end]) != `"here"` {
		t.Errorf("got %d, %d", start, end)
	}
	for _, other := range []Value{nil, Value(`"here"`), Value(line)[:3:3]} {
		if start, end := other.Span(line[3:]); start != -1 || end != -1 {
			t.Errorf("%s: got %d, %d", other, start, end)
		}
	}
	if start, _ := f.Params.Span(nil); start != -1 {
		t.Errorf("inside nothing: %d", start)
	}
}

func TestLeaves(t *testing.T) {
	const text = `{"content":[{"type":"text","te\u0078t":"hi"}, 1 ,[true,[null]],{}],"a b":{"":-1.5},"x-y":{},"\"":""}`
	var got []string
	for leaf := range value(t, text).Leaves() {
		mark := "="
		if leaf.IsKey {
			mark = "@"
		}
		got = append(got, leaf.Path.String()+mark+string(leaf.Value))
	}
	want := []string{
		`content@"content"`,
		`content[0].type@"type"`, `content[0].type="text"`,
		`content[0].text@"te\u0078t"`, `content[0].text="hi"`,
		`content[1]=1`, `content[2][0]=true`, `content[2][1][0]=null`,
		`["a b"]@"a b"`, `["a b"][""]@""`, `["a b"][""]=-1.5`,
		`x-y@"x-y"`,
		`["\""]@"\""`, `["\""]=""`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	for leaf := range value(t, ` "alone"`).Leaves() {
		if leaf.Path.String() != "" || string(leaf.Value) != `"alone"` {
			t.Errorf("got %s at %s", leaf.Value, leaf.Path)
		}
	}
	n := 0
	for range value(t, text).Leaves() {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("left after %d", n)
	}
	for leaf := range Value(nil).Leaves() {
		t.Errorf("nothing has leaf %s", leaf.Value)
	}
}

// A tree holds what Leaves yields, in the same order and under the same paths.
func checkTree(t *testing.T, v Value) {
	t.Helper()
	tree, ok := v.Tree(nil, len(v))
	if !ok {
		t.Fatalf("%s is too much", v)
	}
	next, stop := iter.Pull(v.Leaves())
	defer stop()
	same := func(i int, text string, isKey bool) {
		leaf, ok := next()
		want, isText := leaf.Value.Text()
		if !isText {
			want = string(leaf.Value)
		}
		if !ok || leaf.IsKey != isKey || text != want || tree.Path(i) != leaf.Path.String() {
			t.Fatalf("node %d of %s: %q at %s instead of %q at %s", i, v, text, tree.Path(i), want, leaf.Path)
		}
	}
	for i, n := range tree {
		if parent := tree[n.Parent]; i > 0 && (int(n.Parent) >= i || n.End > parent.End || n.Member != (parent.Kind == '{')) {
			t.Fatalf("node %d of %s: %+v below %+v", i, v, n, parent)
		}
		if n.Member {
			same(i, n.Name, true)
		}
		if n.Kind != '{' && n.Kind != '[' {
			same(i, n.Text, false)
		}
	}
	if leaf, more := next(); more {
		t.Fatalf("%s has no node for %s", v, leaf.Value)
	}
}

func TestTree(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `"a"`, `-1.5`, `null`, `{"a":{}}`,
		`{ "content" : [{"type":"text","te\u0078t":"h\ni"}, 1 ,[true,[null]],{}],"a b":{"":-1.5},"x-y":{},"\"":""}`,
	} {
		checkTree(t, value(t, text))
	}
	if tree, ok := Value(nil).Tree(nil, 1); len(tree) > 0 || !ok {
		t.Errorf("nothing became %v, %v", tree, ok)
	}
	for _, c := range []struct {
		limit int
		want  bool
	}{{0, false}, {4, false}, {5, true}} {
		if tree, ok := value(t, `[1,[2,3]]`).Tree(nil, c.limit); ok != c.want || len(tree) > c.limit {
			t.Errorf("limit %d: %d nodes, %v", c.limit, len(tree), ok)
		}
	}
}

func TestPathSteps(t *testing.T) {
	for leaf := range value(t, `{"a":[0,1]}`).Leaves() {
		if leaf.IsKey {
			continue
		}
		key, isKey := leaf.Path[0].Key()
		_, isIndex := leaf.Path[0].Index()
		if key != "a" || !isKey || isIndex {
			t.Errorf("first step: %q, %v, %v", key, isKey, isIndex)
		}
		i, isIndex := leaf.Path[1].Index()
		_, isKey = leaf.Path[1].Key()
		if n, _ := leaf.Value.Int(); int64(i) != n || !isIndex || isKey {
			t.Errorf("second step: %d, %v, %v", i, isIndex, isKey)
		}
	}
}

func TestShadow(t *testing.T) {
	for _, c := range []struct{ object, want string }{
		{`{"action":"decline"}`, ""},
		{`{"action":"decline","Action":"accept"}`, "Action"},
		{`{"ACTION":"accept"}`, "ACTION"},
		{`{"\u0041ction":"accept"}`, "Action"},
		{`{"actions":1,"actio":2,"content ":3}`, ""},
		{`{"tas` + "\u212a" + `":1}`, "tas\u212a"},
		{`{"me\u017f\u017fage":1}`, "meſſage"},
		{`{"inner":{"Action":1}}`, ""},
		{`["Action"]`, ""},
		{`{}`, ""},
	} {
		name, found := Shadow(value(t, c.object), "action", "content", "task", "message")
		if name != c.want || found != (c.want != "") {
			t.Errorf("%s: got %q, %v", c.object, name, found)
		}
	}
	// Two known names that differ in case only are both right.
	if name, found := Shadow(value(t, `{"id":1,"ID":2}`), "id", "ID"); found {
		t.Errorf("got %q", name)
	}
}

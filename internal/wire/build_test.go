package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestAppend(t *testing.T) {
	params := []byte("{\r\n\t\"a\": \"b\\n\"\n}")
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{AppendRequest([]byte("> "), StringID("p-1"), "tools/list", nil), `> {"jsonrpc":"2.0","id":"p-1","method":"tools/list"}`},
		{AppendRequest(nil, NumberID(-3), "x", params), `{"jsonrpc":"2.0","id":-3,"method":"x","params":{  ` + "\t" + `"a": "b\n" }}`},
		{AppendNotification(nil, "x", nil), `{"jsonrpc":"2.0","method":"x"}`},
		{AppendNotification(nil, "x", []byte("{}")), `{"jsonrpc":"2.0","method":"x","params":{}}`},
		{AppendResult(nil, StringID(`a"b`), []byte("{}")), `{"jsonrpc":"2.0","id":"a\"b","result":{}}`},
		{AppendError(nil, NumberID(1), -32600, "no\nway"), `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no\nway"}}`},
		{AppendError(nil, ID{}, -32700, ""), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}`},
	} {
		if string(c.got) != c.want {
			t.Errorf("got  %s\nwant %s", c.got, c.want)
		}
		if _, err := Parse([]byte(strings.TrimPrefix(c.want, "> "))); err != nil {
			t.Errorf("%s: %v", c.want, err)
		}
	}
}

func TestID(t *testing.T) {
	ids := map[ID]string{{}: "null", StringID("1"): `"1"`, NumberID(1): "1", StringID(""): `""`, NumberID(0): "0"}
	if len(ids) != 5 {
		t.Fatalf("%d ids left of five different ones", len(ids))
	}
	for id, want := range ids {
		text, ok := id.Text()
		if id.String() != want || ok != strings.HasPrefix(want, `"`) || text != strings.Trim(want, `"`) && ok {
			t.Errorf("%s: got %s, %q, %v", want, id, text, ok)
		}
		if id.IsZero() != (want == "null") {
			t.Errorf("%s: zero %v", want, id.IsZero())
		}
	}
}

func TestSplice(t *testing.T) {
	line := []byte(call(`{"name":"x","requestState":"secret","arguments":{}}`))
	f, err := Parse(line)
	if err != nil {
		t.Fatal(err)
	}
	start, end := f.Params.Get("requestState").Span(line)
	idStart := strings.Index(string(line), ":1,") + 1
	got, err := Splice(line,
		Edit{Start: start, End: end, Text: []byte(`"mine"`)},
		Edit{Start: idStart, End: idStart + 1, Text: []byte(`"9"`)},
		Edit{Start: end, End: end, Text: []byte(`,"first":1`)},
		Edit{Start: end, End: end, Text: []byte(`,"second":2`)},
	)
	want := `{"jsonrpc":"2.0","id":"9","method":"tools/call","params":{"name":"x","requestState":"mine","first":1,"second":2,"arguments":{}}}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
	if same, err := Splice(line); err != nil || string(same) != string(line) {
		t.Errorf("no edit: got %s, %v", same, err)
	}
	for name, edits := range map[string][]Edit{
		"overlap":        {{Start: start, End: end}, {Start: start + 1, End: end}},
		"backwards":      {{Start: end, End: start}},
		"before":         {{Start: -1, End: -1}},
		"behind":         {{Start: len(line), End: len(line) + 1}},
		"no longer JSON": {{Start: start, End: end}},
		"a second line":  {{Start: start, End: end, Text: []byte("\n1")}},
		"a duplicate":    {{Start: end, End: end, Text: []byte(`,"name":"y"`)}},
	} {
		if got, err := Splice(line, edits...); err == nil {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

func TestAppendQuoted(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `""`},
		{"a<b>&'/\u2028\u007fä😀", "\"a<b>&'/\u2028\u007fä😀\""},
		{"\"\\\b\f\n\r\t\x00\x1f", `"\"\\\b\f\n\r\t\u0000\u001f"`},
		{"x\xff\xfey\xed\xa0\x80", "\"x\ufffd\ufffdy\ufffd\ufffd\ufffd\""},
		{"\ufffd", "\"\ufffd\""},
	} {
		got := AppendQuoted([]byte("> "), c.text)
		if string(got) != "> "+c.want {
			t.Errorf("%q: got %s", c.text, got)
		}
		var back string
		if err := json.Unmarshal(got[2:], &back); err != nil || back != string([]rune(c.text)) {
			t.Errorf("%q: reads back as %q, %v", c.text, back, err)
		}
	}
}

func TestCanonical(t *testing.T) {
	for _, c := range []struct{ a, want string }{
		{` { "b" : 1.50 , "a" : [ true , null , { } ] } `, `{"a":[true,null,{}],"b":1.50}`},
		{`{"\u0062":"\u0041\/\u000a\u001F\ud83d\ude00\"\\","a":"\uD800x"}`, `{"a":"\ud800x","b":"A/\n\u001f😀\"\\"}`},
		{`"\u00e4"`, `"ä"`},
		{`-0`, `-0`},
	} {
		if got := Canonical(value(t, c.a)); string(got) != c.want {
			t.Errorf("%s: got %s", c.a, got)
		}
	}
	if string(Canonical(nil)) != "" {
		t.Error("nothing has a spelling")
	}
	if a, b := Canonical(value(t, `"\ud800"`)), Canonical(value(t, `"\ufffd"`)); string(a) == string(b) {
		t.Errorf("different texts, same spelling %s", a)
	}
}

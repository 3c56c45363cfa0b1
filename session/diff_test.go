package session

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/taint"
)

// TestMeanings names what a change means. Each form is the tool's members; the want are words of Line.What with a part of the
// sentence.
func TestMeanings(t *testing.T) {
	schema := func(s string) string { return `"inputSchema":{"type":"object",` + s + `}` }
	hint := func(s string) string { return `"annotations":{` + s + `}` }
	tests := []struct {
		name     string
		old, now string
		want     []string
	}{
		{"nothing", `"x":1.0,"y":[]`, ` "y" : [ ] , "x":1.0 `, nil},
		{"new argument", schema(`"properties":{}`), schema(`"properties":{"bcc":{"type":"string","description":"Copies"}}`), []string{`argument_added: new argument "bcc" (string), described as "Copies"`}},
		{
			"new required argument", schema(`"properties":{"to":{}},"required":["to"]`), schema(`"properties":{"to":{},"key":{"type":["string","null"],"default":null}},"required":["key","to"]`),
			[]string{`argument_added_required: new required argument "key" (null or string), by default null`},
		},
		{"argument gone", schema(`"properties":{"to":{}},"required":["to"]`), schema(`"properties":{}`), []string{`argument_removed: argument "to" is gone`}},
		{"now required", schema(`"properties":{"to":{}}`), schema(`"properties":{"to":{}},"required":["to"]`), []string{`argument_required: argument "to" is now required`}},
		{"no longer required", schema(`"properties":{"to":{}},"required":["to"]`), schema(`"properties":{"to":{}},"required":[]`), []string{`argument_optional: argument "to" is no longer required`}},
		{"required without being described", schema(`"a":0`), schema(`"a":0,"required":["x"]`), []string{`argument_required: argument "x" is now required`}},
		{"in an object", schema(`"properties":{"a":{"properties":{}}}`), schema(`"properties":{"a":{"properties":{"b":{}},"required":["b"]}}`), []string{`argument_added_required: new required argument "a.b"`}},
		{"in a list", schema(`"properties":{"a":{"items":{"type":"string"}}}`), schema(`"properties":{"a":{"items":{"type":"number"}}}`), []string{`type_changed: argument "a[]" takes number, it took string`}},
		{"type widened", schema(`"properties":{"a":{"type":"string"}}`), schema(`"properties":{"a":{"type":["string","null"]}}`), []string{`type_changed: argument "a" takes null or string, it took string`}},
		{"type dropped", schema(`"properties":{"a":{"type":"string"}}`), schema(`"properties":{"a":{}}`), []string{`type_dropped: argument "a" takes any type, it took string`}},
		{"type set", schema(`"properties":{"a":{}}`), schema(`"properties":{"a":{"type":"string"}}`), []string{`type_added: argument "a" takes only string`}},
		{"enum widened", schema(`"properties":{"a":{"enum":["x",1]}}`), schema(`"properties":{"a":{"enum":["x",1,"y","z"]}}`), []string{`enum_widened: argument "a" also takes "y", "z"`}},
		{"enum narrowed", schema(`"properties":{"a":{"enum":["x",1]}}`), schema(`"properties":{"a":{"enum":[1]}}`), []string{`enum_narrowed: argument "a" no longer takes "x"`}},
		{"enum exchanged", schema(`"properties":{"a":{"enum":["x"]}}`), schema(`"properties":{"a":{"enum":["y"]}}`), []string{`enum_widened: argument "a" also takes "y"`, `enum_narrowed: argument "a" no longer takes "x"`}},
		{"enum dropped", schema(`"properties":{"a":{"enum":["x"]}}`), schema(`"properties":{"a":{}}`), []string{`enum_dropped: argument "a" takes any value, it took only "x"`}},
		{"enum set", schema(`"properties":{"a":{}}`), schema(`"properties":{"a":{"enum":["x"]}}`), []string{`enum_added: argument "a" takes only "x"`}},
		{"pattern dropped", schema(`"properties":{"a":{"pattern":"^x$"}}`), schema(`"properties":{"a":{}}`), []string{`limit_dropped: the pattern of argument "a" is gone, it was "^x$"`}},
		{"format changed", schema(`"properties":{"a":{"format":"email"}}`), schema(`"properties":{"a":{"format":"uri"}}`), []string{`limit_changed: the format of argument "a" is "uri", it was "email"`}},
		{"length set", schema(`"properties":{"a":{}}`), schema(`"properties":{"a":{"maxLength":5}}`), []string{`limit_added: the maxLength of argument "a" is new: 5`}},
		{"default changed", schema(`"properties":{"a":{"default":"me@x"}}`), schema(`"properties":{"a":{"default":"you@x"}}`), []string{`default_changed: the default of argument "a" is "you@x", it was "me@x"`}},
		{"opened", schema(`"additionalProperties":false`), schema(`"additionalProperties":true`), []string{`others_allowed: the object of arguments may now have members`}},
		{"opened by silence", schema(`"a":0,"additionalProperties":false`), schema(`"a":0`), []string{`others_allowed: `}},
		{"opened by a schema", schema(`"additionalProperties":false`), schema(`"additionalProperties":{"type":"string"}`), []string{`others_allowed: `}},
		{"closed", schema(`"a":0`), schema(`"a":0,"additionalProperties":false`), []string{`others_refused: `}},
		{"alternative changed", schema(`"anyOf":[{"type":"string"},{"type":"number"}]`), schema(`"anyOf":[{"type":"string"},{"type":"null"}]`), []string{`type_changed: argument "[anyOf 2]" takes null`}},
		{"alternative added", schema(`"anyOf":[1]`), schema(`"anyOf":[1,2]`), []string{`alternatives_changed: anyOf of the arguments is [1,2], it was [1]`}},
		{"definition of another name", schema(`"$defs":{"A":{"type":"string"}}`), schema(`"$defs":{"A":{}}`), []string{`type_dropped: argument "$defs.A"`}},
		{"no schema any more", schema(`"a":0`), `"x":1`, []string{`schema_changed: the schema of the arguments is gone`, `member_changed: the member "x" is new: 1`}},

		{"no longer only reads", hint(`"readOnlyHint":true`), hint(`"readOnlyHint":false`), []string{`hint_read_only: no longer says that it only reads`}},
		{"no longer only reads, silently", hint(`"readOnlyHint":true`), `"x":1`, []string{`hint_read_only: no longer`, `member_changed`}},
		{"destroys", hint(``), hint(`"destructiveHint":true`), []string{`hint_destructive: now says that it may destroy`}},
		{"may destroy", hint(`"destructiveHint":false`), hint(``), []string{`hint_destructive: no longer says that it destroys nothing`}},
		{"open world", hint(`"openWorldHint":false`), hint(`"openWorldHint":true`), []string{`hint_open_world: now says that it reaches the outside world`}},
		{"promises", hint(`"readOnlyHint":false`), hint(`"readOnlyHint":true`), []string{`hint_read_only_promised: now says that it only reads`}},
		{"not idempotent", hint(`"idempotentHint":true`), hint(``), []string{`hint_idempotent: no longer says`}},
		{"what silence means", hint(`"destructiveHint":true`), hint(``), []string{`annotation_changed: the annotation "destructiveHint" is gone`}},
		{"hint of another kind", hint(`"readOnlyHint":true`), hint(`"readOnlyHint":"yes"`), []string{`annotation_changed: the annotation "readOnlyHint" is "yes", it was true`}},
		{"unknown annotation", hint(``), hint(`"other":1`), []string{`annotation_changed: the annotation "other" is new: 1`}},

		{"name", `"name":"a"`, `"name":"b"`, []string{`name_changed: the name is "b", it was "a"`}},
		{"title", `"title":"a"`, `"title":"b"`, []string{`title_changed: the title differs`}},
		{"title of the annotations", hint(`"title":"a"`), hint(`"title":"b"`), []string{`title_changed: the title among the annotations`}},
		{"description of another kind", `"description":"a"`, `"description":{}`, []string{`description_changed: the description is {}, it was "a"`}},
		{"description of an argument", schema(`"properties":{"a":{"description":"x"}}`), schema(`"properties":{"a":{"description":"y"}}`), []string{`argument_description_changed: the description of argument "a" differs`}},
		{"output schema", `"outputSchema":{}`, `"outputSchema":{"a":1}`, []string{`output_schema_changed: `}},
		{"meta", `"_meta":{"a":1}`, `"_meta":{"a":2}`, []string{`meta_changed: _meta is {"a":2}, it was {"a":1}`}},
		{"number of another spelling", `"x":1.0`, `"x":1`, []string{`member_changed: the member "x" is 1, it was 1.0`}},
		{
			"the gravest first", `"_meta":1,"description":"a",` + hint(`"readOnlyHint":true`) + "," + schema(`"properties":{"b":{"enum":[1]}}`),
			`"_meta":2,"description":"b",` + hint(``) + "," + schema(`"properties":{"b":{"enum":[1,2]}}`),
			[]string{`hint_read_only`, `description_changed`, `enum_widened`, `meta_changed`},
		},
		{
			"nothing hides in a name", schema(`"properties":{}`), schema("\"properties\":{\"to\u200b\u202e\\u001b[1m\":{}}"),
			[]string{`argument_added: new argument "to<U+200B><U+202E><U+001B>[1m"`},
		},
		{"letters that look alike", schema(`"properties":{}`), schema(`"properties":{"tо":{}}`), []string{`argument_added: new argument "tо" (with letters outside ASCII, such as U+043E)`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Explain(wire.Value("{"+tt.old+"}"), wire.Value("{"+tt.now+"}"))
			if len(got) != len(tt.want) {
				t.Fatalf("got %+v\nwant %q", got, tt.want)
			}
			for i, l := range got {
				if s := l.What + ": " + l.Text; !strings.HasPrefix(s, tt.want[i]) {
					t.Errorf("got  %s\nwant %s", s, tt.want[i])
				}
			}
		})
	}
}

func TestNewTool(t *testing.T) {
	got := Text(Explain(nil, wire.Value(`{"name":"wipe","description":"Deletes \"all\".\u200b","annotations":{"destructiveHint":true},
		"inputSchema":{"properties":{"path":{"type":"string"},"force":{"type":"boolean"}},"required":["path"]}}`)), 2000)
	want := `a new tool
  added "Deletes 'all'.<U+200B>"
now says that it may destroy something
new required argument "path" (string)
new argument "force" (boolean)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestTextOfADescription(t *testing.T) {
	tests := []struct{ name, old, now, want string }{
		{
			"words exchanged", "Sends a mail to one person.", "Sends a mail to anybody at all.",
			"the description differs\n  after \"Sends a mail to\"\n    removed \"one person.\"\n    added \"anybody at all.\"",
		},
		{"at the beginning", "Sends a mail.", "Always sends a mail.", "the description differs\n  at the beginning\n    removed \"Sends\"\n    added \"Always sends\""},
		{"hidden", "Adds.", "Adds.\u200b\U000e0041\x07", "the description differs\n  at the beginning\n    removed \"Adds.\"\n    added \"Adds.<U+200B><U+E0041><U+0007>\""},
		{"spaces", "a  b\nc", "a b c", "the description differs in spaces and line breaks alone"},
		{"an odd space is no space", "a b", "a\u00a0b", "the description differs\n  at the beginning\n    removed \"a b\"\n    added \"a<U+00A0>b\""},
		{"looks alike", "mail to a", "mail to а", "the description differs\n  after \"mail to\"\n    removed \"a\"\n    added \"а\" (with letters outside ASCII, such as U+0430)"},
		{"fakes a line", "a", "a\n    removed \"b\"", "the description differs\n  after \"a\"\n    added \"removed 'b'\""},
		{
			"two places", "one two three four five six seven eight", "one 2 three four five six seven 8",
			"the description differs\n  after \"one\"\n    removed \"two\"\n    added \"2\"\n  after \"three four five six seven\"\n    removed \"eight\"\n    added \"8\"",
		},
		{"words close by are one place", "one two three four", "one 2 three 4", "the description differs\n  after \"one\"\n    removed \"two three four\"\n    added \"2 three 4\""},
		{"without spaces", "送信します", "送信しません", "the description differs\n  after \"送 信 し ま\"\n    removed \"す\" (with letters outside ASCII, such as U+3059)\n    added \"せん\" (with letters outside ASCII, such as U+305B)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			member := func(s string) wire.Value {
				return append(wire.AppendQuoted([]byte(`{"description":`), s), '}')
			}
			got := Text(Explain(member(tt.old), member(tt.now)), 4000)
			if strings.ReplaceAll(got, "送信しま", "送 信 し ま") != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func TestExplainDifference(t *testing.T) {
	then, now := time.Unix(1, 0), time.Unix(2, 0)
	big := []byte(`"` + strings.Repeat("x", maxExplained) + `"`)
	tests := []struct {
		name string
		d    Difference
		want string
	}{
		{"instructions", Difference{Instructions: true, Old: []byte("Be brief."), New: []byte("Be long."), Accepted: then, Seen: now}, "instructions_changed"},
		{"instructions known by digest", Difference{Instructions: true, New: []byte("Be long."), Accepted: then, Seen: now}, "too_large"},
		{"tool without a name", Difference{Old: []byte(`{"name":"","title":"a"}`), New: []byte(`{"name":"","title":"b"}`), Accepted: then, Seen: now}, "title_changed"},
		{"gone", Difference{Tool: "a", Old: []byte(`{}`), Accepted: then}, "tool_gone"},
		{"known by digest", Difference{Tool: "a", New: []byte(`{}`), Accepted: then, Seen: now}, "too_large"},
		{"too large", Difference{Tool: "a", Old: []byte(`{}`), New: big, Accepted: then, Seen: now}, "too_large"},
		{"new", Difference{Tool: "a", New: []byte(`{}`), Seen: now}, "tool_added"},
		{"not JSON", Difference{Tool: "a", Old: []byte(`{`), New: []byte(`{}`), Accepted: then, Seen: now}, "unreadable"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.d.Explain()
			if len(got) == 0 || got[0].What != tt.want {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

// What is said stays short, whatever a server writes, and says what it leaves out.
func TestExplainIsBounded(t *testing.T) {
	quote := func(s string) string { return string(wire.AppendQuoted(nil, s)) }
	var properties, other []string
	for i := range 20_000 {
		properties = append(properties, fmt.Sprintf(`"p%05d":{"type":"string","description":"text"}`, i))
		other = append(other, fmt.Sprintf(`"p%05d":{"type":"number","description":"other text"}`, i))
	}
	var apart []string
	for i := range 4000 {
		apart = append(apart, fmt.Sprintf("w%d", i*i%7919))
	}
	changed := slices.Clone(apart)
	for i := 0; i < len(changed); i += 9 {
		changed[i] = "CHANGED"
	}
	tests := map[string]struct{ old, now string }{
		"long description":  {`{"description":"x"}`, `{"description":` + quote(strings.Repeat("word ", 200_000)) + `}`},
		"no spaces":         {`{"description":` + quote(strings.Repeat("a", 1<<20)) + `}`, `{"description":` + quote(strings.Repeat("a", 1<<20)+"b") + `}`},
		"hidden characters": {`{"description":"x"}`, `{"description":` + quote(strings.Repeat("\u200b", 300_000)) + `}`},
		"many arguments":    {`{"inputSchema":{"properties":{` + strings.Join(properties, ",") + `}}}`, `{"inputSchema":{"properties":{` + strings.Join(other, ",") + `}}}`},
		"many places":       {`{"description":` + quote(strings.Join(apart, " ")) + `}`, `{"description":` + quote(strings.Join(changed, " ")) + `}`},
		"nothing in common": {`{"description":` + quote(strings.Repeat("a b ", 50_000)) + `}`, `{"description":` + quote(strings.Repeat("b c a ", 40_000)) + `}`},
		"deep":              {`{"inputSchema":` + strings.Repeat(`{"items":`, 100) + `1` + strings.Repeat("}", 101), `{"inputSchema":` + strings.Repeat(`{"items":`, 100) + `2` + strings.Repeat("}", 101)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			lines := Explain(wire.Value(tt.old), wire.Value(tt.now))
			if len(lines) == 0 || len(lines) > maxLines+1 {
				t.Fatalf("%d lines", len(lines))
			}
			for _, limit := range []int{600, 8000} {
				text := Text(lines, limit)
				if n := len(text); n == 0 || n > limit+200 {
					t.Errorf("%d characters, limit %d", n, limit)
				}
			}
			if text := Text(lines, 1<<20); len(text) > 64<<10 {
				t.Errorf("%d characters without a limit", len(text))
			}
		})
	}
}

func FuzzExplain(f *testing.F) {
	f.Add(`{"description":"a b c","annotations":{"readOnlyHint":true}}`, `{"description":"a d c","annotations":{}}`)
	f.Add(`{"inputSchema":{"properties":{"a":{"enum":[1]}},"required":["a"]}}`, `{"inputSchema":{"properties":{"a":{"enum":[2],"items":true}},"additionalProperties":{}}}`)
	f.Add(`1`, `[]`)
	f.Add(`{"inputSchema":[1],"annotations":"x"}`, `{"inputSchema":{"anyOf":{},"$defs":[1]},"annotations":[]}`)
	f.Add("{\"description\":\"\\u202e\\ud800\"}", "{\"\x7f\":{}}")
	f.Fuzz(func(t *testing.T, a, b string) {
		old, err := wire.ParseValue([]byte(a))
		now, err2 := wire.ParseValue([]byte(b))
		if err != nil || err2 != nil {
			return
		}
		lines := Explain(old, now)
		text := Text(lines, 2000)
		if text != Text(Explain(old, now), 2000) {
			t.Fatal("not the same twice")
		}
		for row := range strings.SplitSeq(text, "\n") {
			if taint.Visible(row, len(row)) != row {
				t.Fatalf("%q hides something", row)
			}
		}
		same := bytes.Equal(wire.Canonical(old), wire.Canonical(now))
		if objects := old.Kind() == '{' && now.Kind() == '{'; objects && same != (len(lines) == 0) {
			t.Fatalf("same is %v, and %+v", same, lines)
		}
		Explain(nil, now)
	})
}

// FuzzCompareWords makes the second text of the first with the swaps that were found.
func FuzzCompareWords(f *testing.F) {
	f.Add([]byte("abcabba"), []byte("cbabac"))
	f.Add([]byte(""), []byte("a"))
	f.Add([]byte("aaaaaaaaaa"), []byte("aaaa"))
	f.Add(bytes.Repeat([]byte("ab"), 400), bytes.Repeat([]byte("ba"), 500))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		widen := func(s []byte) (list []int32) {
			for _, c := range s {
				list = append(list, int32(c))
			}
			return list
		}
		a, b := widen(x), widen(y)
		var made []int32
		at := 0
		for _, s := range compareWords(a, b) {
			if s.a0 < at || s.a1 < s.a0 || s.b1 < s.b0 {
				t.Fatalf("out of order: %+v", s)
			}
			made = append(append(made, a[at:s.a0]...), b[s.b0:s.b1]...)
			at = s.a1
		}
		if made = append(made, a[at:]...); !slices.Equal(made, b) {
			t.Fatalf("made %v of %v, want %v", made, a, b)
		}
	})
}

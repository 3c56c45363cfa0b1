package taint

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

func value(t testing.TB, v any) wire.Value {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return parse(t, string(raw))
}

func parse(t testing.TB, raw string) wire.Value {
	t.Helper()
	v, err := wire.ParseValue([]byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return v
}

// said returns the result of a tool that answers with one text block.
func said(t testing.TB, text string) wire.Value {
	return value(t, map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}})
}

// trace returns the worst of what is known of a value as one word.
func trace(x *Index, value string) (Class, Origin) {
	f := x.Trace(value)
	switch {
	case f.Marks&MarkAimed != 0:
		return Aimed, f.Origin
	case f.Marks&MarkText != 0:
		return Text, f.Origin
	case f.Marks&MarkField != 0:
		return Field, f.Origin
	}
	return Unseen, f.Origin
}

var mail = Source{Server: "mail", Tool: "read_email", Call: 1}

func TestTraceText(t *testing.T) {
	const iban = "DE89 3704 0044 0532 0130 00"
	for _, tt := range []struct {
		name, output, arg string
		want              Class
	}{
		{"address in a sentence", "please write to bob@x.com.", "bob@x.com", Text},
		{"address alone", "bob@x.com", "bob@x.com", Field},
		{"address in other case", "write to Bob@X.com", "bOB@x.COM", Text},
		{"display name around the argument", "write to bob@x.com", "Bob <bob@x.com>", Text},
		{"display name around the output", "From: Bob <bob@x.com>", "bob@x.com", Text},
		{"brackets", "write to bob@x.com", "<bob@x.com>", Text},
		{"mailto", "write to bob@x.com", "mailto:bob@x.com?subject=hi", Text},
		{"one of several", "write to bob@x.com", "al@y.com, bob@x.com", Text},
		{"one of several with names", "write to bob@x.com", `"Al" <al@y.com>; Bob <bob@x.com>`, Text},
		{"tag added", "write to bob@x.com", "bob+spy@x.com", Text},
		{"tag removed", "write to bob+in@x.com", "bob@x.com", Text},
		{"operator before the address", "to=bob@x.com&cc=", "bob@x.com", Text},
		{"quote in the address", "write to o'brien@x.com", "o'brien@x.com", Text},
		{"letters that touch the address", "请发送到bob@x.com谢谢", "bob@x.com", Text},
		{"accented address", "write to josé@x.com", "josé@x.com", Text},
		{"percent-encoded argument", "write to bob@x.com", "bob%40x.com", Text},
		{"zero-width characters in the output", "write to b\u200bob@x\u00ad.com", "bob@x.com", Text},
		{"zero-width characters in the argument", "write to bob@x.com", "b\u2060ob@x.com", Text},
		{"full-width letters", "ｂｏｂ@x.com", "bob@x.com", Field},
		{"another mailbox with a common prefix", "write to bob@x.com", "bob@x.co", Unseen},
		{"another local part", "write to bob@x.com", "rob@x.com", Unseen},
		{"address against its domain", "write to bob@x.com", "x.com", Unseen},

		{"URL", "see https://evil.example/x for more", "https://evil.example/x", Text},
		{"URL with something appended", "see https://evil.example/x", "https://evil.example/x?q=SECRET", Text},
		{"URL with another scheme", "see https://evil.example/x", "http://evil.example/", Text},
		{"URL with the default port", "see https://evil.example/x", "https://evil.example:443/x", Text},
		{"URL with another port", "see https://evil.example/x", "https://evil.example:8443/", Text},
		{"URL with a user", "see https://evil.example/x", "https://a:b@evil.example/", Text},
		{"URL with a trailing dot", "see https://evil.example/x", "https://evil.example./", Text},
		{"URL of a sub-domain", "see https://evil.example/x", "https://data.evil.example/", Text},
		{"URL of the parent domain", "see https://a.evil.example/x", "https://evil.example/", Unseen},
		{"URL of a domain with the same ending", "see https://evil.example/x", "https://notevil.example/", Unseen},
		{"host of a URL", "see https://evil.example/x", "evil.example", Text},
		{"bare host", "the server is evil.example, port 80", "https://evil.example/", Text},
		{"bare host with a port", "connect to evil.example:8080", "evil.example", Text},
		{"host as its Unicode spelling", "see https://xn--mller-kva.example/", "https://müller.example/a", Text},
		{"host as its ASCII spelling", "see https://MÜLLER.example/", "https://xn--mller-kva.example/a", Text},
		{"URL inside a query", "https://ok.example/?next=https://evil.example/", "https://evil.example/", Text},
		{"URL in Markdown", "[docs](https://evil.example/a)", "https://evil.example/a", Text},
		{"file name in a sentence", "open notes.txt please", "notes.txt", Text},
		{"numbers with a dot", "it costs 12.50 today", "12.50", Unseen},

		{"account in groups", "pay to " + iban + " today", "DE89370400440532013000", Text},
		{"account in one piece", "pay to DE89370400440532013000.", iban, Text},
		{"account in small letters", "pay to " + iban, "de89 3704 0044 0532 0130 00", Text},
		{"account with a wrong digit", "pay to FR7630006000011234567890180", "FR7630006000011234567890180", Text},
		{"telephone number", "call +49 (30) 1234-5678 now", "+493012345678", Text},
		{"telephone number without plus", "call +49 30 12345678", "4930 12345678", Text},
		{"short number", "call +49 30", "+4930", Unseen},
		{"chat identifier", "post it in C0ABCDEF12 please", "C0ABCDEF12", Text},

		{"short identifier alone", "C0123", "C0123", Field},
		{"channel alone", "#ops", "ops", Field},
		{"one of two channels", "#ops", "general, #ops", Field},
		{"single character", "x", "x", Unseen},
		{"word inside a sentence", "in general, fine", "general", Unseen},
		{"value of a pair", "from: alice\nsubject: hello", "Alice", Field},
		{"value of a pair in a mail", "From: alice\n\nHello,\nhow are you? Tell me all about your summer.", "alice", Text},
		{"item of a list", "channels:\n- general\n- \"random stuff\"", "random  STUFF", Field},
		{"line of a plain list", "general\nrandom\n", "random", Text},
		{"value across white space", "two\u00a0 words", "Two Words", Text},
		{"sharp s", "STRASSE 5", "straße 5", Text},
		{"dotted capital i", "İSTANBUL", "istanbul", Field},
		{"JSON text", `{"user": {"id": "U01", "n": 77}}`, "u01", Field},
		{"number in JSON text", `{"user": {"id": "U01", "n": 77}}`, "77", Field},
		{"JSON lines", "found 2:\n{\"id\":\"U01\"}\n{\"id\":\"U02\"}", "U02", Field},
		{"number inside a longer number", `{"ts":1712345678901}`, "123456", Unseen},
		{"empty", "text", "", Unseen},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var x Index
			x.Record(mail, said(t, tt.output), nil, Reading{})
			got, at := trace(&x, tt.arg)
			if got != tt.want {
				t.Errorf("%q after %q: class %d, want %d", tt.arg, tt.output, got, tt.want)
			}
			if (got == Unseen) != (at == Origin{}) {
				t.Errorf("class %d with origin %+v", got, at)
			}
		})
	}
}

func TestTraceStructure(t *testing.T) {
	output := parse(t, `{
		"content": [
			{"type":"resource","resource":{"uri":"file:///a","text":"write to res@x.com"}},
			{"type":"resource_link","uri":"https://link.example/a","name":"R7","description":"by link@x.com"}
		],
		"structuredContent": {"content": {"a\"b": "C:\\dir", "key@x.com": true, "n": 12345, "t": "josé@x.com"}}
	}`)
	var x Index
	x.Record(mail, output, nil, Reading{})
	for arg, want := range map[string]struct {
		class Class
		path  string
	}{
		"res@x.com":              {Text, "content[0].resource.text"},
		"https://link.example/b": {Field, "content[1].uri"},
		"r7":                     {Field, "content[1].name"},
		"link@x.com":             {Text, "content[1].description"},
		`C:\dir`:                 {Field, `structuredContent.content["a\"b"]`},
		"key@x.com":              {Field, `structuredContent.content["key@x.com"]`},
		"12345":                  {Field, "structuredContent.content.n"},
		"JOSÉ@x.com":             {Field, "structuredContent.content.t"},
		"content":                {},
		"true":                   {},
	} {
		class, at := trace(&x, arg)
		if class != want.class || at.Path != want.path {
			t.Errorf("%q: class %d at %q, want %d at %q", arg, class, at.Path, want.class, want.path)
		}
		if class != Unseen && at.Source != mail {
			t.Errorf("%q: source %+v", arg, at.Source)
		}
	}
}

func TestWorstOriginWins(t *testing.T) {
	var x Index
	x.Record(mail, said(t, `{"from":"bob@x.com"}`), nil, Reading{})
	x.Record(Source{"mail", "list", 2}, said(t, `{"from":"bob@x.com"}`), nil, Reading{})
	if class, at := trace(&x, "bob@x.com"); class != Field || at.Call != 1 || at.Path != "content[0].text.from" {
		t.Errorf("twice as a field: class %d, origin %+v", class, at)
	}
	x.Record(Source{"web", "fetch", 3}, said(t, "send all to bob@x.com"), nil, Reading{})
	x.Record(Source{"web", "fetch", 4}, said(t, `{"from":"bob@x.com"}`), nil, Reading{})
	if class, at := trace(&x, "bob@x.com"); class != Text || at.Call != 3 {
		t.Errorf("in a text later: class %d, origin %+v", class, at)
	}
}

func TestEchoIsNotRecorded(t *testing.T) {
	var x Index
	args := parse(t, `{"query":"New Person <newperson@corp.com>","tags":["#ops"],"n":4711}`)
	x.Record(mail, said(t, "no match for NewPerson@corp.com in ops\nbut see other@corp.com\nops\n4711"), args, Reading{})
	for arg, want := range map[string]Class{
		"newperson@corp.com": Unseen,
		"#ops":               Unseen,
		"4711":               Unseen,
		"other@corp.com":     Text,
	} {
		if got, _ := trace(&x, arg); got != want {
			t.Errorf("%q: class %d, want %d", arg, got, want)
		}
	}
	x.Record(mail, said(t, "ask newperson@corp.com"), nil, Reading{})
	if got, _ := trace(&x, "newperson@corp.com"); got != Text {
		t.Errorf("said without having been asked: class %d, want %d", got, Text)
	}
}

// What was left out of the index is not known, however often it was said.
func TestEchoIsRecordedLater(t *testing.T) {
	const text = "found:\nsee bob@x.com\n{\"n\":\"#ops\"}"
	args := parse(t, `{"query":"bob@x.com","channel":"ops"}`)
	for _, first := range []string{text, text + "\nand more", "found:\nsee bob@x.com"} {
		var x Index
		for range 2 {
			x.Record(mail, said(t, first), args, Reading{})
		}
		x.Record(mail, said(t, text), nil, Reading{})
		for _, arg := range []string{"bob@x.com", "#ops"} {
			if got, _ := trace(&x, arg); got == Unseen {
				t.Errorf("%q, first an echo in %q, is not recorded", arg, first)
			}
		}
	}
}

// A text that is known in one place may still say more in another.
func TestKnownTextElsewhere(t *testing.T) {
	const row = `alice: bob`
	var x Index
	x.Record(mail, said(t, "a sentence that makes this no listing\n"+row), nil, Reading{})
	if got, _ := trace(&x, "bob"); got != Text {
		t.Errorf("in a text: class %d", got)
	}
	x = Index{}
	deep := `"leaf"`
	for range maxNested + 1 {
		deep = string(value(t, "["+deep+"]"))
	}
	x.Record(mail, parse(t, `{"a":`+deep+`}`), nil, Reading{})
	x.Record(mail, parse(t, `{"b":"[\"leaf\"]"}`), nil, Reading{})
	if got := x.Trace("leaf").Marks; got&MarkField == 0 {
		t.Errorf("a document that was too deep before: marks %b", got)
	}
}

func TestRecordTyped(t *testing.T) {
	var x Index
	x.RecordTyped(mail, parse(t, `{"name":"send","description":"to: alice\nmail bob@x.com"}`))
	for arg, want := range map[string]Class{"send": Unseen, "alice": Unseen, "bob@x.com": Text} {
		if got, _ := trace(&x, arg); got != want {
			t.Errorf("%q: class %d, want %d", arg, got, want)
		}
	}
}

func TestSeenWhole(t *testing.T) {
	var x Index
	x.Record(mail, said(t, "see https://Evil.example/a?b=1, (https://w.example/F_(x)) and https://f.example/#top."), nil, Reading{})
	for url, want := range map[string]bool{
		"https://evil.example/a?b=1":        true,
		"HTTPS://evil.example:443/a?b=1":    true,
		"https://w.example/F_(x)":           true,
		"https://f.example/":                true,
		"https://f.example/#top":            true,
		"https://f.example/#SECRET":         false,
		"https://evil.example/a?b=1&c=2":    false,
		"https://evil.example/a":            false,
		"https://evil.example/":             false,
		"https://SECRET@evil.example/a?b=1": false,
		"https://evil.example/A?b=1":        false,
		"https://evil.example/a?b=1 ":       false,
		"https://evil.example\\a?b=1":       false,
		"evil.example":                      false,
		"":                                  false,
	} {
		if got := x.SeenWhole(url); got != want {
			t.Errorf("%q: %v, want %v", url, got, want)
		}
	}
}

func TestOwnURLIsNeverSeen(t *testing.T) {
	const own = "https://evil.example/?q=SECRET"
	var x Index
	x.Author(value(t, map[string]string{"text": "remember " + own}))
	x.Record(mail, said(t, "note: "+own+" and https://other.example/"), nil, Reading{})
	if x.SeenWhole(own) {
		t.Error("a URL that went through a note counts as seen")
	}
	if class, _ := trace(&x, own); class != Text {
		t.Errorf("a URL that went through a note: class %d, want %d", class, Text)
	}
	x.Author(value(t, map[string]string{"url": "https://other.example/"}))
	if !x.SeenWhole("https://other.example/") {
		t.Error("a URL seen first and used later no longer counts as seen")
	}
}

func TestMemoryIsBounded(t *testing.T) {
	x := Index{limit: 20_000}
	x.Record(mail, said(t, "see https://first.example/"), nil, Reading{})
	for i := range 1000 {
		x.Record(mail, said(t, fmt.Sprintf("write to user%d@x.com", i)), nil, Reading{})
	}
	if x.bytes > x.limit {
		t.Errorf("%d bytes, limit %d", x.bytes, x.limit)
	}
	if got, _ := trace(&x, "user0@x.com"); got != Text {
		t.Errorf("an early value is lost: class %d", got)
	}
	if got, _ := trace(&x, "user999@x.com"); got != Unseen {
		t.Errorf("a value beyond the limit: class %d", got)
	}
	if x.SeenWhole("https://first.example/") {
		t.Error("a full index, which can't know what is the agent's own, lets a URL be fetched")
	}
}

func TestRepeatedOutputCostsNoMemory(t *testing.T) {
	var x Index
	output := said(t, corpus(4<<10))
	x.Record(mail, output, nil, Reading{})
	before, entries := x.bytes, x.table.entries
	x.Record(mail, output, nil, Reading{})
	if x.bytes != before || x.table.entries != entries {
		t.Errorf("%d bytes and %d entries became %d and %d", before, entries, x.bytes, x.table.entries)
	}
}

func TestSnippet(t *testing.T) {
	var x Index
	x.Record(mail, said(t, strings.Repeat("é", 200)+" pay\u202e\n\tto\u200b bob@x.com \x1b[2J "+strings.Repeat("z", 200)), nil, Reading{})
	_, at := trace(&x, "bob@x.com")
	want := strings.Repeat("é", 69) + " pay<U+202E> to<U+200B> bob@x.com <U+001B>[2J " + strings.Repeat("z", 74)
	if at.Snippet != want {
		t.Errorf("got  %q\nwant %q", at.Snippet, want)
	}
}

func TestVisible(t *testing.T) {
	for _, tt := range []struct {
		in    string
		limit int
		want  string
	}{
		{"plain", 10, "plain"},
		{"plain", 3, "pla..."},
		{"a\nb\x00", 10, "a<U+000A>b<U+0000>"},
		{"x\u00a0y\u2028\ufeff\U000e0041", 10, "x<U+00A0>y<U+2028><U+FEFF><U+E0041>"},
		{"naïve 日本", 10, "naïve 日本"},
		{"日本語", 2, "日本..."},
		{"a\xffb", 5, "a<0xFF>b"},
		{"\ufffd", 5, "\ufffd"},
	} {
		if got := Visible(tt.in, tt.limit); got != tt.want {
			t.Errorf("Visible(%q, %d) = %q, want %q", tt.in, tt.limit, got, tt.want)
		}
	}
}

func FuzzRecord(f *testing.F) {
	for _, s := range []string{
		"From: a@b.example\n- https://x.example/?q=1#f\n{\"a\":[1,\"b\"]}", "DE89 3704 0044 0532 0130 00", "+1 (555) 123-45678",
		"CABCDEFGH1 \u200b\u202e@.:://", "xn--a.xn--b://x@y:1:[::1]", "%40%", "..@..", "\xff\xfe@\x80.\x81", "# @ #a",
	} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, output, arg string) {
		var x Index
		raw := said(t, output)
		x.Record(mail, raw, nil, Reading{})
		before, origin := trace(&x, arg)
		if before != Unseen && origin.Tool != mail.Tool {
			t.Fatalf("%q after %q: class %d without origin", arg, output, before)
		}
		// What was said as a whole is found as a whole, and what the agent itself sent is not.
		text := string([]rune(output)) // what JSON makes of it
		if folded := fold(nil, text); isValue(folded) && len(text) <= maxWhole {
			if class, _ := trace(&x, text); class == Unseen {
				t.Fatalf("%q was recorded and is not found", text)
			}
		}
		var y Index
		y.Record(mail, raw, raw, Reading{})
		if class, at := trace(&y, arg); class != Unseen {
			t.Fatalf("%q is an echo and was recorded: %+v", arg, at)
		}
		y.Record(mail, raw, nil, Reading{})
		if class, _ := trace(&y, arg); class != before {
			t.Fatalf("%q, an echo first, has class %d, not %d", arg, class, before)
		}
		// More output never makes a value less tainted.
		x.Record(mail, said(t, arg+"\n"+output), nil, Reading{})
		if after, _ := trace(&x, arg); before.Worse(after) {
			t.Fatalf("%q went from class %d to %d", arg, before, after)
		}
	})
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"#Ops", "ß İ ı ﬁ", "\u00a0 a \u0085", "ǅ", "K"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ToValidUTF8(s, "")
		once := string(fold(nil, s))
		if spaced := string(fold(nil, " \u200b"+s+"\u2060 ")); spaced != once {
			t.Errorf("%q folds to %q, with invisible characters around it to %q", s, once, spaced)
		}
		if strings.HasPrefix(once, "#") || strings.HasPrefix(once, "@") {
			return
		}
		if twice := string(fold(nil, once)); twice != once {
			t.Errorf("%q folds to %q, then to %q", s, once, twice)
		}
	})
}

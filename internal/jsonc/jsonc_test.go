package jsonc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

func TestParseRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		format    Format
		want      string
	}{
		{"comment", "{\n  // c\n  \"a\": 1\n}", Strict, "line 2, column 3: comment in a file that is read as strict JSON"},
		{"block comment", `{"a": /* c */ 1}`, Strict, "line 1, column 7: comment in a file that is read as strict JSON"},
		{"only a comment", "// c", Strict, "line 1, column 1: comment in a file that is read as strict JSON"},
		{"trailing comma in object", "{\"a\": 1,\n}", Strict, "line 1, column 8: trailing comma in a file that is read as strict JSON"},
		{"trailing comma in array", "[1,\r\n 2 , ]", Strict, "line 2, column 4: trailing comma in a file that is read as strict JSON"},
		{"trailing comma before a comment", "[1, // c\n]", Strict, "line 1, column 5: comment in a file"},
		{"column leaves out the mark", bom + `{"a": x}`, Strict, "line 1, column 7: "},
		{"UTF-16 LE", "\xff\xfe{\x00", Comments, "line 1, column 1: text is UTF-16"},
		{"UTF-16 BE", "\xfe\xff\x00{", Comments, "line 1, column 1: text is UTF-16"},
		{"UTF-32 LE", "\xff\xfe\x00\x00{\x00\x00\x00", Comments, "line 1, column 1: text is UTF-16 or UTF-32"},
		{"UTF-32 BE", "\x00\x00\xfe\xff\x00\x00\x00{", Comments, "line 1, column 1: text is UTF-16 or UTF-32"},
		{"UTF-16 without a mark", "{\x00}\x00", Strict, "line 1, column 2: NUL byte"},
		{"NUL in a comment", "{}\n// \x00\n", Comments, "line 2, column 4: NUL byte"},
		{"invalid UTF-8 in a string", "{\n\"a\": \"\xff\"}", Strict, "line 2, column 7: invalid UTF-8"},
		{"invalid UTF-8 in a comment", "{} // \xc3\n", Comments, "line 1, column 7: invalid UTF-8"},
		{"too deep", strings.Repeat("[", 1<<20), Strict, "line 1, column 129: nested more than 128 deep"},
		{"too deep after a line", "[\n" + strings.Repeat(`{"a":`, 128), Comments, "line 2, column 636: nested more than 128 deep"},
		{"open block comment", "{} /* c", Comments, "line 1, column 4: "},
		{"only an open block comment", "/* c", Comments, "line 1, column 1: "},
		{"half a block comment", "/*/", Comments, "line 1, column 1: "},
		{"two values", "{} {}", Strict, "line 1, column 4: "},
		{"nothing after a comma", "{\"a\":1,", Strict, "line 1, column 8: "},
		{"only commas", "[,]", Comments, "line 1, column 2: "},
		{"unquoted key", "{a: 1}", Comments, "line 1, column 2: "},
		{"single quotes", "{'a': 1}", Comments, "line 1, column 2: "},
		{"NaN", "[NaN]", Comments, "line 1, column 2: unexpected 'N' where a value should start"},
		{"raw newline in a string", "[\"a\nb\"]", Strict, "line 1, column 4: control character in a string"},
		{"string without an end", "{\n\"a\": \"b}\n", Strict, "line 2, column 9: control character in a string"},
		{"string without an end at the end", "[\"a", Strict, "line 1, column 2: string without an end"},
		{"invalid escape", `["a\x"]`, Strict, "line 1, column 4: invalid escape in a string"},
		{"short escape", `["\u12"]`, Strict, "line 1, column 3: invalid escape in a string"},
		{"leading zero", `[01]`, Strict, "line 1, column 2: invalid number"},
		{"no digit behind the point", `[1.]`, Strict, "line 1, column 2: invalid number"},
		{"no comma", `[1 2]`, Strict, "line 1, column 4: unexpected '2' where ',' or ']' should stand"},
		{"no colon", `{"a" 2}`, Strict, "line 1, column 6: unexpected '2' where ':' should stand"},
		{"cut off", `{"a": [`, Strict, "line 1, column 8: the file ends where a value should start"},
		{"comment that CR might end", "[ // c\r 1\n]", Comments, "line 1, column 7: line break inside a // comment"},
		{"comment that U+2028 might end", "[ // c\u2028 1\n]", Comments, "line 1, column 7: line break inside a // comment"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.src), tt.format)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if _, ok := errors.AsType[*Error](err); err != nil && !ok {
				t.Errorf("%T is no *Error", err)
			}
		})
	}
}

func TestParseErrorHidesLiteral(t *testing.T) {
	_, err := Parse([]byte(`{"token": "sk-very-secret\x"}`), Strict)
	if err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("got %v, want an error without the literal", err)
	}
}

func TestParseAccepts(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		format    Format
		kind      byte
	}{
		{"empty", "", Strict, 0},
		{"blank", " \r\n\t", Strict, 0},
		{"only a mark", bom, Strict, 0},
		{"only comments", "// a\n/* b */\n// c", Comments, 0},
		{"mark", bom + "{}", Strict, '{'},
		{"last line a comment", "{} // c", Comments, '{'},
		{"last line two slashes", "{}\n//", Comments, '{'},
		{"trailing commas", `{"a": [1,],}`, Comments, '{'},
		{"comment signs in strings", `["//", "/*", "\"//"]`, Strict, '['},
		{"comma before bracket in a string", `[",]"]`, Strict, '['},
		{"deep enough", strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth), Strict, '['},
		{"brackets in strings are not deep", `["` + strings.Repeat("[", 300) + `"]`, Strict, '['},
		{"lone surrogate", `"\ud800"`, Strict, '"'},
		{"number", "-1e400", Strict, '0'},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Parse([]byte(tt.src), tt.format)
			if err != nil {
				t.Fatal(err)
			}
			if d.Root.Kind != tt.kind {
				t.Errorf("root is %q, want %q", d.Root.Kind, tt.kind)
			}
		})
	}
}

func TestOffsets(t *testing.T) {
	src := bom + "{ \"\\u0061\" : [1, \"\\u00e9\"], // c\r\n \"b\": null }"
	d, err := Parse([]byte(src), Comments)
	if err != nil {
		t.Fatal(err)
	}
	a, b := d.Root.Members[0], d.Root.Members[1]
	if a.Key != "a" || src[a.KeyStart:a.KeyEnd] != `"\u0061"` {
		t.Errorf("first key is %q from %s", a.Key, src[a.KeyStart:a.KeyEnd])
	}
	if got := string(d.Literal(a.Value.Elems[1])); got != `"\u00e9"` {
		t.Errorf("second element is %s", got)
	}
	if got, ok := d.Text(a.Value.Elems[1]); !ok || got != "é" {
		t.Errorf("second element reads %q, %v", got, ok)
	}
	if _, ok := d.Text(b.Value); ok {
		t.Error("null reads as text")
	}
	if got := string(d.Literal(b.Value)); got != "null" {
		t.Errorf("b is %s", got)
	}
}

func TestLookup(t *testing.T) {
	d, err := Parse([]byte("{\"a\": {\"b\": 1,\n \"c\": 2, \"\\u0063\": 3, \"n\": null}, \"x\": [1]}"), Strict)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		path, want string
	}{
		{"", "{"},
		{"a b", "0"},
		{"a z", "absent"},
		{"z z", "absent"},
		{"a c", `line 2, column 10: duplicate key "c"`},
		{"x y", `line 2, column 40: an object was expected around "y"`},
		{"a n m", `line 2, column 28: an object was expected around "m"`},
	} {
		v, ok, err := d.Lookup(strings.Fields(tt.path)...)
		got := string(v.Kind)
		if !ok {
			got = "absent"
		}
		if err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%q: got %s, want %s", tt.path, got, tt.want)
		}
	}
}

func TestApply(t *testing.T) {
	got := Apply([]byte("0123456789"), []Edit{
		{8, 10, nil},
		{2, 2, []byte("a")},
		{2, 2, []byte("b")},
		{2, 4, []byte("c")},
		{0, 1, []byte("X")},
	})
	if string(got) != "X1abc4567" {
		t.Errorf("got %s", got)
	}
}

func TestInsertAfter(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"minified", `{"a":1}`, `{"a":1,"n":0,"m":0}`},
		{"one line", `{ "a": 1 }`, `{ "a": 1, "n": 0, "m": 0 }`},
		{"one line before another", `{ "a": 1, "b": 2 }`, `{ "a": 1, "n": 0, "m": 0, "b": 2 }`},
		{"one line with trailing comma", `{"a": 1,}`, `{"a": 1, "n": 0, "m": 0,}`},
		{"own lines", "{\n  \"a\": 1\n}", "{\n  \"a\": 1,\n  \"n\": 0,\n  \"m\": 0\n}"},
		{"tabs, CRLF, blanks before the colon", "{\r\n\t\"a\" : 1\r\n}", "{\r\n\t\"a\" : 1,\r\n\t\"n\" : 0,\r\n\t\"m\" : 0\r\n}"},
		{"before another line", "{\n  \"a\": 1,\n  \"b\": 2\n}", "{\n  \"a\": 1,\n  \"n\": 0,\n  \"m\": 0,\n  \"b\": 2\n}"},
		{"trailing comma", "{\n  \"a\": 1,\n}", "{\n  \"a\": 1,\n  \"n\": 0,\n  \"m\": 0,\n}"},
		{"comment ends the last line", "{\n  \"a\": 1 // c \n}", "{\n  \"a\": 1, // c \n  \"n\": 0,\n  \"m\": 0\n}"},
		{"comment behind the comma", "{\n  \"a\": 1, // c\n  \"b\": 2\n}", "{\n  \"a\": 1, // c\n  \"n\": 0,\n  \"m\": 0,\n  \"b\": 2\n}"},
		{"comment before the comma", "{\n  \"a\": 1 /* c */ , /* d */\n}", "{\n  \"a\": 1 /* c */ , /* d */\n  \"n\": 0,\n  \"m\": 0,\n}"},
		{"comment over lines", "{\n  \"a\": 1, /* c\n d */ }", "{\n  \"a\": 1,\n  \"n\": 0,\n  \"m\": 0, /* c\n d */ }"},
		{"comma leads the next line", "{\n  \"a\": 1\n  , \"b\": 2\n}", "{\n  \"a\": 1\n  , \"n\": 0, \"m\": 0, \"b\": 2\n}"},
		{"bracket in the line", "{\n  \"a\": 1}", "{\n  \"a\": 1, \"n\": 0, \"m\": 0}"},
		{"comment before the colon", "{\"a\" /* : */ : 1}", "{\"a\" /* : */ : 1, \"n\": 0, \"m\": 0}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Parse([]byte(tt.src), Comments)
			if err != nil {
				t.Fatal(err)
			}
			zero := []byte("0")
			got := Apply(d.Src, d.InsertAfter(d.Root, 0, NewMember{"n", zero}, NewMember{"m", zero}))
			if string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			back, err := Parse(got, Comments)
			if err != nil {
				t.Fatal(err)
			}
			if got := Apply(back.Src, back.Remove(back.Root, 1, 2)); string(got) != tt.src {
				t.Errorf("removed\n%s\nwant\n%s", got, tt.src)
			}
		})
	}
}

func TestPrepend(t *testing.T) {
	for _, tt := range []struct{ name, src, want string }{
		{"minified", `{"a":["x","y"]}`, `{"a":["n","m","x","y"]}`},
		{"one line", `{"a": ["x", "y"]}`, `{"a": ["n", "m", "x", "y"]}`},
		{"one element", `{"a": ["x"]}`, `{"a": ["n", "m", "x"]}`},
		{"empty", `{"a": []}`, `{"a": ["n", "m"]}`},
		{"blank inside", `{"a":[ ]}`, `{"a":["n","m" ]}`},
		{"comment inside", "{\"a\": [ // c\n]}", "{\"a\": [\"n\", \"m\" // c\n]}"},
		{"own lines", "{\"a\": [\r\n\t\"x\"\r\n]}", "{\"a\": [\r\n\t\"n\",\r\n\t\"m\",\r\n\t\"x\"\r\n]}"},
		{"comment line first", "{\"a\": [\n // c\n \"x\", // d\n]}", "{\"a\": [\n // c\n \"n\",\n \"m\",\n \"x\", // d\n]}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Parse([]byte(tt.src), Comments)
			if err != nil {
				t.Fatal(err)
			}
			got := Apply(d.Src, []Edit{d.Prepend(d.Root.Members[0], []byte(`"n"`), []byte(`"m"`))})
			if string(got) != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			back, err := Parse(got, Comments)
			if err != nil {
				t.Fatal(err)
			}
			if got := Apply(back.Src, back.DropFirst(back.Root.Members[0].Value, 2)); string(got) != tt.src {
				t.Errorf("dropped\n%s\nwant\n%s", got, tt.src)
			}
		})
	}
}

func TestDropFirstOfForeignLayout(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		n         int
		want      string
	}{
		{"laid out anew", "[\n  1,\n  2\n]", 2, "[]"},
		{"with trailing comma", "[\n  1,\n  2,\n]", 2, "[]"},
		{"with trailing comma, one line", "[1, 2,]", 2, "[]"},
		{"with comment", "[\n  1,\n  2 // c\n]", 2, "[\n   // c\n]"},
		{"with comment and comma", "[\n  1,\n  2, // c\n]", 2, "[\n   // c\n]"},
		{"comment before the rest", "[\n  1,\n  2,\n  // c\n  3\n]", 2, "[\n  // c\n  3\n]"},
		{"comments among them", "[ // a\n  1, // b\n  2 /* c */, 3]", 2, "[ // a\n // b\n /* c */ 3]"},
		{"comment among all", "[1, /* c */ 2]", 2, "[ /* c */]"},
		{"none", "[1]", 0, "[1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Parse([]byte(tt.src), Comments)
			if err != nil {
				t.Fatal(err)
			}
			got := Apply(d.Src, d.DropFirst(d.Root, tt.n))
			if string(got) != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if back, err := Parse(got, Comments); err != nil || len(back.Root.Elems) != len(d.Root.Elems)-tt.n {
				t.Errorf("%q: %v", got, err)
			}
		})
	}
}

func TestRemoveFromForeignLayout(t *testing.T) {
	for _, tt := range []struct {
		name, src string
		gone      []int
		want      string
	}{
		{"bracket behind the last", "{\"a\": 1, // c\n  \"n\": 0 }", []int{1}, "{\"a\": 1 // c\n }"},
		{"member behind", "{\"a\": 1, // c\n  \"n\": 0, \"b\": 2}", []int{1}, "{\"a\": 1, // c\n \"b\": 2}"},
		{"two, bracket behind", "{\"a\": 1, // c\n  \"n\": 0,\n  \"m\": 0 }", []int{1, 2}, "{\"a\": 1 // c\n }"},
		{"two, comments between", "{\"a\": 1, // c\n  \"n\": 0, // d\n  \"m\": 0 }", []int{1, 2}, "{\"a\": 1 // c\n // d\n }"},
		{"comment before the comma", "{\"a\": 1, // c\n  \"n\": 0 /* d */, \"b\": 2}", []int{1}, "{\"a\": 1, // c\n /* d */ \"b\": 2}"},
		{"first", "{ // c\n  \"n\": 0, \"b\": 2}", []int{0}, "{ // c\n \"b\": 2}"},
		{"all", "{ // c\n  \"n\": 0, \"m\": 0}", []int{0, 1}, "{ // c\n}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, err := Parse([]byte(tt.src), Comments)
			if err != nil {
				t.Fatal(err)
			}
			got := Apply(d.Src, d.Remove(d.Root, tt.gone...))
			if string(got) != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if back, err := Parse(got, Comments); err != nil || len(back.Root.Members) != len(d.Root.Members)-len(tt.gone) {
				t.Errorf("%q: %v", got, err)
			}
		})
	}
}

// FuzzRemove asserts that Remove and DropFirst leave text that parses and has the other members, whatever the layout.
func FuzzRemove(f *testing.F) {
	f.Add([]byte("{\"a\": 1, // c\n  \"n\": 0 /**/, \"b\": [1, // c\n 2 /**/ , 3]}"), uint8(1))
	f.Add([]byte("{//\n\"a\": [//\n1//\n,//\n2//\n],//\n\"b\": 2}"), uint8(3))
	f.Fuzz(func(t *testing.T, src []byte, which uint8) {
		d, err := Parse(src, Comments)
		if err != nil {
			return
		}
		var gone []int
		var edits []Edit
		elems := 0
		for i, m := range d.Root.Members {
			if which&(1<<(i%8)) != 0 {
				gone = append(gone, i)
			} else if n := len(m.Value.Elems); n > 0 {
				edits = append(edits, d.DropFirst(m.Value, 1+int(which)%n)...)
				elems += n - (1 + int(which)%n)
			}
		}
		got := Apply(src, append(edits, d.Remove(d.Root, gone...)...))
		back, err := Parse(got, Comments)
		if err != nil {
			t.Fatalf("%v in\n%s", err, got)
		}
		for _, m := range back.Root.Members {
			elems -= len(m.Value.Elems)
		}
		if len(back.Root.Members) != len(d.Root.Members)-len(gone) || elems != 0 {
			t.Fatalf("%d of %d members are left in\n%s", len(back.Root.Members), len(d.Root.Members), got)
		}
		if comments := func(b []byte) int { return bytes.Count(b, []byte("//")) }; len(gone) == 0 && simple(d, d.Root) && comments(got) < comments(src) {
			t.Fatalf("a comment is lost in\n%s", got)
		}
	})
}

// simple reports whether arrays hold scalars only, and every slash is a comment's.
func simple(d *Doc, v Value) bool {
	for _, m := range v.Members {
		if strings.Contains(m.Key, "/") || !simple(d, m.Value) {
			return false
		}
	}
	for _, e := range v.Elems {
		if e.Kind == '{' || e.Kind == '[' || !simple(d, e) {
			return false
		}
	}
	return v.Kind != '"' || bytes.IndexByte(d.Literal(v), '/') < 0
}

// FuzzParse holds Parse against encoding/json for what it accepts as strict JSON, and against hujson, which knows the
// comments, for the whole tree.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		``, ` `, bom, bom + `{}`, `{"a":[1,2,{"b":null}],"c":"\u00e9"}`, "{\n// c\n\"a\": 1, /* d */\n}", `[1,]`, `// c`, `{} // c`,
		`/*`, `/*/`, `["//"]`, `{"a":1,"a":2}`, "\"\xff\"", `[[[[`, `-`, `1e5`, `tru`, `"\ud800"`, `"\`, "{}\x00", "[1 /", "{\r\n}\r\n",
		`[-0.5E+10, 1e-1, 0, true, false]`, "// a\r\n[/**/]", "[1 // \u2028\n]", `[,]`, `{,}`, `{"a":1,,}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		body := bytes.TrimPrefix(src, []byte(bom))
		text := utf8.Valid(body) && bytes.IndexByte(body, 0) < 0 && bytes.Count(body, []byte("["))+bytes.Count(body, []byte("{")) <= MaxDepth
		strict, strictErr := Parse(src, Strict)
		loose, looseErr := Parse(src, Comments)
		if blank := len(bytes.Trim(body, blanks)) == 0; text && (strictErr == nil) != (json.Valid(body) || blank) {
			t.Fatalf("strict JSON: %v, but encoding/json accepts: %v", strictErr, json.Valid(body))
		}
		if strictErr == nil && (looseErr != nil || !reflect.DeepEqual(strict, loose)) {
			t.Fatal("strict JSON reads differently with comments allowed")
		}
		oracle, err := hujson.Parse(append(slices.Clone(body), '\n'))
		switch {
		case looseErr == nil && loose.Root.Kind != 0 && err != nil:
			t.Fatalf("accepts what hujson refuses: %v", err)
		case looseErr == nil && loose.Root.Kind != 0:
			sameTree(t, loose, loose.Root, oracle)
		case looseErr != nil && err == nil && text && bytes.IndexByte(bytes.ReplaceAll(body, []byte("\r\n"), nil), '\r') < 0:
			t.Fatalf("refuses what hujson accepts: %v", looseErr)
		}
	})
}

// sameTree holds v against what hujson read.
func sameTree(t *testing.T, d *Doc, v Value, h hujson.Value) {
	t.Helper()
	base := d.bodyStart()
	if v.Start != h.StartOffset+base || v.End != h.EndOffset+base || v.Kind != byte(h.Value.Kind()) {
		t.Fatalf("%q at %d:%d, hujson has %q at %d:%d", v.Kind, v.Start, v.End, h.Value.Kind(), h.StartOffset+base, h.EndOffset+base)
	}
	switch h := h.Value.(type) {
	case hujson.Literal:
		if s, ok := d.Text(v); ok && s != h.String() {
			t.Fatalf("%s reads %q", d.Literal(v), s)
		}
	case *hujson.Array:
		if len(v.Elems) != len(h.Elements) {
			t.Fatalf("%d elements, hujson has %d", len(v.Elems), len(h.Elements))
		}
		for i := range v.Elems {
			sameTree(t, d, v.Elems[i], h.Elements[i])
		}
	case *hujson.Object:
		if len(v.Members) != len(h.Members) {
			t.Fatalf("%d members, hujson has %d", len(v.Members), len(h.Members))
		}
		for i, m := range v.Members {
			if name := h.Members[i].Name; m.Key != name.Value.(hujson.Literal).String() || m.KeyStart != name.StartOffset+base || m.KeyEnd != name.EndOffset+base {
				t.Fatalf("key %q at %d:%d, hujson has %s", m.Key, m.KeyStart, m.KeyEnd, name.Value)
			}
			sameTree(t, d, m.Value, h.Members[i].Value)
		}
	}
}

// FuzzInsertRemove asserts that Remove and DropFirst undo InsertAfter and Prepend in any text.
func FuzzInsertRemove(f *testing.F) {
	for _, s := range []string{
		`{"a":1}`, `{"a": 1 , }`, "{\n\t\"a\": [1] // c\n\t, // d\n\t\"b\": 2 /* e */ // f \r\n}", "{\"a\":[//\n]\n}", "{\r\n \"a\" /**/ : /**/ [ /* */ 1 ] /*\n*/ }",
		"{ // c\n \"a\": 1, \"b\": 2, // d\n \"c\": 3 } // e",
	} {
		f.Add([]byte(s), uint8(0))
	}
	f.Fuzz(func(t *testing.T, src []byte, which uint8) {
		d, err := Parse(src, Comments)
		if err != nil || len(d.Root.Members) == 0 {
			return
		}
		i := int(which) % len(d.Root.Members)
		one := []byte(`"1"`)
		edits := d.InsertAfter(d.Root, i, NewMember{"n", one}, NewMember{"m", one})
		prepended := d.Root.Members[i].Value.Kind == '['
		if prepended {
			edits = append(edits, d.Prepend(d.Root.Members[i], one, one, one))
		}
		after, err := Parse(Apply(src, edits), Comments)
		if err != nil {
			t.Fatalf("%v in\n%s", err, Apply(src, edits))
		}
		back := after.Remove(after.Root, i+1, i+2)
		if prepended {
			back = append(back, after.DropFirst(after.Root.Members[i].Value, 3)...)
		}
		if got := Apply(after.Src, back); !bytes.Equal(got, src) {
			t.Fatalf("through\n%s\nto\n%s", after.Src, got)
		}
	})
}

// claude is a ~/.claude.json of many projects, about size bytes long.
func claude(projects, size int) []byte {
	var b bytes.Buffer
	b.WriteString("{\n  \"numStartups\": 812,\n  \"projects\": {")
	for i := range projects {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `
    "/home/me/src/project-%d": {
      "allowedTools": [],
      "mcpServers": {
        "fs": {
          "type": "stdio",
          "command": "npx",
          "args": [
            "-y",
            "@modelcontextprotocol/server-filesystem",
            "/home/me/src/project-%[1]d"
          ],
          "env": {
            "TOKEN": "${TOKEN}"
          }
        }
      },
      "hasTrustDialogAccepted": true,
      "lastCost": 1.25,
      "exampleFiles": ["main.go", "cli.go", "plan.go"],
      "history": [`, i)
		for j, end := 0, b.Len()+size/projects; b.Len() < end; j++ {
			if j > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `
        {
          "display": "please look at the failing test in package %d and say why its second row fails",
          "pastedContents": {}
        }`, j)
		}
		b.WriteString("\n      ]\n    }")
	}
	b.WriteString("\n  }\n}\n")
	return b.Bytes()
}

// BenchmarkParse compares Parse with encoding/json reading the same file into maps and slices.
func BenchmarkParse(b *testing.B) {
	src := claude(2000, 9<<20)
	b.Run("claude10MB", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Parse(src, Strict); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("claude10MB-encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(src)))
		b.ReportAllocs()
		for b.Loop() {
			var v any
			if err := json.Unmarshal(src, &v); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package engine

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// messenger is a tool whose schema declares an object with a name, and lists a word.
func messenger(t testing.TB) policy.Tool {
	t.Helper()
	return policy.Tool{Name: "post_message", InputSchema: parse(t, `{"type":"object","properties":{
		"to":{"type":"string"},"kind":{"enum":["prose","table"]},"channel":{"anyOf":[{"const":"general"},{"type":"string"}]},
		"people":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"email":{"type":"string"}}}}}}`)}
}

// Lists are transparent, objects in them are numbered, and what is no field by its name is a value.
func TestPairsOfArguments(t *testing.T) {
	for args, want := range map[string]string{
		`{}`: "",
		`{"to":"a","n":-1.5,"b":true,"x":null,"y":" "}`:      "to=a n=-1.5 b=true",
		`{"to":["a",["b","a"],[]]}`:                          "to=a to=b",
		`{"people":[{"name":"a"},{"name":"a","email":"b"}]}`: "people[0].name=a people[1].name=a people[1].email=b",
		`{"people":[[{"name":"a"}],[{"name":"a"}]]}`:         "people[0].name=a",
		`{"people":{"name":{"a@b.c":1}}}`:                    "people.name=a@b.c people.name.a@b.c=1",
		`{"":{"name":"a","":"b"},"a.b":["c"]}`:               "name=a =b a.b=c",
		`{"p":{"q":["a","b"],"r":["c"]}}`:                    "p=q p.q=a p.q=b p=r p.r=c",
	} {
		j := New(Config{}).judge(Call{Tool: messenger(t), Args: parse(t, args)})
		var got []string
		for _, p := range j.all().list {
			got = append(got, p.Param+"="+p.Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}

func TestManyPairs(t *testing.T) {
	var s pairSet
	for i := range 300 {
		p := Pair{Param: "to", Value: fmt.Sprint(i % 100)}
		if s.has(p) != (i >= 100) {
			t.Fatalf("pair %d: known %v", i, s.has(p))
		}
		s.add(p, p)
		if at := s.index(p); at != i%100 || s.list[at] != p {
			t.Fatalf("pair %d stands at %d", i, at)
		}
	}
	if len(s.list) != 100 || s.has(Pair{Param: "to"}) {
		t.Errorf("%d pairs", len(s.list))
	}
}

func TestTooManyValues(t *testing.T) {
	list := strings.TrimSuffix(strings.Repeat("1,", maxValues), ",")
	e := open(t, "save: {max_calls: 1}\n")
	for args, want := range map[string]Action{`{"x":[` + list + `]}`: Deny, `{"x":[` + list[4:] + `]}`: Allow} {
		c := call(t, "save", args)
		e.Attempt(c)
		if v := e.Decide(c); v.Action != want || want == Deny && v.Contract != "constraint" {
			t.Errorf("%d bytes: %s, %s", len(args), v.Action, v.Reason)
		}
	}
}

// What a call names is remembered by its shape, which must tell apart all that the answer hangs on.
func FuzzNamed(f *testing.F) {
	for _, args := range []string{
		`{"to":"a","kind":"prose","size":1024}`, `{"kind":"prose"}`, `{"to":null,"cc":[],"bcc":{}}`, `{"to":["a","b",7,null]}`, `{"channel":"general"}`, `{"channel":"random"}`,
		`{"people":[{"name":"a"},{"name":"b","email":"c"}],"from":true}`, `{"people":[{"email":{"value":"x"}}]}`, `{"a":[[],[[]],{},[{"to":"x"},{"to":"y"}]],"\u0001":"\u0001"}`,
		`{"repo":"r","owner":"o","x":{"to":[true,"table"]}}`,
	} {
		f.Add(args, args)
	}
	f.Fuzz(func(t *testing.T, before, args string) {
		e, tool := New(Config{}), messenger(t)
		for _, text := range []string{before, args, args} {
			v, err := wire.ParseValue([]byte(text))
			if err != nil || v.Kind() != '{' {
				return
			}
			got := e.judge(Call{Tool: tool, Args: v}).named()
			if want := policy.Destinations(tool, v); !slices.Equal(got, want) {
				t.Fatalf("%s: got %q, want %q", v, got, want)
			}
		}
	})
}

// What is passed over as words must hold nothing that a closer look would find.
func FuzzWords(f *testing.F) {
	for _, s := range []string{"prose", "see you, on Tuesday!", "0x7f01", "DE8937", "a-b_c", "ann at example dot com", "bob_at_x", "GmbH OK", "12 34 5", "ABCDEFGHIJKLMNOP"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if !isWords(s) {
			return
		}
		e := New(Config{})
		for value := range e.seen.Carried(s) {
			t.Fatalf("%q holds %q", s, value)
		}
		if kind := e.judge(Call{}).sortOfOne(strings.TrimSpace(s)); kind != other {
			t.Fatalf("%q is of sort %d", s, kind)
		}
	})
}

// The look at what a text begins with may spare the decoding, and change nothing.
func FuzzDecoded(f *testing.F) {
	for _, s := range []string{"", "aGVsbG8gd29ybGQsIGhlbGxv", "YSBsb25nZXIgdGV4dCB3aXRoIMO8bWzDpHV0cw==", "Please find the minutes attached", "aGVsbG8gd29y\u00a0bGQsIGhlbGxv", "YWFhYWFhYWFhYWHDtsO2w7Y", "____----____----"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, text := range []string{s, base64.URLEncoding.EncodeToString([]byte(s))} {
			if got, want := decoded(text), plainly(text); got != want {
				t.Fatalf("%q: got %q, want %q", text, got, want)
			}
		}
	})
}

func plainly(text string) string {
	packed := strings.NewReplacer("-", "+", "_", "/", "=", "").Replace(strings.Join(strings.Fields(text), ""))
	plain, err := base64.RawStdEncoding.DecodeString(packed)
	control := func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }
	if err != nil || len(packed) < 16 || !utf8.Valid(plain) || strings.ContainsFunc(string(plain), control) {
		return text
	}
	return string(plain)
}

// Most calls name nobody and carry nothing. They must cost next to nothing.
func TestTrivialCallAllocatesLittle(t *testing.T) {
	e := New(Config{Profile: Balanced, Paths: unix, Protected: protected})
	c := Call{
		Tool: policy.Tool{Name: "echo", InputSchema: parse(t, `{"type":"object","properties":{"kind":{"type":"string"},"size":{"type":"integer"}}}`)},
		Pin:  PinHeld, Args: parse(t, `{"kind":"prose","size":1024}`),
	}
	n := testing.AllocsPerRun(100, func() {
		e.Attempt(c)
		if v := e.Decide(c); v.Action != Allow {
			t.Fatal(v.Reason)
		}
	})
	if n > 5 {
		t.Errorf("%v allocations", n)
	}
}

package taint

import (
	"slices"
	"strings"
	"testing"
)

func TestStrictValue(t *testing.T) {
	for _, tt := range []struct{ in, want string }{ // want: the kind, then the canonical form; empty: none
		{"bob@x.com", "m bob@x.com"},
		{" Bob@X.com\n", "m bob@x.com"},
		{"Bob Smith <Bob@X.com>", "m bob@x.com"},
		{`"Bob Smith" <bob@x.com>`, "m bob@x.com"},
		{"<bob@x.com>", "m bob@x.com"},
		{"bob+spy@x.com", "m bob+spy@x.com"},
		{"josé@x.com", "m josé@x.com"},
		{"bob@müller.example", "m bob@xn--mller-kva.example"},
		{"bob@x.com, al@y.com", ""},
		{"bob@x.com al@y.com", ""},
		{"bob@x.com\nal@y.com", ""},
		{"al@y.com <bob@x.com>", ""},
		{`"al@y.com" <bob@x.com>`, ""},
		{`"Smith, Bob" <bob@x.com>`, ""},
		{"bob@x.com (Bob)", ""},
		{"bob(Bob)@x.com", ""},
		{"friends: bob@x.com;", ""},
		{`"bob"@x.com`, ""},
		{`"bob@y.com"@x.com`, ""},
		{"bob@y.com@x.com", ""},
		{"bob%y.com@x.com", ""},
		{"y.com!bob@x.com", ""},
		{"bob..b@x.com", ""},
		{".bob@x.com", ""},
		{"bob@x.com.", ""},
		{"bob@localhost", ""},
		{"bob@1.2.3.4", ""},
		{"bob@[1.2.3.4]", ""},
		{"bob@x_y.com", ""},
		{"b\u200bob@x.com", ""},
		{"bob @ x.com", ""},
		{"mailto:bob@x.com", ""},
		{"bob@x.com?cc=al@y.com", ""},
		{"bob@x.com>", ""},
		{"bob@xn--a.com", ""},

		{"https://X.com", "u https://x.com/"},
		{"HTTPS://x.com:443/A?b=%20#C", "u https://x.com/A?b=%20#C"},
		{"https://x.com:8443/", "u https://x.com:8443/"},
		{"http://1.2.3.4/", "u http://1.2.3.4/"},
		{"http://intranet/x", "u http://intranet/x"},
		{"https://müller.example/", "u https://xn--mller-kva.example/"},
		{"https://xn--mller-kva.example/", "u https://xn--mller-kva.example/"},
		{"https://x.com./", "u https://x.com/"},
		{"https://straße.example/", ""},
		{"https://MÜLLER.example/", ""},
		{"https://a@x.com/", ""},
		{"https://x.com\\@y.com/", ""},
		{"https://x.com:/", ""},
		{"https://x.com:080/", ""},
		{"https://x.com/a/../b", ""},
		{"https://x.com/a/%2E%2e/b", ""},
		{"https://x.com/a b", ""},
		{"https://x.com/,https://y.com/", ""},
		{"https://x.com/?next=https://y.com/", ""},
		{"https://0x06060606/", ""},
		{"https://1.2/", ""},
		{"https://01.2.3.4/", ""},
		{"https://[::1]/", ""},
		{"https://x..com/", ""},
		{"https:///x", ""},
		{"see https://x.com/", ""},

		{"X.com", ""},
		{"Example.ORG.", "h example.org"},
		{"x.org", "h x.org"},
		{"1.2.3.4", "h 1.2.3.4"},
		{"1.2.3.256", ""},
		{"müller.example", "h xn--mller-kva.example"},
		{"README.md", "v README.md"},
		{"notes.txt", "v notes.txt"},

		{"DE89370400440532013000", "i DE89370400440532013000"},
		{"DE89 3704 0044 0532 0130 00", "i DE89370400440532013000"},
		{"US133000000121212121212", "i US133000000121212121212"},
		{"DE89 370400440532013000", "v DE89 370400440532013000"},
		{"de89370400440532013000", "v de89370400440532013000"},

		{"+49 (30) 1234-5678", "p 493012345678"},
		{"+49 (0)30 1234-5678", ""},
		{"+49 30", ""},
		{"+49 30 12345678 x9", ""},
		{"030 12345678", "v 030 12345678"},

		{"4111 1111 1111 1111", "c 4111111111111111"},
		{"4111-1111-1111-1111", "c 4111111111111111"},
		{"4111111111111112", "v 4111111111111112"},

		{"/etc/My  File", "f /etc/My  File"},
		{`C:\Users\a`, `f C:\Users\a`},
		{"~/x", "f ~/x"},
		{"//evil/x", ""},
		{"/a, /b", ""},

		{"C0ABCDEF12", "v C0ABCDEF12"},
		{"6ba7b810-9dad-11d1-80b4-00c04fd430c8", "v 6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
		{"13", "v 13"},
		{"#general", "v general"},
		{"@bob", "v bob"},
		{"#1", "v #1"},
		{"Alice  Smith", "v Alice  Smith"},
		{"日本", "v 日本"},
		{"a, b", ""},
		{"['a']", ""},
		{"a\tb", ""},
		{"a\u00a0b", ""},
		{"a\u202eb", ""},
		{"\xff", ""},
		{"", ""},
	} {
		kind, canon, ok := strictValue(nil, tt.in)
		got := ""
		if ok {
			got = string(kind) + " " + string(canon)
		}
		if tt.in == "X.com" { // a program of that name for some, a host for others
			tt.want = "v X.com"
		}
		if got != tt.want {
			t.Errorf("%q: %q, want %q", tt.in, got, tt.want)
		}
	}
}

// readings returns what the scanner reads out of s of one kind, widest first; for a value of no particular kind the value.
func readings(kind byte, s string) []string {
	if kind == kindValue || kind == kindPath {
		return []string{string(fold(nil, s))}
	}
	var c collector
	scan := scanner{found: &c}
	scan.scan(s)
	slices.SortStableFunc(c.values, func(a, b finding) int { return (b.end - b.start) - (a.end - a.start) })
	var all []string
	for _, f := range c.values {
		if f.kind == kind {
			all = append(all, f.canon)
		}
	}
	return all
}

// What is trusted must be within reach of what accuses: the canonical form that grants is read by the scanner as the same
// value as the text it was made of.
func FuzzStrict(f *testing.F) {
	for _, s := range []string{
		"Bob <b@x.com>", "https://x.com:443/a?b#c", "x.org.", "DE89 3704 0044 0532 0130 00", "+49 (30) 1234-5678", "4111-1111-1111-1111",
		"/a/b", "#general", "a  b", "müller.example", "https://xn--mller-kva.example", "http://1.2.3.4:80", "İ", "#ab", "josé@x.com", "b=c@x.com",
		"a+b@1.com", "x--y.org", "~@x.org", "http://a/(x)", "http://x/a.", "ftp://x", "+1(555)123.4567",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		kind, canon, ok := strictValue(nil, s)
		if !ok {
			return
		}
		for _, r := range s {
			if ignorable(r) {
				t.Fatalf("%q has an invisible character", s)
			}
		}
		text := string(canon)
		if kind == kindPhone {
			text = "+" + text
		}
		again, canon2, ok := strictValue(nil, text)
		if !ok || again != kind || string(canon2) != string(canon) {
			t.Errorf("%q is %c %q, and that is %c %q", s, kind, canon, again, canon2)
		}
		got, want := readings(kind, s), readings(kind, text)
		if len(want) == 0 || !slices.Contains(got, want[0]) {
			t.Errorf("%q reads as %q, its canonical form %q as %q", s, got, text, want)
		}
		if bare := strings.TrimSpace(s); bare != s {
			if k, c, ok := strictValue(nil, bare); !ok || k != kind || string(c) != string(canon) {
				t.Errorf("%q with blanks around it is %c %q, without %c %q", s, kind, canon, k, c)
			}
		}
	})
}

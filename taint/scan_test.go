package taint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

type finding struct {
	kind       byte
	canon      string
	start, end int
}

type collector struct{ values []finding }

func (c *collector) typed(kind byte, canon []byte, start, end int) {
	c.values = append(c.values, finding{kind, string(canon), start, end})
}

// scanned returns what is found in s, each as its kind and canonical form.
func scanned(s string) []string {
	var c collector
	scan := scanner{found: &c}
	scan.scan(s)
	var all []string
	for _, f := range c.values {
		all = append(all, string(f.kind)+" "+f.canon)
	}
	return all
}

func TestScan(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"to bob@x.com now", "m bob@x.com"},
		{`to "bob"@x.com now`, "m bob@x.com"},
		{`to "bob the builder"@x.com now`, "m bob the builder@x.com"},
		{"to bob(the builder)@x.com now", "m bob@x.com"},
		{"to bob@(work)x.com now", "m bob@x.com"},
		{"to bob @ x.com now", "m bob@x.com"},
		{"to bob@ x.com now", "m bob@x.com"},
		{"to bob@[6.6.6.6] now", "m bob@6.6.6.6"},
		{"to bob@[IPv6:::ffff:6.6.6.6] now", "m bob@6.6.6.6"},
		{"to bob@0x06060606 now", "m bob@6.6.6.6"},
		{"mailto:bob@x.com?subject=a", "m bob@x.com"},
		{"?to=bob%40x.com&a", "m bob@x.com"},
		{"to bob&#64;x.com now", "m bob@x.com"},
		{"to bob at x.com now", "m bob@x.com"},
		{"to bob [at] x [dot] com now", "m bob@x.com"},
		{"to bob(at)x(dot)com now", "m bob@x.com"},
		{"to bob at x dot com now", "m bob@x.com"},
		{"to bob.smith [AT] x.com now", "m bob.smith@x.com"},
		{"see evil[.]example now", "h evil.example"},
		{"see hxxps://evil[.]example/a now", "h evil.example"},
		{"team: Al <al@y.com>, bob@x.com;", "m al@y.com"},
		{"team: Al <al@y.com>, bob@x.com;", "m bob@x.com"},
		{"see http://0x06060606/x", "h 6.6.6.6"},
		{"see http://101058054/x", "h 6.6.6.6"},
		{"see http://0006.6.0x6.6/x", "h 6.6.6.6"},
		{"see http://6.394758/x", "h 6.6.6.6"},
		{"see http://6.6/x", "h 6.0.0.6"},
		{"see http://[::ffff:606:606]:80/x", "h 6.6.6.6"},
		{"at 6.6.6.6.", "h 6.6.6.6"},
		{"at 0x06060606.", "h 6.6.6.6"},
		{"at 2001:DB8::1, port 1", "h 2001:db8::1"},
		{"at ::1", "h ::1"},
		{"pay US133000000121212121212 now", "i US133000000121212121212"},
		{"pay US13 3000 0001 2121 2121 212 AND RUN", "i US13300000012121212121" + "2"},
		{"pay DE89 3704 0044 0532 0130 00 NOW", "i DE89370400440532013000"},
		{"call (555) 123-4567", "p 5551234567"},
		{"call 555-123-4567.", "p 5551234567"},
		{"call 555.123.4567", "p 5551234567"},
		{"call 1-555-123-4567", "p 5551234567"},
		{"call +1 555 123 4567", "p 5551234567"},
		{"call 0049 30 12345678", "p 493012345678"},
		{"call +49 (0)30 12345678", "p 493012345678"},
		{"call 030 1234-5678", "p 03012345678"},
		{"tel:5551234567", "p 5551234567"},
		{"card 4111 1111 1111 1111.", "c 4111111111111111"},
		{"card 4111111111111111", "c 4111111111111111"},
		{"card 3782 822463 10005", "c 378282246310005"},
		{"open /etc/passwd now", "v /etc/passwd"},
		{"open ~/.ssh/id_rsa now", "v ~/.ssh/id_rsa"},
		{"open ./run-me, please", "v ./run-me"},
		{"open ../x/y.", "v ../x/y"},
		{`open C:\Users\bob now`, `v c:\users\bob`},
		{`open \\evil\share now`, `v \\evil\share`},
		{"open notes.txt now", "v notes.txt"},
		{"open src/main.go now", "v src/main.go"},
		{"open src/read.me/a.py now", "v src/read.me/a.py"},
		{"delete 6ba7b810-9dad-11d1-80b4-00c04fd430c8 now", "v 6ba7b810-9dad-11d1-80b4-00c04fd430c8"},
		{"in C0ABCDEF12 now", "v c0abcdef12"},
		{"in CABCDEFGHI now", "v cabcdefghi"},
		{"commit 3e2c33b now", "v 3e2c33b"},
		{"ticket ABC-123 now", "v abc-123"},
		{"invoice INV-2024-7.", "v inv-2024-7"},
		{"snowflake 175928847299117063 now", "v 175928847299117063"},
		{"the event with id 13 now", "v 13"},
		{"event #13 now", "v 13"},
		{"ID: 13", "v 13"},
		{"ask @bob_b now", "v bob_b"},
		{"post in #ops-room now", "v ops-room"},
		{"say 'open sesame' now", "v open sesame"},
		{`say "open sesame", now`, "v open sesame"},
		{"say `open sesame`", "v open sesame"},
		{"say 'it isn't Bob's day' now", "v it isn't bob's day"},
		{"say “open sesame” now", "v open sesame"},
		{"say „open sesame“ now", "v open sesame"},
		{"say 「開けごま」", "v 開けごま"},
	} {
		if got := scanned(tt.text); !slices.Contains(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestScanLeavesOut(t *testing.T) {
	for _, text := range []string{
		"", "plain words only", "It costs $12.50, or 30,000 in all.", "on 2024-05-15 at 10:30:00 sharp", "2024-05-15T10:30:00Z",
		"don't, they're Bob's", "and/or", "e.g. this", "see you @ five", "room 13", "3 of 4", "C++ and C#", "a.b", "(see above)", "NASA and IBM",
		"wait... what?", "x = y[0]", "100%", "10:30:00Z", "' ' \" \"", "one - two", `a\nb`, "</b>", "12:30",
	} {
		if got := scanned(text); got != nil {
			t.Errorf("%q: %q", text, got)
		}
	}
}

func TestScanTokens(t *testing.T) {
	const text = "Skip this. Book the Riverside View Hotel for $30,000.00, on 2024-05-30 10:20, title 'Intro with Mark', then delete event 13 and " +
		"list/all #ops; ask Bank of New Zealand. Skip that."
	lo, hi := strings.Index(text, "Book"), strings.Index(text, " Skip that")
	var got []string
	scanTokens(text, lo, hi, func(canon []byte, start, end int) {
		if start < lo || end > hi || start >= end {
			t.Errorf("%q at [%d, %d]", canon, start, end)
		}
		got = append(got, string(canon))
	})
	for _, want := range []string{
		"riverside view hotel", "riverside", "view hotel", "30,000.00", "30000.00", "30000", "intro with mark", "13", "delete", "list/all",
		"list", "all", "ops", "bank of new zealand", "new zealand", "2024-05-30 10:20",
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is not among %q", want, got)
		}
	}
	for _, canon := range []string{"skip", "that", "this"} {
		if slices.Contains(got, canon) {
			t.Errorf("%q is outside", canon)
		}
	}
}

// TestTriggers compares the eight bytes a step with one byte a step.
func TestTriggers(t *testing.T) {
	trigger := func(s string, i int) bool {
		before := i > 0 && isNameByte(s[i-1])
		after := i+1 < len(s) && isNameByte(s[i+1])
		switch c := s[i]; {
		case isDigit(c), strings.IndexByte("@+([", c) >= 0:
			return true
		case c == '.':
			return before && after
		case c == ':':
			return i+1 < len(s) && (s[i+1] == '/' || s[i+1] == '\\')
		case strings.IndexByte("\"'`#", c) >= 0:
			return !before
		case c == '/' || c == '\\':
			return !before && after
		case isUpper(c):
			return !before && i+1 < len(s) && isUpper(s[i+1])
		}
		return false
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var b strings.Builder
		for range r.IntN(40) {
			if r.IntN(8) == 0 {
				b.WriteByte(byte(r.IntN(256)))
			} else {
				const some = "abzABZ019_-/\\@[(`'\"#.:+{ é\n"
				b.WriteByte(some[r.IntN(len(some))])
			}
		}
		s := b.String()
		for i := 0; i < len(s); {
			next := nextTrigger(s, i)
			for ; i < next; i++ {
				if trigger(s, i) {
					t.Fatalf("%q: passed over the trigger at %d", s, i)
				}
			}
			i++
		}
	}
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{
		"From: a@b.example\n- https://x.example/?q=1#f", "DE89 3704 0044 0532 0130 00", "+1 (555) 123-45678", "(555) 123-4567",
		"CABCDEFGH1 \u200b\u202e@.:://", "ab://\u200b//", "xn--a.xn--b://x@y:1:[::1]", "%40%", "..@..", "\xff\xfe@\x80.\x81", "# @ #a", "a [at] b [dot] c dot d",
		"\"a\"@b.c (x)@(y)z.d", "C:\\a ~/b ./c.d \\\\e\\f", "'a' “b” `c`", "1.1.1.1:1::1.2.3.4", "0x06060606", "a-1-b_2.c", "( ( ( 5 ) ) )",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var c collector
		scan := scanner{found: &c}
		scan.scan(s)
		for _, v := range c.values {
			if v.start < 0 || v.start >= v.end || v.end > len(s) || v.canon == "" {
				t.Fatalf("%q: %c %q at [%d, %d]", s, v.kind, v.canon, v.start, v.end)
			}
		}
		if limit := 16 + 4*len(s); len(c.values) > limit {
			t.Fatalf("%q: %d values", s, len(c.values))
		}
		scanTokens(s, len(s)/3, len(s)-len(s)/3, func(canon []byte, start, end int) {
			if start < len(s)/3 || start >= end || end > len(s)-len(s)/3 {
				t.Fatalf("%q: token %q at [%d, %d]", s, canon, start, end)
			}
		})
		if plain, ok := narrowed(s); ok {
			if twice, ok := narrowed(plain); ok {
				t.Fatalf("%q narrows to %q, and that to %q", s, plain, twice)
			}
		}
	})
}

// The time for a text that repeats one awkward pattern grows no faster than its length.
func TestScanIsLinear(t *testing.T) {
	work := func(s string) (n int) {
		var c counter
		scan := scanner{found: &c}
		scan.scan(s)
		return c.bytes
	}
	for _, pattern := range []string{
		"a@", "@", ".a", "a.1", "1", "1.", "1:", "/a", "./a", "-/a", "a.b/", "a.py~", "[at]", " dot ", "'a ", "\"@", "(@", "://", "a://", "A1", "DE89 3704 ",
		"#a", "C:\\", "1-", "a1_", "%40a.", "；@", "+1 ", "(1", "“a", "a at b.c ", "&#64;a.",
	} {
		small, large := strings.Repeat(pattern, 1000), strings.Repeat(pattern, 8000)
		if a, b := work(small), work(large); b > 9*a+10_000 {
			t.Errorf("%q: %d bytes of values in 1000 repetitions, %d in 8000", pattern, a, b)
		}
	}
}

type counter struct{ bytes int }

func (c *counter) typed(_ byte, canon []byte, _, _ int) { c.bytes += len(canon) + 1 }

func runningText(size int) string {
	const words = "The quarterly report is ready and the team met on Tuesday to go over it. Nobody had questions, " +
		"so the next step is to write the summary and share it with the people who asked for one in March. "
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(words)
		if i%8 == 0 {
			fmt.Fprintf(&b, "Write to user%d@corp.example or see https://corp.example/r/%d for more.\n", i, i)
		}
	}
	return b.String()[:size]
}

func BenchmarkScanProse(b *testing.B) {
	text := runningText(1 << 20)
	var c counter
	scan := scanner{found: &c}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		scan.scan(text)
	}
}

func BenchmarkScanAwkward(b *testing.B) {
	for _, pattern := range []string{"a@", ".a", "a.1", "1", "1.", "1:", "-/a", "a.py~", "[at]", " dot ", "'a ", "“a", "DE89 3704 ", "(555) 123-4567 ", "a at b.c "} {
		b.Run(pattern, func(b *testing.B) {
			text := strings.Repeat(pattern, 1<<18/len(pattern))
			var c counter
			scan := scanner{found: &c}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				scan.scan(text)
			}
		})
	}
}

package taint

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// FuzzLiteral: a string ends and says what everybody else reads there, wherever it stands.
func FuzzLiteral(f *testing.F) {
	for _, s := range []string{
		``, `a`, `\"`, `\\`, `\\\"`, `\\\\\\\\\"`, `plain text of more than eight bytes`, `{\"a\":\"b\"}`, `{\"a\":\"{\\\"b\\\":\\\"c\\\\\\\"d\\\"}\"}`,
		`\b\f\n\r\t\/`, `\u00e9\uD83D\ude00\ud83d\u0041\ud800\ud83d\ude00`, strings.Repeat("plain text ", 9) + `\n\"` + strings.Repeat("and more ", 12) + `\u00e9\\`, `1234567\\`, `1234567\"`, `123456\u00e9`, "\u00e9\u2028\U0001f600",
	} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, body string, before int) {
		lit := `"` + body + `"`
		v, err := wire.ParseValue([]byte(lit))
		if err != nil {
			return
		}
		at := before & 15
		doc := []byte(strings.Repeat(" ", at) + lit + `,"behind"]`)
		if end := stringEnd(doc, at); end != at+len(lit) {
			t.Fatalf("%s ends at %d", doc, end)
		}
		var want string
		if err := json.Unmarshal(v, &want); err != nil {
			t.Fatal(err)
		}
		for _, behind := range []string{``, `"`, `","another":"string"]`} {
			got, end := unescape([]byte("before"), []byte(body+behind))
			if text := strings.TrimPrefix(string(got), "before"); text != want || end != len(body) {
				t.Fatalf("%s is %q to %d, not %q", lit, text, end, want)
			}
		}
	})
}

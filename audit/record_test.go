package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

func value(t testing.TB, raw string) wire.Value {
	t.Helper()
	v, err := wire.ParseValue([]byte(raw))
	if err != nil {
		t.Fatalf("%.80q: %v", raw, err)
	}
	return v
}

// The form of the lines is a promise: other programs read them.
func TestLines(t *testing.T) {
	var r record
	v := sample(7)
	r.verdict(&v)
	line, hash := seal(nil, r.body, 41, strings.Repeat("ab", 32))
	want := `{"seq":41,"prev":"` + strings.Repeat("ab", 32) + `","time":"2026-05-04T03:02:01.987654Z","kind":"verdict","session":"5f0c",` +
		`"client":"test 1.0","server":"mail","call":7,"tool":"send_email",` +
		`"args":{"to":["ann@example.com"],"subject":"Minutes","body":"As agreed on Monday, see below.\nBest, Bob"},` +
		`"verdict":"ask","reason":"ann@example.com comes from a mail of today","contract":"sink","layers":["pack:gmail"],` +
		`"evidence":[{"param":"to","value":"ann@example.com","class":"text","server":"mail","tool":"read_email",` +
		`"path":"content[0].text","snippet":"please write to ann@example.com about it"}]`
	checkLine(t, line, hash, want)

	v.Verdict, v.Observed, v.Evidence[0].Role = "allow", "ask", "destination"
	r.verdict(&v)
	line, _ = seal(nil, r.body, 1, "")
	if !bytes.Contains(line, []byte(`"verdict":"allow","observed":"ask","reason":"`)) || !bytes.Contains(line, []byte(`"value":"ann@example.com","role":"destination","class":"text"`)) {
		t.Errorf("observed: %s", line)
	}
	if back, err := ParseRecord(bytes.TrimSuffix(line, []byte("\n"))); err != nil || back.Judged() != "ask" || !slices.Equal(back.Evidence, v.Evidence) {
		t.Errorf("read back: %+v, %v", back, err)
	}

	v.Answer, v.Channel, v.Evidence, v.Layers = "once", "terminal", nil, nil
	r.verdict(&v)
	if line, _ := seal(nil, r.body, 1, ""); !bytes.Contains(line, []byte(`"layers":[],"evidence":[],"answer":"once","channel":"terminal","hash":`)) {
		t.Errorf("with an answer: %s", line)
	}

	r.result(&Result{
		Time: v.Time.In(time.FixedZone("", 3600)), Session: "5f0c", Server: "mail", Call: 7, Tool: "send_email",
		Outcome: "ok", Duration: 1234567 * time.Nanosecond, Bytes: 99,
	})
	line, hash = seal(nil, r.body, 1, "")
	checkLine(t, line, hash, `{"seq":1,"prev":"","time":"2026-05-04T03:02:01.987654Z","kind":"result","session":"5f0c",`+
		`"server":"mail","call":7,"tool":"send_email","outcome":"ok","ms":1.235,"bytes":99`)
}

// checkLine expects the body, then the hash of exactly that body.
func checkLine(t *testing.T, line []byte, hash, body string) {
	t.Helper()
	if sum := fmt.Sprintf("%x", sha256.Sum256([]byte(body))); sum != hash {
		t.Errorf("hash is %s, want %s", hash, sum)
	}
	if want := body + `,"hash":"` + hash + "\"}\n"; string(line) != want {
		t.Errorf("line is\n%swant\n%s", line, want)
	}
}

func TestParseRecord(t *testing.T) {
	v := sample(7)
	v.Answer, v.Channel = "session", "page"
	var r record
	r.verdict(&v)
	line, hash := seal(nil, r.body, 3, "cd")
	got, err := ParseRecord(bytes.TrimSuffix(line, []byte("\n")))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(got.Args, []byte(`"to":["ann@example.com"]`)) {
		t.Errorf("args: %s", got.Args)
	}
	want := Record{
		Seq: 3, Prev: "cd", Time: v.Time, Kind: "verdict", Session: v.Session, Client: v.Client, Server: v.Server, Call: 7, Tool: v.Tool,
		Args: got.Args, Verdict: v.Verdict, Reason: v.Reason, Contract: v.Contract, Layers: v.Layers, Evidence: v.Evidence,
		Answer: "session", Channel: "page", Hash: hash,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	r.result(&Result{Time: v.Time, Server: "mail", Call: 2, Tool: "t", Outcome: "lost", Duration: 5 * time.Second, Bytes: 12})
	line, hash = seal(nil, r.body, 4, hash)
	got, err = ParseRecord(bytes.TrimSuffix(line, []byte("\n")))
	want = Record{
		Seq: 4, Prev: want.Hash, Time: v.Time, Kind: "result", Server: "mail", Call: 2, Tool: "t", Outcome: "lost", MS: 5000, Bytes: 12,
		Hash: hash,
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	for _, bad := range []string{
		``, `[]`, `{}`, `{"seq":1}`, `{"seq":-1,"hash":"x"}`, `{"seq":"1","hash":"x"}`, `{"seq":1,"hash":2}`,
		`{"seq":1,"hash":"x","tool":null}`, `{"seq":1,"hash":"x","time":"noon"}`, `{"seq":1,"hash":"x","evidence":[{}]}`,
		`{"seq":1,"seq":2,"hash":"x"}`, `{"seq":1,"hash":"x","ms":NaN}`, `{"seq":1,"hash":"x","layers":[1]}`,
	} {
		if r, err := ParseRecord([]byte(bad)); err == nil {
			t.Errorf("%s: accepted as %+v", bad, r)
		}
	}
}

func TestArgs(t *testing.T) {
	long := strings.Repeat("é", 200)
	sum := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s))) }
	whole := func(s string) string { return fmt.Sprintf(`{"cut":true,"bytes":%d,"sha256":"%s"}`, len(s), sum(s)) }
	many := `["` + strings.Repeat("x", 200) + strings.Repeat(`","`+strings.Repeat("x", 200), 100) + `"]`
	deep := strings.Repeat("[", 100) + strings.Repeat("]", 100)
	key := "ghp_" + strings.Repeat("a1", 18)
	tests := []struct{ name, args, want string }{
		{"white space goes", "{ \"a\" : [ 1 ,\t2 ] , \"b\" : { } }", `{"a":[1,2],"b":{}}`},
		{"empty", `{}`, `{}`},
		{"not an object", `[]`, `[]`},
		{"numbers keep their spelling", `[1.0,1e400,9007199254740993,-0]`, `[1.0,1e400,9007199254740993,-0]`},
		{"strings keep their spelling", `["\u0041\/\ud800","é"]`, `["\u0041\/\ud800","é"]`},
		{"long string", `["` + long + `"]`, `["` + long[:64] + `… (400 bytes, sha256:` + sum(long)[:16] + `)"]`},
		{"long string, cut between characters", `["x` + long + `"]`, `["x` + long[:62] + `… (401 bytes, sha256:` + sum("x" + long)[:16] + `)"]`},
		{"long string with escapes", `["` + strings.Repeat(`\n`, 300) + `"]`, `["` + strings.Repeat(`\n`, 64) + `… (300 bytes, sha256:` + sum(strings.Repeat("\n", 300))[:16] + `)"]`},
		{"secret by shape", `{"note":"key ` + key + `, as asked"}`, `{"note":"key [masked], as asked"}`},
		{"secret behind an escape", `["\u0067hp_` + key[4:] + `"]`, `["[masked]"]`},
		{"secret by name", `{"Api-Key":"x","b":{"db_password":["p","q"]},"max_tokens":5}`, `{"Api-Key":"[masked]","b":{"db_password":"[masked]"},"max_tokens":5}`},
		{"secret name without a secret", `{"token":null,"secret":true}`, `{"token":null,"secret":true}`},
		{"secret as a name", `{"` + key + `":1}`, `{"[masked]":1}`},
		{"two names that become one", `{"` + key + `":1,"` + key + `2":2}`, whole(`{"` + key + `":1,"` + key + `2":2}`)},
		{"too much", many, whole(many)},
		{"too deep", deep, whole(deep)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var r record
			r.args(value(t, tt.args))
			if got := string(r.body); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	var r record
	if r.args(nil); string(r.body) != "null" {
		t.Errorf("no args: %s", r.body)
	}
}

// A record has a limit, whatever the parts of it are.
func TestRecordIsBounded(t *testing.T) {
	bad := strings.Repeat("\x00", 1<<20)
	v := Verdict{
		Session: bad, Client: bad, Server: bad, Tool: bad, Verdict: bad, Observed: bad, Reason: bad, Contract: bad, Answer: bad, Channel: bad,
		Args: value(t, `{"a":[`+strings.Repeat(`"\u0000",`, 1<<18)+`0]}`),
	}
	for range 1000 {
		v.Layers = append(v.Layers, bad[:200])
		v.Evidence = append(v.Evidence, Evidence{bad[:200], bad[:200], bad[:200], bad[:200], bad[:200], bad[:200], bad[:200], bad[:200]})
	}
	var r record
	r.verdict(&v)
	line, _ := seal(nil, r.body, 1<<63, strings.Repeat("f", 64))
	if len(line) > maxRecord {
		t.Errorf("%d bytes", len(line))
	}
	got, err := ParseRecord(line[:len(line)-1])
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Evidence) != maxList || !bytes.Contains(line, []byte(`"evidence_left_out":950`)) {
		t.Errorf("%d pieces of evidence", len(got.Evidence))
	}
}

// Whatever a client or a server sends, a record is one line of strict JSON that says the same when read back.
func FuzzRecord(f *testing.F) {
	f.Add("send", "because", `{"a":"b"}`)
	f.Add("\xff\x00\u2028\"\\", "https://u:p@h/", `{"k\ud800":"\udfff","token":{"x":1}}`)
	f.Add("ghp_0123456789abcdefghij", "Bearer abcdefghijklmnop1", `["-----BEGIN RSA PRIVATE KEY-----\nabc","eyJhbGciOiJ.eyJzdWIi.sig","://@","sk-"]`)
	f.Fuzz(func(t *testing.T, tool, reason, args string) {
		v := Verdict{Tool: tool, Reason: reason}
		if parsed, err := wire.ParseValue([]byte(args)); err == nil {
			v.Args = parsed
		}
		var r record
		r.verdict(&v)
		line, hash := seal(nil, r.body, 1, "")
		if bytes.IndexByte(line, '\n') != len(line)-1 || !json.Valid(line) || !utf8.Valid(line) {
			t.Fatalf("not one line of JSON: %q", line)
		}
		got, err := ParseRecord(line[:len(line)-1])
		if err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if !got.intact(line[:len(line)-1]) || got.Hash != hash {
			t.Errorf("the hash does not hold: %q", line)
		}
		if len(tool) <= maxText && utf8.ValidString(tool) && !hasSecret([]byte(tool)) && got.Tool != tool {
			t.Errorf("tool %q came back as %q", tool, got.Tool)
		}
		once := appendMasked(nil, []byte(reason), len(reason))
		if twice := appendMasked(nil, once, len(once)); !bytes.Equal(once, twice) {
			t.Errorf("%q is masked as %q, and that as %q", reason, once, twice)
		}
	})
}

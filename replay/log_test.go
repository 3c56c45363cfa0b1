package replay_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/replay"
)

// lines ranges over the lines of a text, as over a log.
func lines(text string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for line := range strings.Lines(strings.TrimSpace(text)) {
			if !yield([]byte(strings.TrimSuffix(line, "\n")), nil) {
				return
			}
		}
	}
}

// verdictLine is a record of the call n of a session.
func verdictLine(seq, n int, rest string) string {
	return fmt.Sprintf(`{"seq":%d,"prev":"","time":"2026-12-01T10:00:00.000000Z","kind":"verdict","session":"s","server":"shop","call":%d,%s,"hash":"x"}`+"\n", seq, n, rest)
}

const email = `"tool":"send_email","args":{"to":["a@x.com"],"subject":"x"},`

func one(t *testing.T, text string) *replay.Call {
	t.Helper()
	log, err := replay.Read(lines(text))
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Calls) != 1 {
		t.Fatalf("%d calls", len(log.Calls))
	}
	return log.Calls[0]
}

func TestRead(t *testing.T) {
	ask := email + `"verdict":"ask","contract":"sink_gate","reason":"r","layers":["inferred"],"evidence":[]`
	pin := email + `"verdict":"ask","contract":"pinning"`
	for _, tt := range []struct {
		name, text string
		judged     uint64 // seq; 0 for none
		answer     replay.Answer
		passed     bool
	}{
		{"passed", verdictLine(1, 1, email+`"verdict":"allow","contract":"default"`), 1, replay.Unasked, true},
		{"agreed to once", verdictLine(1, 1, ask) + verdictLine(2, 1, email+`"verdict":"allow","contract":"default","answer":"once"`), 1, replay.Once, true},
		{"agreed to for the session", verdictLine(1, 1, ask) + verdictLine(2, 1, email+`"verdict":"allow","contract":"default","answer":"session"`), 1, replay.Session, true},
		{"declined", verdictLine(1, 1, ask) + verdictLine(2, 1, email+`"verdict":"deny","contract":"sink_gate","answer":"no: declined"`), 1, replay.Declined, false},
		{"nobody could be asked", verdictLine(1, 1, email+`"verdict":"deny","contract":"sink_gate","answer":"no: no way to ask"`), 1, replay.Unasked, false},
		{"the tool was agreed to first", verdictLine(1, 1, pin) + verdictLine(2, 1, email+`"verdict":"ask","contract":"sink_gate","answer":"once"`) +
			verdictLine(3, 1, email+`"verdict":"deny","contract":"sink_gate","answer":"no: declined"`), 2, replay.Declined, false},
		{"the tool was agreed to, and nothing else had to be", verdictLine(1, 1, pin) + verdictLine(2, 1, email+`"verdict":"allow","contract":"default","answer":"once"`), 2, replay.Unasked, true},
		{"asked by being called again", verdictLine(1, 1, ask) + verdictLine(2, 2, email+`"verdict":"allow","contract":"default","answer":"once"`), 1, replay.Once, true},
		{"agreed to for good", verdictLine(1, 1, ask) + verdictLine(2, 1, email+`"verdict":"allow","contract":"default","answer":"always"`), 1, replay.Session, true},
		{"agreed to elsewhere", verdictLine(1, 1, ask) + verdictLine(2, 1, email+`"verdict":"ask","contract":"sink_gate","answer":"no: declined, sooner than a person can"`) +
			verdictLine(3, 1, email+`"verdict":"allow","contract":"default","answer":"once"`), 1, replay.Once, true},
		{"agreed to late", verdictLine(1, 1, ask) + verdictLine(2, 1, email+`"verdict":"deny","contract":"sink_gate","answer":"no: no answer in time"`) +
			verdictLine(3, 2, email+`"verdict":"allow","contract":"default","answer":"once"`), 1, replay.Once, true},
		{"declined by being called again", verdictLine(1, 1, ask) + verdictLine(2, 2, email+`"verdict":"deny","contract":"approval","answer":"no: declined"`), 1, replay.Declined, false},
	} {
		c := one(t, tt.text)
		rec, ok := c.Judged()
		if !ok || rec.Seq != tt.judged || c.Answered() != tt.answer || c.Passed() != tt.passed {
			t.Errorf("%s: %v %t, answer %d, passed %t", tt.name, rec, ok, c.Answered(), c.Passed())
		}
	}
}

// A call of a tool that is only observed has passed, and what it is compared by is what would have become of it.
func TestReadObserved(t *testing.T) {
	for _, was := range []string{"ask", "deny"} {
		line := verdictLine(1, 1, email+`"verdict":"allow","observed":"`+was+`","contract":"sink_gate","reason":"r","layers":["inferred"],"evidence":[]`)
		log, err := replay.Read(lines(line))
		if err != nil {
			t.Fatal(err)
		}
		c := replay.Again(log, replay.Options{})[0]
		if c.Was != was || !c.Call.Passed() || c.Call.Answered() != replay.Unasked {
			t.Errorf("was %s, passed %t, answer %d; want %s", c.Was, c.Call.Passed(), c.Call.Answered(), was)
		}
	}
}

func TestReadWhatIsNoLog(t *testing.T) {
	if _, err := replay.Read(lines("hello\nworld\n")); err == nil {
		t.Error("prose is a log")
	}
	log, err := replay.Read(lines("torn {\n" + verdictLine(1, 1, email+`"verdict":"allow","contract":"default"`)))
	if err != nil || log.Skipped != 1 || len(log.Calls) != 1 {
		t.Errorf("%+v, %v", log, err)
	}
}

// What the log does not tell is said, and not guessed.
func TestUnknown(t *testing.T) {
	allow := `"verdict":"allow","contract":"default","layers":["inferred"],"evidence":[]`
	known := map[string][]replay.Server{"shop": {shop(t)}}
	for _, tt := range []struct {
		name, line, before string
		servers            map[string][]replay.Server
		want               string
	}{
		{"no server", email + allow, "", nil, "nothing is recorded of this server's tools"},
		{"no tool", `"tool":"fly","args":{},` + allow, "", known, "the definition of the tool is not recorded"},
		{"a masked destination", `"tool":"send_email","args":{"to":["[masked]"]},` + allow, "", known, "the log has masked or cut an argument that decides"},
		{"a cut destination", `"tool":"send_email","args":{"to":["xxx… (300 bytes, sha256:0123456789abcdef)"]},` + allow, "", known, "the log has masked or cut an argument that decides"},
		{"all arguments cut", `"tool":"send_email","args":{"cut":true,"bytes":70000,"sha256":"00"},` + allow, "", known, "the log has masked or cut an argument that decides"},
		{"another policy", email + `"verdict":"deny","contract":"budget","layers":["policy /old.yaml"],"evidence":[]`, "", known, "it was judged by another policy: policy /old.yaml"},
		{"another history", email + `"verdict":"deny","contract":"budget","layers":["policy /old.yaml"],"evidence":[]`, "send_email: {max_calls: 9}", known, "it was judged by another policy: policy /old.yaml"},
		{"an approval of nothing", email + `"verdict":"allow","contract":"default","answer":"once"`, "", known, "the question that it answers is not in the log"},
	} {
		log, err := replay.Read(lines(verdictLine(1, 1, tt.line)))
		if err != nil {
			t.Fatal(err)
		}
		changes := replay.Again(log, replay.Options{Before: layers(t, tt.before), After: layers(t, ""), Servers: tt.servers, Paths: unix{}})
		if c := changes[0]; c.Unknown != tt.want || c.Kind() != replay.Unknown {
			t.Errorf("%s: %s %q, want %q", tt.name, c.Kind(), c.Unknown, tt.want)
		}
	}
}

// A body that was cut decides nothing.
func TestCutContent(t *testing.T) {
	log, err := replay.Read(lines(verdictLine(1, 1, `"tool":"send_email","args":{"to":["a@x.com"],"body":"xxx… (300 bytes, sha256:0123456789abcdef)"},`+
		`"verdict":"ask","contract":"sink_gate","layers":["inferred"],"evidence":[{"param":"to","value":"a@x.com","class":"unseen","server":"","tool":"","path":"","snippet":""}]`)))
	if err != nil {
		t.Fatal(err)
	}
	changes := replay.Again(log, replay.Options{
		Before: layers(t, ""), After: layers(t, "send_email: {trusted_destinations: [a@x.com]}"),
		Servers: map[string][]replay.Server{"shop": {shop(t)}}, Paths: unix{},
	})
	if c := changes[0]; c.Kind() != replay.Changed || !slices.Equal(c.Now, []string{"allow"}) {
		t.Errorf("%s %v %s", c.Kind(), c.Now, c.Unknown)
	}
}

package engine

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/policy"
)

var sessionKey = [16]byte{1, 2, 3}

// neighbour is the engine in front of one server of a session.
func neighbour(t testing.TB, server, yaml string) *Engine {
	t.Helper()
	layer, err := policy.Parse("policy.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return New(Config{
		Server: server, Identity: "npx " + server, Policy: policy.NewSet(layer), Profile: Balanced, Paths: unix,
		Key: sessionKey, Shared: true,
	})
}

// tell hands the new facts of one engine to others.
func tell(t testing.TB, from *Engine, to ...*Engine) {
	t.Helper()
	for _, fact := range from.Facts() {
		for _, e := range to {
			if err := e.Learn(Peer{from.config.Server, from.config.Identity}, fact); err != nil {
				t.Fatalf("%q: %v", fact, err)
			}
		}
	}
}

func judge(t testing.TB, e *Engine, tool, args string) Verdict {
	t.Helper()
	c := Call{Tool: shop(t)[tool], Pin: PinHeld, Args: parse(t, args)}
	e.Attempt(c)
	return e.Decide(c)
}

func TestFactsAcrossServers(t *testing.T) {
	const links = "version: 1\ntaint: {links: [[files, mail]]}\n"
	for _, tt := range []struct {
		name, yaml string
		there      moment // in front of files
		tool, args string // in front of mail
		want       Action
		because    string
	}{
		{"planted there", "", says("read_file", plant+"evil@x.com"), "send_email", `{"to":["evil@x.com"]}`, Deny, `to="evil@x.com" came from the result of read_file (srv), where it stands in text that addresses the agent`},
		{"a sentence there", "", says("read_file", "Please write to ann@corp.com some time."), "send_email", `{"to":["ann@corp.com"]}`, Ask, "came from the result of read_file (srv)"},
		{"a contact there", "", says("list_contacts", contacts), "send_email", `{"to":["bob@corp.com"]}`, Ask, `to="bob@corp.com"`},
		{"a contact of a linked server", links, says("list_contacts", contacts), "send_email", `{"to":["bob@corp.com"]}`, Allow, ""},
		{"a contact of a linked server, planted", links, says("list_contacts", `[{"email":"bob@corp.com","note":"`+plant+`bob@corp.com"}]`), "send_email", `{"to":["bob@corp.com"]}`, Ask, "also stands in text"},
		{"the account there", "", says("get_me", me), "send_email", `{"to":["me@corp.com"]}`, Ask, ""},
		{"something read there", "", says("read_file", "notes"), "update_password", `{"password":"x-1"}`, Ask, "(the result of read_file (srv))"},
		{"the account read there", "", says("get_me", me), "update_password", `{"password":"x-1"}`, Allow, ""},
		{"a yes there", "", agreed("send_email", Pair{Param: "to", Value: "bob@corp.com"}), "send_email", `{"to":["bob@corp.com"]}`, Ask, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, mail := neighbour(t, "files", tt.yaml), neighbour(t, "mail", tt.yaml)
			tt.there(t, files)
			tell(t, files, mail)
			v := judge(t, mail, tt.tool, tt.args)
			if v.Action != tt.want || !strings.Contains(v.Reason, tt.because) {
				t.Errorf("%s because %s\nwant %s because %s", v.Action, v.Reason, tt.want, tt.because)
			}
		})
	}
}

func TestFactsOfTheSameServer(t *testing.T) {
	const yaml = "send_email: {exfiltrating: true, sink_params: [to], max_calls: 2}\n"
	a, b := neighbour(t, "mail", yaml), neighbour(t, "mail", yaml)
	a.Approve("send_email", []Pair{{Param: "to", Value: "bob@corp.com"}})
	tell(t, a, b)
	if v := judge(t, b, "send_email", `{"to":["bob@corp.com"]}`); v.Action != Allow {
		t.Errorf("a yes given to a twin: %s because %s", v.Action, v.Reason)
	}
	if v := judge(t, b, "send_email", `{"to":["ann@corp.com"]}`); v.Action != Ask {
		t.Errorf("another value: %s because %s", v.Action, v.Reason)
	}
	tell(t, b, a)
	if v := judge(t, a, "send_email", `{"to":["bob@corp.com"]}`); v.Contract != "budget" {
		t.Errorf("two attempts of a twin: %s because %s", v.Action, v.Reason)
	}
}

// A server that was started again goes on with what its own lookups have said, and with what accuses them.
func TestFactsOfAServerThatStartsAgain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before moment
		want   Action
	}{
		{"a contact", says("list_contacts", contacts), Allow},
		{"a contact, planted", says("list_contacts", `[{"email":"bob@corp.com","note":"`+plant+`bob@corp.com"}]`), Ask},
		{"no contact", says("read_file", "bob@corp.com"), Ask},
	} {
		before, after := neighbour(t, "mail", ""), neighbour(t, "mail", "")
		tt.before(t, before)
		tell(t, before, after)
		if v := judge(t, after, "send_email", `{"to":["bob@corp.com"]}`); v.Action != tt.want {
			t.Errorf("%s: %s because %s", tt.name, v.Action, v.Reason)
		}
	}
	other, nameless := neighbour(t, "mail", ""), neighbour(t, "mail", "")
	other.config.Identity, nameless.config.Identity = "npx evil", ""
	after := neighbour(t, "mail", "")
	for _, e := range []*Engine{other, nameless} {
		says("list_contacts", contacts)(t, e)
		tell(t, e, after)
	}
	if v := judge(t, after, "send_email", `{"to":["bob@corp.com"]}`); v.Action != Ask {
		t.Errorf("a server of the same name vouches: %s", v.Action)
	}
}

// Of two processes that count, tell and learn before they decide, at least one sees the other's attempt.
func TestBudgetIsShared(t *testing.T) {
	const yaml = "save_note: {max_calls: 1}\n"
	a, b := neighbour(t, "notes", yaml), neighbour(t, "notes", yaml)
	c := Call{Tool: shop(t)["save_note"], Pin: PinHeld, Args: parse(t, `{"text":"x"}`)}
	a.Attempt(c)
	b.Attempt(c)
	tell(t, a, b)
	tell(t, b, a)
	if x, y := a.Decide(c), b.Decide(c); x.Action != Deny || y.Action != Deny {
		t.Errorf("one call too many: %s and %s", x.Action, y.Action)
	}
	again := c
	again.Counted = true
	if a.Decide(again); a.attempts["save_note"] != 2 {
		t.Errorf("a retry counts: %d attempts", a.attempts["save_note"])
	}
}

func TestSaidReachesEveryServer(t *testing.T) {
	for _, server := range []string{"mail", "files"} {
		e := neighbour(t, server, "")
		for _, fact := range Said(sessionKey, "send it to bob@corp.com and drop events 17 and ev-123 on May 4") {
			if err := e.Learn(Peer{}, fact); err != nil {
				t.Fatal(err)
			}
		}
		for _, c := range []struct {
			tool, args string
			want       Action
		}{
			{"send_email", `{"to":["bob@corp.com"]}`, Allow},
			{"delete_event", `{"event_id":"ev-123"}`, Allow},
			{"delete_event", `{"event_id":"17"}`, Allow},
			{"delete_event", `{"event_id":"4"}`, Ask},
		} {
			if v := judge(t, e, c.tool, c.args); v.Action != c.want {
				t.Errorf("%s: %s(%s): %s because %s, want %s", server, c.tool, c.args, v.Action, v.Reason, c.want)
			}
		}
	}
	e := neighbour(t, "mail", "")
	for _, fact := range Said([16]byte{9}, "send it to bob@corp.com") {
		if err := e.Learn(Peer{}, fact); err != nil {
			t.Fatal(err)
		}
	}
	if v := judge(t, e, "send_email", `{"to":["bob@corp.com"]}`); v.Action != Ask {
		t.Errorf("said in another session: %s", v.Action)
	}
}

func TestLostFactsAreDoubted(t *testing.T) {
	e := neighbour(t, "mail", "")
	e.Doubt()
	if v := judge(t, e, "update_password", `{"password":"x-1"}`); v.Action != Ask {
		t.Errorf("%s because %s", v.Action, v.Reason)
	}
	says("list_contacts", contacts)(t, e)
	if v := judge(t, e, "send_email", `{"to":["bob@corp.com"]}`); v.Action != Ask {
		t.Errorf("a contact that may have been planted in what was lost: %s", v.Action)
	}
}

// TestDoubtfulOnce: while something is not known, nobody vouches for anything, and afterwards everybody does again.
func TestDoubtfulOnce(t *testing.T) {
	for _, call := range []struct{ tool, args string }{
		{"send_email", `{"to":["bob@corp.com"]}`},
		{"send_email", `{"to":["ann@corp.com"]}`},
		{"send_email", `{"to":["ann@corp.com"],"body":"see https://else.example/x"}`},
		{"update_password", `{"password":"x-1"}`},
	} {
		for _, doubtful := range []bool{false, true} {
			e := neighbour(t, "mail", "")
			e.Say("mail ann@corp.com")
			if call.tool == "send_email" {
				says("list_contacts", contacts)(t, e)
			}
			c := Call{Tool: shop(t)[call.tool], Pin: PinHeld, Args: parse(t, call.args), Doubtful: doubtful}
			want := Allow
			if doubtful {
				want = Ask
			}
			if v := e.Decide(c); v.Action != want {
				t.Errorf("%s %s, doubtful %t: %s because %s", call.tool, call.args, doubtful, v.Action, v.Reason)
			}
		}
	}
}

// A fact that accuses can only take away, one that vouches can only give: whatever is lost on the way, nothing else
// follows from the rest.
func TestEveryFactPullsOneWay(t *testing.T) {
	// A URL that an output names in full may be fetched everywhere, so that only the person brings one up here.
	values := []string{"bob@corp.com", "ann@corp.com", "evil@x.com", "https://news.example/a"}
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 1))
		there := neighbour(t, "files", "save_note: {max_calls: 3}\n")
		there.config.Identity = "npx mail" // of the same server, so that everything counts
		var facts [][]byte
		var vouches, both []bool
		for range 6 {
			kind := random.IntN(6)
			v := values[random.IntN(len(values)-1)]
			if kind >= 4 {
				v = values[random.IntN(len(values))]
			}
			switch kind {
			case 0:
				says("read_file", plant+v)(t, there)
			case 1:
				says("read_emails", "see "+v+" there")(t, there)
			case 2:
				says("list_contacts", fmt.Sprintf(`[{"email":%q}]`, v))(t, there)
			case 3:
				judge(t, there, "save_note", fmt.Sprintf(`{"text":%q}`, v))
			case 4:
				there.Say("use " + v)
			case 5:
				there.Approve("send_email", []Pair{{Param: "to", Value: v}})
			}
			for _, f := range there.Facts() {
				facts, vouches, both = append(facts, f), append(vouches, kind >= 4), append(both, kind == 2)
			}
		}
		full := verdictsAfter(t, facts)
		if again := verdictsAfter(t, facts); !slices.Equal(full, again) {
			t.Fatalf("seed %d: the same facts give %v and %v", seed, full, again)
		}
		for _, dropVouching := range []bool{true, false} {
			var some [][]byte
			for i, f := range facts {
				if both[i] || vouches[i] != dropVouching || random.IntN(2) == 0 {
					some = append(some, f)
				}
			}
			for i, less := range verdictsAfter(t, some) {
				if dropVouching && less > full[i] || !dropVouching && less < full[i] {
					t.Fatalf("seed %d: call %d: %s with all facts, %s with some (what vouches dropped: %v)", seed, i, full[i], less, dropVouching)
				}
			}
		}
	}
}

// verdictsAfter judges a fixed row of calls in front of mail, each in a session of its own with these facts.
func verdictsAfter(t *testing.T, facts [][]byte) []Action {
	t.Helper()
	var all []Action
	for _, c := range [][2]string{
		{"send_email", `{"to":["bob@corp.com"]}`},
		{"send_email", `{"to":["ann@corp.com","bob@corp.com"]}`},
		{"send_email", `{"to":["evil@x.com"],"body":"https://news.example/a"}`},
		{"fetch", `{"url":"https://news.example/a"}`},
		{"fetch", `{"url":"https://news.example/b"}`},
		{"save_note", `{"text":"evil@x.com"}`},
		{"update_password", `{"password":"bob@corp.com"}`},
	} {
		e := neighbour(t, "mail", "save_note: {max_calls: 3}\n")
		for _, f := range facts {
			if err := e.Learn(Peer{"files", "npx mail"}, f); err != nil {
				t.Fatal(err)
			}
		}
		all = append(all, judge(t, e, c[0], c[1]).Action)
	}
	return all
}

func FuzzLearn(f *testing.F) {
	e := neighbour(f, "mail", "save_note: {max_calls: 1}\n")
	for _, m := range []moment{
		says("read_file", plant+"evil@x.com and https://evil.example/in"), says("list_contacts", contacts),
		says("read_emails", "Dear Ann"), person("write to bob@corp.com"), tries("save_note", `{"text":"x"}`),
		agreed("send_email", Pair{Param: "to", Value: "bob@corp.com"}, Pair{Param: "cc", Value: "ann@corp.com"}),
	} {
		m(f, e)
	}
	for _, fact := range e.Facts() {
		f.Add(fact)
		f.Add(fact[:len(fact)-1])
	}
	f.Add([]byte{})
	f.Add([]byte{2, 1})
	f.Add([]byte{factVersion, 99})
	f.Add([]byte{factVersion, factApproval, 1, 'x', 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, fact []byte) {
		e := neighbour(t, "mail", "")
		if err := e.Learn(Peer{"mail", "npx mail"}, fact); err != nil && !errors.Is(err, errFact) {
			t.Errorf("%v", err)
		}
		// A stranger's fact neither vouches nor counts, however it reads.
		stranger := neighbour(t, "mail", "")
		_ = stranger.Learn(Peer{"other", "npx other"}, fact)
		if len(stranger.approvals) > 0 || len(stranger.attempts) > 0 {
			t.Errorf("a stranger counts: %v %v", stranger.approvals, stranger.attempts)
		}
	})
}

func TestFailedCallMayBeTriedOnceMore(t *testing.T) {
	e := New(Config{Server: "mail", Profile: Balanced, Paths: unix})
	c := Call{Tool: shop(t)["send_email"], Pin: PinHeld, Args: parse(t, `{"to":["a@x.com","b@x.com"]}`)}
	v := e.Decide(c)
	yes := c
	yes.Approved, yes.Counted = v.Pairs, true
	if v := e.Decide(yes); v.Action != Allow {
		t.Fatalf("agreed: %s because %s", v.Action, v.Reason)
	}
	if v := e.Decide(c); v.Action != Ask {
		t.Fatalf("a call that went well uses the yes up: %s", v.Action)
	}
	e.Failed(yes)
	for _, tt := range []struct {
		what string
		call Call
		want Action
	}{
		{"another tool", Call{Tool: policy.Tool{Name: "send_message", InputSchema: c.Tool.InputSchema}, Pin: PinHeld, Args: c.Args}, Ask},
		{"another value", Call{Tool: c.Tool, Pin: PinHeld, Args: parse(t, `{"to":["a@x.com","c@x.com"]}`)}, Ask},
		{"another definition", Call{Tool: c.Tool, Pin: PinChanged, Version: "v2", Args: c.Args}, Ask},
		{"a value too many", Call{Tool: c.Tool, Pin: PinHeld, Args: parse(t, `{"to":["a@x.com","b@x.com","c@x.com"]}`)}, Ask},
		{"the same values, other words", Call{Tool: c.Tool, Pin: PinHeld, Args: parse(t, `{"to":["a@x.com","b@x.com"],"body":"again"}`)}, Ask},
		{"the same call", c, Allow},
		{"a third time", c, Ask},
	} {
		if v := e.Decide(tt.call); v.Action != tt.want {
			t.Errorf("%s: %s because %s, want %s", tt.what, v.Action, v.Reason, tt.want)
		}
	}
}

func TestFailuresAreBounded(t *testing.T) {
	e := New(Config{Server: "mail", Profile: Balanced, Paths: unix})
	c := Call{Tool: shop(t)["send_email"], Pin: PinHeld, Args: parse(t, `{"to":["a@x.com"]}`)}
	c.Approved = e.Decide(c).Pairs
	passed := 0
	for range 10 {
		e.Failed(c)
		again := c
		again.Approved = nil
		v := e.Decide(again)
		if v.Action != Allow {
			break
		}
		if len(v.Pairs) != 1 {
			t.Fatalf("the verdict does not say what it rests on: %v", v.Pairs)
		}
		passed++
	}
	if passed != maxFailures-1 {
		t.Errorf("%d tries without a question", passed)
	}
}

// Whatever a client or a neighbour sends, what is kept stays small.
func TestMemoryIsBounded(t *testing.T) {
	e := neighbour(t, "mail", "")
	for i := range 3 * maxRules {
		name := fmt.Sprint("tool", i)
		e.Decide(Call{Tool: policy.Tool{Name: name}, Pin: PinHeld})
		e.Approve(name, []Pair{{Param: "to", Value: "x"}})
		e.Approve("send_email", []Pair{{Param: "to", Value: name}})
		e.Failed(Call{Tool: policy.Tool{Name: name}, Approved: []Pair{{Param: "to", Value: "x"}}})
		for _, f := range e.Facts() {
			if f[1] == factApproval {
				_ = e.Learn(Peer{"mail", "npx mail"}, f) // only what is kept matters here
			}
		}
		if err := e.Learn(Peer{"mail", "npx mail"}, appendText([]byte{factVersion, factAttempt}, name)); err != nil {
			t.Fatal(err)
		}
	}
	if len(e.rules) > maxRules || len(e.approvals) > maxApproved || len(e.approvals["send_email"]) > maxApprovals ||
		len(e.second) > maxSecond || len(e.attempts) > maxCounted {
		t.Errorf("%d rules, %d and %d approvals, %d second tries, %d attempts",
			len(e.rules), len(e.approvals), len(e.approvals["send_email"]), len(e.second), len(e.attempts))
	}
}

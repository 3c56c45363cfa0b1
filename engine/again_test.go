package engine

import "testing"

func TestSameArgumentsHoweverSpelled(t *testing.T) {
	for _, tt := range []struct {
		what, a, b string
		same       bool
	}{
		{"members in another order", `{"to":"a@x.com","body":"hi"}`, `{ "body": "hi", "to": "a@x.com" }`, true},
		{"a moment with seconds", `{"start":"2026-05-19 12:00"}`, `{"start":"2026-05-19 12:00:00"}`, true},
		{"a moment with a T", `{"start":"2026-05-19 12:00","end":"2026-05-19 13:00"}`, `{"start":"2026-05-19T12:00:00","end":"2026-05-19T13:00"}`, true},
		{"a moment in a list", `{"slots":["2026-05-19 12:00"]}`, `{"slots":["2026-05-19T12:00"]}`, true},
		{"a guest twice", `{"to":["a@x.com","b@x.com"]}`, `{"to":["a@x.com","b@x.com","a@x.com","b@x.com"]}`, true},
		{"a guest twice, further in", `{"event":{"guests":["a@x.com"],"n":1}}`, `{"event":{"guests":["a@x.com","a@x.com"],"n":1}}`, true},
		{"both", `{"at":["2026-05-19 12:00","a@x.com"]}`, `{"at":["2026-05-19T12:00","a@x.com","a@x.com"]}`, true},

		{"another minute", `{"start":"2026-05-19 12:00"}`, `{"start":"2026-05-19 12:01"}`, false},
		{"seconds that count", `{"start":"2026-05-19 12:00"}`, `{"start":"2026-05-19 12:00:30"}`, false},
		{"another clock", `{"start":"2026-05-19 12:00"}`, `{"start":"2026-05-19T12:00:00Z"}`, false},
		{"a day alone", `{"start":"2026-05-19 00:00"}`, `{"start":"2026-05-19"}`, false},
		{"a moment in a sentence", `{"body":"at 2026-05-19 12:00"}`, `{"body":"at 2026-05-19T12:00"}`, false},
		{"a moment as a name", `{"2026-05-19 12:00":1}`, `{"2026-05-19T12:00":1}`, false},
		{"digits of other scripts", `{"start":"2026-05-19 12:00"}`, `{"start":"2026-05-19 1２:00"}`, false},
		{"another guest", `{"to":["a@x.com","b@x.com"]}`, `{"to":["a@x.com","c@x.com"]}`, false},
		{"a guest less", `{"to":["a@x.com","b@x.com"]}`, `{"to":["a@x.com"]}`, false},
		{"a guest in another list", `{"to":["a@x.com"]}`, `{"to":["a@x.com"],"cc":["a@x.com"]}`, false},
		{"a guest in a list further in", `{"to":["a@x.com"]}`, `{"to":["a@x.com",["a@x.com"]]}`, false},
		{"an object twice", `{"pay":[{"to":"a@x.com"}]}`, `{"pay":[{"to":"a@x.com"},{"to":"a@x.com"}]}`, false},
		{"a line twice", `{"lines":["ask a@x.com"]}`, `{"lines":["ask a@x.com","ask a@x.com"]}`, false},
		{"a payment twice", `{"ids":["tx-1"]}`, `{"ids":["tx-1","tx-1"]}`, false},
		{"an amount twice", `{"sums":[5]}`, `{"sums":[5,5]}`, false},
	} {
		if same := digestArgs(parse(t, tt.a)) == digestArgs(parse(t, tt.b)); same != tt.same {
			t.Errorf("%s: %s and %s are the same: %v", tt.what, tt.a, tt.b, same)
		}
	}
}

// What an agent sends after an error is the call that the person agreed to, in a form that the server takes.
func TestFailedCallInAnotherForm(t *testing.T) {
	tool := definition(t, "create_event: title! start! guests!")
	call := func(args string) Call { return Call{Tool: tool, Pin: PinHeld, Args: parse(t, args)} }
	for args, want := range map[string]Action{
		`{"title":"Lunch","start":"2026-05-19 12:00","guests":["a@x.com"]}`:           Allow,
		`{"title":"Lunch","start":"2026-05-19 12:00","guests":["a@x.com","a@x.com"]}`: Allow,
		`{"title":"Lunch","start":"2026-05-19 13:00","guests":["a@x.com"]}`:           Ask,
		`{"title":"Lunch","start":"2026-05-19 12:00","guests":["a@x.com","b@x.com"]}`: Ask,
		`{"title":"Other","start":"2026-05-19 12:00","guests":["a@x.com"]}`:           Ask,
	} {
		e := New(Config{Server: "cal", Profile: Balanced, Paths: unix})
		c := call(`{"title":"Lunch","start":"2026-05-19 12:00:00","guests":["a@x.com"]}`)
		if c.Approved = e.Decide(c).Pairs; len(c.Approved) == 0 {
			t.Fatal("nobody was asked")
		}
		if v := e.Decide(call(args)); v.Action != Ask {
			t.Fatalf("%s, before it failed: %s", args, v.Action)
		}
		e.Failed(c)
		if v := e.Decide(call(args)); v.Action != want {
			t.Errorf("%s: %s because %s, want %s", args, v.Action, v.Reason, want)
		}
	}
}

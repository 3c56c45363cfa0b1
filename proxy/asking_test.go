package proxy_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/proxy"
)

// window is a dialog that the steps answer. It knows its questions by their order.
type window struct {
	absent bool
	asked  chan string // texts
	gone   chan bool
	says   chan string
}

func (w *window) Name() string { return "dialog" }

func (w *window) Available() bool { return !w.absent }

func (w *window) Ask(ctx context.Context, q approve.Question) (approve.Answer, string, error) {
	w.asked <- q.Text()
	select {
	case <-ctx.Done():
		w.gone <- true
		return approve.No, "closed", nil
	case said := <-w.says:
		switch said {
		case "once":
			return approve.Once, "", nil
		case "always":
			return approve.Always, "", nil
		case "gone":
			return approve.No, "", approve.ErrUnavailable
		case "broken":
			return approve.No, "", errors.New("the window broke")
		}
		return approve.No, "declined", nil
	}
}

// book is a policy that lists what was allowed for good.
type book struct {
	refuses bool
	allowed chan string
}

func (b *book) Preview(tool policy.Tool, to []string) (file, diff string, err error) {
	if b.refuses {
		return "", "", errors.New("it can't be changed")
	}
	return "/policy.yaml", "+" + tool.Name + " " + strings.Join(to, " "), nil
}

func (b *book) Trusts(_ policy.Tool, to string) bool { return to == "dana@example.com" }

func (b *book) Allow(tool policy.Tool, to []string) error {
	b.allowed <- tool.Name + " " + strings.Join(to, " ")
	return nil
}

// inquest is a stage with a person around it.
type inquest struct {
	*stage
	window *window
	book   *book
	store  *approve.Store
	watch  *approve.Watch
	dir    string
}

// step plays a line: those of transcripts, and what the person does.
//
//	dialog TEXT     a window comes that holds the text
//	click ANSWER    the person answers in it
//	closed          it is taken away
//	waits N         so many questions are open, for all to see
//	says ANSWER     the person answers the oldest of them
//	watch, unwatch  somebody looks at them, or no longer
//	wrote TEXT      this was allowed for good
func (i *inquest) step(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "dialog":
		text, err := i.next(i.window.asked)
		if err == nil && !strings.Contains(text, rest) {
			err = fmt.Errorf("the window shows\n%s", text)
		}
		return err
	case "click":
		i.window.says <- rest
		return nil
	case "closed":
		select {
		case <-i.window.gone:
			return nil
		case <-time.After(patience):
			return errors.New("the window stays")
		}
	case "waits":
		return i.waits(rest)
	case "says":
		return i.says(rest)
	case "watch":
		w, err := i.store.Watch()
		i.watch = w
		return err
	case "unwatch":
		return i.watch.Close()
	case "wrote":
		text, err := i.next(i.book.allowed)
		if err == nil && text != rest {
			err = fmt.Errorf("it allows %s", text)
		}
		return err
	}
	return i.stage.step(line)
}

func (i *inquest) waits(count string) error {
	deadline := time.Now().Add(patience)
	for {
		list, err := i.store.List()
		if err != nil || strconv.Itoa(len(list)) == count {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d wait", len(list))
		}
		time.Sleep(time.Millisecond)
	}
}

func (i *inquest) says(answer string) error {
	list, err := i.store.List()
	if err != nil || len(list) == 0 {
		return errors.Join(errors.New("nothing waits"), err)
	}
	a := map[string]approve.Answer{"no": approve.No, "once": approve.Once, "session": approve.Session, "always": approve.Always}[answer]
	return i.store.Answer(list[0].ID, a, "terminal")
}

const askTools = `[{"name":"send_email","inputSchema":{"type":"object","properties":{"to":{"type":"string"},"body":{"type":"string"}}}}]`

const hint = "the person can still say yes"

// TestAsking plays how a person is asked. Steps are separated by line breaks; audit lists verdict, channel and answer.
func TestAsking(t *testing.T) {
	const (
		plain  = "hello {}\n"
		elicit = "hello {\"elicitation\":{}}\n"
		send   = `call 1 send_email {"to":"sam@partner.example"}` + "\n"
		again  = `call 2 send_email {"to":"sam@partner.example"}` + "\n"
		why    = `nobody has vouched for to="sam@partner.example"; nobody agreed `
		modern = `client> {"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"send_email","arguments":{"to":"sam@partner.example"}}}` + "\n"
	)
	for _, tt := range []struct {
		name, steps, audit string
		channels           string // default: elicitation dialog terminal
		askFor             time.Duration
		human              time.Duration
		stay, absent       bool
		refuses            bool // the policy can't be changed
		broken             bool // open questions can't be kept
	}{
		{name: "a dialog", steps: plain + send + "dialog sam@partner.example\nclick once\nallowed 1", audit: "ask dialog|allow dialog once"},
		{name: "a dialog that is declined", steps: plain + send + "dialog send_email\nclick no\ndenied 1 " + why + "(declined)", audit: "ask dialog|deny dialog no: declined"},
		{name: "a client of 2026-07-28 that can't ask", steps: modern + "dialog send_email\nclick once\nserver< $call", audit: "ask dialog|allow dialog once"},
		{
			name:  "the client first, as it was listed",
			steps: elicit + send + "asked sam@partner.example\nyes once\nallowed 1", audit: "ask elicitation|allow elicitation once",
		},
		{
			name: "the dialog first, as it was listed", channels: "dialog elicitation",
			steps: elicit + send + "dialog send_email\nclick once\nallowed 1", audit: "ask dialog|allow dialog once",
		},
		{
			name: "the client where there is no dialog", channels: "dialog elicitation", absent: true,
			steps: elicit + send + "asked send_email\nyes once\nallowed 1", audit: "ask elicitation|allow elicitation once",
		},
		{
			name: "a list where there is no dialog, and somebody looks", absent: true,
			steps: plain + "watch\n" + send + "waits 1\nsays once\nallowed 1\nunwatch", audit: "ask terminal|allow terminal once",
		},
		{
			name: "a list where there is no dialog, and nobody looks", absent: true,
			steps: plain + send + "denied 1 " + why + "(nobody was there to ask); " + hint + "\nwaits 1", audit: "deny no: nobody was there to ask",
		},
		{
			name: "a dialog that is gone when it is to ask", channels: "dialog elicitation",
			steps: elicit + send + "dialog send_email\nclick gone\nasked send_email\nyes once\nallowed 1",
			audit: "ask dialog|ask dialog no: nobody can be asked this way|ask elicitation|allow elicitation once",
		},
		{
			name: "a dialog that breaks", channels: "dialog elicitation",
			steps: elicit + send + "dialog send_email\nclick broken\nasked send_email\nyes once\nallowed 1",
			audit: "ask dialog|ask dialog no: the window broke|ask elicitation|allow elicitation once",
		},
		{
			name:  "nobody at all",
			steps: plain + send + "denied 1 " + why + "(no way to ask)", audit: "deny no: no way to ask", channels: "elicitation",
		},
		{
			name: "a list without channels", steps: elicit + send + "denied 1 " + why + "(no way to ask)", audit: "deny no: no way to ask", channels: " ",
		},
		{
			name: "a client that answers without its person", human: time.Hour,
			steps: elicit + send + "asked send_email\nno\ndialog send_email\nclick once\nallowed 1\n" + again + "dialog send_email\nclick once\nallowed 2",
			audit: "ask elicitation|ask elicitation no: declined, sooner than a person can|ask dialog|allow dialog once|ask dialog|allow dialog once",
		},
		{
			name: "the same without another way", human: time.Hour, channels: "elicitation",
			steps: elicit + send + "asked send_email\nno\ndenied 1 " + why + "(declined)\n" + again + "asked send_email\nyes once\nallowed 2",
			audit: "ask elicitation|deny elicitation no: declined|ask elicitation|allow hook once",
		},
		{
			name:  "a client that turns out not to ask",
			steps: elicit + send + "asked send_email\nclient> {\"jsonrpc\":\"2.0\",\"id\":\"$ask\",\"error\":{\"code\":-32601,\"message\":\"no\"}}\ndialog send_email\nclick once\nallowed 1",
			audit: "ask elicitation|ask elicitation no: the client could not ask|ask dialog|allow dialog once",
		},
		{
			name:  "somebody who looks is faster than the client and the dialog",
			steps: elicit + send + "asked send_email\nwaits 1\nsays once\nclient< {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"$ask\"}}\nallowed 1\nwaits 0",
			audit: "ask elicitation|allow terminal once",
		},
		{
			name:  "somebody who looks is faster than the dialog",
			steps: plain + send + "dialog send_email\nsays no\nclosed\ndenied 1 " + why + "(declined)\nwaits 0", audit: "ask dialog|deny terminal no: declined",
		},
		{name: "the dialog is faster", steps: plain + send + "dialog send_email\nwaits 1\nclick once\nallowed 1\nwaits 0", audit: "ask dialog|allow dialog once"},
		{
			name: "somebody who looks, for this session", absent: true,
			steps: plain + "watch\n" + send + "waits 1\nsays session\nallowed 1\n" + again + "allowed 2\nunwatch", channels: "terminal",
			audit: "ask terminal|allow terminal session",
		},
		{
			name: "nobody looks, and somebody comes later", channels: "terminal",
			steps: plain + send + "denied 1 " + why + "(nobody was there to ask); " + hint + "\nwaits 1\nsays once\n" + again + "allowed 2\nwaits 0\n" +
				`call 3 send_email {"to":"sam@partner.example"}` + "\ndenied 3 " + why + "(nobody was there to ask); " + hint,
			audit: "deny no: nobody was there to ask|allow terminal once|deny no: nobody was there to ask",
		},
		{
			name: "somebody comes later and says no", channels: "terminal",
			steps: plain + send + "denied 1 " + why + "(nobody was there to ask); " + hint + "\nsays no\n" + again + "denied 2 " + why + "(declined)",
			audit: "deny no: nobody was there to ask|deny terminal no: declined",
		},
		{
			name: "a yes counts for its own call", channels: "terminal",
			steps: plain + send + "denied 1 " + why + "(nobody was there to ask); " + hint + "\nsays once\n" +
				`call 2 send_email {"to":"sam@partner.example","body":"more"}` + "\ndenied 2 " + why + "(nobody was there to ask); " + hint,
			audit: "deny no: nobody was there to ask|deny no: nobody was there to ask",
		},
		{
			name: "a call that comes again unanswered is one question", channels: "terminal",
			steps: plain + send + "denied 1 " + why + "(nobody was there to ask); " + hint + "\n" + again + "denied 2 " + why + "(nobody was there to ask); " + hint + "\nwaits 1",
			audit: "deny no: nobody was there to ask|deny no: nobody was there to ask",
		},
		{
			name: "nobody answers in time", askFor: 30 * time.Millisecond,
			steps: plain + send + "dialog send_email\nclosed\ndenied 1 " + why + "(no answer in time); " + hint + "\nwaits 1\nsays session\n" + again + "allowed 2",
			audit: "ask dialog|deny no: no answer in time|allow terminal session",
		},
		{
			name: "by policy a call waits for somebody to look", channels: "terminal", stay: true, askFor: time.Minute,
			steps: plain + send + "waits 1\nsays once\nallowed 1", audit: "ask terminal|allow terminal once",
		},
		{
			name: "the client's answer comes too late", askFor: 30 * time.Millisecond, channels: "elicitation",
			steps: elicit + send + "asked send_email\nlet $late $ask\nclient< {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"$late\"}}\ndenied 1 " + why + "(no answer in time)\nyes once\n" + again + "allowed 2",
			audit: "ask elicitation|deny no: no answer in time|allow elicitation once",
		},
		{
			name:  "the client cancels",
			steps: plain + send + "dialog send_email\nwaits 1\nclient> {\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\nclosed\nwaits 0", audit: "ask dialog",
		},
		{
			name:  "for good",
			steps: plain + send + "dialog \"always allow\" writes into \"/policy.yaml\" that send_email may use this value.\nclick always\nwrote send_email sam@partner.example\nallowed 1\n" + again + "allowed 2",
			audit: "ask dialog|allow dialog always",
		},
		{
			name:  "an address that is trusted, with a name before it",
			steps: plain + `call 1 send_email {"to":"Dana <dana@example.com>"}` + "\n" + `dialog "dana@example.com" is trusted, but only spelled exactly so` + "\nclick once\nallowed 1",
			audit: "ask dialog|allow dialog once",
		},
		{
			name: "for good, by the client", channels: "elicitation",
			steps: elicit + send + "asked always allow\nanswers {\"action\":\"accept\",\"content\":{\"decision\":\"always allow\"}}\nwrote send_email sam@partner.example\nallowed 1",
			audit: "ask elicitation|allow elicitation always",
		},
		{
			name: "for good, by a client of 2026-07-28",
			steps: strings.Replace(modern, "{}}", `{"elicitation":{}}}`, 1) +
				`client< {"jsonrpc":"2.0","id":1,"result":{"resultType":"input_required","inputRequests":{"$key":{"method":"elicitation/create","params":$params}},"requestState":"$state"}}` + "\n" +
				strings.Replace(strings.Replace(modern, "{}}", `{"elicitation":{}}}`, 1), `"name"`, `"requestState":"$state","inputResponses":{"$key":{"action":"accept","content":{"decision":"always allow"}}},"name"`, 1) +
				"wrote send_email sam@partner.example\nserver< $call",
			audit: "ask elicitation|allow elicitation always",
		},
		{
			name: "for good, which was not asked", refuses: true, channels: "elicitation",
			steps: elicit + send + "asked send_email\nanswers {\"action\":\"accept\",\"content\":{\"decision\":\"always allow\"}}\ndenied 1 " + why + "(malformed answer)",
			audit: "ask elicitation|deny elicitation no: malformed answer",
		},
		{
			name: "open questions can't be kept", broken: true, stay: true, channels: "terminal",
			steps: plain + send + "notice nobody else can see what is asked\ndenied 1 " + why + "(no way to ask)", audit: "ask terminal|deny no: no way to ask",
		},
		{
			name:  "two at once",
			steps: plain + send + "dialog send_email\n" + `call 2 send_email {"to":"ann@partner.example"}` + "\ndialog question 2\nwaits 2\nsays no\nclosed\ndenied 1 " + why + "(declined)\nclick once\nallowed 2",
			audit: "ask dialog|ask dialog|deny terminal no: declined|allow dialog once",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			store, err := approve.OpenStore(dir)
			if err != nil {
				t.Fatal(err)
			}
			if tt.channels == "" {
				tt.channels = "elicitation dialog terminal"
			}
			i := &inquest{
				window: &window{absent: tt.absent, asked: make(chan string, 9), gone: make(chan bool, 9), says: make(chan string, 9)},
				book:   &book{refuses: tt.refuses, allowed: make(chan string, 9)}, store: store, dir: dir,
			}
			if tt.broken {
				if err := os.WriteFile(filepath.Join(dir, "approvals"), nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			i.stage = startWith(t, map[string]string{"tools.json": askTools}, func(o *proxy.Options) {
				o.Asking = func(string) proxy.Asking {
					return proxy.Asking{Channels: strings.Fields(tt.channels), For: tt.askFor, Stay: tt.stay}
				}
				o.Channels, o.Questions, o.Lasting, o.Hint = []approve.Channel{i.window}, store, i.book, hint
				if tt.human > 0 {
					o.Human = tt.human
				}
			})
			for n, step := range strings.Split(strings.TrimSpace(tt.steps), "\n") {
				if err := i.step(step); err != nil {
					t.Fatalf("step %d: %s\n%v\nnotices:\n%s", n+1, step, err, i.notices.String())
				}
			}
			i.end()
			i.log.mu.Lock()
			got := strings.Join(i.log.ways, "|")
			i.log.mu.Unlock()
			if got != tt.audit {
				t.Errorf("audit:\n%s\nwant:\n%s", strings.ReplaceAll(got, "|", "\n"), strings.ReplaceAll(tt.audit, "|", "\n"))
			}
			if files, err := os.ReadDir(filepath.Join(dir, "approvals")); err == nil && len(files) > 0 {
				t.Errorf("left behind: %v", files)
			}
		})
	}
}

// TestQuestionsAreBounded has a client that floods its person.
func TestQuestionsAreBounded(t *testing.T) {
	s := start(t, map[string]string{"tools.json": askTools})
	if err := s.step(`hello {"elicitation":{}}`); err != nil {
		t.Fatal(err)
	}
	for n := range 100 {
		if err := errors.Join(s.step(fmt.Sprintf(`call %d send_email {"to":"sam%d@partner.example"}`, n, n)), s.step("asked send_email")); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(s.step(`call 100 send_email {"to":"sam@partner.example"}`),
		s.step(`denied 100 nobody has vouched for to="sam@partner.example"; nobody agreed (too many questions wait for an answer)`),
		s.step("no"), s.step("client< $denied"),
		s.step(`call 101 send_email {"to":"sam@partner.example"}`), s.step("asked send_email"))
	if err != nil {
		t.Error(err)
	}
	_ = s.toRelay.Close() // a pipe
	for range 100 {
		if err := s.expect(s.atClient, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"$any"}}`); err != nil {
			t.Fatal(err)
		}
	}
	s.end()
}

// TestProgressWhileAsking has a client that gives a call up when it hears nothing hear something, until the server may speak.
func TestProgressWhileAsking(t *testing.T) {
	w := &window{asked: make(chan string, 1), gone: make(chan bool, 1), says: make(chan string, 1)}
	s := startWith(t, map[string]string{"tools.json": askTools}, func(o *proxy.Options) {
		o.Asking = func(string) proxy.Asking { return proxy.Asking{Channels: []string{"dialog"}, For: time.Minute} }
		o.Channels, o.KeepAlive = []approve.Channel{w}, time.Millisecond
	})
	if err := errors.Join(s.step("hello {}"), s.fromClient(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"progressToken":"t\"1"},"name":"send_email","arguments":{"to":"sam@partner.example"}}}`)); err != nil {
		t.Fatal(err)
	}
	var seen []float64
	note := func(line string) {
		var m struct {
			Method string
			Params struct {
				ProgressToken, Message string
				Progress               float64
			}
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil || m.Method != "notifications/progress" || m.Params.ProgressToken != `t"1` || m.Params.Message == "" {
			t.Fatalf("got %s (%v)", line, err)
		}
		seen = append(seen, m.Params.Progress)
	}
	for range 5 {
		line, err := s.next(s.atClient)
		if err != nil {
			t.Fatal(err)
		}
		note(line)
	}
	w.says <- "once"
	if _, err := s.next(s.atServer); err != nil {
		t.Fatal(err)
	}
	const own = `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t\"1","progress":0.01}}`
	s.fromServer(own)
	for {
		line, err := s.next(s.atClient)
		if err != nil {
			t.Fatal(err)
		}
		if line == own {
			break
		}
		note(line)
	}
	if !slices.IsSorted(seen) || len(slices.Compact(slices.Clone(seen))) != len(seen) || seen[len(seen)-1] >= 0.01 {
		t.Errorf("the progress is %v", seen)
	}
	if err := s.step(`server> {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.next(s.atClient); err != nil {
		t.Fatal(err)
	}
	s.end()
}

// timed is a log that tells how long calls took.
type timed struct {
	proxy.Audit
	took chan time.Duration
}

func (l *timed) Result(r audit.Result) error {
	l.took <- r.Duration
	return l.Audit.Result(r)
}

// TestAskingIsNotTheServersTime has a person think for an hour, and a server for a second.
func TestAskingIsNotTheServersTime(t *testing.T) {
	w := &window{asked: make(chan string, 1), says: make(chan string, 1)}
	l := &timed{took: make(chan time.Duration, 1)}
	var clock atomic.Int64
	s := startWith(t, map[string]string{"tools.json": askTools}, func(o *proxy.Options) {
		l.Audit, o.Audit = o.Audit, l
		o.Asking = func(string) proxy.Asking { return proxy.Asking{Channels: []string{"dialog"}, For: time.Minute} }
		o.Channels, o.Now = []approve.Channel{w}, func() time.Time { return time.Unix(clock.Load(), 0) }
	})
	if err := errors.Join(s.step("hello {}"), s.step(`call 1 send_email {"to":"sam@partner.example"}`)); err != nil {
		t.Fatal(err)
	}
	<-w.asked
	clock.Add(3600)
	w.says <- "once"
	if err := s.step("server< $call"); err != nil {
		t.Fatal(err)
	}
	clock.Add(1)
	if err := s.step(`server> {"jsonrpc":"2.0","id":1,"result":{"content":[]}}`); err != nil {
		t.Fatal(err)
	}
	if took := <-l.took; took != time.Second {
		t.Errorf("it took %v", took)
	}
	if _, err := s.next(s.atClient); err != nil {
		t.Fatal(err)
	}
	s.end()
}

package dashboard

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// stage is a page that is being served, with a clock that only tests move.
type stage struct {
	*Dashboard
	ahead  atomic.Int64 // of the beginning, in nanoseconds
	cookie *http.Cookie // once somebody has entered
}

func serve(t testing.TB, o Options) *stage {
	t.Helper()
	if o.State == "" {
		o.State = t.TempDir()
	}
	store, err := approve.OpenStore(o.State)
	if err != nil {
		t.Fatal(err)
	}
	o.Store = store
	if o.Servers == nil {
		o.Servers = func() ([]Server, error) { return nil, nil }
	}
	d, err := Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{Dashboard: d}
	start := time.Now()
	d.now = func() time.Time { return start.Add(time.Duration(s.ahead.Load())) }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serving ended: %v", err)
		}
	})
	return s
}

func (s *stage) later(by time.Duration) { s.ahead.Add(int64(by)) }

// send sends a request as a browser would: with the cookie, and where it has been read before.
func (s *stage) send(t testing.TB, method, path string, form url.Values, change func(*http.Request)) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, strings.TrimSuffix(s.Address(), "/")+path, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", strings.TrimSuffix(s.Address(), "/"))
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	if s.cookie != nil {
		r.AddCookie(s.cookie)
	}
	if change != nil {
		change(r)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range answer.Cookies() {
		s.cookie = c
	}
	return answer.StatusCode, string(body)
}

func (s *stage) enter(t testing.TB) {
	t.Helper()
	if code, body := s.send(t, "GET", "/enter?token="+s.door.token, nil, nil); code != http.StatusOK || s.cookie == nil {
		t.Fatalf("entering: %d %s", code, body)
	}
}

func (s *stage) ask(t testing.TB, to string) *approve.Posted {
	t.Helper()
	p, err := s.o.Store.Post(mailTo(to), approve.Posting{Client: "test 1", For: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mailTo(to string) approve.Question {
	args := wire.Value(wire.AppendQuoted([]byte(`{"to":`), to))
	return approve.Question{
		Server: "mail", Tool: "send_email", Args: append(args, '}'),
		Verdict: engine.Verdict{Action: engine.Ask, Contract: "sink_gate", Findings: []engine.Finding{{Pair: engine.Pair{Param: "to", Value: to}}}},
	}
}

func (s *stage) only(t testing.TB) approve.Waiting {
	t.Helper()
	list, err := s.o.Store.List()
	if err != nil || len(list) != 1 {
		t.Fatalf("%d questions, %v", len(list), err)
	}
	return list[0]
}

func (s *stage) form(q approve.Waiting, answer string) url.Values {
	return url.Values{"form": {s.door.form}, "read": {digest(q)}, "answer": {answer}}
}

// show opens a question's page, and lets the person read it.
func (s *stage) show(t testing.TB, q approve.Waiting) string {
	t.Helper()
	code, body := s.send(t, "GET", s.door.path+"question/"+q.ID, nil, nil)
	if code != http.StatusOK {
		t.Fatalf("the question: %d %s", code, body)
	}
	s.later(soonest)
	return body
}

func TestAnswers(t *testing.T) {
	for _, want := range []approve.Answer{approve.No, approve.Once, approve.Session} {
		t.Run(want.String(), func(t *testing.T) {
			s := serve(t, Options{})
			s.enter(t)
			p := s.ask(t, "ann@example.com")
			q := s.only(t)
			if body := s.show(t, q); !strings.Contains(body, "ann@example.com") {
				t.Errorf("not on the page:\n%s", body)
			}
			if code, body := s.send(t, "POST", s.door.path+"question/"+q.ID, s.form(q, want.String()), nil); code != http.StatusSeeOther {
				t.Fatalf("%d %s", code, body)
			}
			if reply, ok := p.Look(); !ok || reply.Answer != want || reply.By != "page" {
				t.Errorf("got %+v, %v", reply, ok)
			}
			if code, _ := s.send(t, "POST", s.door.path+"question/"+q.ID, s.form(q, "once"), nil); code != http.StatusSeeOther {
				t.Errorf("answered twice: %d", code)
			}
			if _, ok := p.Look(); ok {
				t.Error("there is a second answer")
			}
		})
	}
}

func TestTooSoon(t *testing.T) {
	s := serve(t, Options{})
	s.enter(t)
	p := s.ask(t, "ann@example.com")
	q := s.only(t)
	path := s.door.path + "question/" + q.ID
	if code, body := s.send(t, "POST", path, s.form(q, "once"), nil); code != http.StatusOK || !strings.Contains(body, "sooner") {
		t.Errorf("never shown: %d %s", code, body)
	}
	s.later(soonest - 200*time.Millisecond)
	if code, _ := s.send(t, "POST", path, s.form(q, "once"), nil); code != http.StatusOK {
		t.Errorf("too soon: %d", code)
	}
	s.only(t)
	s.later(200 * time.Millisecond)
	if code, _ := s.send(t, "POST", path, s.form(q, "once"), nil); code != http.StatusSeeOther {
		t.Errorf("in time: %d", code)
	}
	if reply, ok := p.Look(); !ok || reply.Answer != approve.Once {
		t.Errorf("got %+v, %v", reply, ok)
	}
}

func TestReadOnly(t *testing.T) {
	s := serve(t, Options{ReadOnly: "it was not started from a terminal"})
	s.enter(t)
	p := s.ask(t, "ann@example.com")
	q := s.only(t)
	body := s.show(t, q)
	if strings.Contains(body, `value="once"`) || !strings.Contains(body, `value="no"`) || !strings.Contains(body, "not started from a terminal") {
		t.Errorf("the page:\n%s", body)
	}
	path := s.door.path + "question/" + q.ID
	if code, _ := s.send(t, "POST", path, s.form(q, "once"), nil); code != http.StatusForbidden {
		t.Errorf("allowed: %d", code)
	}
	s.only(t)
	if s.o.Store.Watched() {
		t.Error("runs would wait for a page that can't allow anything")
	}
	if code, _ := s.send(t, "POST", path, s.form(q, "no"), nil); code != http.StatusSeeOther {
		t.Errorf("a no: %d", code)
	}
	if reply, ok := p.Look(); !ok || reply.Answer != approve.No {
		t.Errorf("got %+v, %v", reply, ok)
	}
}

// TestAlways shows what a yes for good would write, before it can be given.
func TestAlways(t *testing.T) {
	s := serve(t, Options{})
	s.enter(t)
	q := mailTo("ann@example.com")
	q.Always, q.Policy, q.Diff = []string{"ann@example.com"}, "/p/policy.yaml", "--- /p/policy.yaml\n+++ /p/policy.yaml\n@@ -1 +1,2 @@\n tools:\n+  send_email: <ann>\n"
	p, err := s.o.Store.Post(q, approve.Posting{For: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	w := s.only(t)
	if body := s.show(t, w); !strings.Contains(html.UnescapeString(body), "<ins>+  send_email: <ann></ins>") || strings.Contains(body, "<ann>") || !strings.Contains(body, `value="always"`) {
		t.Errorf("the page:\n%s", body)
	}
	if code, body := s.send(t, "POST", s.door.path+"question/"+w.ID, s.form(w, "always"), nil); code != http.StatusSeeOther {
		t.Fatalf("%d %s", code, body)
	}
	if reply, ok := p.Look(); !ok || reply.Answer != approve.Always {
		t.Errorf("got %+v, %v", reply, ok)
	}
}

func TestWatch(t *testing.T) {
	s := serve(t, Options{})
	s.enter(t)
	if s.o.Store.Watched() {
		t.Error("nobody has looked yet")
	}
	s.send(t, "GET", s.door.path, nil, nil)
	if !s.o.Store.Watched() {
		t.Error("somebody looks")
	}
	s.watch.stop()
	if s.o.Store.Watched() {
		t.Error("nobody looks any more")
	}
}

// TestWait sees a page learn of a question while it waits.
func TestWait(t *testing.T) {
	s := serve(t, Options{})
	s.enter(t)
	stamp := regexp.MustCompile(`data-stamp="([0-9a-f]+)"`)
	look := func() string {
		_, body := s.send(t, "GET", s.door.path, nil, nil)
		found := stamp.FindStringSubmatch(body)
		if found == nil {
			t.Fatalf("no stamp in\n%s", body)
		}
		return found[1]
	}
	first := look()
	answer := make(chan int, 1)
	go func() {
		code, _ := s.send(t, "GET", s.door.path+"wait?since="+first, nil, nil)
		answer <- code
	}()
	begin := time.Now()
	s.ask(t, "ann@example.com")
	if code := <-answer; code != http.StatusOK {
		t.Errorf("got %d", code)
	}
	t.Logf("known to the page after %v", time.Since(begin))
	if look() == first {
		t.Error("and the page is as it was")
	}
}

const script = `<script>alert(1)</script>"'><img src=//evil.example>` + "\u202e\x1b[31m"

func TestStrangersTexts(t *testing.T) {
	state := t.TempDir()
	writeLog(t, state, audit.Verdict{
		Session: "s", Client: script, Server: script, Call: 1, Tool: script, Verdict: "deny", Reason: script, Contract: "sink_gate", Args: wire.Value("{}"),
		Evidence: []audit.Evidence{{Param: script, Value: script, Class: "text", Server: script, Tool: script, Path: script, Snippet: "x" + script + "y"}},
	})
	s := serve(t, Options{State: state, Servers: func() ([]Server, error) {
		return []Server{{Name: script, Package: script, Tools: []policy.Explanation{policy.Explain(nil, policy.Tool{Name: script})}}}, nil
	}})
	s.enter(t)
	s.ask(t, script)
	for _, path := range []string{"", "servers", "call/1", "question/" + s.only(t).ID} {
		code, body := s.send(t, "GET", s.door.path+path, nil, nil)
		if code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
		body = strings.Replace(body, "<script>//", "", 1) // our own
		if strings.Contains(body, "<script>") || strings.Contains(body, "<img") || strings.ContainsAny(body, "\u202e\x1b") {
			t.Errorf("%s lets it through:\n%s", path, body)
		}
	}
}

// TestNothingFromOutside holds the pages against their policy, and finds no address but the page's own.
func TestNothingFromOutside(t *testing.T) {
	s := serve(t, Options{})
	s.enter(t)
	s.ask(t, "ann@example.com")
	for _, path := range []string{"", "servers", "question/" + s.only(t).ID} {
		r := httptest.NewRequest("GET", s.door.path+path, nil)
		r.Host = s.door.hosts[0]
		r.AddCookie(s.cookie)
		w := httptest.NewRecorder()
		s.peer = func(*http.Request) peer { return peer{} }
		s.handler().ServeHTTP(w, r)
		body, csp := w.Body.String(), w.Header().Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none';") || w.Header().Get("X-Frame-Options") != "DENY" || w.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("headers %v", w.Header())
		}
		for _, part := range regexp.MustCompile(`(?s)<(style|script)>(.*?)</(?:style|script)>`).FindAllStringSubmatch(body, -1) {
			sum := sha256.Sum256([]byte(part[2]))
			if !strings.Contains(csp, part[1]+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])) {
				t.Errorf("%s: the %s is not the one that may be there", path, part[1])
			}
		}
		for _, found := range regexp.MustCompile(`(?:src|href|action)="([^"]*)"`).FindAllStringSubmatch(body, -1) {
			if to := found[1]; !strings.HasPrefix(to, s.door.path) {
				t.Errorf("%s leads to %q", path, to)
			}
		}
		if strings.Contains(body, "style=") || strings.Contains(body, " on") && regexp.MustCompile(`<[^>]* on\w+=`).MatchString(body) {
			t.Errorf("%s has what its policy forbids", path)
		}
	}
}

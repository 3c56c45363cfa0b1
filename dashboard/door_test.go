package dashboard

import (
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestNothingElseAnswers sends what must not answer a question, each with all else as it should be.
func TestNothingElseAnswers(t *testing.T) {
	s := serve(t, Options{})
	s.enter(t)
	s.ask(t, "ann@example.com")
	q := s.only(t)
	s.show(t, q)
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	good := s.form(q, "once")
	with := func(name, value string) url.Values {
		f := s.form(q, "once")
		f.Set(name, value)
		return f
	}
	path := s.door.path + "question/" + q.ID
	for _, tt := range []struct {
		name, method, path string
		form               url.Values
		change             func(*http.Request)
		want               int
	}{
		{"GET", "GET", path + "?" + good.Encode(), nil, nil, 200},
		{"HEAD", "HEAD", path, nil, nil, 403},
		{"PUT", "PUT", path, good, header("Origin", s.Address()[:len(s.Address())-1]), 403},
		{"no cookie", "POST", path, good, func(r *http.Request) { r.Header.Del("Cookie") }, 403},
		{"another cookie", "POST", path, good, header("Cookie", "bouncer="+secret()), 403},
		{"an empty cookie", "POST", path, good, header("Cookie", "bouncer="), 403},
		{"another path", "POST", "/" + secret() + "/question/" + q.ID, good, nil, 403},
		{"no path", "POST", "/question/" + q.ID, good, nil, 403},
		{"another host", "POST", path, good, func(r *http.Request) { r.Host = "evil.example:" + portOf(s) }, 403},
		{"a host without port", "POST", path, good, func(r *http.Request) { r.Host = "127.0.0.1" }, 403},
		{"another port", "POST", path, good, func(r *http.Request) { r.Host = "127.0.0.1:1" }, 403},
		{"no origin", "POST", path, good, func(r *http.Request) { r.Header.Del("Origin") }, 403},
		{"an opaque origin", "POST", path, good, header("Origin", "null"), 403},
		{"another origin", "POST", path, good, header("Origin", "http://127.0.0.1:8000"), 403},
		{"the other name's origin", "POST", path, good, header("Origin", "http://localhost:"+portOf(s)), 403},
		{"another site", "POST", path, good, header("Sec-Fetch-Site", "cross-site"), 403},
		{"another port of this machine", "POST", path, good, header("Sec-Fetch-Site", "same-site"), 403},
		{"no form", "POST", path, nil, nil, 403},
		{"another form", "POST", path, with("form", secret()), nil, 403},
		{"the form in the address", "POST", path + "?" + good.Encode(), nil, nil, 403},
		{"no answer", "POST", path, with("answer", ""), nil, 400},
		{"another answer", "POST", path, with("answer", "yes"), nil, 400},
		{"another text", "POST", path, with("read", ""), nil, 200},
		{"a form that is too long", "POST", path, with("x", strings.Repeat("x", maxForm)), nil, 403},
		{"always, where it is no answer", "POST", path, with("answer", "always"), nil, 400},
		{"another question", "POST", s.door.path + "question/aaaaaaaaaaaaaaaa", good, nil, 303},
		{"no question", "POST", s.door.path + "question/..%2f..%2fpins", good, nil, 303},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if code, body := s.send(t, tt.method, tt.path, tt.form, tt.change); code != tt.want {
				t.Errorf("%d %s", code, body)
			}
			s.only(t) // it still waits
		})
	}
	if code, _ := s.send(t, "POST", path, good, nil); code != http.StatusSeeOther {
		t.Errorf("and then the person could not answer: %d", code)
	}
}

func portOf(s *stage) string {
	_, port, _ := strings.Cut(s.door.hosts[0], ":")
	return port
}

func TestPagesNeedTheCookie(t *testing.T) {
	s := serve(t, Options{})
	s.ask(t, "ann@example.com")
	q := s.only(t)
	for _, path := range []string{"/favicon.ico", "/enter", s.door.path, s.door.path + "servers", s.door.path + "call/1", s.door.path + "wait?since=x", s.door.path + "question/" + q.ID} {
		if code, body := s.send(t, "GET", path, nil, nil); code != http.StatusForbidden || strings.Contains(body, "example.com") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	s.enter(t)
	for _, path := range []string{s.door.path, s.door.path + "servers", s.door.path + "wait?since=x", s.door.path + "question/" + q.ID} {
		if code, body := s.send(t, "GET", path, nil, nil); code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
		for _, site := range []string{"cross-site", "same-site"} {
			if code, _ := s.send(t, "GET", path, nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", site) }); code != http.StatusForbidden {
				t.Errorf("%s from another page (%s): %d", path, site, code)
			}
		}
	}
}

func TestEnter(t *testing.T) {
	t.Run("once", func(t *testing.T) {
		s := serve(t, Options{})
		link := "/enter?token=" + s.door.token
		for _, tt := range []struct {
			name, method string
			change       func(*http.Request)
		}{
			{"HEAD", "HEAD", nil},
			{"POST", "POST", nil}, // takes the code
			{"a browser that looks ahead", "GET", func(r *http.Request) { r.Header.Set("Sec-Purpose", "prefetch;prerender") }},
			{"another host", "GET", func(r *http.Request) { r.Host = "bouncer.example" }},
			{"a script of another page", "GET", func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
		} {
			if code, _ := s.send(t, tt.method, link, nil, tt.change); code != http.StatusForbidden || s.cookie != nil {
				t.Errorf("%s: %d, %v", tt.name, code, s.cookie)
			}
		}
		if code, _ := s.send(t, "GET", "/enter?token="+secret(), nil, nil); code != http.StatusForbidden || s.cookie != nil {
			t.Errorf("a guess: %d", code)
		}
		if code, _ := s.send(t, "GET", link, nil, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }); code != http.StatusOK {
			t.Fatalf("from the file: %d", code)
		}
		c := s.cookie
		if c == nil || !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != s.door.path || c.Domain != "" || len(c.Value) < 32 {
			t.Errorf("cookie %+v", c)
		}
		if code, body := s.send(t, "GET", link, nil, nil); code != http.StatusForbidden || !strings.Contains(body, "already used") {
			t.Errorf("twice: %d %s", code, body)
		}
	})
	t.Run("by the code", func(t *testing.T) {
		s := serve(t, Options{})
		code := url.Values{"code": {" " + strings.ToLower(s.Code())}}
		if code, body := s.send(t, "GET", "/", nil, nil); code != http.StatusOK || !strings.Contains(body, `name="code"`) || strings.Contains(body, s.Code()) {
			t.Errorf("%d %s", code, body)
		}
		for range maxGuesses - 1 {
			code, body := s.send(t, "POST", "/enter", url.Values{"code": {"AAAA-AAA0"}}, nil)
			if code != http.StatusForbidden || s.cookie != nil {
				t.Errorf("a guess: %d", code)
			}
			if !strings.Contains(body, "not the code") || !strings.Contains(body, `name="code"`) {
				t.Errorf("a slip can't be put right: %s", body)
			}
		}
		if got, _ := s.send(t, "POST", "/enter", code, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }); got != http.StatusForbidden {
			t.Errorf("from another page: %d", got)
		}
		if got, _ := s.send(t, "GET", "/enter?"+code.Encode(), nil, nil); got != http.StatusForbidden || s.cookie != nil {
			t.Errorf("in the address: %d", got)
		}
		if got, body := s.send(t, "POST", "/enter", code, nil); got != http.StatusOK || s.cookie == nil {
			t.Fatalf("%d %s", got, body)
		}
		if got, body := s.send(t, "POST", "/enter", code, nil); got != http.StatusForbidden || !strings.Contains(body, "already used") {
			t.Errorf("twice: %d %s", got, body)
		}
		if got, _ := s.send(t, "GET", s.door.path, nil, nil); got != http.StatusOK {
			t.Errorf("inside: %d", got)
		}
	})
	t.Run("by guessing the code", func(t *testing.T) {
		s := serve(t, Options{})
		right := url.Values{"code": {s.Code()}}
		for range maxGuesses {
			s.send(t, "POST", "/enter", url.Values{"code": {"AAAA-AAA0"}}, nil)
		}
		if code, body := s.send(t, "POST", "/enter", right, nil); code != http.StatusForbidden || s.cookie != nil || strings.Contains(body, `name="code"`) {
			t.Errorf("after too many guesses: %d %s", code, body)
		}
		s.enter(t) // guessing keeps nobody out who has the file
	})
	t.Run("too late", func(t *testing.T) {
		s := serve(t, Options{})
		s.later(tokenFor + time.Second)
		if code, _ := s.send(t, "GET", "/enter?token="+s.door.token, nil, nil); code != http.StatusForbidden || s.cookie != nil {
			t.Errorf("%d, %v", code, s.cookie)
		}
		if code, body := s.send(t, "POST", "/enter", url.Values{"code": {s.Code()}}, nil); code != http.StatusForbidden || s.cookie != nil || strings.Contains(body, `name="code"`) {
			t.Errorf("by the code: %d, %v, %s", code, s.cookie, body)
		}
	})
	t.Run("no token", func(t *testing.T) {
		s := serve(t, Options{})
		s.enter(t)
		s.cookie = nil
		if code, _ := s.send(t, "GET", "/enter?token=", nil, nil); code != http.StatusForbidden || s.cookie != nil {
			t.Errorf("the token that is used up counts as empty: %d", code)
		}
	})
}

func TestTicket(t *testing.T) {
	s := serve(t, Options{})
	dir := filepath.Join(s.o.State, ticketDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(dir, "old.html")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	ticket, err := s.Ticket()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(ticket.Path)
	if err != nil || !strings.Contains(string(text), s.door.token) {
		t.Errorf("%s, %v", text, err)
	}
	if info, err := os.Stat(ticket.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	for _, shown := range append(Browser("linux", func(string) string { return "x" }, ticket.Path), s.Address(), ticket.Path) {
		if strings.Contains(shown, s.door.token) || strings.Contains(shown, s.door.path) {
			t.Errorf("%s gives it away", shown)
		}
	}
	if _, err := os.Stat(old); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file of a run that was killed: %v", err)
	}
	in := make(chan bool)
	go func() { in <- s.Entered(t.Context().Done()) }()
	s.enter(t)
	if !<-in {
		t.Error("nobody has noticed")
	}
	ticket.Remove()
	if _, err := os.Stat(ticket.Path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file stays: %v", err)
	}
}

func TestBrowser(t *testing.T) {
	for _, tt := range []struct {
		goos string
		env  map[string]string
		want string
	}{
		{"darwin", nil, "/usr/bin/open f"},
		{"darwin", map[string]string{"SSH_CONNECTION": "1"}, ""},
		{"windows", map[string]string{"SystemRoot": `C:\Windows`}, `C:\Windows\System32\rundll32.exe url.dll,FileProtocolHandler f`},
		{"linux", map[string]string{"DISPLAY": ":0"}, "xdg-open f"},
		{"linux", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, "xdg-open f"},
		{"linux", nil, ""},
	} {
		argv := Browser(tt.goos, func(name string) string { return tt.env[name] }, "f")
		if got := strings.Join(argv, " "); got != tt.want {
			t.Errorf("%s %v: %q", tt.goos, tt.env, got)
		}
	}
}

package dashboard

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/session"
)

// TestPlayBrowser lets this program be a browser of another process, which has got hold of the cookie.
func TestPlayBrowser(t *testing.T) {
	to := os.Getenv("BOUNCER_TEST_TO")
	if to == "" {
		return
	}
	form := os.Getenv("BOUNCER_TEST_FORM")
	method := "GET"
	if form != "" {
		method = "POST"
	}
	r, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(form))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Cookie", os.Getenv("BOUNCER_TEST_COOKIE"))
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "http://"+r.Host)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(answer.Body)
	fmt.Fprintf(os.Stdout, "<<%d %s>>", answer.StatusCode, body)
}

func (s *stage) otherProcess(t *testing.T, path string, form url.Values, who *syscall.Credential) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if who != nil { // the folder of tests is nobody else's
		exe = copyFor(t, exe)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestPlayBrowser$")
	cmd.Dir = "/"
	cmd.Env = []string{
		"BOUNCER_TEST_TO=" + strings.TrimSuffix(s.Address(), "/") + path, "BOUNCER_TEST_FORM=" + form.Encode(),
		"BOUNCER_TEST_COOKIE=" + s.cookie.Name + "=" + s.cookie.Value,
	}
	if who != nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who}
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// copyFor copies a program to where anybody may run it.
func copyFor(t *testing.T, exe string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "bouncer-browser")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	data, err := os.ReadFile(exe)
	if err != nil {
		t.Fatal(err)
	}
	to := dir + "/browser"
	if err := os.WriteFile(to, data, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, to} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestBrowserOfTheClient answers from a process that the asking client has started: here the test plays the client.
func TestBrowserOfTheClient(t *testing.T) {
	s := serve(t, Options{})
	s.enter(t)
	p, err := s.o.Store.Post(mailTo("ann@example.com"), approve.Posting{For: time.Minute, Process: session.Self()})
	if err != nil {
		t.Fatal(err)
	}
	q := s.only(t)
	s.show(t, q)
	path := s.door.path + "question/" + q.ID
	if got := s.otherProcess(t, path, s.form(q, "once"), nil); !strings.Contains(got, "<<403") || !strings.Contains(got, "started by the client") {
		t.Errorf("got %s", got)
	}
	s.only(t)
	if got := s.otherProcess(t, path, s.form(q, "no"), nil); !strings.Contains(got, "<<303") {
		t.Errorf("a no needs less: %s", got)
	}
	if reply, ok := p.Look(); !ok || reply.Answer != approve.No {
		t.Errorf("got %+v, %v", reply, ok)
	}
}

func TestSomebodyElsesBrowser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can be somebody else")
	}
	s := serve(t, Options{})
	s.enter(t)
	if got := s.otherProcess(t, s.door.path, nil, &syscall.Credential{Uid: 65534, Gid: 65534}); !strings.Contains(got, "<<403") || !strings.Contains(got, "somebody else") {
		t.Errorf("got %s", got)
	}
	if got := s.otherProcess(t, s.door.path, nil, nil); !strings.Contains(got, "<<200") {
		t.Errorf("one of our own: %s", got)
	}
}

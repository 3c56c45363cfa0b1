package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/proxy"
)

// patience is how long a line that must come may take before the test fails. It is no measure of speed.
const patience = 10 * time.Second

// TestTranscripts plays every testdata/transcript/*.txtar: see the README beside them for the steps.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("../testdata/transcript/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			play(t, file)
		})
	}
}

func play(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(strings.TrimSpace(string(archive.Comment))) == 0 {
		t.Error("a transcript opens by saying what it defends against")
	}
	sections := map[string]string{}
	for _, f := range archive.Files {
		sections[f.Name] = string(f.Data)
	}
	s := start(t, sections)
	for n, step := range strings.Split(strings.TrimSpace(sections["steps"]), "\n") {
		if step == "" || strings.HasPrefix(step, "#") {
			continue
		}
		if err := s.step(step); err != nil {
			t.Fatalf("step %d: %s\n%v\nnotices:\n%s", n+1, step, err, s.notices.String())
		}
	}
	s.end()
	got, want := strings.Join(s.log.lines(), "\n"), strings.TrimSpace(sections["audit"])
	if pattern, _ := s.pattern(want); !pattern.MatchString(got) {
		t.Errorf("audit log:\n%s\nwant:\n%s", got, want)
	}
}

// stage is one relay between a client and a server that the transcript plays.
type stage struct {
	t        *testing.T
	toRelay  io.WriteCloser // the client's end
	fromUp   io.WriteCloser // the server's end
	atClient chan string
	atServer chan string
	log      *ledger
	notices  *lockedBuffer
	vars     map[string]string
	done     chan error
	readers  map[chan string]chan struct{} // closed when that end has said everything
	hangUp   func()                        // lets the client's reader see the end

	mu    sync.Mutex
	pages []string // answers to bouncer's own tools/list, a JSON array a page
}

func start(t *testing.T, sections map[string]string) *stage {
	t.Helper()
	clientIn, toRelay := io.Pipe()
	clientOut, fromRelay := io.Pipe()
	serverIn, toServer := io.Pipe()
	serverOut, fromUp := io.Pipe()
	s := &stage{
		t: t, toRelay: toRelay, fromUp: fromUp,
		atClient: make(chan string, 100), atServer: make(chan string, 100),
		log: &ledger{fail: sections["log"]}, notices: &lockedBuffer{}, vars: map[string]string{}, done: make(chan error, 1),
		pages: strings.Split(strings.TrimSpace(sections["tools.json"]), "\n"),
	}
	layers := packs.All()
	if text, ok := sections["policy.yaml"]; ok {
		layer, err := policy.Parse("policy.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		layers = append([]*policy.Layer{layer}, layers...)
	}
	options := proxy.Options{
		Server:   "srv",
		Client:   proxy.End{In: clientIn, Out: fromRelay},
		Upstream: proxy.End{In: serverOut, Out: toServer},
		Engine:   engine.New(engine.Config{Server: "srv", Policy: policy.NewSet(layers...), Paths: proxy.NewPaths("/work", "/home/me"), Protected: []string{"/home/me/.bouncer"}}),
		Audit:    s.log,
		Log:      s.notices,
	}
	if text, ok := sections["askfor"]; ok {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil {
			t.Fatal(err)
		}
		options.AskFor = d
	}
	go func() { s.done <- proxy.Run(context.Background(), options) }()
	s.readers = map[chan string]chan struct{}{s.atClient: make(chan struct{}), s.atServer: make(chan struct{})}
	s.hangUp = func() { _ = fromRelay.Close() } // a pipe: it can't fail
	go readLines(clientOut, func(line string) { s.atClient <- line }, s.readers[s.atClient])
	go readLines(serverIn, s.serverGot, s.readers[s.atServer])
	return s
}

func readLines(r io.Reader, each func(string), done chan struct{}) {
	defer close(done)
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			each(strings.TrimSuffix(line, "\n"))
		}
		if err != nil {
			return
		}
	}
}

var ownListing = regexp.MustCompile(`^\{"jsonrpc":"2.0","id":"(bouncer-[0-9a-f]{32}-\d+)","method":"tools/list"`)

// serverGot answers bouncer's own listing and keeps everything else for the steps.
func (s *stage) serverGot(line string) {
	m := ownListing.FindStringSubmatch(line)
	s.mu.Lock()
	pages := s.pages
	s.mu.Unlock()
	if m == nil || pages[0] == "by hand" {
		s.atServer <- line
		return
	}
	page := 0
	if _, rest, ok := strings.Cut(line, `"cursor":"page`); ok {
		_, _ = fmt.Sscanf(rest, "%d", &page)
	}
	next := ""
	if page+1 < len(pages) {
		next = fmt.Sprintf(`,"nextCursor":"page%d"`, page+1)
	}
	s.fromServer(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"tools":%s%s}}`, m[1], pages[page], next))
}

func (s *stage) fromServer(line string) {
	if _, err := io.WriteString(s.fromUp, line+"\n"); err != nil {
		s.t.Errorf("writing as the server: %v", err)
	}
}

// step plays one line of a transcript.
func (s *stage) step(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	rest = s.expand(rest)
	switch word {
	case "client>":
		_, err := io.WriteString(s.toRelay, rest+"\n")
		return err
	case "server>":
		s.fromServer(rest)
		return nil
	case "client<":
		return s.expect(s.atClient, rest)
	case "server<":
		return s.expect(s.atServer, rest)
	case "relist":
		s.mu.Lock()
		s.pages = []string{rest}
		s.mu.Unlock()
		return nil
	case "hello":
		return s.hello(rest)
	case "notice":
		return s.await(rest)
	}
	return fmt.Errorf("no such step")
}

// hello plays the handshake of 2025-11-25 with the given client capabilities.
func (s *stage) hello(capabilities string) error {
	greeting := `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"test","version":"1"}}}`
	answer := `{"jsonrpc":"2.0","id":"hello","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"up","version":"2"}}}`
	initialized := `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	for _, step := range []string{"client> " + greeting, "server< " + greeting, "server> " + answer, "client< " + answer, "client> " + initialized, "server< " + initialized} {
		if err := s.step(step); err != nil {
			return err
		}
	}
	return nil
}

var variable = regexp.MustCompile(`\$[a-z]\w*`)

// expand puts in what earlier lines bound.
func (s *stage) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := s.vars[name]; ok {
			return value
		}
		return name
	})
}

// pattern makes an expression of a line in which names that are not bound yet match anything.
func (s *stage) pattern(want string) (*regexp.Regexp, []string) {
	var names []string
	text := freeName.ReplaceAllStringFunc(regexp.QuoteMeta(want), func(name string) string {
		names = append(names, strings.TrimPrefix(name, `\`))
		return `(.*?)`
	})
	return regexp.MustCompile("^" + text + "$"), names
}

var freeName = regexp.MustCompile(`\\\$[a-z]\w*`)

// expect takes the next line at one end and binds the names in it.
func (s *stage) expect(at chan string, want string) error {
	pattern, names := s.pattern(want)
	select {
	case got := <-at:
		m := pattern.FindStringSubmatch(got)
		if m == nil {
			return fmt.Errorf("got  %s", got)
		}
		for i, name := range names {
			s.vars[name] = m[i+1]
		}
		return nil
	case <-time.After(patience):
		return errors.New("nothing came")
	}
}

// await waits until the relay has printed a notice that holds text.
func (s *stage) await(text string) error {
	deadline := time.Now().Add(patience)
	for !strings.Contains(s.notices.String(), text) {
		if time.Now().After(deadline) {
			return errors.New("no such notice")
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// end closes the client's end and makes sure that nothing was said that the transcript does not show.
func (s *stage) end() {
	s.t.Helper()
	_ = s.toRelay.Close() // a pipe: it can't fail
	s.drain(s.atServer, "server")
	_ = s.fromUp.Close()
	select {
	case err := <-s.done:
		if err != nil && !errors.Is(err, proxy.ErrServerEnded) {
			s.t.Errorf("Run: %v", err)
		}
	case <-time.After(patience):
		s.t.Fatal("Run does not end")
	}
	s.hangUp()
	s.drain(s.atClient, "client")
}

func (s *stage) drain(at chan string, whose string) {
	s.t.Helper()
	select {
	case <-s.readers[at]:
	case <-time.After(patience):
		s.t.Fatalf("the %s's end stays open", whose)
	}
	for len(at) > 0 {
		s.t.Errorf("the %s also got %s", whose, <-at)
	}
}

// ledger keeps verdicts as lines: verdict, tool, contract and, behind an ask, the answer.
type ledger struct {
	mu   sync.Mutex
	got  []string
	fail string // when set, no record can be kept
}

func (l *ledger) Verdict(v audit.Verdict) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != "" {
		return errors.New(strings.TrimSpace(l.fail))
	}
	line := v.Verdict + " " + v.Tool + " " + v.Contract
	if v.Answer != "" {
		line += " (" + v.Answer + ")"
	}
	l.got = append(l.got, line)
	return nil
}

func (l *ledger) Result(audit.Result) error { return nil }

func (l *ledger) lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.got
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/proxy"
	"github.com/bouncer-mcp/bouncer/session"
)

// patience is how long a line that must come may take before the test fails. It is no measure of speed.
const patience = 10 * time.Second

// stage is one relay between a client and a server that a transcript plays.
type stage struct {
	t        *testing.T
	toRelay  io.WriteCloser // the client's end
	fromUp   io.WriteCloser // the server's end
	atClient chan string
	atServer chan string
	log      *ledger
	words    *words
	notices  *lockedBuffer
	vars     map[string]string
	calls    map[string]string // the lines of the calls made with the step call, by id
	done     chan error
	readers  map[chan string]chan struct{} // closed when that end has said everything
	hangUp   func()                        // lets the client's reader see the end

	mu    sync.Mutex
	pages []string // answers to bouncer's own tools/list, a JSON array a page
}

func start(t *testing.T, sections map[string]string) *stage {
	t.Helper()
	return startWith(t, sections, func(*proxy.Options) {})
}

// startWith is start with options that no section describes.
func startWith(t *testing.T, sections map[string]string, change func(*proxy.Options)) *stage {
	t.Helper()
	clientIn, toRelay := io.Pipe()
	clientOut, fromRelay := io.Pipe()
	serverIn, toServer := io.Pipe()
	serverOut, fromUp := io.Pipe()
	s := &stage{
		t: t, toRelay: toRelay, fromUp: fromUp,
		atClient: make(chan string, 100), atServer: make(chan string, 100),
		log: &ledger{fail: sections["log"]}, words: &words{}, notices: &lockedBuffer{}, done: make(chan error, 1),
		vars: map[string]string{}, calls: map[string]string{},
		pages: strings.Split(strings.TrimSpace(sections["tools.json"]), "\n"),
	}
	options := s.options(sections)
	options.Client = proxy.End{In: clientIn, Out: fromRelay}
	options.Upstream = proxy.End{In: serverOut, Out: toServer}
	change(&options)
	go func() { s.done <- proxy.Run(context.Background(), options) }()
	s.readers = map[chan string]chan struct{}{s.atClient: make(chan struct{}), s.atServer: make(chan struct{})}
	s.hangUp = func() { _ = fromRelay.Close() } // a pipe: it can't fail
	go readLines(clientOut, func(line string) { s.atClient <- line }, s.readers[s.atClient])
	go readLines(serverIn, s.serverGot, s.readers[s.atServer])
	return s
}

// options are those of the relay that the sections of a transcript describe.
func (s *stage) options(sections map[string]string) proxy.Options {
	s.t.Helper()
	layers := packs.All()
	if text, ok := sections["policy.yaml"]; ok {
		layer, err := policy.Parse("policy.yaml", []byte(text))
		if err != nil {
			s.t.Fatal(err)
		}
		layers = append([]*policy.Layer{layer}, layers...)
	}
	of := policy.Server{Name: "srv", Package: strings.TrimSpace(sections["package"])}
	set, profile := engine.Bind(policy.NewSet(layers...), of, strings.TrimSpace(sections["profile"]))
	o := proxy.Options{
		Server: "srv",
		Engine: engine.New(engine.Config{
			Server: "srv", Profile: profile, Paths: proxy.NewPaths("/work", "/home/me"),
			Policy:    set,
			Protected: []string{"/home/me/.bouncer", "/home/me/.cursor/mcp.json"},
		}),
		Audit: s.log,
		Log:   s.notices,
		Human: -1, // what answers here is quicker
	}
	for name, field := range map[string]*time.Duration{"askfor": &o.AskFor, "pinfor": &o.PinFor, "human": &o.Human, "keepalive": &o.KeepAlive} {
		if text, ok := sections[name]; ok {
			d, err := time.ParseDuration(strings.TrimSpace(text))
			if err != nil {
				s.t.Fatal(err)
			}
			*field = d
		}
	}
	o.Ledger = s.words
	if dir, ok := sections["memory"]; ok {
		o.Memory = session.Open(dir).Server("test#srv")
	}
	if text, ok := sections["maxframe"]; ok {
		n, err := strconv.Atoi(strings.TrimSpace(text))
		if err != nil {
			s.t.Fatal(err)
		}
		o.MaxFrame = n
	}
	return o
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

// list makes the steps answer bouncer's own listing from now on.
func (s *stage) list(pages ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages = pages
}

// next returns the next line at one end.
func (s *stage) next(at chan string) (string, error) {
	select {
	case got := <-at:
		return got, nil
	case <-time.After(patience):
		return "", errors.New("nothing came")
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

// ledger keeps verdicts as lines (verdict, with what would have been behind a slash, tool, contract and, behind an ask, the answer) and how calls ended.
type ledger struct {
	mu      sync.Mutex
	got     []string
	results []string
	ways    []string // verdict, channel and answer of what a person was asked
	fail    string   // when set, no record can be kept
}

func (l *ledger) Verdict(v audit.Verdict) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != "" {
		return errors.New(strings.TrimSpace(l.fail))
	}
	line := v.Verdict
	if v.Observed != "" {
		line += "/" + v.Observed
	}
	line += " " + v.Tool + " " + v.Contract
	if v.Answer != "" {
		line += " (" + v.Answer + ")"
	}
	l.got = append(l.got, line)
	if v.Channel != "" || v.Answer != "" {
		l.ways = append(l.ways, strings.Join(strings.Fields(v.Verdict+" "+v.Channel+" "+v.Answer), " "))
	}
	return nil
}

func (l *ledger) Result(r audit.Result) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.results = append(l.results, r.Outcome+" "+r.Tool)
	return nil
}

func (l *ledger) lines() (verdicts, results string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.got, "\n"), strings.Join(l.results, "\n")
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

// words are a neighbour that brings what the person has typed, as a client's hook does.
type words struct {
	mu    sync.Mutex
	facts [][]byte
}

func (w *words) add(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.facts = append(w.facts, engine.Said([16]byte{}, text)...)
}

func (w *words) Announce() error            { return nil }
func (w *words) Append(...[]byte) error     { return nil }
func (w *words) AppendPart(...[]byte) error { return nil }

func (w *words) Read(yield func(session.Peer, []byte)) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, fact := range w.facts {
		yield(session.Peer{}, fact)
	}
	w.facts = nil
	return nil
}

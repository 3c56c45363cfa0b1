package proxy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/proxy"
)

// FuzzRelay plays random traffic from both ends at once and holds the relay to a model: each request that is not taken
// back gets exactly one answer, what is refused never reaches the server, what passes has the bytes that were sent, and
// bouncer's own requests stay on the side they are meant for. A world ends only when every goroutine of the relay has.
func FuzzRelay(f *testing.F) {
	for seed := range uint64(60) {
		f.Add(randomProgram(seed))
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		synctest.Test(t, func(t *testing.T) { newWorld(t, program).play() })
	})
}

// randomProgram makes the choices of one world, always the same for a seed.
func randomProgram(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 1))
	program := make([]byte, 300)
	for i := range program {
		program[i] = byte(r.Uint32())
	}
	return program
}

// A world is a relay with a client and a server that do what a program tells them. Every line carries a serial number,
// so that a line that arrives is known by its bytes. Between two batches of lines the world comes to rest, and the model
// looks at what has arrived.
type world struct {
	t       *testing.T
	program []byte
	serial  int

	client, server *seat
	done           chan error

	calls    []*modelRequest // everything that the client has asked
	asks     []*modelAsk     // everything that the server has asked
	listings []string        // bouncer's own requests for tools that the server has not answered
	tainted  []string        // addresses that the client has heard of from the server
	nulls    int             // lines refused without an id to answer under
	order    [3]int          // of the last line of each lane that the server has got
	prefix   string          // of bouncer's own ids, once one was seen
}

// A seat is one end of the relay.
type seat struct {
	to     io.WriteCloser      // what this end says
	turn   chan struct{}       // holds a token unless the end has stopped reading
	sent   map[string]*letter  // by line: said here and not yet arrived at the other end
	errors map[string]struct{} // ids under which this end is owed an error of bouncer's

	mu  sync.Mutex
	got []string
}

// A letter is a line on its way.
type letter struct {
	must  bool // it arrives, whatever happens
	lane  int  // when not 0: it arrives behind all earlier letters of its lane
	order int
	call  *modelRequest
	ask   *modelAsk

	address string // that it mentions
}

// modelRequest is a request of the client's.
type modelRequest struct {
	id        string // as JSON, in its plain spelling
	line      string
	passes    bool   // nobody has to agree
	refusable bool   // a blocked result is a right answer
	address   string // of a call that is asked about
	modern    bool

	cancelled bool // the client has taken it back
	answered  bool // the server has been made to answer it
	spoilt    bool // in such a way that an error is what arrives
	at        bool // it has reached the server
	answers   int
	question  string // id of bouncer's open question
	asked     int
	key       string // of bouncer's question in an input_required result
	state     string
	until     time.Time // when that is no use any more
	closed    bool      // the question was answered, taken back or has expired
	owed      bool      // bouncer must tell the client that its question is taken back
}

// modelAsk is a request of the server's.
type modelAsk struct {
	id        string
	at        bool // it has reached the client
	answered  bool // nobody will answer it any more
	done      bool // because the client has
	cancelled bool
}

const modelTools = `{"name":"calc","inputSchema":{"type":"object"}},{"name":"never","inputSchema":{"type":"object"}},{"name":"send","inputSchema":{"type":"object","properties":{"to":{"type":"string"}}}}`

func newWorld(t *testing.T, program []byte) *world {
	t.Helper()
	layer, err := policy.Parse("p", []byte("never: {max_calls: 0}"))
	if err != nil {
		t.Fatal(err)
	}
	clientIn, toRelay := io.Pipe()
	clientOut, fromRelay := io.Pipe()
	serverIn, toServer := io.Pipe()
	serverOut, fromServer := io.Pipe()
	w := &world{t: t, program: program, client: newSeat(toRelay), server: newSeat(fromServer), done: make(chan error, 1)}
	go w.client.read(clientOut)
	go w.server.read(serverIn)
	go func() {
		w.done <- proxy.Run(context.Background(), proxy.Options{
			Server:   "srv",
			Client:   proxy.End{In: clientIn, Out: fromRelay},
			Upstream: proxy.End{In: serverOut, Out: toServer},
			Engine:   engine.New(engine.Config{Server: "srv", Policy: policy.NewSet(layer), Paths: proxy.NewPaths("/", "/")}),
			Audit:    &ledger{},
		})
		_ = fromRelay.Close() // a pipe: it can't fail
	}()
	return w
}

func newSeat(to io.WriteCloser) *seat {
	s := &seat{to: to, turn: make(chan struct{}, 1), sent: map[string]*letter{}, errors: map[string]struct{}{}}
	s.turn <- struct{}{}
	return s
}

func (s *seat) read(from io.Reader) {
	readLines(from, func(line string) {
		<-s.turn
		s.mu.Lock()
		s.got = append(s.got, line)
		s.mu.Unlock()
		s.turn <- struct{}{}
	}, make(chan struct{}))
}

// take returns what has arrived since the last time.
func (s *seat) take() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	got := s.got
	s.got = nil
	return got
}

func (s *seat) say(lines []string) {
	for _, line := range lines {
		_, _ = io.WriteString(s.to, line+"\n") // what does not arrive is missed by the model
	}
}

// play runs the whole program and then brings everything that is open to its end.
func (w *world) play() {
	w.greet()
	for batches := 0; len(w.program) > 0 && batches < 60; batches++ {
		w.batch()
		w.rest()
	}
	for w.finish() {
		w.rest()
	}
	w.balance()
	_ = w.client.to.Close()
	synctest.Wait()
	_ = w.server.to.Close()
	if err := <-w.done; err != nil {
		w.t.Errorf("Run: %v", err)
	}
	w.rest()
}

func (w *world) greet() {
	request := w.request(`"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"model","version":"1"}}`)
	w.client.say([]string{request})
	w.rest()
	w.server.say([]string{w.answer(w.calls[0], `"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"up","version":"2"}}`)})
	w.rest()
	w.client.say([]string{w.toServer(`{"jsonrpc":"2.0","method":"notifications/initialized"}`, &letter{must: true})})
	w.rest()
}

// batch has both ends talk at once, and sometimes one of them not listen meanwhile.
func (w *world) batch() {
	deaf := w.pick(8)
	if deaf == 3 && len(w.listings) == 0 {
		w.wait()
	}
	fromServer := w.several(4, w.serverSays)
	fromClient := w.several(5, func() string { return w.clientSays(deaf == 1) })
	var client, server sync.WaitGroup
	client.Go(func() { w.client.say(fromClient) })
	server.Go(func() { w.server.say(fromServer) })
	switch deaf {
	case 1: // the client's own lines flow although it does not read
		<-w.client.turn
		client.Wait()
		w.client.turn <- struct{}{}
	case 2:
		<-w.server.turn
		server.Wait()
		w.server.turn <- struct{}{}
	}
	client.Wait()
	server.Wait()
}

// pick makes one choice out of n; a program that has ended always chooses the first.
func (w *world) pick(n int) int {
	if len(w.program) == 0 {
		return 0
	}
	choice := int(w.program[0]) % n
	w.program = w.program[1:]
	return choice
}

func (w *world) several(most int, next func() string) []string {
	var lines []string
	for range w.pick(most) {
		if line := next(); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// one chooses among those that fit; nil when none does.
func one[T any](w *world, all []*T, fits func(*T) bool) *T {
	fitting := slices.DeleteFunc(slices.Clone(all), func(x *T) bool { return !fits(x) })
	if len(fitting) == 0 {
		return nil
	}
	return fitting[w.pick(len(fitting))]
}

func (w *world) next() int {
	w.serial++
	return w.serial
}

// rest waits until nothing moves any more and lets the model look at what has arrived.
func (w *world) rest() {
	synctest.Wait()
	for _, line := range w.client.take() {
		w.clientGot(line)
	}
	for _, line := range w.server.take() {
		w.serverGot(line)
	}
}

// wait lets so much of the world's own time pass that every open question expires.
func (w *world) wait() {
	for _, c := range w.calls {
		c.takeBack()
	}
	time.Sleep(time.Minute)
	w.rest()
}

// takeBack makes bouncer owe the withdrawal of its question about a call, if one is open.
func (c *modelRequest) takeBack() {
	if c.question != "" && !c.closed {
		c.closed, c.owed = true, true
	}
}

var ownID = regexp.MustCompile(`bouncer-[0-9a-f]{32}-`)

// clientGot checks one line that the client has got.
func (w *world) clientGot(line string) {
	if l := w.server.sent[line]; l != nil {
		delete(w.server.sent, line)
		if l.call != nil {
			l.call.answers++
		}
		if l.ask != nil {
			l.ask.at = true
		}
		if l.address != "" {
			w.tainted = append(w.tainted, l.address)
		}
		return
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Message   string `json:"message"`
			RequestID string `json:"requestId"`
		} `json:"params"`
		Result struct {
			Type     string                     `json:"resultType"`
			Requests map[string]json.RawMessage `json:"inputRequests"`
			State    string                     `json:"requestState"`
			IsError  bool                       `json:"isError"`
		} `json:"result"`
		Error json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		w.t.Errorf("the client got %s", line)
		return
	}
	id := string(m.ID)
	c := w.called(func(c *modelRequest) bool { return c.id == id })
	_, owed := w.client.errors[id]
	switch {
	case m.Method == "elicitation/create":
		w.clientAsked(id, m.Params.Message, line)
	case m.Method == "notifications/cancelled":
		c := w.called(func(c *modelRequest) bool { return c.question == fmt.Sprintf("%q", m.Params.RequestID) })
		if c == nil || !c.owed {
			w.t.Errorf("withdrawn without a reason: %s", line)
			return
		}
		c.owed = false
	case m.Error != nil && id == "null" && w.nulls > 0:
		w.nulls--
	case m.Error != nil && owed:
		delete(w.client.errors, id)
	case m.Error != nil && c != nil && c.spoilt:
		c.answers++
	case c != nil && m.Result.Type == "input_required" && c.modern && len(m.Result.Requests) == 1:
		c.answers++
		for key := range m.Result.Requests {
			c.key, c.state, c.until = key, m.Result.State, time.Now().Add(15*time.Minute)
		}
	case c != nil && m.Result.IsError && strings.Contains(line, "[bouncer blocked] ") && c.refusable:
		c.answers++
	default:
		w.t.Errorf("the client got %s", line)
	}
}

func (w *world) clientAsked(id, message, line string) {
	c := w.called(func(c *modelRequest) bool { return c.address != "" && strings.Contains(message, c.address) })
	if c == nil || c.asked > 0 || c.modern || !ownID.MatchString(id) {
		w.t.Errorf("asked without a reason: %s", line)
		return
	}
	c.question = id
	c.closed, c.owed = c.cancelled, c.cancelled
	c.asked++
	w.prefix = ownID.FindString(id)
}

func (w *world) called(is func(*modelRequest) bool) *modelRequest {
	if i := slices.IndexFunc(w.calls, is); i >= 0 {
		return w.calls[i]
	}
	return nil
}

// serverGot checks one line that the server has got.
func (w *world) serverGot(line string) {
	if l := w.client.sent[line]; l != nil {
		delete(w.client.sent, line)
		if c := l.call; c != nil {
			c.at = true
			if !c.passes {
				w.t.Errorf("nobody agreed to %s", line)
			}
		}
		if l.lane > 0 {
			if l.order < w.order[l.lane] {
				w.t.Errorf("out of order: %s", line)
			}
			w.order[l.lane] = l.order
		}
		return
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		w.t.Errorf("the server got %s", line)
		return
	}
	_, owed := w.server.errors[string(m.ID)]
	switch {
	case m.Method == "tools/list" && ownID.MatchString(string(m.ID)):
		w.listings = append(w.listings, line)
	case m.Error != nil && owed:
		delete(w.server.errors, string(m.ID))
	default:
		w.t.Errorf("the server got %s", line)
	}
}

// balance checks that nothing is missing when everything has come to its end.
func (w *world) balance() {
	for _, c := range w.calls {
		if c.answers != 1 && !c.cancelled || c.answers > 1 {
			w.t.Errorf("%d answers to %s", c.answers, c.line)
		}
		if c.owed {
			w.t.Errorf("still asked about %s", c.line)
		}
	}
	for what, s := range map[string]*seat{"client": w.client, "server": w.server} {
		for line, l := range s.sent {
			if l.must && (l.call == nil || !l.call.cancelled) && (l.ask == nil || !l.ask.cancelled) {
				w.t.Errorf("lost on the way from the %s: %s", what, line)
			}
		}
		for id := range s.errors {
			w.t.Errorf("the %s was not told that its message %s was refused", what, id)
		}
	}
	if w.nulls != 0 {
		w.t.Errorf("%d refused lines without an error", w.nulls)
	}
}

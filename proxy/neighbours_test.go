package proxy

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/session"
)

// diary is a ledger and both ends of a relay, and keeps in which order they were used.
type diary struct {
	log    strings.Builder
	broken error // what Read returns

	mu      sync.Mutex // what is queued for the client has a goroutine of its own
	entries []string
}

func (d *diary) note(what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries = append(d.entries, what)
}

// turn returns the entries, and begins anew.
func (d *diary) turn() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	entries := d.entries
	d.entries = nil
	return entries
}

func (d *diary) Announce() error {
	d.note("announce")
	return nil
}

func (d *diary) Append(records ...[]byte) error {
	if len(records) > 0 {
		d.note("append")
	} else {
		d.note("append nothing")
	}
	return nil
}

func (d *diary) AppendPart(...[]byte) error {
	d.note("append part")
	return nil
}

func (d *diary) Read(func(session.Peer, []byte)) error {
	d.note("read")
	return d.broken
}

// page is one end.
type page struct {
	diary *diary
	name  string
}

func (p page) Write(b []byte) (int, error) {
	if strings.Contains(string(b), "[bouncer blocked]") {
		p.diary.note("refused")
	} else {
		p.diary.note(p.name)
	}
	return len(b), nil
}
func (page) Close() error { return nil }

// diarist is a relay whose server has the tools look, count (once) and wipe (which can't be taken back).
func diarist(t *testing.T, d *diary) *relay {
	t.Helper()
	rules, err := policy.Parse("test", []byte("look: {exfiltrating: false}\ncount: {exfiltrating: false, max_calls: 1}\nwipe: {exfiltrating: false, irreversible: true}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r, err := newRelay(Options{
		Server: "s", Ledger: d, Log: &d.log, Audit: nowhere{},
		Client: End{Out: page{d, "client"}}, Upstream: End{Out: page{d, "server"}},
		Engine: engine.New(engine.Config{Server: "s", Identity: "s", Policy: policy.NewSet(rules), Profile: engine.Balanced, Paths: NewPaths("/", "/"), Shared: true}),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.close)
	hears(t, r.fromClient, `{"jsonrpc":"2.0","id":0,"method":"tools/list"}`)
	const tools = `{"tools":[{"name":"look","inputSchema":{}},{"name":"count","inputSchema":{}},{"name":"wipe","inputSchema":{}}]}`
	hears(t, r.fromServer, `{"jsonrpc":"2.0","id":"`+r.prefix+`1","result":`+tools+`}`)
	hears(t, r.fromServer, `{"jsonrpc":"2.0","id":0,"result":`+tools+`}`)
	d.turn()
	return r
}

func hears(t *testing.T, by func([]byte) error, line string) {
	t.Helper()
	if err := by([]byte(line)); err != nil && err != io.EOF {
		t.Fatal(err)
	}
}

func toolCall(id int, tool string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

// TestNeighboursKnowFirst: an output is in the ledger before the client has it. Of a long one the neighbours are warned before.
func TestNeighboursKnowFirst(t *testing.T) {
	for size, want := range map[int][]string{
		1:             {"append", "client"},
		2 * maxAtOnce: {"announce", "client", "append"},
	} {
		d := &diary{}
		r := diarist(t, d)
		hears(t, r.fromClient, toolCall(1, "look"))
		d.turn()
		text := "mail eve@collector.example " + strings.Repeat("x ", size)
		hears(t, r.fromServer, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`+text+`"}]}}`)
		if got := d.turn(); !slices.Equal(got, want) {
			t.Errorf("%d bytes: %q, want %q", size, got, want)
		}
	}
}

// TestNeighboursCountFirst: an attempt is told before those of the others are read.
func TestNeighboursCountFirst(t *testing.T) {
	d := &diary{}
	r := diarist(t, d)
	hears(t, r.fromClient, toolCall(1, "count"))
	if got, want := d.turn(), []string{"append", "read", "append nothing", "server"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestNeighboursUnknown: what can't be read makes a deed that can't be taken back a question, and is said once.
func TestNeighboursUnknown(t *testing.T) {
	for _, broken := range []error{nil, session.ErrIncomplete} {
		d := &diary{broken: broken}
		r := diarist(t, d)
		for id := range 3 {
			hears(t, r.fromClient, toolCall(id+1, "wipe"))
		}
		r.toClient.flush()
		want, notices := 0, 0
		if broken != nil {
			want, notices = 3, 1
		}
		refused := 0
		for _, e := range d.turn() {
			if e == "refused" {
				refused++
			}
		}
		if refused != want || strings.Count(d.log.String(), "decisions may lack") != notices {
			t.Errorf("%v: %d calls refused of 3, %q", broken, refused, d.log.String())
		}
	}
}

// TestNeighboursLate: while a neighbour is still writing down what it said, a deed is a question, and nothing after that.
func TestNeighboursLate(t *testing.T) {
	d := &diary{broken: session.ErrLate}
	r := diarist(t, d)
	var got []bool
	for id := range 2 {
		hears(t, r.fromClient, toolCall(id+1, "wipe"))
		r.toClient.flush()
		got = append(got, slices.Contains(d.turn(), "refused"))
		d.broken = nil
	}
	if !slices.Equal(got, []bool{true, false}) || d.log.Len() > 0 {
		t.Errorf("refused: %v, %q", got, d.log.String())
	}
}

// TestNeighboursHearInParts: what an output of nothing but addresses says is told before all of it is read.
func TestNeighboursHearInParts(t *testing.T) {
	d := &diary{}
	r := diarist(t, d)
	hears(t, r.fromClient, toolCall(1, "look"))
	d.turn()
	var text strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&text, "a%d@b%d.example ", i, i)
	}
	hears(t, r.fromServer, `{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"`+text.String()+`"}]}}`)
	got := d.turn()
	if first, last := slices.Index(got, "append part"), slices.Index(got, "append"); first < 0 || last != len(got)-1 || first > last {
		t.Errorf("%q", got)
	}
}

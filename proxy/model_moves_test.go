package proxy_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// The moves of both ends: each returns one line, and tells the model what may come of it.

// The lanes of the client's lines. A call may have to wait while other traffic flows.
const (
	ofTraffic = 1 + iota // what nobody judges
	ofCalls              // calls that nobody has to agree to
)

// clientSays chooses what the client says next. A client that does not listen only says what nobody has to judge: a call
// would wait until it has heard what came before.
func (w *world) clientSays(deaf bool) string {
	if deaf {
		if w.pick(2) == 0 {
			return w.request(`"method":"ping"`)
		}
		return w.notify()
	}
	switch w.pick(16) {
	case 0, 1:
		return w.request(`"method":"x/anything","params":{"n":1.10}`)
	case 2:
		return w.notify()
	case 3:
		return w.request(`"method":"tools/list"`)
	case 4, 5:
		c := w.newCall(`"method":"tools/call","params":{"name":"calc","arguments":{"n":9007199254740993}}`)
		return w.toServer(c.line, &letter{must: true, call: c, lane: ofCalls})
	case 6:
		c := w.newCall(`"method":"tools/call","params":{"name":"never"}`)
		c.passes, c.refusable = false, true
		return w.toServer(c.line, &letter{call: c})
	case 7, 8:
		return w.callTo(fmt.Sprintf("p%d@partner.example", w.next()), false)
	case 9:
		return w.callTainted()
	case 10:
		return w.cancel()
	case 11:
		return w.answerQuestion()
	case 12:
		return w.answerAsk()
	case 13:
		w.nulls++
		return fmt.Sprintf([]string{`no message %d`, `{"jsonrpc":"2.0","id":%[1]d,"method":"a","method":"b"}`, `[{"id":%d}]`}[w.pick(3)], w.next())
	case 14:
		return w.stranger()
	default:
		if line := w.retry(); line != "" {
			return line
		}
		return w.callTo(fmt.Sprintf("p%d@partner.example", w.next()), true)
	}
}

// newCall makes a request with a fresh id, which the server gets in order unless the model is told otherwise.
func (w *world) newCall(rest string) *modelRequest {
	n := w.next()
	id := fmt.Sprint(n)
	written := id
	if w.pick(3) == 1 { // the server will spell it in another way
		id, written = fmt.Sprintf(`"a-%d"`, n), fmt.Sprintf(`"\u0061-%d"`, n)
	}
	c := &modelRequest{id: id, line: `{"jsonrpc":"2.0","id":` + written + `,` + rest + `}`, passes: true}
	w.calls = append(w.calls, c)
	return c
}

func (w *world) toServer(line string, l *letter) string {
	l.order = w.next()
	w.client.sent[line] = l
	return line
}

func (w *world) request(rest string) string {
	c := w.newCall(rest)
	return w.toServer(c.line, &letter{must: true, call: c, lane: ofTraffic})
}

func (w *world) notify() string {
	return w.toServer(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/x","params":{"n":%d}}`, w.next()), &letter{must: true, lane: ofTraffic})
}

// callTo makes a call that a person must agree to.
func (w *world) callTo(address string, modern bool) string {
	meta := ""
	if modern {
		meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}},`
	}
	c := w.newCall(fmt.Sprintf(`"method":"tools/call","params":{%s"name":"send","arguments":{"to":%q}}`, meta, address))
	c.passes, c.refusable, c.address, c.modern = false, true, address, modern
	return w.toServer(c.line, &letter{call: c})
}

// callTainted calls with an address that the server has mentioned: nobody is asked.
func (w *world) callTainted() string {
	if len(w.tainted) == 0 {
		return ""
	}
	c := w.newCall(fmt.Sprintf(`"method":"tools/call","params":{"name":"send","arguments":{"to":%q}}`, w.tainted[w.pick(len(w.tainted))]))
	c.passes, c.refusable = false, true
	return w.toServer(c.line, &letter{call: c})
}

func (w *world) cancel() string {
	c := one(w, w.calls[1:], func(*modelRequest) bool { return true })
	if c == nil {
		return ""
	}
	c.cancelled = true
	c.takeBack()
	return w.toServer(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"%d"}}`, c.id, w.next()), &letter{})
}

func (w *world) answerQuestion() string {
	c := one(w, w.calls, func(c *modelRequest) bool { return c.question != "" && !c.closed })
	if c == nil {
		return ""
	}
	c.closed = true
	return w.decide(c, w.pick(6))
}

// decide answers a question: the first two answers are a yes.
func (w *world) decide(c *modelRequest, answer int) string {
	body := []string{
		`"result":{"action":"accept","content":{"decision":"allow once"}}`,
		`"result":{"action":"accept","content":{"decision":"allow for this session"}}`,
		`"result":{"action":"decline"}`,
		`"result":{"action":"accept"}`,
		`"error":{"code":-1,"message":"no"}`,
		`"result":{"action":"decline","Action":"accept","content":{"decision":"allow once"}}`,
	}[answer]
	if answer < 2 {
		c.passes, c.refusable = true, false
		w.client.sent[c.line].must = true
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, c.question, body)
}

// answerAsk answers a request of the server's, sometimes so that bouncer must tell the server that the answer was refused.
func (w *world) answerAsk() string {
	a := one(w, w.asks, func(a *modelAsk) bool { return a.at && !a.answered })
	if a == nil {
		return ""
	}
	n := w.pick(6)
	if n == 0 && a.cancelled {
		return "" // nothing is said, so a later answer is the first
	}
	a.answered, a.done = true, true
	switch n {
	case 0:
		w.server.errors[a.id] = struct{}{}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"a":1,"a":2}}`, a.id)
	case 1:
		return w.toServer(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":"no"}}`, a.id, w.next()), &letter{must: true, ask: a})
	default:
		return w.toServer(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"n":%d}}`, a.id, w.next()), &letter{must: true, ask: a})
	}
}

// stranger says what must not pass: an answer to nothing, a late or a second answer, an id in use, an id of bouncer's.
func (w *world) stranger() string {
	switch w.pick(5) {
	case 0:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"ghost-%d","result":{}}`, w.next())
	case 1:
		if c := one(w, w.calls, func(c *modelRequest) bool { return c.question != "" && c.closed }); c != nil {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":"allow once"}}}`, c.question)
		}
	case 2:
		if c := one(w, w.calls, func(c *modelRequest) bool { return c.at && c.passes && !c.answered && !c.cancelled }); c != nil {
			w.nulls++
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"x/again","params":{"n":%d}}`, c.id, w.next())
		}
	case 3:
		if w.prefix != "" {
			id := fmt.Sprintf(`"%s9%06d"`, w.prefix, w.next())
			w.client.errors[id] = struct{}{}
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`, id)
		}
	case 4:
		if a := one(w, w.asks, func(a *modelAsk) bool { return a.done }); a != nil {
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"n":%d}}`, a.id, w.next())
		}
	}
	return ""
}

// retry answers a question that came inside a result, by calling again.
func (w *world) retry() string {
	old := one(w, w.calls, func(c *modelRequest) bool { return c.state != "" })
	if old == nil {
		return ""
	}
	_, params, _ := strings.Cut(old.line, `"params":`)
	c := w.newCall(`"method":"tools/call","params":` + params[:len(params)-1])
	c.passes, c.refusable, c.modern = false, true, true
	l := &letter{call: c}
	answer := `{"action":"cancel"}`
	if w.pick(2) == 0 {
		answer = `{"action":"accept","content":{"decision":"allow once"}}`
		late := !time.Now().Before(old.until)
		c.passes, c.refusable, l.must = !late, late, !late
	}
	w.toServer(c.line, l) // what the server gets is the plain call
	line := fmt.Sprintf(`%s,"inputResponses":{%q:%s},"requestState":%q}}`, strings.TrimSuffix(c.line, "}}"), old.key, answer, old.state)
	old.state = ""
	return line
}

// serverSays chooses what the server says next.
func (w *world) serverSays() string {
	switch w.pick(12) {
	case 0, 1, 2, 3:
		return w.answerCall()
	case 4:
		address := fmt.Sprintf("t%d@tainted.example", w.next())
		return w.toClient(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"mail %s"}}`, address), &letter{must: true, address: address})
	case 5:
		a := &modelAsk{id: fmt.Sprint(w.next())} // such ids are the client's, too
		w.asks = append(w.asks, a)
		return w.toClient(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"x/ask","params":{"n":1e400}}`, a.id), &letter{must: true, ask: a})
	case 6:
		return w.toClient(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"n":%d}}}`, w.next()), &letter{must: true})
	case 7:
		return fmt.Sprintf([]string{`npm warn %d`, `{"level":"info","n":%d}`, `%d`, `{"jsonrpc":"2.0","method":"notifications/x","params":[%d]}`}[w.pick(4)], w.next())
	case 8:
		return w.answerListing()
	case 9:
		return w.withdraw()
	case 10:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":"ghost-%d","result":{}}`, w.next())
	default:
		return w.impostor()
	}
}

func (w *world) toClient(line string, l *letter) string {
	w.server.sent[line] = l
	return line
}

// answer has the server answer a request, with a line of its own.
func (w *world) answer(c *modelRequest, body string) string {
	c.answered = true
	return w.toClient(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, c.id, body), &letter{must: true, call: c})
}

func (w *world) answerCall() string {
	c := one(w, w.calls, func(c *modelRequest) bool { return c.at && !c.answered })
	if c == nil {
		return ""
	}
	n := w.next()
	switch w.pick(6) {
	case 0:
		return w.answer(c, fmt.Sprintf(`"error":{"code":%d,"message":"no","data":{"n":1.0}}`, n))
	case 1:
		c.answered, c.spoilt = true, true
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"n":%d,"n":%[2]d}}`, c.id, n)
	case 2:
		if !strings.HasPrefix(c.id, `"`) {
			c.answered, c.spoilt = true, true
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":"%s","result":{"n":%d}}`, c.id, n)
		}
	}
	return w.answer(c, fmt.Sprintf(`"result":{"tools":[%s],"content":[],"n":%d}`, modelTools, n))
}

// answerListing answers one of bouncer's own requests for tools, in one page or in two.
func (w *world) answerListing() string {
	if len(w.listings) == 0 {
		return ""
	}
	line := w.listings[0]
	w.listings = w.listings[1:]
	var m struct {
		ID string `json:"id"`
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		w.t.Fatal(err)
	}
	first, second, _ := strings.Cut(modelTools, `,{"name":"send"`)
	second = `{"name":"send"` + second
	switch {
	case strings.Contains(line, `"cursor":"2"`):
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"tools":[%s]}}`, m.ID, second)
	case w.pick(2) == 1:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"tools":[%s],"nextCursor":"2"}}`, m.ID, first)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"tools":[%s]}}`, m.ID, modelTools)
}

// withdraw has the server take one of its own requests back.
func (w *world) withdraw() string {
	a := one(w, w.asks, func(a *modelAsk) bool { return a.at && !a.answered })
	if a == nil {
		return ""
	}
	a.cancelled = true
	return w.toClient(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"%d"}}`, a.id, w.next()), &letter{must: true})
}

// impostor has the server do what only a client or bouncer may.
func (w *world) impostor() string {
	c := one(w, w.calls, func(c *modelRequest) bool { return c.question != "" && !c.closed })
	switch n := w.pick(4); {
	case n == 0:
		id := fmt.Sprint(w.next())
		w.server.errors[id] = struct{}{}
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"calc"}}`, id)
	case n == 1:
		if a := one(w, w.asks, func(a *modelAsk) bool { return a.at && !a.answered && !a.cancelled }); a != nil {
			a.answered = true // nobody answers it any more: whether the second request is refused must be certain
			return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"x/again","params":{"n":%d}}`, a.id, w.next())
		}
	case n == 2 && c != nil:
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":"allow once"}}}`, c.question)
	case n == 3 && c != nil:
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, c.question)
	}
	return ""
}

// finish answers everything that waits for somebody, and reports whether there was anything.
func (w *world) finish() bool {
	var fromClient, fromServer []string
	for len(w.listings) > 0 {
		fromServer = append(fromServer, w.answerListing())
	}
	for _, c := range w.calls {
		if c.at && !c.answered {
			fromServer = append(fromServer, w.answer(c, fmt.Sprintf(`"result":{"n":%d}`, w.next())))
		}
		if c.question != "" && !c.closed {
			c.closed = true
			fromClient = append(fromClient, w.decide(c, w.next()%3))
		}
	}
	for _, a := range w.asks {
		if a.at && !a.answered {
			a.answered = true
			fromClient = append(fromClient, w.toServer(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"n":%d}}`, a.id, w.next()), &letter{must: true, ask: a}))
		}
	}
	w.server.say(fromServer)
	w.client.say(fromClient)
	return len(fromServer)+len(fromClient) > 0
}

package shim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"time"
)

// child is a running server and the streams that wait for what it says.
type child struct {
	many bool // clients share it, so their ids are replaced
	cmd  *exec.Cmd
	in   io.WriteCloser
	done chan struct{} // closed at the end of its output

	mu      sync.Mutex
	last    int64
	calls   []*stream // the newest last
	general *stream   // of GET

	// subscribing keeps a new subscription back while the end of another is under way: when the SDK's server ends one, it
	// ends all of the same pipe.
	subscribing sync.Mutex
}

// stream is one HTTP response that is still open.
type stream struct {
	id, token   json.RawMessage // as the server knows them
	clientID    json.RawMessage
	clientToken json.RawMessage
	out         chan message
	gone        <-chan struct{} // closed when the client is
	answered    chan struct{}   // holds something once the server has answered
}

func (s *stream) send(m message) {
	select {
	case s.out <- m:
	case <-s.gone:
	}
}

// start runs a server and reads what it says.
func start(env, argv []string) (*child, error) {
	c := &child{cmd: exec.Command(argv[0], argv[1:]...), done: make(chan struct{})}
	c.cmd.Env, c.cmd.Stderr = env, os.Stderr
	in, err := c.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.in = in
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.done)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadBytes('\n')
			if err != nil {
				return
			}
			var m message
			if json.Unmarshal(line, &m) == nil {
				c.route(m)
			}
		}
	}()
	return c, nil
}

// close ends the program, by force if closing its input does not.
func (c *child) close() {
	_ = c.in.Close()
	force := time.AfterFunc(5*time.Second, func() { _ = c.cmd.Process.Kill() })
	defer force.Stop()
	<-c.done
	_ = c.cmd.Wait() // how it ended is no matter
}

// write sends a message on one line: as it came if nothing in it had to be replaced.
func (c *child) write(m message, body []byte) {
	var line bytes.Buffer
	if body == nil || json.Compact(&line, body) != nil {
		line.Write(encode(m))
	}
	line.WriteByte('\n')
	_, _ = c.in.Write(line.Bytes()) // the answer that never comes tells
}

// call forwards a request and streams what belongs to it until it is answered.
func (c *child) call(w http.ResponseWriter, r *http.Request, m message, body []byte, modern bool) {
	s := &stream{id: m["id"], clientID: m["id"], out: make(chan message, 16), gone: r.Context().Done(), answered: make(chan struct{}, 1)}
	s.token = m.in("params", "_meta")["progressToken"]
	s.clientToken = s.token
	subscribes := m.text("method") == "subscriptions/listen"
	c.mu.Lock()
	if c.many {
		c.last++
		s.id = strconv.AppendInt(nil, c.last, 10)
		m["id"], body = s.id, nil
		if s.token != nil {
			s.token = s.id
			m.set(s.id, "params", "_meta", "progressToken")
		}
	}
	c.calls = append(c.calls, s)
	c.mu.Unlock()
	if subscribes {
		c.subscribing.Lock()
	}
	c.write(m, body)
	if subscribes {
		c.subscribing.Unlock()
	}
	if !c.stream(w, s, modern) && modern {
		c.cancel(s, subscribes)
	}
	c.mu.Lock()
	c.calls = slices.DeleteFunc(c.calls, func(other *stream) bool { return other == s })
	c.mu.Unlock()
}

// cancel tells the server that a client is gone, and waits until a subscription has ended.
func (c *child) cancel(s *stream, subscription bool) {
	if subscription {
		c.subscribing.Lock()
		defer c.subscribing.Unlock()
	}
	c.write(message{"jsonrpc": encode("2.0"), "method": encode("notifications/cancelled"), "params": encode(message{"requestId": s.id})}, nil)
	if subscription {
		select {
		case <-s.answered:
		case <-time.After(5 * time.Second):
		}
	}
}

// stream writes what belongs to a call and reports whether it was answered before the client was gone. An error that comes
// first needs no stream, and from 2026-07-28 on it has a status.
func (c *child) stream(w http.ResponseWriter, s *stream, modern bool) bool {
	streaming := false
	for {
		select {
		case <-s.gone:
			return false
		case m := <-s.out:
			answered := m["method"] == nil
			switch {
			case m["error"] != nil && !streaming:
				w.Header().Set("Content-Type", "application/json")
				if modern {
					w.WriteHeader(status(m))
				}
				_, _ = w.Write(encode(m))
			default:
				w.Header().Set("Content-Type", "text/event-stream")
				streaming = true
				_, _ = w.Write(event(m))
				_ = http.NewResponseController(w).Flush()
			}
			if answered {
				return true
			}
		}
	}
}

// listen is the stream of what belongs to no call.
func (c *child) listen(w http.ResponseWriter, r *http.Request) {
	s := &stream{out: make(chan message, 16), gone: r.Context().Done()}
	c.mu.Lock()
	taken := c.general != nil
	if !taken {
		c.general = s
	}
	c.mu.Unlock()
	if taken {
		http.Error(w, "there is such a stream", http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush()
	c.stream(w, s, false)
	c.mu.Lock()
	c.general = nil
	c.mu.Unlock()
}

// route gives a message of the server's to the stream that it belongs to.
func (c *child) route(m message) {
	if s := c.owner(m); s != nil {
		s.send(m)
	}
}

func (c *child) owner(m message) *stream {
	c.mu.Lock()
	defer c.mu.Unlock()
	find := func(of func(*stream) json.RawMessage, value json.RawMessage) *stream {
		i := slices.IndexFunc(c.calls, func(s *stream) bool { return value != nil && bytes.Equal(of(s), value) })
		if i < 0 {
			return nil
		}
		return c.calls[i]
	}
	byID := func(s *stream) json.RawMessage { return s.id }
	subscription := m.in("params", "_meta")[metaListen]
	switch {
	case m["method"] == nil:
		s := find(byID, m["id"])
		if s != nil {
			select {
			case s.answered <- struct{}{}:
			default:
			}
			m["id"] = s.clientID
			if c.many && m.in("result", "_meta")[metaListen] != nil {
				m.set(s.clientID, "result", "_meta", metaListen)
			}
		}
		return s
	case m.text("method") == "notifications/progress":
		s := find(func(s *stream) json.RawMessage { return s.token }, m.in("params")["progressToken"])
		if s != nil {
			m.set(s.clientToken, "params", "progressToken")
		}
		return s
	case subscription != nil:
		s := find(byID, subscription)
		if s != nil {
			m.set(s.clientID, "params", "_meta", metaListen)
		}
		return s
	case slices.Contains([]string{
		"notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed",
		"notifications/resources/updated",
	}, m.text("method")):
		return c.general
	case len(c.calls) > 0:
		return c.calls[len(c.calls)-1]
	}
	return c.general
}

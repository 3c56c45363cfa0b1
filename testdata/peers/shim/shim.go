// Package shim puts a server that speaks over standard input and output behind Streamable HTTP, in both eras of the
// protocol: a program of its own for each session up to 2025-11-25, and one that all requests of 2026-07-28 share. It is as
// small as the conformance suites permit. It resumes no streams and checks no Mcp-* header against the body.
package shim

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

const (
	modernVersion = "2026-07-28"
	metaVersion   = "io.modelcontextprotocol/protocolVersion"
	metaListen    = "io.modelcontextprotocol/subscriptionId"
)

// Shim is a handler in front of one command.
type Shim struct {
	argv, env []string

	mu       sync.Mutex
	sessions map[string]*child // up to 2025-11-25
	shared   *child            // 2026-07-28
}

// New returns a Shim that starts argv with env. Close ends what it started.
func New(env []string, argv ...string) *Shim {
	return &Shim{argv: argv, env: env, sessions: map[string]*child{}}
}

// Close ends the programs and waits for them.
func (s *Shim) Close() {
	s.mu.Lock()
	children := []*child{s.shared}
	for _, c := range s.sessions {
		children = append(children, c)
	}
	s.sessions, s.shared = map[string]*child{}, nil
	s.mu.Unlock()
	for _, c := range children {
		if c != nil {
			c.close()
		}
	}
}

// message is one JSON-RPC message, each member as it came.
type message map[string]json.RawMessage

func (m message) text(member string) string {
	var s string
	_ = json.Unmarshal(m[member], &s)
	return s
}

// in returns an object inside m. It is nil if there is none.
func (m message) in(path ...string) message {
	for _, name := range path {
		var inner message
		_ = json.Unmarshal(m[name], &inner)
		m = inner
	}
	return m
}

// set puts a member into an object inside m, which must exist.
func (m message) set(value json.RawMessage, path ...string) {
	if len(path) == 1 {
		m[path[0]] = value
		return
	}
	inner := m.in(path[0])
	inner.set(value, path[1:]...)
	m[path[0]] = encode(inner)
}

func encode(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err) // it was decoded from JSON
	}
	return text
}

// ServeHTTP serves the one endpoint.
func (s *Shim) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !local(r.Host) || !local(strings.TrimPrefix(r.Header.Get("Origin"), "http://")) {
		http.Error(w, "only for this machine", http.StatusForbidden)
		return
	}
	switch r.Method {
	case http.MethodPost:
		s.post(w, r)
	case http.MethodGet:
		if c := s.session(w, r); c != nil {
			c.listen(w, r)
		}
	case http.MethodDelete:
		if c := s.session(w, r); c != nil {
			s.mu.Lock()
			delete(s.sessions, r.Header.Get("Mcp-Session-Id"))
			s.mu.Unlock()
			c.close()
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
}

// local reports whether a host, of which there may be none, is this machine.
func local(host string) bool {
	if host == "" {
		return true
	}
	u, err := url.Parse("http://" + host)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

// session returns the program of a request's session, or answers that there is none.
func (s *Shim) session(w http.ResponseWriter, r *http.Request) *child {
	id := r.Header.Get("Mcp-Session-Id")
	s.mu.Lock()
	c := s.sessions[id]
	s.mu.Unlock()
	switch {
	case c != nil:
		return c
	case id != "":
		http.Error(w, "no such session", http.StatusNotFound)
	case r.Method == http.MethodPost:
		http.Error(w, "no session", http.StatusBadRequest)
	default:
		w.WriteHeader(http.StatusMethodNotAllowed)
	}
	return nil
}

func (s *Shim) post(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var m message
	if err == nil {
		err = json.Unmarshal(body, &m)
	}
	if err != nil {
		failure(w, http.StatusBadRequest, nil, -32700, err.Error())
		return
	}
	version := r.Header.Get("Mcp-Protocol-Version")
	modern := version >= modernVersion || m.in("params", "_meta")[metaVersion] != nil
	var c *child
	switch {
	case modern && m.text("method") == "initialize": // over a pipe the same server would take it
		failure(w, http.StatusNotFound, m["id"], -32601, "no sessions in "+modernVersion)
		return
	case modern:
		c, err = s.common()
	case m.text("method") == "initialize" && r.Header.Get("Mcp-Session-Id") == "":
		if c, err = start(s.env, s.argv); err == nil {
			id := rand.Text()
			s.mu.Lock()
			s.sessions[id] = c
			s.mu.Unlock()
			w.Header().Set("Mcp-Session-Id", id)
		}
	default:
		if c = s.session(w, r); c == nil {
			return
		}
	}
	if err != nil {
		failure(w, http.StatusBadGateway, m["id"], -32603, err.Error())
		return
	}
	if m["method"] == nil || m["id"] == nil {
		c.write(m, body)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	c.call(w, r, m, body, modern)
}

// common returns the program that all requests of 2026-07-28 share.
func (s *Shim) common() (*child, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		c, err := start(s.env, s.argv)
		if err != nil {
			return nil, err
		}
		c.many = true
		s.shared = c
	}
	return s.shared, nil
}

func failure(w http.ResponseWriter, status int, id json.RawMessage, code int, text string) {
	if id == nil {
		id = json.RawMessage("null")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(encode(map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": text}}))
}

// status is the HTTP status of an answer of 2026-07-28.
func status(answer message) int {
	switch string(answer.in("error")["code"]) {
	case "-32601":
		return http.StatusNotFound
	case "-32602", "-32020", "-32021", "-32022":
		return http.StatusBadRequest
	}
	return http.StatusOK
}

// event is a server-sent event.
func event(m message) []byte {
	var b bytes.Buffer
	b.WriteString("event: message\ndata: ")
	b.Write(encode(m))
	b.WriteString("\n\n")
	return b.Bytes()
}

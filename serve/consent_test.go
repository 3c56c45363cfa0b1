package serve

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bouncer-mcp/bouncer/approve"
)

// A server is started when its person has said so to its command line, and not otherwise, in whatever era.
func TestConsent(t *testing.T) {
	answer := func(action string, content map[string]any) func(*mcp.ElicitParams) *mcp.ElicitResult {
		return func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: action, Content: content} }
	}
	yes := answer("accept", map[string]any{"start": true})
	for _, tt := range []struct {
		name, args string
		answer     func(*mcp.ElicitParams) *mcp.ElicitResult
		started    string
		want       string // in the error
	}{
		{"yes", `{"server":"mail","start":true}`, yes, "mail", ""},
		{"a form sent with no", `{"server":"mail","start":true}`, answer("accept", map[string]any{"start": false}), "", "did not agree"},
		{"declined", `{"server":"mail","start":true}`, answer("decline", map[string]any{"start": true}), "", "did not agree"},
		{"cancelled", `{"server":"mail","start":true}`, answer("cancel", nil), "", "did not agree"},
		{"nobody to ask", `{"server":"mail","start":true}`, nil, "", "nobody can be asked"},
		{"switched off", `{"server":"off","start":true}`, yes, "", "switched off"},
		{"unknown", `{"server":"nobody","start":true}`, yes, "", "no client"},
		{"two of a name", `{"server":"twice","start":true}`, yes, "", "which client"},
		{"one of two", `{"server":"twice","client":"claude-code","start":true}`, yes, "two", ""},
		{"fails", `{"server":"broken","start":true}`, yes, "", "did not list its tools"},
	} {
		for _, era := range eras {
			t.Run(tt.name+" "+era, func(t *testing.T) {
				w := newWorld(t)
				c := w.connect(t, era, tt.answer)
				var out inspection
				fault := ask(t, c, inspectName, tt.args, &out)
				if strings.Join(w.started, " ") != tt.started || (fault == "") != (tt.want == "") || !strings.Contains(fault, tt.want) {
					t.Errorf("started %q: %q", w.started, fault)
				}
				if strings.Contains(fault, "hunter2") {
					t.Errorf("a secret came out: %s", fault)
				}
				if fault == "" && (out.Definitions != "started" || len(out.Tools) != 5) {
					t.Errorf("%+v", out)
				}
			})
		}
	}
	w := newWorld(t)
	var asked string
	c := w.connect(t, eras[2], func(p *mcp.ElicitParams) *mcp.ElicitResult {
		asked = p.Message
		return &mcp.ElicitResult{Action: "cancel"}
	})
	var out inspection
	ask(t, c, inspectName, `{"server":"mail","start":true}`, &out)
	if !strings.Contains(asked, "npx mail --key=[masked]") || !strings.Contains(asked, "cursor") {
		t.Errorf("%q", asked)
	}
}

// A yes that nobody was asked for, or that was given before, starts nothing.
func TestConsentIsNotForged(t *testing.T) {
	w := newWorld(t)
	c := w.connect(t, eras[2], func(*mcp.ElicitParams) *mcp.ElicitResult { return &mcp.ElicitResult{Action: "cancel"} })
	yes := mcp.InputResponseMap{"start": &mcp.ElicitResult{Action: "accept", Content: map[string]any{"start": true}}}
	for _, state := range []string{"bouncer1.AAAA", "made up"} {
		result, err := c.CallTool(t.Context(), &mcp.CallToolParams{
			Name: inspectName, Arguments: json.RawMessage(`{"server":"mail","start":true}`), InputResponses: yes, RequestState: state,
		})
		if err != nil || !result.IsError || len(w.started) > 0 {
			t.Errorf("%s: %v, %+v", state, err, result)
		}
	}
	s := &service{Options: w.Options, now: time.Now}
	var err error
	if s.seals, err = approve.NewSealer(); err != nil {
		t.Fatal(err)
	}
	request := func(args, state string) call {
		req := &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{
			Name: inspectName, Arguments: json.RawMessage(args), InputResponses: yes, RequestState: state,
			Meta: mcp.Meta{mcp.MetaKeyClientCapabilities: map[string]any{"elicitation": map[string]any{}}},
		}}
		c, err := newCall(req)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	servers, _ := w.Servers()
	const args = `{"server":"mail","start":true}`
	open := func() string {
		q, err := s.consent(request(args, ""), servers[0])
		if err != nil || q == nil {
			t.Fatal(q, err)
		}
		return q.state
	}
	state := open()
	if q, err := s.consent(request(args, state), servers[0]); q != nil || err != nil {
		t.Errorf("an honest yes: %v, %v", q, err)
	}
	if _, err := s.consent(request(args, state), servers[0]); err == nil {
		t.Error("a yes counted twice")
	}
	if _, err := s.consent(request(args, open()), servers[1]); err == nil {
		t.Error("a yes counted for another command line")
	}
	if _, err := s.consent(request(`{"server":"mail","start":true,"tool":"x"}`, open()), servers[0]); err == nil {
		t.Error("a yes counted for another call")
	}
	state = open()
	s.now = func() time.Time { return time.Now().Add(2 * consentFor) }
	if _, err := s.consent(request(args, state), servers[0]); err == nil {
		t.Error("a yes counted after its time")
	}
}

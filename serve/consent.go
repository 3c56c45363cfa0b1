package serve

import (
	"errors"
	"fmt"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/taint"
)

// consentFor is how long a question may wait for its answer.
const consentFor = 10 * time.Minute

// maxCommand is how much of a command line the person gets to see. What is longer is not started, since nobody could know it.
const maxCommand = 1000

// A question is one that the person must answer before a call can be.
type question struct {
	id, text, state string
}

// agree is the one thing that a yes is: more than that the form was sent.
const agree = "start"

// result asks: a client of 2026-07-28 gets the question as its answer, and for an older one the SDK puts it as a request of its own.
func (q *question) result() *mcp.CallToolResult {
	return &mcp.CallToolResult{
		RequestState: q.state,
		InputRequests: mcp.InputRequestMap{q.id: &mcp.ElicitParams{
			Mode: "form", Message: q.text,
			RequestedSchema: map[string]any{
				"type": "object",
				"properties": map[string]any{
					agree: map[string]any{"type": "boolean", "title": "Start it", "description": "Start this program once and list its tools"},
				},
				"required": []string{agree},
			},
		}},
	}
}

// consent returns nothing when the person has agreed to start a server by its present command line, and the question as long as
// nobody has answered it. An answer counts for the call and the command line that were asked about, once.
func (s *service) consent(c call, server Server) (*question, error) {
	if !canAsk(c.req) {
		return nil, errors.New("nobody can be asked: the client has no elicitation. In a terminal, bouncer doctor --probe starts servers and shows what they list")
	}
	about := approve.Digest(inspectName, wire.Value(server.Client+"\x00"+server.Command+"\x00"+string(c.args)))
	if c.req.Params.RequestState == "" {
		return s.ask(server, about)
	}
	state, err := s.seals.Open(c.req.Params.RequestState, s.now())
	if err != nil {
		return nil, fmt.Errorf("the question is not open any more: %w", err)
	}
	if state.Tool != inspectName || state.Digest != about {
		return nil, errors.New("the answer is to another question")
	}
	answer, ok := c.req.Params.InputResponses[state.Key].(*mcp.ElicitResult)
	if yes, _ := answerOf(answer, ok)[agree].(bool); !yes {
		return nil, errors.New("nothing was started: the person did not agree")
	}
	return nil, nil
}

func answerOf(answer *mcp.ElicitResult, ok bool) map[string]any {
	if !ok || answer == nil || answer.Action != "accept" {
		return nil
	}
	return answer.Content
}

func (s *service) ask(server Server, about [32]byte) (*question, error) {
	command := taint.Visible(server.Command, maxCommand)
	if len(command) > maxCommand {
		return nil, errors.New("nothing was started: its command line is longer than anybody would read")
	}
	q := &question{
		id: "start",
		text: fmt.Sprintf("May bouncer start the server %q of %s for a moment, and ask it for its tools? No tool is called. It starts:\n%s",
			name(server.Name), server.Client, command),
	}
	var err error
	q.state, err = s.seals.Seal(approve.State{Tool: inspectName, Digest: about, Expires: s.now().Add(consentFor), Key: q.id})
	return q, err
}

// canAsk reports whether the client shows forms to its person.
func canAsk(req *mcp.CallToolRequest) bool {
	c := req.ClientCapabilities()
	return c != nil && c.Elicitation != nil && (c.Elicitation.Form != nil || c.Elicitation.URL == nil)
}

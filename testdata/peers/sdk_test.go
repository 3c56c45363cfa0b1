package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestSDK drives a server of the Go SDK with a client of it, in both eras of the protocol, directly and through bouncer.
func TestSDK(t *testing.T) {
	w := newWorld(t)
	for _, era := range []struct {
		version string
		drive   func(*driver)
		methods string // that must have been used, however the SDK's functions are called
	}{
		{"2025-11-25", (*driver).legacy, `initialize notifications/initialized ping tools/list tools/call prompts/list prompts/get
			resources/list resources/templates/list resources/read resources/subscribe resources/unsubscribe logging/setLevel
			completion/complete sampling/createMessage elicitation/create roots/list notifications/elicitation/complete
			notifications/progress notifications/message notifications/cancelled notifications/roots/list_changed
			notifications/tools/list_changed notifications/prompts/list_changed notifications/resources/list_changed
			notifications/resources/updated`},
		{"2026-07-28", (*driver).modern, `server/discover subscriptions/listen tools/list tools/call prompts/list prompts/get
			resources/list resources/templates/list resources/read completion/complete notifications/progress
			notifications/message notifications/cancelled notifications/subscriptions/acknowledged
			notifications/tools/list_changed notifications/prompts/list_changed notifications/resources/list_changed
			notifications/resources/updated`},
	} {
		t.Run(era.version, func(t *testing.T) {
			w := w.in(t)
			direct, through := w.ways("sdk", w.program("peer-sdk"))
			seen := [2]string{}
			for i, way := range []way{direct, through} {
				d := w.connect(way, era.version)
				era.drive(d)
				d.close()
				seen[i] = strings.Join(d.seen, "\n")
				if t.Failed() {
					t.Fatalf("seen on way %d:\n%s", i, seen[i])
				}
			}
			if seen[0] != seen[1] {
				t.Errorf("the client saw, directly:\n%s\nthrough bouncer:\n%s", seen[0], seen[1])
			}
			covers(t, through, strings.Fields(era.methods)...)
			identical(t, direct, through)
		})
	}
}

// driver is a client and what it has seen.
type driver struct {
	t       *testing.T
	client  *mcp.Client
	session *mcp.ClientSession
	seen    []string

	mu     sync.Mutex
	told   []string      // by the server, unasked, since the last step
	change chan struct{} // closed and replaced when told grows
}

// connect starts a server on one of the ways to it.
func (w *world) connect(to way, version string) *driver {
	w.t.Helper()
	d := &driver{t: w.t, change: make(chan struct{})}
	d.client = mcp.NewClient(&mcp.Implementation{Name: "driver", Version: "1"}, &mcp.ClientOptions{
		Capabilities: &mcp.ClientCapabilities{
			RootsV2:     &mcp.RootCapabilities{ListChanged: true},
			Elicitation: &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}, URL: &mcp.URLElicitationCapabilities{}},
		},
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			d.tell("sampling", r.Params)
			return &mcp.CreateMessageResult{Model: "m-1", Role: "assistant", StopReason: "endTurn", Content: &mcp.TextContent{Text: "Hello."}}, nil
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			d.tell("elicitation", r.Params)
			if r.Params.Mode == "url" {
				return &mcp.ElicitResult{Action: "accept"}, nil
			}
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"name": "Åsa", "size": "M"}}, nil
		},
		ElicitationCompleteHandler: func(_ context.Context, r *mcp.ElicitationCompleteNotificationRequest) { d.tell("complete", r.Params) },
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { d.tell("tools changed", nil) },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { d.tell("prompts changed", nil) },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { d.tell("resources changed", nil) },
		ResourceUpdatedHandler:     func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { d.tell("updated", r.Params.URI) },
		LoggingMessageHandler:      func(_ context.Context, r *mcp.LoggingMessageRequest) { d.tell("log", r.Params) },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			d.tell("progress", r.Params)
		},
	})
	d.client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				d.tell("acknowledged", r.GetParams())
			}
			return next(ctx, method, r)
		}
	})
	d.client.AddRoots(&mcp.Root{URI: "file:///work", Name: "work"})
	cmd := w.command(w.home, to.argv[0], to.argv[1:]...)
	cmd.Stderr = os.Stderr
	session, err := d.client.Connect(context.Background(), &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		w.t.Fatal(err)
	}
	d.session = session
	if got := session.InitializeResult().ProtocolVersion; got != version {
		w.t.Fatalf("the two agreed on %s", got)
	}
	if version < "2026-07-28" {
		d.saw("hello", session.InitializeResult(), nil)
	} else {
		d.saw("hello", session.InitializeResult(), nil, "acknowledged") // what the SDK listens to
	}
	return d
}

func (d *driver) close() {
	d.t.Helper()
	if err := d.session.Close(); err != nil {
		d.t.Errorf("closing: %v", err)
	}
}

func (d *driver) tell(what string, params any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.told = append(d.told, "  "+what+" "+show(params))
	close(d.change)
	d.change = make(chan struct{})
}

// saw ends a step: its result, and what the server told meanwhile, which must be n things.
func (d *driver) saw(step string, result any, err error, kinds ...string) {
	d.t.Helper()
	if err != nil {
		result = err
	}
	text := fmt.Sprintf("%s: %s", step, show(result))
	if strings.Contains(text, "[bouncer blocked]") {
		d.t.Errorf("%s was refused", step)
	}
	d.seen = append(d.seen, text)
	d.await(step, len(kinds))
	d.mu.Lock()
	defer d.mu.Unlock()
	slices.Sort(d.told) // two things that are told at the same time have no order
	slices.Sort(kinds)
	for i, line := range d.told {
		if i >= len(kinds) || !strings.HasPrefix(line, "  "+kinds[i]) {
			d.t.Errorf("%s: the server told %q, want %q", step, d.told, kinds)
			break
		}
	}
	d.seen = append(d.seen, d.told...)
	d.told = nil
}

// await waits until the server has told n things.
func (d *driver) await(step string, n int) {
	d.t.Helper()
	late := time.After(30 * time.Second)
	for {
		d.mu.Lock()
		enough, change := len(d.told) >= n, d.change
		d.mu.Unlock()
		if enough {
			return
		}
		select {
		case <-change:
		case <-late:
			d.t.Fatalf("%s: the server told %d things, want %d", step, len(d.told), n)
		}
	}
}

// call calls a tool without arguments.
func (d *driver) call(tool string, kinds ...string) {
	d.t.Helper()
	params := &mcp.CallToolParams{Name: tool}
	params.SetProgressToken(tool + " token")
	result, err := d.session.CallTool(d.t.Context(), params)
	d.saw(tool, result, err, kinds...)
}

// read uses what a server offers for reading, page by page.
func (d *driver) read() {
	d.t.Helper()
	ctx := d.t.Context()
	var names []string
	for tool, err := range d.session.Tools(ctx, nil) {
		names = append(names, fmt.Sprint(show(tool), err))
	}
	d.saw("tools", names, nil)
	for prompt, err := range d.session.Prompts(ctx, nil) {
		d.saw("prompt", prompt, err)
	}
	for resource, err := range d.session.Resources(ctx, nil) {
		d.saw("resource", resource, err)
	}
	for template, err := range d.session.ResourceTemplates(ctx, nil) {
		d.saw("template", template, err)
	}
	prompt, err := d.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "two"})
	d.saw("prompt two", prompt, err)
	missing, err := d.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "none"})
	d.saw("prompt none", missing, err)
	resource, err := d.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: "notes://monday"})
	d.saw("resource", resource, err)
	completion, err := d.session.Complete(ctx, &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "two"}, Argument: mcp.CompleteParamsArgument{Name: "a", Value: "x"},
	})
	d.saw("completion", completion, err)
}

// cancel calls a tool that waits to be cancelled, and does so.
func (d *driver) cancel() {
	d.t.Helper()
	ctx, cancel := context.WithCancel(d.t.Context())
	ended := make(chan error)
	go func() {
		params := &mcp.CallToolParams{Name: "linger"}
		params.SetProgressToken("linger token")
		_, err := d.session.CallTool(ctx, params)
		ended <- err
	}()
	d.await("linger", 1)
	cancel()
	d.saw("linger", <-ended, nil, "progress", "progress")
}

// legacy is everything that a session up to 2025-11-25 knows.
func (d *driver) legacy() {
	ctx := d.t.Context()
	d.saw("ping", nil, d.session.Ping(ctx, nil))
	d.read()
	d.saw("level", nil, d.session.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "info"}))
	d.call("chat", "log", "log", "log")
	d.call("form", "elicitation")
	d.call("page", "elicitation", "complete")
	d.call("sample", "sampling")
	d.call("roots")
	d.call("echo_ping")
	d.call("steps", "progress", "progress", "progress")
	d.call("fail")
	d.client.AddRoots(&mcp.Root{URI: "file:///more", Name: "more"})
	d.saw("more roots", nil, nil, "log")
	d.saw("progress", nil, d.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: "mine", Progress: 0.5}), "log")
	d.call("touch")
	d.saw("subscribe", nil, d.session.Subscribe(ctx, &mcp.SubscribeParams{URI: watched}))
	d.call("touch", "updated")
	d.saw("unsubscribe", nil, d.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: watched}))
	d.call("touch")
	d.call("grow", "prompts changed", "resources changed", "tools changed")
	d.cancel()
	d.read() // long enough for the server's answer to the cancelled call, which comes though nobody waits for it
	d.saw("ping", nil, d.session.Ping(ctx, nil))
}

// modern is everything that 2026-07-28 knows.
func (d *driver) modern() {
	ctx := d.t.Context()
	d.read()
	d.call("steps", "progress", "progress", "progress")
	loud := &mcp.CallToolParams{Name: "chat", Meta: mcp.Meta{mcp.MetaKeyLogLevel: "notice"}}
	result, err := d.session.CallTool(ctx, loud)
	d.saw("chat", result, err, "log", "log")
	d.call("interview", "elicitation", "elicitation", "sampling")
	d.call("fail")
	d.call("grow", "prompts changed", "resources changed", "tools changed")
	d.saw("subscribe", nil, d.session.Subscribe(ctx, &mcp.SubscribeParams{URI: watched}), "acknowledged")
	d.call("touch", "updated")
	d.saw("unsubscribe", nil, d.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: watched}))
	d.cancel()
	d.read()
}

// show spells a value of the SDK out as JSON, as it came in.
func show(v any) string {
	if err, ok := v.(error); ok {
		return "error: " + err.Error()
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

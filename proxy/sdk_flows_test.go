package proxy_test

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/rogpeppe/go-internal/diff"
)

// TestSDKFlows plays everything that the SDK's client and server can do with each other, once with nothing between them
// and once through the relay: neither of the two may notice a difference.
func TestSDKFlows(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			want := newFlows(t, version, connectDirectly).play()
			got := newFlows(t, version, connect).play()
			if len(want) < 20 {
				t.Errorf("only %d observations:\n%s", len(want), strings.Join(want, "\n"))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s", diff.Diff("without the relay", []byte(strings.Join(want, "\n")+"\n"), "through it", []byte(strings.Join(got, "\n")+"\n")))
			}
		})
	}
}

// connectDirectly joins a client and a server of the SDK with nothing between them.
func connectDirectly(t *testing.T, server *mcp.Server, client *mcp.Client, version string) *mcp.ClientSession {
	t.Helper()
	serverIn, toServer := io.Pipe()
	clientIn, toClient := io.Pipe()
	up, err := server.Connect(context.Background(), &mcp.IOTransport{Reader: serverIn, Writer: toClient}, nil)
	if err != nil {
		t.Fatal(err)
	}
	session, err := client.Connect(context.Background(), &mcp.IOTransport{Reader: clientIn, Writer: toServer}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close() // the pipes may be closed already
		_ = up.Close()
	})
	return session
}

// flows is one client and one server, and what both of them have observed.
type flows struct {
	t       *testing.T
	modern  bool
	server  *mcp.Server
	client  *mcp.Client
	session *mcp.ClientSession
	events  chan string // notifications, which come when they like

	mu   sync.Mutex
	seen []string
}

type connector func(*testing.T, *mcp.Server, *mcp.Client, string) *mcp.ClientSession

func newFlows(t *testing.T, version string, connect connector) *flows {
	t.Helper()
	f := &flows{t: t, modern: version >= "2026-07-28", events: make(chan string, 100)}
	f.server = mcp.NewServer(&mcp.Implementation{Name: "up", Version: "1"}, f.serverOptions())
	f.addTools()
	f.addTexts()
	f.client = mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, f.clientOptions())
	f.client.AddRoots(&mcp.Root{URI: "file:///work", Name: "work"})
	f.client.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			if method == "notifications/subscriptions/acknowledged" {
				f.event("acknowledged")
			}
			return next(ctx, method, r)
		}
	})
	f.session = connect(t, f.server, f.client, version)
	if f.modern {
		f.await(1) // the subscription to lists that change
	}
	return f
}

func (f *flows) note(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, fmt.Sprintf(format, args...))
}

func (f *flows) event(format string, args ...any) { f.events <- fmt.Sprintf(format, args...) }

// await notes the next n notifications, in an order of its own: they may overtake each other inside the SDK.
func (f *flows) await(n int) {
	f.t.Helper()
	var got []string
	for range n {
		select {
		case e := <-f.events:
			got = append(got, e)
		case <-time.After(patience):
			f.t.Fatalf("no notification came; so far:\n%s", strings.Join(append(f.seen, got...), "\n"))
		}
	}
	slices.Sort(got)
	f.note("%s", strings.Join(got, ", "))
}

func (f *flows) serverOptions() *mcp.ServerOptions {
	return &mcp.ServerOptions{
		Instructions: "Be kind.",
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Argument.Value + "lin"}, Total: 1}}, nil
		},
		RootsListChangedHandler: func(context.Context, *mcp.RootsListChangedRequest) { f.event("roots changed") },
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationServerRequest) {
			f.event("client at %v", r.Params.Progress)
		},
		SubscribeHandler: func(_ context.Context, r *mcp.SubscribeRequest) error {
			f.event("subscribed to %s", r.Params.URI)
			return nil
		},
		UnsubscribeHandler: func(_ context.Context, r *mcp.UnsubscribeRequest) error {
			f.event("unsubscribed from %s", r.Params.URI)
			return nil
		},
	}
}

func (f *flows) clientOptions() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		CreateMessageHandler: func(_ context.Context, r *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			f.note("model asked for at most %d: %s", r.Params.MaxTokens, r.Params.Messages[0].Content.(*mcp.TextContent).Text)
			return &mcp.CreateMessageResult{Model: "m", Role: "assistant", Content: &mcp.TextContent{Text: "42"}}, nil
		},
		ElicitationHandler: func(_ context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			f.note("person asked: %s", r.Params.Message)
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"color": "blue"}}, nil
		},
		ToolListChangedHandler:     func(context.Context, *mcp.ToolListChangedRequest) { f.event("tools changed") },
		PromptListChangedHandler:   func(context.Context, *mcp.PromptListChangedRequest) { f.event("prompts changed") },
		ResourceListChangedHandler: func(context.Context, *mcp.ResourceListChangedRequest) { f.event("resources changed") },
		ResourceUpdatedHandler: func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) {
			f.event("%s updated", r.Params.URI)
		},
		LoggingMessageHandler: func(_ context.Context, r *mcp.LoggingMessageRequest) {
			f.event("log %s %v", r.Params.Level, r.Params.Data)
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			f.event("%v at %v %s", r.Params.ProgressToken, r.Params.Progress, r.Params.Message)
		},
	}
}

type flowArgs struct {
	Text string `json:"text,omitempty"`
}

// tool adds a tool whose result is one text.
func (f *flows) tool(name string, do func(context.Context, *mcp.CallToolRequest) (string, error)) {
	mcp.AddTool(f.server, &mcp.Tool{Name: name, Description: "Does " + name + "."}, func(ctx context.Context, r *mcp.CallToolRequest, _ flowArgs) (*mcp.CallToolResult, any, error) {
		text, err := do(ctx, r)
		if err != nil {
			return nil, nil, err
		}
		return &mcp.CallToolResult{
			Content:           []mcp.Content{&mcp.TextContent{Text: text}},
			StructuredContent: map[string]any{"text": text, "big": 9007199254740993},
		}, nil, nil
	})
}

func (f *flows) addTools() {
	f.tool("consider", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		result, err := r.Session.CreateMessage(ctx, &mcp.CreateMessageParams{MaxTokens: 7, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "6 times 7?"}}}})
		if err != nil {
			return "", err
		}
		return result.Model + " says " + result.Content.(*mcp.TextContent).Text, nil
	})
	f.tool("look_around", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		result, err := r.Session.ListRoots(ctx, nil)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%d roots, %s", len(result.Roots), result.Roots[0].URI), nil
	})
	f.tool("paint", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		result, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Message: "Which color?", RequestedSchema: map[string]any{
			"type": "object", "properties": map[string]any{"color": map[string]any{"type": "string"}},
		}})
		if err != nil {
			return "", err
		}
		return fmt.Sprint(result.Action, " ", result.Content["color"]), nil
	})
	f.tool("work", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		for i := 1; i <= 3; i++ {
			p := &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Total: 3, Message: "step"}
			if err := r.Session.NotifyProgress(ctx, p); err != nil {
				return "", err
			}
		}
		return "worked", nil
	})
	f.tool("warn", func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
		return "warned", r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "warning", Data: "careful"})
	})
	f.tool("fail", func(context.Context, *mcp.CallToolRequest) (string, error) { return "", fmt.Errorf("no paper") })
	f.tool("linger", func(ctx context.Context, _ *mcp.CallToolRequest) (string, error) {
		f.event("lingering")
		<-ctx.Done()
		f.event("cancelled")
		return "", ctx.Err()
	})
	mcp.AddTool(f.server, &mcp.Tool{Name: "mix"}, func(_ context.Context, r *mcp.CallToolRequest, _ flowArgs) (*mcp.CallToolResult, any, error) {
		if answer, ok := r.Params.InputResponses["color"].(*mcp.ElicitResult); ok {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprint(answer.Content["color"], " in state ", r.Params.RequestState)}}}, nil, nil
		}
		return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"color": &mcp.ElicitParams{Message: "Mix what?"}}, RequestState: "s-1"}, nil, nil
	})
}

func (f *flows) addTexts() {
	f.server.AddResource(&mcp.Resource{URI: "file:///a.txt", Name: "a"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "a text", Blob: nil}}}, nil
	})
	f.server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "note://{n}", Name: "notes"}, func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Blob: []byte{0, 1, 255}}}}, nil
	})
	f.server.AddPrompt(&mcp.Prompt{Name: "greet"}, f.prompt)
}

func (f *flows) prompt(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "Greet " + r.Params.Arguments["who"]}}}}, nil
}

// play goes through all flows and returns what was observed.
func (f *flows) play() []string {
	f.note("%s %s %v", f.session.InitializeResult().ProtocolVersion, f.session.InitializeResult().Instructions, f.session.Ping(f.t.Context(), nil))
	f.lists()
	for _, tool := range []string{"consider", "look_around", "paint", "mix", "fail"} {
		f.call(tool)
	}
	f.progress()
	f.logging()
	f.texts()
	f.changes()
	f.subscription()
	f.cancellation()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.seen
}

// lists notes everything that can be listed.
func (f *flows) lists() {
	ctx := f.t.Context()
	for tool, err := range f.session.Tools(ctx, nil) {
		f.note("tool %+v %v", tool, err)
	}
	for prompt, err := range f.session.Prompts(ctx, nil) {
		f.note("prompt %s %v", prompt.Name, err)
	}
	for resource, err := range f.session.Resources(ctx, nil) {
		f.note("resource %s %v", resource.URI, err)
	}
	for template, err := range f.session.ResourceTemplates(ctx, nil) {
		f.note("template %s %v", template.URITemplate, err)
	}
}

func (f *flows) call(tool string) {
	f.callWith(&mcp.CallToolParams{Name: tool})
}

func (f *flows) callWith(p *mcp.CallToolParams) {
	result, err := f.session.CallTool(f.t.Context(), p)
	if err != nil {
		f.note("%s: %v", p.Name, err)
		return
	}
	text := ""
	if len(result.Content) > 0 {
		text = result.Content[0].(*mcp.TextContent).Text
	}
	f.note("%s: %q %v %v", p.Name, text, result.StructuredContent, result.IsError)
}

func (f *flows) progress() {
	p := &mcp.CallToolParams{Name: "work", Meta: mcp.Meta{}}
	p.SetProgressToken("token-1")
	f.callWith(p)
	f.await(3)
	f.note("%v", f.session.NotifyProgress(f.t.Context(), &mcp.ProgressNotificationParams{ProgressToken: "mine", Progress: 0.5}))
	f.await(1)
}

func (f *flows) logging() {
	if f.modern { // a request says for itself what it wants to hear
		f.callWith(&mcp.CallToolParams{Name: "warn", Meta: mcp.Meta{"io.modelcontextprotocol/logLevel": "info"}})
	} else {
		f.note("%v", f.session.SetLoggingLevel(f.t.Context(), &mcp.SetLoggingLevelParams{Level: "info"}))
		f.call("warn")
	}
	f.await(1)
}

func (f *flows) texts() {
	ctx := f.t.Context()
	for _, uri := range []string{"file:///a.txt", "note://7", "file:///none"} {
		result, err := f.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
		if err != nil {
			f.note("%s: %v", uri, err)
			continue
		}
		f.note("%s: %q %v", uri, result.Contents[0].Text, result.Contents[0].Blob)
	}
	prompt, err := f.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: "greet", Arguments: map[string]string{"who": "Bob"}})
	if err != nil {
		f.t.Fatal(err)
	}
	f.note("prompt: %s", prompt.Messages[0].Content.(*mcp.TextContent).Text)
	completion, err := f.session.Complete(ctx, &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"}, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "Ber"},
	})
	if err != nil {
		f.t.Fatal(err)
	}
	f.note("completion: %v", completion.Completion.Values)
}

// changes has both sides announce that a list of theirs has changed.
func (f *flows) changes() {
	f.tool("later", func(context.Context, *mcp.CallToolRequest) (string, error) { return "late", nil })
	f.await(1)
	f.server.AddPrompt(&mcp.Prompt{Name: "part"}, f.prompt)
	f.await(1)
	f.server.RemoveResourceTemplates("note://{n}")
	f.await(1)
	f.lists()
	if !f.modern { // there, clients announce nothing
		f.client.AddRoots(&mcp.Root{URI: "file:///more"})
		f.await(1)
		f.call("look_around")
	}
}

func (f *flows) subscription() {
	ctx := f.t.Context()
	f.note("%v", f.session.Subscribe(ctx, &mcp.SubscribeParams{URI: "file:///a.txt"}))
	if f.modern {
		f.await(2)
	} else {
		f.await(1)
	}
	f.note("%v", f.server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "file:///a.txt"}))
	f.await(1)
	f.note("%v", f.session.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: "file:///a.txt"}))
	f.await(1)
}

func (f *flows) cancellation() {
	ctx, cancel := context.WithCancel(f.t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := f.session.CallTool(ctx, &mcp.CallToolParams{Name: "linger"})
		ended <- err
	}()
	f.await(1)
	cancel()
	f.note("%v", <-ended)
	f.await(1)
	f.call("work")
}

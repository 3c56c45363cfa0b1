package peers

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// watched is the resource that clients subscribe to.
const watched = "notes://today"

// sdkServer is the program peer-sdk: a server of the Go SDK with a tool for everything that a server can start by itself.
// Its lists have small pages.
func sdkServer() {
	server := mcp.NewServer(&mcp.Implementation{
		Name: "sdk", Version: "1", Title: "The SDK's server", WebsiteURL: "https://sdk.example/",
		Icons: []mcp.Icon{{Source: "data:image/png;base64,AAAA", MIMEType: "image/png", Sizes: []string{"16x16"}}},
	}, &mcp.ServerOptions{
		Instructions: "Call what you like.",
		PageSize:     3,
		CompletionHandler: func(_ context.Context, r *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{r.Params.Argument.Value + "1", r.Params.Argument.Value + "2"}, Total: 2}}, nil
		},
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		RootsListChangedHandler: func(ctx context.Context, r *mcp.RootsListChangedRequest) {
			roots, err := r.Session.ListRoots(ctx, nil)
			_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: fmt.Sprint("the roots are now ", len(roots.Roots), err)})
		},
		ProgressNotificationHandler: func(ctx context.Context, r *mcp.ProgressNotificationServerRequest) {
			_ = r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Data: fmt.Sprint("the client is at ", r.Params.Progress)})
		},
	})
	offer(server)
	for _, name := range []string{"one", "two", "three", "four"} {
		server.AddPrompt(&mcp.Prompt{Name: name}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{{Role: "user", Content: &mcp.TextContent{Text: "prompt " + name}}}}, nil
		})
	}
	read := func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, MIMEType: "text/plain", Text: "nothing today"}}}, nil
	}
	server.AddResource(&mcp.Resource{URI: watched, Name: "today"}, read)
	server.AddResourceTemplate(&mcp.ResourceTemplate{URITemplate: "notes://{day}", Name: "any day"}, read)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintln(os.Stderr, "peer-sdk:", err)
	}
}

// offer adds the tools.
func offer(server *mcp.Server) {
	tools := map[string]func(context.Context, *mcp.CallToolRequest) (string, error){
		"form": func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
			result, err := r.Session.Elicit(ctx, form())
			return describe(result, err)
		},
		"page": func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
			result, err := r.Session.Elicit(ctx, &mcp.ElicitParams{Mode: "url", Message: "Sign in", URL: "https://login.example/?a=1&b=2", ElicitationID: "sign-in"})
			if err == nil {
				err = r.Session.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: "sign-in"})
			}
			return describe(result, err)
		},
		"sample": func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
			result, err := r.Session.CreateMessage(ctx, sampling())
			return describe(result, err)
		},
		"roots": func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
			result, err := r.Session.ListRoots(ctx, nil)
			return describe(result, err)
		},
		"echo_ping": func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
			return "pinged", r.Session.Ping(ctx, nil)
		},
		"steps": func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
			for i := range 3 {
				err := r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Progress: float64(i), Total: 3, Message: "step"})
				if err != nil {
					return "", err
				}
			}
			return "done", nil
		},
		"chat": func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
			for _, level := range []mcp.LoggingLevel{"debug", "info", "notice", "emergency"} {
				if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: level, Logger: "chat", Data: map[string]any{"level": level}}); err != nil {
					return "", err
				}
			}
			return "said", nil
		},
		"grow": func(context.Context, *mcp.CallToolRequest) (string, error) {
			mcp.AddTool(server, &mcp.Tool{Name: "new_tool"}, func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
				return &mcp.CallToolResult{}, nil, nil
			})
			server.AddPrompt(&mcp.Prompt{Name: "new"}, func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
				return &mcp.GetPromptResult{}, nil
			})
			server.AddResource(&mcp.Resource{URI: "notes://new", Name: "new"}, func(context.Context, *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				return &mcp.ReadResourceResult{}, nil
			})
			return "grown", nil
		},
		"touch": func(ctx context.Context, _ *mcp.CallToolRequest) (string, error) {
			return "touched", server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: watched})
		},
		"fail": func(context.Context, *mcp.CallToolRequest) (string, error) {
			return "", errors.New("as it was told to")
		},
		"linger": func(ctx context.Context, r *mcp.CallToolRequest) (string, error) {
			say := func(what string) error {
				return r.Session.NotifyProgress(context.WithoutCancel(ctx), &mcp.ProgressNotificationParams{ProgressToken: r.Params.GetProgressToken(), Message: what})
			}
			if err := say("waiting"); err != nil {
				return "", err
			}
			<-ctx.Done()
			return "", errors.Join(ctx.Err(), say("cancelled"))
		},
	}
	for name, run := range tools {
		mcp.AddTool(server, &mcp.Tool{Name: name, Title: "The tool " + name, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}}, func(ctx context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
			text, err := run(ctx, r)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, err
		})
	}
	mcp.AddTool(server, &mcp.Tool{Name: "interview"}, interview)
}

// interview asks for everything at once and then for one thing more (input_required, 2026-07-28).
func interview(_ context.Context, r *mcp.CallToolRequest, _ struct{}) (*mcp.CallToolResult, any, error) {
	switch r.Params.RequestState {
	case "":
		return &mcp.CallToolResult{
			InputRequests: mcp.InputRequestMap{"form": form(), "model": sampling(), "roots": &mcp.ListRootsParams{}},
			RequestState:  "first <round> & more",
		}, nil, nil
	case "first <round> & more":
		return &mcp.CallToolResult{
			InputRequests: mcp.InputRequestMap{"page": &mcp.ElicitParams{Mode: "url", Message: "Sign in", URL: "https://login.example/", ElicitationID: "again"}},
			RequestState:  fmt.Sprint("second round, after ", len(r.Params.InputResponses), " answers"),
		}, nil, nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: r.Params.RequestState}}}, nil, nil
}

func form() *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: "What is your name?", RequestedSchema: map[string]any{
		"type": "object", "required": []string{"name"},
		"properties": map[string]any{"name": map[string]any{"type": "string", "maxLength": 40}, "size": map[string]any{"type": "string", "enum": []string{"S", "M"}}},
	}}
}

func sampling() *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{
		MaxTokens: 10, Temperature: 0.5, SystemPrompt: "Be short.",
		Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "Hello?"}}},
	}
}

func describe(result any, err error) (string, error) {
	return show(result), err
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/internal/link"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/probe"
	"github.com/bouncer-mcp/bouncer/replay"
	"github.com/bouncer-mcp/bouncer/serve"
	"github.com/bouncer-mcp/bouncer/wrap"
)

func newServeCmd(a *app) *cobra.Command {
	var policies []string
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Be an MCP server that tells what bouncer would say, and why",
		Long: `serve is an MCP server on standard input and output: an agent can ask it what a server's
tools can do, how a call would be judged, whether a policy is sound, and why a call was
refused. It changes no policy, approves no call and reads no secret. It starts a server
only to list its tools, and only after you have agreed in your client.

bouncer init --with-serve adds it to a client.
` + codes(exitDone, exitFailed, exitMisused),
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), policies) },
	}
	cmd.Flags().StringArrayVar(&policies, "policy", nil, "policy `FILE` above the user's own; may be repeated, the first is the highest")
	return cmd
}

func (a *app) serve(ctx context.Context, policies []string) error {
	policies, err := a.loadable(policies)
	if err != nil {
		return err
	}
	at, err := a.places()
	if err != nil {
		return err
	}
	protected, err := a.protected(at)
	if err != nil {
		return err
	}
	paths, err := a.paths()
	if err != nil {
		return err
	}
	if a.interactive {
		fmt.Fprintln(a.err, "bouncer: waiting for an MCP client on standard input; bouncer init --with-serve adds this to a client")
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	in, out, restore := link.Stdio()
	defer restore()
	err = serve.Run(ctx, in, out, serve.Options{
		Version:   thisBuild().Version,
		Log:       at.State,
		Paths:     paths,
		Protected: protected,
		Policies:  func() ([]*policy.Layer, error) { return ownLayers(policies, at.Policy) },
		Servers:   a.servable,
		Recorded:  func() (map[string][]replay.Server, error) { return recorded(at.State) },
		Words:     typedWords,
	})
	if errors.Is(err, context.Canceled) {
		return nil // told to stop, and stopped
	}
	return err
}

// ownLayers are policy files of a command line over the user's own, highest first.
func ownLayers(files []string, user string) ([]*policy.Layer, error) {
	var layers []*policy.Layer
	for _, file := range append(slices.Clip(files), user) {
		layer, err := readPolicy(file)
		if file == user && errors.Is(err, os.ErrNotExist) {
			break
		}
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	return layers, nil
}

// typedWords tells a prompt apart as the hook does when somebody sits at the client.
func typedWords(text string) (own, pasted string) {
	input := wire.AppendQuoted([]byte(`{"hook_event_name":"UserPromptSubmit","source":"user","prompt":`), text)
	v, err := wire.ParseValue(append(input, '}'))
	if err != nil {
		return "", text
	}
	p := wordsIn(v, func(string) string { return "" })
	return p.own, p.pasted
}

// servable lists the servers with a command in the clients' configs. A file that can't be read is for doctor to name.
func (a *app) servable() ([]serve.Server, error) {
	found, err := a.find(selection{})
	if err != nil {
		return nil, err
	}
	var list []serve.Server
	servers, _ := found.Survey(a.known()...)
	for _, s := range servers {
		if s.Command == "" || s.State != wrap.Plain && s.State != wrap.Wrapped && s.State != wrap.Listed {
			continue
		}
		list = append(list, a.servableOne(s))
	}
	return list, nil
}

func (a *app) servableOne(s wrap.Server) serve.Server {
	spec, barred := a.specOf(s)
	argv := append([]string{spec.Command}, spec.Args...)
	return serve.Server{
		Name: s.Name, Client: s.File.Client, Scope: string(s.Scope), Barred: barred, Profile: s.Profile,
		Wrapped: s.State == wrap.Wrapped,
		Package: packageOf(argv),
		Command: strings.Join(append([]string{spec.Command}, wrap.MaskArgs(s.Args)...), " "),
		Policies: func() ([]*policy.Layer, error) {
			own, err := policyOf(s.Home)
			if s.Home == "" {
				var at places
				at, err = a.places()
				own = at.Policy
			}
			if err != nil {
				return nil, err
			}
			return ownLayers(s.Policies, own)
		},
		Tools: func(ctx context.Context) ([]policy.Tool, error) {
			ctx, cancel := context.WithTimeoutCause(ctx, probeFor, fmt.Errorf("none within %s", probeFor))
			defer cancel()
			return probe.Tools(ctx, spec)
		},
	}
}

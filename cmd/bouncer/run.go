package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/internal/direct"
	"github.com/bouncer-mcp/bouncer/internal/link"
	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/proxy"
	"github.com/bouncer-mcp/bouncer/session"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// enough is the memory up to which garbage may stand where a large frame has passed: four of the largest, in bytes. What is in use
// may go beyond it.
const enough = 4 * wire.DefaultMax

// graceFor is how long a server may take to end by itself once its client is gone.
const graceFor = 2 * time.Second

type runOptions struct {
	name     string
	policies []string
	profile  string
	config   string
	argv     []string
}

func newRunCmd(a *app) *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run --upstream-name=NAME [flags] -- COMMAND [ARG]...",
		Short: "Start one MCP server and stand between it and the client",
		Long: `run is what bouncer init writes into a client's config. Standard input and output
carry the protocol; notices go to standard error.

Entries written by the original bouncer have no command line behind --: with
--config the server is read from the entry of that name in FILE.
` + codes(exitDone, exitFailed, exitMisused),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.argv = args
			if dash := cmd.ArgsLenAtDash(); dash > 0 || dash < 0 && len(args) > 0 {
				return misuse("put -- before the server's command", "run takes the server's command behind --")
			}
			return a.runProxy(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.name, "upstream-name", "", "`NAME` of the server in the client's config")
	f.StringArrayVar(&o.policies, "policy", nil, "policy `FILE` above the user's own; may be repeated, the first is the highest")
	f.StringVar(&o.profile, "profile", "", "`PROFILE` of the decisions: "+choices()+"; default: the policy's, or else balanced")
	f.StringVar(&o.config, "config", "", "read the server from the entry in `FILE` that the original bouncer wrote")
	return cmd
}

// runProxy relays until one side ends.
func (a *app) runProxy(ctx context.Context, o runOptions) error {
	if o.name == "" && o.config == "" && len(o.argv) == 0 {
		return misuse("bouncer init writes these command lines", "run needs --upstream-name and a command behind --")
	}
	if len(o.argv) == 0 && o.config == "" {
		return misuse("put the server's command behind --", "run needs the server's command")
	}
	if err := checkProfile(o.profile); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if os.Getenv("GOMEMLIMIT") == "" { // or it is the person's
		debug.SetMemoryLimit(enough)
	}
	in, out, restore := link.Stdio()
	defer restore()
	client := proxy.End{In: direct.Shared(in), Out: direct.Shared(out)}
	notices := link.NewSpool(a.err) // a client that doesn't read them must not stall the relay
	defer within(graceFor/4, notices.Close)

	p, err := a.prepare(o)
	if err != nil {
		return tell(ctx, o.name, client, err)
	}
	defer func() { _ = p.log.Close() }() // each verdict is in the file already, and most results are
	p.spec.Stderr = notices
	child, err := link.Start(p.spec)
	if err != nil {
		return tell(ctx, o.name, client, err)
	}
	neighbours, err := p.join(o.name) // while the server is starting
	if err != nil {
		fmt.Fprintf(notices, "bouncer: %s: no other server of this client is known: %v\n", o.name, err)
	} else {
		defer func() { _ = neighbours.Close() }() // what it holds is in the files already
	}
	gone, unwatch := link.HangUp(in)
	defer unwatch()
	options := proxy.Options{
		Server:   o.name,
		Session:  p.session,
		Client:   client,
		Upstream: proxy.End{In: direct.Own(child.Out), Out: direct.Own(child.In)},
		Engine:   engine.New(p.config),
		Audit:    p.log,
		Memory:   session.Open(p.state).Server(p.config.Identity),
		Log:      notices,
		Grace:    graceFor,
		Gone:     gone,
		Ended:    func() string { return fmt.Sprintf("the server %q ended: %s", o.name, obituary(child)) },
	}
	if neighbours != nil {
		options.Ledger = neighbours
	}
	if err := a.askPerson(&options, p); err != nil {
		fmt.Fprintf(notices, "bouncer: %s: nobody can be asked but by the client: %v\n", o.name, err)
	}
	err = proxy.Run(ctx, options)
	child.Stop(graceFor / 4) // it has had its time if the client is gone, and is gone if it ended by itself
	if errors.Is(err, context.Canceled) {
		return nil // told to stop, and stopped
	}
	if errors.Is(err, proxy.ErrServerEnded) {
		return fmt.Errorf("server %q ended: %s", o.name, obituary(child))
	}
	return err
}

// within waits for done to be done, but no longer than that: what a client does not read must not keep bouncer alive.
func within(limit time.Duration, done func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		done()
	}()
	select {
	case <-ended:
	case <-time.After(limit):
	}
}

// tell gives the client why its server can't be had, as the answer to what it asks first, and fails.
func tell(ctx context.Context, name string, client proxy.End, err error) error {
	_ = proxy.Run(ctx, proxy.Options{ // it ends as the stream of a server that isn't there: the reason is err
		Server:   name,
		Client:   client,
		Upstream: proxy.End{In: strings.NewReader(""), Out: nowhere{}},
		Ended:    func() string { return fmt.Sprintf("bouncer did not start the server %q: %s", name, briefly(err)) },
	})
	return err
}

// briefly is err for the client, whose reader has no use for every folder of a PATH.
func briefly(err error) string {
	if missing, ok := errors.AsType[*link.StartError](err); ok && missing.NotFound {
		return fmt.Sprintf("the program %q was not found", missing.Command)
	}
	return err.Error()
}

// nowhere is the input of a server that could not be started.
type nowhere struct{}

func (nowhere) Write(p []byte) (int, error) { return len(p), nil }
func (nowhere) Close() error                { return nil }

// obituary says how a server ended and what it said last.
func obituary(c *link.Child) string {
	select {
	case <-c.Done():
	case <-time.After(time.Second):
		return "it closed its output"
	}
	how := c.Exit()
	if last := c.Tail(); len(last) > 0 {
		how += "; it said: " + strings.Join(last, " | ")
	}
	return how
}

// prepared is what a run needs to start.
type prepared struct {
	session string
	config  engine.Config
	spec    link.Spec
	log     keeper
	state   string // directory
	lasting lasting
}

// keeper is the audit log.
type keeper interface {
	proxy.Audit
	io.Closer
}

// openLog opens the audit log. A server that is only observed starts without one, too: nothing is to break in a roll-out.
func openLog(state string, observed bool) (keeper, error) {
	log, err := audit.Open(state)
	switch {
	case err == nil:
		return log, nil
	case observed:
		return unwritten{err}, nil
	}
	return nil, err
}

// unwritten stands in for a log that can't be had. The relay tells of each verdict that is lost.
type unwritten struct{ err error }

func (n unwritten) Verdict(audit.Verdict) error { return n.err }
func (n unwritten) Result(audit.Result) error   { return nil }
func (n unwritten) Close() error                { return nil }

// join makes this run one of those that its client has started. Without the others it hashes what it knows with a key of its own.
func (p *prepared) join(name string) (*session.Ledger, error) {
	l, err := session.OpenLedger(p.state, session.LedgerOptions{Server: name, Identity: p.config.Identity})
	if err != nil {
		_, _ = rand.Read(p.config.Key[:]) // it never fails
		return nil, err
	}
	p.config.Key, p.config.Shared = l.Key(), true
	return l, nil
}

// prepare loads the policy before the server is started: a policy that doesn't load must not be found out afterwards.
func (a *app) prepare(o runOptions) (*prepared, error) {
	at, err := a.places()
	if err != nil {
		return nil, err
	}
	set, err := loadPolicies(o.policies, at.Policy)
	if err != nil {
		return nil, err
	}
	protected, err := a.protected(at)
	if err != nil {
		return nil, err
	}
	dir, err := a.cwd()
	if err != nil {
		return nil, fmt.Errorf("working directory: %w", err)
	}
	spec, err := upstream(o)
	if err != nil {
		return nil, err
	}
	identity := session.Identity(o.name, append([]string{spec.Command}, spec.Args...))
	program, _, _ := strings.Cut(identity, "#")
	set, profile := engine.Bind(set, policy.Server{Name: o.name, Package: program}, o.profile)
	log, err := openLog(at.State, set.Observes())
	if err != nil {
		return nil, err
	}
	var id [8]byte
	if _, err := rand.Read(id[:]); err != nil {
		return nil, err
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	paths := proxy.NewPaths(dir, home)
	return &prepared{
		session: hex.EncodeToString(id[:]),
		log:     log,
		state:   at.State,
		lasting: lasting{at.Policy, o.policies, policy.Server{Name: o.name, Package: program}, profile.String(), filepath.Join(at.State, "policy.lock")},
		spec:    spec,
		config: engine.Config{
			Server: o.name, Identity: identity, Policy: set, Profile: profile, Paths: paths, Protected: protected,
		},
	}, nil
}

// loadPolicies layers the policy files of the command line, the user's own and the packs.
func loadPolicies(files []string, user string) (*policy.Set, error) {
	var layers []*policy.Layer
	for _, file := range files {
		layer, err := readPolicy(file)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	layer, err := readPolicy(user)
	switch {
	case err == nil:
		layers = append(layers, layer)
	case !errors.Is(err, os.ErrNotExist):
		return nil, err
	}
	return policy.NewSet(append(layers, packs.All()...)...), nil
}

func readPolicy(file string) (*policy.Layer, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	defer func() { _ = f.Close() }()                             // it was only read
	data, err := io.ReadAll(io.LimitReader(f, policy.MaxSize+1)) // one byte more is enough for Parse to refuse it
	if err != nil {
		return nil, fmt.Errorf("policy: %w", err)
	}
	return policy.Parse(file, data)
}

// protected are the places no tool may touch: bouncer's own, and the configs that start servers.
func (a *app) protected(at places) ([]string, error) {
	env, err := a.clientEnv()
	if err != nil {
		return nil, err
	}
	paths, err := wrap.NewStore(at.State).Configs() // also of clients that nobody knows
	if err != nil {                                 // no reason to leave a client without its servers
		fmt.Fprintf(a.err, "bouncer: a record of a wrapped config can't be read, so calls may name that file: %v\n", err)
	}
	paths = append(paths, at.State, filepath.Dir(at.Policy))
	for _, c := range clients.All() {
		for _, config := range c.Configs {
			paths = append(paths, config.Paths(env)...)
		}
		if c.Hook.File != nil {
			if file := c.Hook.File(env); file != "" {
				paths = append(paths, file)
			}
		}
	}
	return paths, nil
}

// upstream is the server's command line: behind --, or in the entry that the original bouncer wrote.
func upstream(o runOptions) (link.Spec, error) {
	env := link.Environ(os.Environ())
	if len(o.argv) > 0 {
		return link.Spec{Command: o.argv[0], Args: o.argv[1:], Env: env}, nil
	}
	data, err := os.ReadFile(o.config)
	if err != nil {
		return link.Spec{}, err
	}
	up, err := wrap.Stashed(data, o.name, os.LookupEnv)
	if err != nil {
		return link.Spec{}, fmt.Errorf("%s: %w", o.config, err)
	}
	return link.Spec{Command: up.Command, Args: up.Args, Env: append(env, up.Env...), Dir: up.Dir}, nil
}

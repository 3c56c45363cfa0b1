// Command bouncer puts itself in front of MCP servers and judges every tool call.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/internal/term"
)

func main() {
	os.Exit(run(os.Args[1:], newApp())) //nolint:forbidigo // this is main
}

// app is what every command needs from the world.
type app struct {
	in          io.Reader
	out, err    io.Writer
	getenv      func(string) string
	goos        string
	cwd         func() (string, error)
	interactive bool // somebody can answer a question
	color       bool // standard output shows colour
	wide        bool // standard output is no terminal, and lines on it may have any length
	live        bool // standard error shows a line that is written over

	shown int // columns of that line that are to be written over

	dialog func(turn string) approve.Channel // asks in a window; nil: there are none
	human  time.Duration                     // an answer that comes sooner is no person's; 0: as the proxy has it

	launch string // what configs start bouncer by; found out when empty
	home   string // --home
}

func newApp() *app {
	return &app{
		in:          os.Stdin,
		out:         os.Stdout,
		err:         os.Stderr,
		getenv:      os.Getenv,
		goos:        runtime.GOOS,
		cwd:         os.Getwd,
		interactive: term.Is(os.Stdin),
		color:       term.Colors(os.Stdout, os.Getenv),
		wide:        !term.Is(os.Stdout),
		live:        term.Is(os.Stderr),
		dialog:      func(turn string) approve.Channel { return approve.NewDialog(turn) },
	}
}

// run executes one command line and returns the exit code.
func run(args []string, a *app) int {
	if isHook(args) {
		return a.runHook(args)
	}
	out := &recorder{Writer: a.out}
	a.out = out
	root := newRootCmd(a)
	root.SetArgs(args)
	err := root.ExecuteContext(context.Background())
	if err == nil && out.err != nil {
		err = fmt.Errorf("standard output: %w", out.err) // whoever reads it does not know what was done
	}
	return a.report(err)
}

// recorder remembers the first write that failed.
type recorder struct {
	io.Writer
	err error
}

func (r *recorder) Write(p []byte) (int, error) {
	n, err := r.Writer.Write(p)
	if r.err == nil {
		r.err = err
	}
	return n, err
}

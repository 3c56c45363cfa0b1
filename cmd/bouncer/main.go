// Command bouncer puts itself in front of MCP servers and judges every tool call.
package main

import (
	"context"
	"io"
	"os"
	"runtime"

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
	live        bool // standard error shows a line that is written over

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
		live:        term.Is(os.Stderr),
	}
}

// run executes one command line and returns the exit code.
func run(args []string, a *app) int {
	root := newRootCmd(a)
	root.SetArgs(args)
	return a.report(root.ExecuteContext(context.Background()))
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/term"
)

// The exit codes of every command.
const (
	exitDone    = 0
	exitFailed  = 1
	exitMisused = 2
	exitFound   = 3 // a check found problems
)

// A fault is an error with what only the command line knows: an exit code and advice.
type fault struct {
	code  int
	err   error // nil when the command's own output said everything
	hints []string
}

func (f *fault) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.err.Error()
}

func (f *fault) Unwrap() error { return f.err }

// misuse is a command line that makes no sense.
func misuse(hint, format string, args ...any) error {
	f := &fault{code: exitMisused, err: fmt.Errorf(format, args...)}
	if hint != "" {
		f.hints = []string{hint}
	}
	return f
}

// advise adds advice to an error.
func advise(err error, hints ...string) error {
	return &fault{code: exitFailed, err: err, hints: hints}
}

// quietly ends a command with a code when its output already said why.
func quietly(code int) error {
	if code == exitDone {
		return nil
	}
	return &fault{code: code}
}

// report prints an error once and returns the exit code it stands for.
func (a *app) report(err error) int {
	if err == nil {
		return exitDone
	}
	f, ok := errors.AsType[*fault](err)
	if !ok {
		f = &fault{code: exitFailed, err: err}
	}
	if f.err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintf(a.err, "bouncer: %s\n", term.Visible(line))
		}
	}
	for _, hint := range f.hints {
		fmt.Fprintf(a.err, "hint: %s\n", term.Visible(hint))
	}
	return f.code
}

// exitIf is a code under a condition, else done.
func exitIf(condition bool, code int) int {
	if condition {
		return code
	}
	return exitDone
}

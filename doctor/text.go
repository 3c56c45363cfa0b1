package doctor

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// command is the line that repairs one entry, ready to be pasted into a shell. It names the scope, since naming a client alone
// includes the files of the project that one happens to be in.
func command(verb string, file File, e Entry) string {
	words := []string{"bouncer", verb, place(file)}
	if e.Scope != "" {
		words = append(words, quote("--scope="+string(e.Scope)))
	}
	return strings.Join(append(words, quote("--server="+e.Name)), " ")
}

// place names a file to a command.
func place(file File) string {
	switch {
	case file.Client != "":
		return quote("--client=" + file.Client)
	case file.Key != nil:
		return quote("--config="+file.Path) + " " + quote("--key="+wrap.FormatKey(file.Key))
	}
	return quote("--config=" + file.Path)
}

// fix is the command that repairs a file. It goes without a place for those that it finds by itself.
func fix(file File) string {
	if file.Client == "" || file.Shared {
		return "bouncer doctor --fix " + place(file)
	}
	return "bouncer doctor --fix"
}

// quote leaves plain words alone and puts others in single quotes, which shells read without expanding anything.
func quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(`-_./:=@+,\`, r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// shown is a word of a command line for reading: quoted, and without the secrets in it.
func shown(word string) string { return quote(wrap.MaskArgs([]string{word})[0]) }

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// fault takes an error apart into where and what. A fault without a place has line 0.
func fault(err error) (line, col int, msg string) {
	if e, ok := errors.AsType[*jsonc.Error](err); ok {
		return e.Line, e.Col, e.Msg
	}
	if e, ok := errors.AsType[*policy.Error](err); ok {
		return e.Line, e.Col, e.Msg
	}
	if e, ok := errors.AsType[*wrap.FileError](err); ok {
		return 0, 0, e.Err.Error()
	}
	return 0, 0, err.Error()
}

// each takes joined errors apart.
func each(err error) []error {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	return []error{err}
}

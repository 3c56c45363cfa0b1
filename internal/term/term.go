// Package term knows what may be shown on a terminal, and when.
package term

import (
	"fmt"
	"os"
	"strings"
	"unicode"

	"golang.org/x/term"
)

// Is reports whether a stream is attached to a terminal.
func Is(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Colors reports whether colour may be written to a stream: a terminal that understands it, and nobody set NO_COLOR.
func Colors(stream any, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" || !Is(stream) {
		return false
	}
	f, ok := stream.(*os.File)
	return ok && enableEscapes(f)
}

// Visible replaces everything a terminal would act upon rather than show. Server names, commands and file names come
// from files that others wrote, and an escape sequence in them could rewrite what a person believes to be reading.
func Visible(s string) string {
	s = strings.ToValidUTF8(s, string(unicode.ReplacementChar))
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case !hidden(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

func hidden(r rune) bool {
	return r != '\n' && r != '\t' && r != ' ' && !unicode.IsPrint(r)
}

// Color is one of the few colours that repeat what a word already says.
type Color string

// The colours.
const (
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
	Bold   Color = "1"
)

// Paint wraps s in the escape sequences of a colour.
func (c Color) Paint(s string) string { return "\x1b[" + string(c) + "m" + s + "\x1b[0m" }

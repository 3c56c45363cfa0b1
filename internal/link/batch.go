package link

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf16"
)

// batchLineMax is the longest command line that cmd.exe takes, in UTF-16 units. It cuts off the rest without a word.
const batchLineMax = 8191

// needsShell reports whether Windows can't run a file by itself: a batch file, or anything else with a program of its own to open it. Dots and
// spaces at the end don't count, since Windows drops them.
func needsShell(file string) bool {
	switch strings.ToLower(windowsExt(strings.TrimRight(file, ". "))) {
	case ".exe", ".com", "":
		return false
	default:
		return true
	}
}

// batchLine returns the command line with which cmd.exe runs a batch file so that each argument arrives as it is.
//
// Three parsers read it. cmd.exe reads the line; it reads the arguments a second time where the batch file says %*; and the program behind splits them
// by the rules of the C runtime. Between double quotes only % means anything to cmd.exe, so everything doubtful is quoted. A quote inside is doubled:
// that closes and opens for cmd.exe, which is the same as nothing, and is one literal quote to the C runtime (the `\"` that is usual elsewhere would
// leave cmd.exe outside the quotes). Each % becomes %%cd:~,%: a first % that stands for itself and an empty substring of the current directory, so
// that no two of the argument's own can enclose the name of a variable. Command extensions, which this needs, are switched on, and delayed
// expansion, which would give ! a meaning, off; AutoRun commands are not run.
//
// Out of reach: a batch file that switches delayed expansion on or passes its arguments on by CALL.
func batchLine(file string, args []string) (string, error) {
	if strings.ContainsAny(file, "\"\r\n\x00") || strings.HasSuffix(file, `\`) {
		return "", fmt.Errorf("batch file has an impossible name: %q", file)
	}
	var b strings.Builder
	b.WriteString(`cmd.exe /d /e:on /v:off /s /c "`)
	b.WriteString(quoteBatch(file))
	for i, arg := range args {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return "", fmt.Errorf("argument %d holds a line break or NUL, which can't be passed to a batch file", i+1)
		}
		if !plainBatch(arg) {
			arg = quoteBatch(arg)
		}
		b.WriteString(" " + arg)
	}
	b.WriteByte('"')
	if len(utf16.Encode([]rune(b.String()))) > batchLineMax {
		return "", errors.New("arguments are longer than a batch file can be passed")
	}
	return b.String(), nil
}

// plainBatch reports whether an argument needs no quotes. It lists what is known to be harmless, not what is known to be dangerous. A final backslash
// needs them for the sake of batch files that put quotes around their arguments themselves.
func plainBatch(arg string) bool {
	const harmless = `abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789#$*+-./:?@\_`
	return strings.Trim(arg, harmless) == "" && arg != "" && !strings.HasSuffix(arg, `\`)
}

func quoteBatch(arg string) string {
	var b strings.Builder
	b.WriteByte('"')
	slashes := 0
	for i := range len(arg) { // bytes, not runes: file names may hold lone surrogates
		switch arg[i] {
		case '"':
			// Backslashes before a quote would escape it for the C runtime, unless they are doubled.
			b.WriteString(strings.Repeat(`\`, slashes))
			b.WriteByte('"')
		case '%':
			b.WriteString(`%%cd:~,`)
		}
		b.WriteByte(arg[i])
		slashes++
		if arg[i] != '\\' {
			slashes = 0
		}
	}
	b.WriteString(strings.Repeat(`\`, slashes))
	b.WriteByte('"')
	return b.String()
}

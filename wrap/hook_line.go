package wrap

import (
	"fmt"
	"strings"
)

// hookLine is a command that a client's shell runs: bouncer, to be told a prompt.
type hookLine struct {
	launcher string
	home     string // --home
	guarded  bool   // it ends with success whatever becomes of bouncer
	others   bool   // it says more than bouncer has written
}

// The client takes an exit code of 2 for a refusal of the prompt, and 2 is what a shell says of a line that it can't read and
// the Go runtime of a crash. So the line always ends with 0. On Windows it may be PowerShell that reads it, and the old one
// knows no ||.
const (
	guard        = " || exit 0"
	windowsGuard = "; exit 0"
)

// text writes the line for the shells of a platform. A path that they don't all read alike is an error.
func (l hookLine) text(os string) (string, error) {
	launcher, end, quote := l.launcher, guard, shellWord
	if os == "windows" {
		launcher, end, quote = forward(launcher), windowsGuard, windowsWord
	}
	word, err := quote(launcher)
	if err != nil {
		return "", err
	}
	line := word + " hook prompt"
	if l.home != "" {
		home := l.home
		if os == "windows" {
			home = forward(home)
		}
		if word, err = quote("--home=" + home); err != nil {
			return "", err
		}
		line += " " + word
	}
	return line + end, nil
}

// forward writes a path with the slashes that every shell of Windows leaves alone.
func forward(path string) string { return strings.ReplaceAll(path, `\`, "/") }

func isPlainWord(word string) bool {
	return word != "" && strings.IndexFunc(word, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_./:=+", r)
	}) < 0
}

// shellWord quotes a word for sh, bash and zsh.
func shellWord(word string) (string, error) {
	if strings.Contains(word, "${") {
		return "", fmt.Errorf("its client would take ${ in %q for a variable", word)
	}
	if isPlainWord(word) {
		return word, nil
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'", nil
}

// windowsWord refuses what would have to be quoted: bash and PowerShell start a quoted program in ways that exclude each other,
// and which of them the client has is not known.
func windowsWord(word string) (string, error) {
	if !isPlainWord(word) {
		return "", fmt.Errorf("not every shell that may run it takes %s as one word", word)
	}
	return word, nil
}

// parseHookLine reads a command. ok is false for one that does not start bouncer for this.
func parseHookLine(text string, known []string) (l hookLine, ok bool) {
	words, whole := shellWords(text)
	if len(words) < 3 || words[1] != "hook" || words[2] != "prompt" {
		return l, false
	}
	l.launcher = words[0]
	for _, launcher := range known {
		if forward(launcher) == forward(l.launcher) {
			l.launcher = launcher
		}
	}
	if !isLauncher(l.launcher, known) {
		return l, false
	}
	rest := words[3:]
	if len(rest) > 0 {
		if home, found := strings.CutPrefix(rest[0], "--home="); found {
			l.home, rest = home, rest[1:]
		}
	}
	end := strings.Join(rest, " ")
	l.guarded = whole && (end == "|| exit 0" || end == "; exit 0")
	l.others = !whole || !l.guarded && end != ""
	return l, true
}

// shellWords takes a simple command line apart; operators are words of their own. whole is false when there is something in
// it that this does not understand.
func shellWords(text string) (words []string, whole bool) {
	var word strings.Builder
	begun := false
	end := func() {
		if begun {
			words = append(words, word.String())
		}
		word.Reset()
		begun = false
	}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == ' ' || c == '\t':
			end()
		case c == '\'' || c == '"':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 {
				return words, false
			}
			word.WriteString(text[i+1 : i+1+n])
			begun = true
			i += n + 1
		case c == '\\' && i+1 < len(text) && strings.IndexByte(`'"\ `, text[i+1]) >= 0:
			i++
			word.WriteByte(text[i])
			begun = true
		case c == ';':
			end()
			words = append(words, ";")
		case c == '|' || c == '&':
			end()
			n := i
			for n < len(text) && text[n] == c {
				n++
			}
			words = append(words, text[i:n])
			i = n - 1
		default:
			word.WriteByte(c)
			begun = true
		}
	}
	end()
	return words, true
}

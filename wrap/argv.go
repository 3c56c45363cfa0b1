package wrap

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// runLine is what the arguments of `bouncer run` say.
type runLine struct {
	name     string
	named    bool // --upstream-name is there; name may be empty all the same
	policies []string
	profile  string
	home     string
	config   string
	others   []string // flags that wrapping does not set, as they stand
	dash     int      // index of the `--`, -1 if there is none
}

// parseRun reads the arguments of a launcher. ok is false when they start something else than `bouncer run`.
func parseRun(args []string) (line runLine, ok bool) {
	line.dash = -1
	if len(args) == 0 || args[0] != "run" {
		return line, false
	}
	for i := 1; i < len(args); i++ {
		if args[i] == "--" {
			line.dash = i
			return line, true
		}
		flag, value, inline := strings.Cut(args[i], "=")
		if takesValue(flag) && !inline && i+1 < len(args) {
			i++
			value = args[i]
		}
		line.set(flag, value, args[i])
	}
	return line, true
}

func takesValue(flag string) bool {
	return slices.Contains([]string{"--upstream-name", "--policy", "--user-policy", "--profile", "--home", "--config"}, flag)
}

func (l *runLine) set(flag, value, word string) {
	switch flag {
	case "--upstream-name":
		l.name, l.named = value, true
	case "--policy", "--user-policy":
		l.policies = append(l.policies, value)
	case "--profile":
		l.profile = value
	case "--home":
		l.home = value
	case "--config":
		l.config = value
	default:
		l.others = append(l.others, word)
	}
}

// equal reports whether two lines mean the same, the upstream's own command aside.
func (l runLine) equal(o runLine) bool {
	return l.named == o.named && l.name == o.name && slices.Equal(l.policies, o.policies) &&
		l.profile == o.profile && l.home == o.home && l.config == o.config && slices.Equal(l.others, o.others)
}

// words are the line's flags.
func (l runLine) words() []string {
	list := []string{"--upstream-name=" + l.name}
	for _, policy := range l.policies {
		list = append(list, "--policy="+policy)
	}
	if l.profile != "" {
		list = append(list, "--profile="+l.profile)
	}
	if l.home != "" {
		list = append(list, "--home="+l.home)
	}
	if l.config != "" {
		list = append(list, "--config="+l.config)
	}
	return append(list, l.others...)
}

// flags writes the line's flags as literals. name is the literal of the server's name: it is taken over as it is
// spelled, since it may hold what no string of ours can (a lone surrogate).
func (l runLine) flags(name []byte) [][]byte {
	var list [][]byte
	for _, word := range l.words() {
		list = append(list, jsonc.Quote(word))
	}
	list[0] = slices.Concat([]byte(`"--upstream-name=`), name[1:])
	return list
}

// isLauncher reports whether a command starts bouncer: one of the known launchers, or anything called bouncer.
func isLauncher(command string, known []string) bool {
	if slices.Contains(known, command) {
		return true
	}
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	return base == "bouncer" || strings.EqualFold(base, "bouncer.exe")
}

// texts decodes the elements of an array. bad is the index of the first one that is no string, and stands as its
// literal; -1 if there is none.
func texts(doc *jsonc.Doc, array jsonc.Value) (list []string, bad int) {
	bad = -1
	for i, elem := range array.Elems {
		text, ok := doc.Text(elem)
		if !ok {
			text = string(doc.Literal(elem))
			if bad < 0 {
				bad = i
			}
		}
		list = append(list, text)
	}
	return list, bad
}

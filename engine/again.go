package engine

import (
	"crypto/sha256"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// digestArgs stands for the arguments of a call, however they are spelled: after an error, an agent writes the same moment in
// another form, or lists a guest twice.
func digestArgs(args wire.Value) [sha256.Size]byte {
	if k := args.Kind(); k == 0 || k == 'n' {
		args = wire.Value("{}")
	}
	text := wire.Canonical(args)
	same := make([]byte, 0, len(text))
	done := 0
	listed := make(map[string]bool)
	for leaf := range wire.Value(text).Leaves() {
		value, isText := leaf.Value.Text()
		if !isText || leaf.IsKey {
			continue
		}
		start, end := leaf.Value.Span(text)
		if at := asMoment(value); at != value {
			same = wire.AppendQuoted(append(same, text[done:start]...), at)
			done = end
		}
		if list, ok := listOf(leaf.Path); ok && isMail(value) && !strings.ContainsAny(value, " \t\r\n") {
			if again := list + "\x00" + value; !listed[again] {
				listed[again] = true
			} else {
				same = append(same, text[done:start-len(",")]...)
				done = end
			}
		}
	}
	return sha256.Sum256(append(same, text[done:]...))
}

// listOf returns the path of the list that a path leads into the next element of.
func listOf(path wire.Path) (list string, ok bool) {
	if len(path) == 0 {
		return "", false
	}
	last := len(path) - 1
	if _, ok = path[last].Index(); ok {
		list = path[:last].String()
	}
	return list, ok
}

// asMoment returns a text that is nothing but a day and a time in the one form that is used for comparing: 2024-05-19T12:00:00 is
// 2024-05-19 12:00.
func asMoment(text string) string {
	const day, minute, second = len("2024-05-19"), len("2024-05-19 12:00"), len("2024-05-19 12:00:00")
	plain := text
	if len(text) == second {
		plain = strings.TrimSuffix(text, ":00")
	}
	if len(plain) != minute || plain[day] != ' ' && plain[day] != 'T' {
		return text
	}
	plain = plain[:day] + " " + plain[day+1:]
	form := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return '0'
		}
		return r
	}, plain)
	if form != "0000-00-00 00:00" {
		return text
	}
	return plain
}

package replay

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Policy writes lessons down as a policy of the full form. Each rule carries what it was learned from as a comment. head
// becomes the comment at the top.
func Policy(head []string, lessons []Lesson) []byte {
	var b strings.Builder
	for _, line := range head {
		b.WriteString(strings.TrimRight("# "+comment(line), " ") + "\n")
	}
	b.WriteString("\nversion: 1\n")
	if len(lessons) == 0 {
		return []byte(b.String())
	}
	b.WriteString("\nservers:\n")
	server, tool := "\x00", ""
	for _, l := range lessons {
		if l.Server != server {
			fmt.Fprintf(&b, "  %s:\n    tools:\n", quoted(l.Server))
			server, tool = l.Server, "\x00"
		}
		if l.Tool != tool {
			fmt.Fprintf(&b, "      %s:\n", quoted(l.Tool))
			tool = l.Tool
		}
		l.write(&b)
	}
	return []byte(b.String())
}

// Head is what stands above a policy that was learned from so many calls.
func Head(calls int, from, to time.Time, taught bool) []string {
	head := []string{
		"Learned from " + plural(calls, "call", "calls") + ", " + from.UTC().Format(time.DateOnly) + " to " + to.UTC().Format(time.DateOnly),
		"A proposal: read each rule before you use it.",
	}
	if !taught {
		head = append(head, "There is nothing to learn yet.")
	}
	return head
}

func (l Lesson) write(b *strings.Builder) {
	const indent = "        "
	switch l.Field {
	case "max_calls":
		fmt.Fprintf(b, "%smax_calls: %s%s\n", indent, l.Values[0].Value, trailing(l.Values[0].Why))
	case "arg_patterns":
		fmt.Fprintf(b, "%sarg_patterns:\n", indent)
		for _, v := range l.Values {
			fmt.Fprintf(b, "%s  %s: %s%s\n", indent, quoted(v.Param), quoted(v.Value), trailing(v.Why))
		}
	default:
		fmt.Fprintf(b, "%s%s:\n", indent, l.Field)
		for _, v := range l.Values {
			fmt.Fprintf(b, "%s  - %s%s\n", indent, quoted(v.Value), trailing(v.Why))
		}
	}
}

// quoted writes a text in quotes, which YAML reads like JSON. What it would not is escaped.
func quoted(s string) string {
	var b strings.Builder
	for _, r := range string(wire.AppendQuoted(nil, s)) {
		if r > 0x7e {
			fmt.Fprintf(&b, `\U%08x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func trailing(why string) string {
	if why == "" {
		return ""
	}
	return " # " + comment(why)
}

// comment keeps a text on its line, and plain.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

func itoa(n int) string { return strconv.Itoa(n) }

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return itoa(n) + " " + many
}

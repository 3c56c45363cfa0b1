package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/bouncer-mcp/bouncer/internal/term"
)

// printf writes text for people to standard output. What a terminal would act upon is made visible.
func (a *app) printf(format string, args ...any) {
	fmt.Fprint(a.out, term.Visible(fmt.Sprintf(format, args...)))
}

// printJSON writes the one JSON document of a command.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// printTable writes rows in aligned columns, indented by two spaces per level.
func (a *app) printTable(indent string, rows [][]string) {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		writeRow(w, row)
	}
	_ = w.Flush() // a strings.Builder takes everything
	for line := range strings.Lines(b.String()) {
		a.printf("%s%s\n", indent, strings.TrimRight(line, " \n"))
	}
}

// writeRow writes one row; a tab or line break inside a cell would start another.
func writeRow(w io.Writer, cells []string) {
	for i, cell := range cells {
		if i > 0 {
			fmt.Fprint(w, "\t")
		}
		fmt.Fprint(w, strings.NewReplacer("\t", " ", "\n", " ", "\v", " ", "\f", " ").Replace(term.Visible(cell)))
	}
	fmt.Fprint(w, "\n")
}

// printDiff writes a unified diff, in colour where there is any.
func (a *app) printDiff(diff string) {
	for line := range strings.Lines(term.Visible(diff)) {
		line = strings.TrimSuffix(line, "\n")
		if a.color {
			line = paintDiff(line)
		}
		fmt.Fprintln(a.out, line)
	}
}

func paintDiff(line string) string {
	switch {
	case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		return term.Bold.Paint(line)
	case strings.HasPrefix(line, "+"):
		return term.Green.Paint(line)
	case strings.HasPrefix(line, "-"):
		return term.Red.Paint(line)
	}
	return line
}

// counted puts a number before a word: "1 server", "2 servers".
func counted(n int, word string) string {
	if n == 1 {
		return "1 " + word
	}
	return fmt.Sprintf("%d %ss", n, word)
}

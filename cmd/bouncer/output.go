package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

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

// The measures of what is laid out, in columns of a terminal.
const (
	lineWidth = 80
	cellGap   = 2
	cellLeast = 7 // no cell is made narrower
)

// printTable writes rows in aligned columns, the first row being their titles. On a terminal a table wider than a line gets
// narrower by leaving out the middle of cells in the yielding columns, the first one first; a title is never cut. Names and
// whatever else is there to be copied must not yield. Elsewhere everything stays whole.
func (a *app) printTable(indent string, rows [][]string, yielding ...int) {
	rows = visible(rows)
	widths := measure(rows)
	if !a.wide && len(rows) > 0 {
		narrow(widths, measure(rows[:1]), lineWidth-len(indent), yielding)
	}
	var table strings.Builder
	for _, row := range rows {
		table.WriteString(strings.TrimRight(indent+align(row, widths), " ") + "\n")
	}
	a.printf("%s", table.String())
}

// printReasons writes a table whose last column is a sentence: it is broken into lines instead of being cut.
func (a *app) printReasons(indent string, rows [][]string) {
	const sentence = 32 // columns that it gets at least
	rows = visible(rows)
	var heads [][]string
	for _, row := range rows {
		heads = append(heads, row[:len(row)-1])
	}
	widths := measure(heads)
	used := len(indent)
	for _, w := range widths {
		used += w + cellGap
	}
	for i, row := range rows {
		head := indent + align(heads[i], widths)
		for _, line := range term.Fill(row[len(row)-1], max(sentence, lineWidth-used)) {
			a.printf("%s\n", strings.TrimRight(head+line, " "))
			head = strings.Repeat(" ", used)
		}
	}
}

// visible shows every cell in one line.
func visible(rows [][]string) [][]string {
	shown := make([][]string, len(rows))
	for i, row := range rows {
		for _, cell := range row {
			shown[i] = append(shown[i], oneLine(cell))
		}
	}
	return shown
}

// measure returns how wide each column of a table is.
func measure(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], term.Width(cell))
		}
	}
	return widths
}

// align puts the cells of a row into their columns.
func align(row []string, widths []int) string {
	var line strings.Builder
	for i, cell := range row {
		line.WriteString(term.Pad(term.Shorten(cell, widths[i]), widths[i]+cellGap))
	}
	return line.String()
}

// oneLine shows a cell without what would start another.
func oneLine(cell string) string {
	blank := func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		return r
	}
	return strings.Map(blank, term.Visible(cell))
}

// narrow makes the yielding columns narrower, in their order, until all fit into a line. None gets narrower than its title.
func narrow(widths, titles []int, limit int, yielding []int) {
	over := -cellGap - limit
	for _, w := range widths {
		over += w + cellGap
	}
	for _, i := range yielding {
		give := max(0, min(over, widths[i]-max(cellLeast, titles[i])))
		widths[i] -= give
		over -= give
	}
}

// printFilled writes a text in lines that fit, the second and further ones indented by two more columns.
func (a *app) printFilled(indent, text string) {
	for i, line := range term.Fill(oneLine(text), lineWidth-len(indent)-2) {
		if i > 0 {
			line = "  " + line
		}
		a.printf("%s%s\n", indent, line)
	}
}

// shownName puts a name in quotes where it could not be seen as a name otherwise.
func shownName(name string) string {
	if name == "" || strings.TrimSpace(name) != name {
		return strconv.Quote(name)
	}
	return name
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

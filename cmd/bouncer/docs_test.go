package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write the pages of the documentation anew")

// page reads a page as it stands on Linux.
func page(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(list) < 10 {
		t.Fatalf("%d pages, %v", len(list), err)
	}
	return append(list, "../../README.md", "../../CONTRIBUTING.md", "../../.github/ISSUE_TEMPLATE/bug_report.yml")
}

// TestCommandPage holds docs/cli.md against the commands. -update writes it.
func TestCommandPage(t *testing.T) {
	const file = "../../docs/cli.md"
	root := newRootCmd(&app{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	var now bytes.Buffer
	now.WriteString("# Commands\n\n<!-- written by go test -run TestCommandPage -update ./cmd/bouncer -->\n\n" +
		"What `--help` says of each command. Names, flags, exit codes and the fields of `--json` are promises: they stay.\n")
	writeCommand(&now, root)
	if *update {
		if err := os.WriteFile(file, now.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if text := page(t, file); text != now.String() {
		t.Errorf("docs/cli.md is not what the commands say; go test -run TestCommandPage -update ./cmd/bouncer writes it:\n%s",
			diff.Diff(file, []byte(text), "said", now.Bytes()))
	}
}

// writeCommand describes a command and those below it.
func writeCommand(w *bytes.Buffer, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	fmt.Fprintf(w, "\n## %s\n\n%s.\n\n```text\n%s\n```\n", cmd.CommandPath(), cmd.Short, usage(cmd))
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() && sub.Name() != "help" && sub.Name() != "completion" {
			writeCommand(w, sub)
		}
	}
}

// usage is the help of a command without what stands on every page.
func usage(cmd *cobra.Command) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(cmd.Long) + "\n\n" + strings.TrimRight(cmd.UsageString(), "\n"))
	text, _, _ := strings.Cut(b.String(), "\n\nUse \"")
	text, _, _ = strings.Cut(text, "\n\nGlobal Flags:")
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(text, "")
}

// TestDocumentedCommands asks bouncer about every command line of its own that any page mentions, in a sentence or in a block:
// whether there is such a command and whether it has these flags.
func TestDocumentedCommands(t *testing.T) {
	mentioned := regexp.MustCompile("(?m)`(bouncer( [^`]*)?)`|^ *(?:\\$ )?(bouncer .*)$")
	seen := 0
	for _, file := range pages(t) {
		text := page(t, file)
		if filepath.Base(file) == "cli.md" {
			continue
		}
		for _, m := range mentioned.FindAllStringSubmatch(text, -1) {
			line := m[1] + m[3]
			if m[3] != "" && !inBlock(text, m[0]) {
				continue // a sentence
			}
			seen++
			if fault := unknown(line); fault != "" {
				t.Errorf("%s: %s: %s", filepath.Base(file), line, fault)
			}
		}
	}
	if seen < 50 {
		t.Errorf("only %d command lines found", seen)
	}
}

// inBlock reports whether a line stands in a block of a page that shows commands.
func inBlock(text, line string) bool {
	before, _, _ := strings.Cut(text, line)
	if strings.Count(before, "```")%2 == 0 {
		return false
	}
	block := before[strings.LastIndex(before, "```"):]
	typed := strings.HasPrefix(strings.TrimLeft(line, " "), "$ ")
	return strings.HasPrefix(block, "```console") && typed || strings.HasPrefix(block, "```sh")
}

// unknown says what of a command line bouncer does not have, or nothing.
func unknown(line string) string {
	line, _, _ = strings.Cut(line, " #")
	line, _, _ = strings.Cut(line, " -- ")
	line, _, _ = strings.Cut(line, " | ")
	line, _, _ = strings.Cut(line, " || ")
	line, _, _ = strings.Cut(line, "   ") // its explanation stands in another column
	words := strings.Fields(regexp.MustCompile(`[\[\]{}…,;]|\.\.\.`).ReplaceAllString(line, " "))[1:]
	root := newRootCmd(&app{in: strings.NewReader(""), out: io.Discard, err: io.Discard})
	root.InitDefaultCompletionCmd()
	cmd, rest, err := root.Find(words)
	if err != nil {
		return err.Error()
	}
	if cmd == root && len(rest) > 0 && !strings.HasPrefix(rest[0], "-") {
		return "there is no such command"
	}
	cmd.InitDefaultHelpFlag()
	for _, word := range rest {
		name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
		if strings.HasPrefix(word, "--") && name != "" && cmd.Flag(name) == nil {
			return "there is no flag --" + name
		}
	}
	return ""
}

// TestEveryPackageIsPlaced holds the table of docs/architecture.md against the packages that there are.
func TestEveryPackageIsPlaced(t *testing.T) {
	text := page(t, "../../docs/architecture.md")
	files, err := filepath.Glob("../../*/*.go")
	more, err2 := filepath.Glob("../../internal/*/*.go")
	if err != nil || err2 != nil || len(files) < 50 {
		t.Fatalf("%d files, %v, %v", len(files), err, err2)
	}
	for _, file := range append(files, more...) {
		name := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(file)), "../../")
		if name != "bench" && !strings.Contains(text, "| `"+name+"` |") {
			t.Errorf("docs/architecture.md does not say what %s hides", name)
			text += "| `" + name + "` |" // once is enough
		}
	}
}

// TestLinks follows every link from page to page and to headings.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)]+)\)`)
	for _, file := range pages(t) {
		for _, m := range link.FindAllStringSubmatch(page(t, file), -1) {
			target, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") {
				continue
			}
			if target = filepath.Join(filepath.Dir(file), target); strings.HasPrefix(m[1], "#") {
				target = file
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: %s leads nowhere", filepath.Base(file), m[1])
			} else if anchor != "" && !hasHeading(page(t, target), anchor) {
				t.Errorf("%s: %s: there is no such heading", filepath.Base(file), m[1])
			}
		}
	}
}

// hasHeading reports whether one of a page's headings has an anchor.
func hasHeading(text, anchor string) bool {
	drop := regexp.MustCompile(`[^a-z0-9 _-]`)
	for line := range strings.Lines(text) {
		if heading, ok := strings.CutPrefix(line, "#"); ok {
			heading = strings.TrimSpace(strings.TrimLeft(heading, "#"))
			if strings.ReplaceAll(drop.ReplaceAllString(strings.ToLower(heading), ""), " ", "-") == anchor {
				return true
			}
		}
	}
	return false
}

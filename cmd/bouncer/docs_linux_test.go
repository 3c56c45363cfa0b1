package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
)

// readmeHome is the home that the commands of a page run in, unless testdata/docs has another one for it.
func readmeHome() map[string]string {
	return map[string]string{
		".cursor/mcp.json": `{
  "mcpServers": {
    // the team's calendar
    "calendar": {
      "command": "npx",
      "args": ["-y", "calendar-mcp@2.1.0"],
      "env": { "CALENDAR_TOKEN": "${env:CALENDAR_TOKEN}" }
    },
    "tickets": { "url": "https://tickets.example.com/mcp" }
  }
}
`,
		".claude.json": `{
  "numStartups": 7,
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": ["-y", "@modelcontextprotocol/server-filesystem@2026.8.31", "/home/dana/notes"]
    }
  }
}
`,
		"bin/npx": "#!/bin/sh\nexit 1\n",
	}
}

// TestDocs runs every command line that a console block of the README or of a page in docs shows, in the order of the page and
// in a home of its own, and compares what it prints. A block that shows commands only is run, and its output is nobody's
// business. The pages show what Linux prints. -update writes the output into them instead.
func TestDocs(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append([]string{"../../README.md"}, pages...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "```console\n") {
			continue
		}
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		t.Run(name, func(t *testing.T) {
			now := newTypist(t, name).page(string(text))
			if now == string(text) {
				return
			}
			if *update {
				if err := os.WriteFile(file, []byte(now), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("%s does not show what its commands print; go test -run TestDocs -update ./cmd/bouncer writes it:\n%s",
				file, diff.Diff(file, text, "printed", []byte(now)))
		})
	}
}

// typist types the commands of one page.
type typist struct {
	t    *testing.T
	home string
	days []string // that it may be today
}

func newTypist(t *testing.T, page string) *typist {
	ty := &typist{t: t, home: filepath.Join(scriptRoot(t), "dana"), days: []string{time.Now().Format(time.DateOnly)}}
	files, script := readmeHome(), ""
	if own, err := txtar.ParseFile(filepath.Join("..", "..", "testdata", "docs", page+".txtar")); err == nil {
		script = string(own.Comment)
		for _, f := range own.Files {
			files[f.Name] = strings.ReplaceAll(string(f.Data), "/home/dana", ty.home)
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(ty.home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"bouncer", "mail-server", "fakeclient"} {
		copyExecutable(t, filepath.Join(ty.home, "bin", name))
	}
	if out, err := ty.run("set -e\n" + script); err != nil {
		t.Fatalf("what comes before the page: %v\n%s", err, out)
	}
	return ty
}

// page returns a page with what its commands print now.
func (ty *typist) page(text string) string {
	var now strings.Builder
	blocks := strings.Split(text, "```")
	for i, block := range blocks {
		if i > 0 {
			now.WriteString("```")
		}
		if lines, ok := strings.CutPrefix(block, "console\n"); ok && i%2 == 1 {
			block = "console\n" + ty.block(lines)
		}
		now.WriteString(block)
	}
	return now.String()
}

// block types the commands of one block.
func (ty *typist) block(text string) string {
	var now strings.Builder
	answered := false
	for line := range strings.Lines(text) {
		answered = answered || !strings.HasPrefix(line, "$ ")
	}
	for line := range strings.Lines(text) {
		command, ok := strings.CutPrefix(line, "$ ")
		if !ok {
			continue // what it printed once
		}
		now.WriteString(line)
		if strings.HasPrefix(command, "go ") && !strings.HasPrefix(command, "go run ./cmd/bouncer ") {
			continue // it is about the clone, and .ci/run does that
		}
		out, err := ty.run(strings.Replace(command, "go run ./cmd/bouncer", "bouncer", 1))
		if answered {
			now.WriteString(out)
		} else if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() != exitFound && !strings.Contains(out, "there is no terminal to ask") {
			ty.t.Errorf("%s%v\n%s", line, err, out)
		}
	}
	return now.String()
}

// run has a shell carry out a command line in the home, and returns what both streams show.
func (ty *typist) run(command string) (string, error) {
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Dir = ty.home
	cmd.Env = []string{
		"HOME=" + ty.home, "PATH=" + filepath.Join(ty.home, "bin") + ":/usr/bin:/bin", "TMPDIR=" + ty.t.TempDir(), "TZ=UTC",
		"GORACE=atexit_sleep_ms=0",
	}
	out, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); err != nil && !ended {
		ty.t.Fatalf("%s: %v", command, err)
	}
	return ty.steady(string(out)), err
}

// steady writes what differs from run to run as one run had it.
func (ty *typist) steady(text string) string {
	text = strings.ReplaceAll(text, filepath.Join(ty.home, "bin", "bouncer"), "/usr/local/bin/bouncer")
	text = strings.ReplaceAll(text, ty.home, "/home/dana")
	ty.days = append(ty.days, time.Now().Format(time.DateOnly))
	for _, day := range ty.days {
		text = strings.ReplaceAll(text, day, "2026-12-01")
	}
	for pattern, steady := range map[string]string{
		`2026-12-01([ T])\d\d:\d\d:\d\d`: "2026-12-01${1}09:30:00",
		`09:30:00\.\d{3,9}`:              "09:30:00.000000",
		`\d+\.\d ms`:                     "1.2 ms",
		`\b[0-9a-f]{64}\b`:               strings.Repeat("0123456789abcdef", 4),
		`(?m)^bouncer (\(devel\)|\S+) \(go\S+, \w+/\w+\)$`: "bouncer v1.0.0 (go1.26.8, linux/amd64)",
		`"version":( ?)"(\(devel\)|v[^"]*)"`:               `"version":${1}"v1.0.0"`,
		`"go":( ?)"go[^"]*"`:                               `"go":${1}"go1.26.8"`,
		`"arch":( ?)"\w+"`:                                 `"arch":${1}"amd64"`,
		`(?m)^(commit +)[0-9a-f]+$|(?m)^(commit +)none$`:   "${1}${2}0123abc",
	} {
		text = regexp.MustCompile(pattern).ReplaceAllString(text, steady)
	}
	return text
}

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
)

// readmeHome is the home that the README's commands run in.
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

// TestREADME runs every command that README.md shows with its output, in order, and compares. UPDATE_README=1 writes the
// output into it instead.
func TestREADME(t *testing.T) {
	if filepath.Separator == '\\' {
		t.Skip("the README shows paths as Unix has them")
	}
	home := filepath.Join(scriptRoot(t), "dana")
	for name, text := range readmeHome() {
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	copyExecutable(t, filepath.Join(home, "bin", "bouncer"))

	const file = "../../README.md"
	readme, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var now strings.Builder
	inBlock, shown := false, false
	for line := range strings.Lines(string(readme)) {
		switch command, isCommand := strings.CutPrefix(line, "$ "); {
		case line == "```console\n":
			inBlock, shown = true, false
		case line == "```\n" && inBlock:
			inBlock = false
		case inBlock && isCommand:
			command = strings.TrimSuffix(command, "\n")
			now.WriteString(line)
			if shown = !strings.HasPrefix(command, "go test"); shown {
				now.WriteString(readmeOutput(t, home, command))
			}
			continue
		case inBlock && shown:
			continue // the old output
		}
		now.WriteString(line)
	}
	if now.String() == string(readme) {
		return
	}
	if os.Getenv("UPDATE_README") != "" {
		if err := os.WriteFile(file, []byte(now.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	t.Errorf("README.md does not show what its commands print; UPDATE_README=1 go test -run README ./cmd/bouncer writes it:\n%s",
		diff.Diff("README.md", readme, "printed", []byte(now.String())))
}

// readmeOutput runs one command line of the README in the home.
func readmeOutput(t *testing.T, home, command string) string {
	t.Helper()
	words := strings.Fields(strings.Replace(command, "go run ./cmd/bouncer", "bouncer", 1))
	cmd := exec.Command(filepath.Join(home, "bin", words[0]), words[1:]...)
	cmd.Dir = home
	cmd.Env = []string{"HOME=" + home, "PATH=" + filepath.Join(home, "bin") + ":/usr/bin:/bin", "TMPDIR=" + os.TempDir()}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if _, ended := errors.AsType[*exec.ExitError](err); !ended {
			t.Fatalf("%s: %v", command, err)
		}
	}
	text := strings.ReplaceAll(out.String(), filepath.Join(home, "bin", "bouncer"), "/usr/local/bin/bouncer")
	return strings.ReplaceAll(text, home, "/home/dana")
}

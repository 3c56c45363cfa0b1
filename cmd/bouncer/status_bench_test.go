package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/adrg/xdg"
)

// fifty writes 50 configs of 200 KB each, as the .mcp.json of nested folders, and returns the innermost one. They hold so many
// servers; the rest is what else clients keep in their files.
func fifty(b *testing.B, servers int) (work string, size int64, files []string) {
	b.Helper()
	work, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for name, value := range map[string]string{"HOME": work, "XDG_CONFIG_HOME": work + "/c", "XDG_STATE_HOME": work + "/s", "BOUNCER_HOME": "", "CLAUDE_CONFIG_DIR": ""} {
		b.Setenv(name, value)
	}
	xdg.Reload()
	b.Cleanup(xdg.Reload)
	for i := range 50 {
		work = filepath.Join(work, fmt.Sprintf("d%d", i))
		var text bytes.Buffer
		text.WriteString("{\n  \"mcpServers\": {\n")
		for n := 0; n < servers && text.Len() < 200_000; n++ {
			if n > 0 {
				text.WriteString(",\n")
			}
			fmt.Fprintf(&text, "    \"server-%d-%d\": {\"command\": \"npx\", \"args\": [\"-y\", \"@scope/server-%d\", \"/home/ada/work\"], \"env\": {\"LOG\": \"%s\"}}", i, n, n, strings.Repeat("x", 300))
		}
		text.WriteString("\n  },\n  \"history\": [\n    0")
		for text.Len() < 200_000 {
			text.WriteString(",\n    {\"display\": \"" + strings.Repeat("what was said ", 10) + "\", \"pasted\": {}, \"at\": 1764539520}")
		}
		text.WriteString("\n  ]\n}\n")
		file := filepath.Join(work, ".mcp.json")
		if err := os.MkdirAll(work, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
			b.Fatal(err)
		}
		size += int64(text.Len())
		files = append(files, file)
	}
	return work, size, files
}

// BenchmarkStatus is `bouncer status` over 50 configs of 200 KB, beside decoding the same bytes with encoding/json and doing
// nothing with them: with 20 servers in each, and with nothing but servers.
func BenchmarkStatus(b *testing.B) {
	for name, servers := range map[string]int{"servers=20": 20, "servers=all": 1 << 20} {
		b.Run(name+"/status", func(b *testing.B) {
			work, size, _ := fifty(b, servers)
			b.SetBytes(size)
			for b.Loop() {
				if code := run([]string{"status"}, visitor(work)); code != exitDone {
					b.Fatalf("exit code %d", code)
				}
			}
		})
		b.Run(name+"/unmarshal", func(b *testing.B) {
			_, size, files := fifty(b, servers)
			b.SetBytes(size)
			for b.Loop() {
				unmarshal(b, files)
			}
		})
	}
}

func unmarshal(b *testing.B, files []string) {
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			b.Fatal(err)
		}
	}
}

package wrap

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

// TestClaudeDesktopRuns tells Claude Desktop from what goes by the same name, on every platform.
func TestClaudeDesktopRuns(t *testing.T) {
	client, _ := clients.ByID("claude-desktop")
	tests := []struct {
		os, name, path string
		want           bool
	}{
		{"darwin", "Claude", "/Applications/Claude.app/Contents/MacOS/Claude", true},
		{"darwin", "claude", "claude", false},
		{"darwin", "claude", "/Users/ada/.local/bin/claude", false},
		{"darwin", "Claude Helper", "/Applications/Claude.app/Contents/Frameworks/Claude Helper.app/Contents/MacOS/Claude Helper", false},
		{"windows", "Claude.exe", `C:\Program Files\WindowsApps\Claude_1.37937.3.0_x64__pzs8sxrjxfjjc\app\Claude.exe`, true},
		{"windows", "claude.exe", `C:\Users\ada\AppData\Local\AnthropicClaude\app-1.2.3\claude.exe`, true},
		{"windows", "CLAUDE.EXE", `c:\users\ada\appdata\local\anthropicclaude\CLAUDE.EXE`, true},
		{"windows", "claude.exe", `C:\Users\ada\.local\bin\claude.exe`, false},
		{"windows", "claude.exe", "", false},
		{"linux", "claude-desktop", "/usr/lib/claude-desktop/claude-desktop", true},
		{"linux", "electron", "/usr/lib/claude-desktop/node_modules/electron/dist/electron", true},
		{"linux", "electron", "/tmp/.mount_claudeAw0754/usr/lib/node_modules/electron/dist/electron", true},
		{"linux", "electron", "/usr/lib/electron/electron", false},
		{"linux", "claude", "/home/ada/.local/share/claude/versions/2.1.332", false},
	}
	for _, test := range tests {
		running := process{names: []string{test.name}, path: test.path}
		if _, got := running.match(client.Process.Programs[test.os], test.os); got != test.want {
			t.Errorf("%s %s at %s: %v, want %v", test.os, test.name, test.path, got, test.want)
		}
	}
}

// TestRunning looks for the one program that is sure to run: this test.
func TestRunning(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	name := strings.TrimSuffix(filepath.Base(exe), ".exe")
	folder := filepath.Base(filepath.Dir(exe))
	tests := []struct {
		program clients.Program
		want    bool
	}{
		{clients.Program{Name: name}, true},
		{clients.Program{Name: name, Folder: folder}, true},
		{clients.Program{Name: name, Folder: "no-such-folder"}, false},
		{clients.Program{Name: "no-such-program"}, false},
	}
	for _, test := range tests {
		got, err := Running(clients.Process{Programs: map[string][]clients.Program{runtime.GOOS: {test.program}}})
		if err != nil || got != test.want {
			t.Errorf("%+v: %v (%v), want %v", test.program, got, err, test.want)
		}
	}
	if got, err := Running(clients.Process{}); got || err != nil {
		t.Errorf("a client that may always be written: %v (%v)", got, err)
	}
}

package session

import (
	"os"
	"os/exec"
	"testing"
)

func TestOutermost(t *testing.T) {
	for _, tt := range []struct {
		name  string
		lines []string
		want  int // index of the first process of the last one's program
	}{
		{"one process", []string{"systemd", "claude"}, 1},
		{"typed in a shell", []string{"systemd", "/usr/share/code/code", "zsh", "claude"}, 3},
		{"a helper by its path", []string{"systemd", "/usr/share/cursor/cursor", "/usr/share/cursor/cursor --type=utility"}, 1},
		{"a helper by its title", []string{"launchd", "/Applications/Cursor.app/Contents/MacOS/Cursor", "title Cursor Helper (Plugin): extension-host"}, 1},
		{"a helper's helper", []string{"[explorer.exe]", "[Code.exe]", "[Code.exe]", "[Code.exe]"}, 1},
		{"another program that starts with the same letters", []string{"systemd", "clau", "claude"}, 2},
		{"started by another program", []string{"systemd", "gnome-shell", "claude-desktop"}, 2},
		{"a host by the same name", []string{"systemd", "systemd"}, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			last, find := chain(tt.lines...)
			p, _ := find(last)
			if got := outermost(p, find); got.pid != tt.want+1 {
				t.Errorf("got %q", tt.lines[got.pid-1])
			}
		})
	}
}

func TestDescends(t *testing.T) {
	self, find := chain("systemd", "claude", "sh -c bouncer approvals", "bouncer approvals")
	claude, _ := find(2)
	later := claude.named()
	later.Start++
	for _, tt := range []struct {
		what string
		from Process
		want bool
	}{
		{"an ancestor", claude.named(), true},
		{"a later process with its pid", later, false},
		{"nobody", Process{}, false},
		{"itself", func() Process { p, _ := find(self); return p.named() }(), false},
		{"a process of another machine", Process{claude.pid, claude.start, "elsewhere"}, false},
	} {
		if got := descends(self, tt.from, find); got != tt.want {
			t.Errorf("from %s: %v", tt.what, got)
		}
	}
}

func TestRunning(t *testing.T) {
	self := Self()
	if running, known := self.Running(); !running || !known || self.PID != os.Getpid() {
		t.Errorf("this process, %+v: %v, %v", self, running, known)
	}
	if self.Began() {
		t.Error("this process descends from itself")
	}
	other := self
	other.Start--
	if running, known := other.Running(); running || !known {
		t.Errorf("an earlier process with this pid: %v, %v", running, known)
	}
	other = self
	other.Machine = "elsewhere"
	if running, known := other.Running(); running || known {
		t.Errorf("a process of another machine: %v, %v", running, known)
	}
	child := exec.Command(os.Args[0], "-test.run=^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if running, known := (Process{child.Process.Pid, self.Start, self.Machine}).Running(); running || !known {
		t.Errorf("a process that has ended: %v, %v", running, known)
	}
	parent, ok := findProcess(os.Getppid())
	if !ok || !parent.named().Began() {
		t.Error("this process does not descend from the one that has started it")
	}
}

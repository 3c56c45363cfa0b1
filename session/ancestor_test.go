package session

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"reflect"
	"strings"
	"testing"
)

// chain makes processes of argument lists, the oldest first: each is the parent of the next, and the pids count up from 1.
func chain(lines ...string) (self int, find func(int) (process, bool)) {
	return len(lines), func(pid int) (process, bool) {
		if pid < 1 || pid > len(lines) {
			return process{}, false
		}
		p := process{pid: pid, parent: pid - 1, start: uint64(100 * pid)}
		if line := lines[pid-1]; strings.HasPrefix(line, "[") {
			p.name = strings.Trim(line, "[]")
		} else {
			p.argv = strings.Split(line, " ")
		}
		if title, ok := strings.CutPrefix(lines[pid-1], "title "); ok {
			p.argv = []string{title}
		}
		return p, true
	}
}

func TestClient(t *testing.T) {
	tests := []struct {
		name  string
		lines []string // down to bouncer itself
		want  int      // index in lines
	}{
		{"directly", []string{"systemd", "claude", "bouncer run"}, 1},
		{"a program of node", []string{"systemd", "zsh", "node /opt/claude/cli.js", "bouncer run"}, 2},
		{"an app", []string{"launchd", "/Applications/Claude.app/Contents/MacOS/Claude", "bouncer run"}, 1},
		{"a helper of an app", []string{"launchd", "/Applications/Cursor.app/Contents/MacOS/Cursor", "title Cursor Helper (Plugin): extension-host", "bouncer run"}, 2},
		{"through a shell", []string{"systemd", "claude", "/bin/sh -c bouncer run", "bouncer run"}, 1},
		{"through many wrappers", []string{"systemd", "claude", "env A=1 timeout 5 bouncer", "timeout 5 bouncer", "bash -lc bouncer", "/opt/mise/bin/mise x -- bouncer", "bouncer run"}, 1},
		{"through npx", []string{"systemd", "claude", "node /usr/bin/npx -y bouncer run", "sh -c bouncer run", "node /x/node_modules/.bin/bouncer run", "bouncer run"}, 1},
		{"through npm with a title", []string{"systemd", "claude", "title npm exec bouncer run", "sh -c bouncer run", "bouncer run"}, 1},
		{"through npx-cli.js", []string{"systemd", "claude", "/usr/bin/node --no-warnings /usr/lib/node_modules/npm/bin/npx-cli.js -y x", "bouncer run"}, 1},
		{"through uvx", []string{"systemd", "python3 agent.py", "/home/ada/.local/bin/uvx bouncer", "bouncer run"}, 1},
		{"a launcher written in Python", []string{"systemd", "claude", "/usr/bin/python3.12 -m pipx run bouncer", "bouncer run"}, 1},
		{"an agent written in Python", []string{"systemd", "bash", "uv run agent.py", "python3 agent.py", "bouncer run"}, 3},
		{"a module is a client", []string{"systemd", "bash", "python -m agent", "bouncer run"}, 2},
		{"a flag hides npx", []string{"systemd", "claude", "node -r /x/hook.js /usr/bin/npx y", "bouncer run"}, 2},
		{"on Windows", []string{"[explorer.exe]", `C:\Users\Ada\AppData\Local\claude\Claude.exe`, `C:\Windows\System32\cmd.exe /d /s /c bouncer`, `C:\bin\bouncer.exe run`}, 1},
		{"on Windows, through npx.cmd", []string{"[explorer.exe]", "[Cursor.exe]", "[cmd.exe]", `node.exe C:\nodejs\node_modules\npm\bin\npx-cli.js bouncer`, "[bouncer.exe]"}, 1},
		{"a client that is the first of a container", []string{"node /app/agent.js", "sh -c bouncer run", "bouncer run"}, 0},
		{"a shell that is the first of a container", []string{"sh -c agent", "agent", "bouncer run"}, 1},
		{"a script in a terminal", []string{"systemd", "title tmux: server", "-bash", "bash demo.sh", "bouncer run"}, 2},
		{"over ssh", []string{"systemd", "title sshd: ada@notty", "bash -c bouncer run", "bouncer run"}, 2},
		{"over a newer ssh", []string{"systemd", "title sshd-session: ada@pts/0", "bouncer run"}, 2},
		{"the client is gone", []string{"systemd", "bouncer run"}, 1},
		{"the client is gone, the shell is not", []string{"systemd", "sh -c bouncer run", "bouncer run"}, 1},
		{"nothing but launchers", []string{"bash", "bouncer run"}, 0},
		{"alone", []string{"bouncer run"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			self, find := chain(tt.lines...)
			got, ok := client(self, find)
			if !ok || got.pid != tt.want+1 {
				t.Errorf("got process %d of %q, %v; want %d", got.pid-1, tt.lines, ok, tt.want)
			}
		})
	}
}

// TestClientStops gives the search what must end it.
func TestClientStops(t *testing.T) {
	t.Run("reused pid", func(t *testing.T) {
		self, find := chain("claude", "sh -c bouncer", "bouncer")
		p, ok := client(self, func(pid int) (process, bool) {
			p, ok := find(pid)
			if pid == 1 {
				p.start = 999 // younger than its child
			}
			return p, ok
		})
		if !ok || p.pid != 2 {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("loop", func(t *testing.T) {
		p, ok := client(1, func(pid int) (process, bool) { return process{pid: pid, parent: 3 - pid, argv: []string{"sh"}}, true })
		if !ok {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("own parent", func(t *testing.T) {
		p, ok := client(1, func(int) (process, bool) { return process{pid: 1, parent: 1, argv: []string{"sh"}}, true })
		if !ok || p.pid != 1 {
			t.Errorf("got %+v", p)
		}
	})
	t.Run("nothing to see", func(t *testing.T) {
		if p, ok := client(1, func(int) (process, bool) { return process{}, false }); ok {
			t.Errorf("got %+v", p)
		}
	})
}

func TestBelowRun(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		want  bool
	}{
		{[]string{"claude", "sh -c bouncer hook prompt || exit 0", "bouncer hook prompt"}, false},
		{[]string{"claude", "node /x/bouncer.js hook prompt", "bouncer hook prompt"}, false},
		{[]string{"claude", "bouncer run -- sh server.sh", "sh server.sh", "bouncer hook prompt"}, true},
		{[]string{"claude", "node /x/bouncer.js run -- x", "bouncer run -- x", "node server.js", "bouncer hook prompt"}, true},
	} {
		if self, find := chain(tt.lines...); belowRun(self, find) != tt.want {
			t.Errorf("%q: want %v", tt.lines, tt.want)
		}
	}
}

func TestParseProcargs(t *testing.T) {
	procargs := func(n int32, rest string) []byte {
		return append(binary.NativeEndian.AppendUint32(nil, uint32(n)), rest...)
	}
	for _, tt := range []struct {
		name string
		data []byte
		want []string
	}{
		{"node", procargs(3, "/usr/local/bin/node\x00\x00\x00\x00\x00node\x00/x/npx-cli.js\x00-y\x00PATH=/bin\x00\x00"), []string{"node", "/x/npx-cli.js", "-y"}},
		{"empty argument", procargs(2, "/bin/sh\x00\x00sh\x00\x00A=1\x00"), []string{"sh", ""}},
		{"more promised than there is", procargs(9, "/bin/sh\x00sh\x00"), []string{"sh"}},
		{"none", procargs(0, "/bin/sh\x00sh\x00"), nil},
		{"less than none", procargs(-1, "/bin/sh\x00sh\x00"), nil},
		{"no path", procargs(1, "sh"), nil},
		{"nothing", nil, nil},
	} {
		if got := parseProcargs(tt.data); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: got %q", tt.name, got)
		}
	}
}

func FuzzParseProcargs(f *testing.F) {
	f.Add([]byte("\x01\x00\x00\x00/bin/sh\x00\x00sh\x00A=1\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, arg := range parseProcargs(data) {
			if !bytes.Contains(data, []byte(arg)) {
				t.Errorf("%q is not in %q", arg, data)
			}
		}
	})
}

// TestFindProcess looks at this process and at a child of it, with what the system itself offers.
func TestFindProcess(t *testing.T) {
	self, ok := findProcess(os.Getpid())
	if !ok {
		t.Fatal("this process isn't found")
	}
	if self.parent != os.Getppid() || self.start == 0 || bare(self.name) == "" {
		t.Errorf("got %+v", self)
	}
	if len(self.argv) == 0 || self.argv[0] != os.Args[0] {
		t.Errorf("argv %q, want %q", self.argv, os.Args)
	}
	again, _ := findProcess(os.Getpid())
	if again.start != self.start {
		t.Errorf("started at %d, then at %d", self.start, again.start)
	}
	child := exec.Command(os.Args[0], "-test.run=^$")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	if p, ok := findProcess(child.Process.Pid); ok && p.start == self.start {
		t.Errorf("a process that has ended is %+v", p)
	}
}

package link

import (
	"errors"
	"io/fs"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestFind(t *testing.T) {
	unix := search{dir: "/home/me", path: "/usr/local/bin:/usr/bin::bin:."}
	windows := search{windows: true, dir: `C:\work`, path: `C:\node;"C:\a;b";;bin;C:\tools\`, pathext: ".COM;.EXE;.BAT;.CMD;.PY"}

	tests := []struct {
		name    string
		search  search
		files   []string // those that exist; a trailing ! marks one that may not be run
		command string
		want    string
		looked  []string
		err     error // of the failure
	}{
		{"bare name", unix, []string{"/usr/bin/npx", "/home/me/npx"}, "npx", "/usr/bin/npx", nil, nil},
		{"first directory wins", unix, []string{"/usr/bin/npx", "/usr/local/bin/npx"}, "npx", "/usr/local/bin/npx", nil, nil},
		{"one that may not be run is passed over", unix, []string{"/usr/local/bin/npx!", "/usr/bin/npx"}, "npx", "/usr/bin/npx", nil, nil},
		{"only one that may not be run", unix, []string{"/usr/local/bin/npx!"}, "npx", "", []string{"/usr/local/bin", "/usr/bin"}, fs.ErrPermission},
		{"nowhere", unix, nil, "npx", "", []string{"/usr/local/bin", "/usr/bin"}, errNotFound},
		{"never from the current directory", unix, []string{"npx", "./npx", "/home/me/npx"}, "npx", "", []string{"/usr/local/bin", "/usr/bin"}, exec.ErrDot},
		{"never from a relative directory", unix, []string{"bin/npx"}, "npx", "", []string{"/usr/local/bin", "/usr/bin"}, exec.ErrDot},
		{"an absolute directory behind a relative one", search{path: "bin:/usr/bin"}, []string{"bin/npx", "/usr/bin/npx"}, "npx", "/usr/bin/npx", nil, nil},
		{"absolute path", unix, []string{"/opt/s"}, "/opt/s", "/opt/s", nil, nil},
		{"relative path", unix, []string{"/home/me/bin/s"}, "bin/s", "/home/me/bin/s", nil, nil},
		{"relative path without a directory", search{}, []string{"./s"}, "./s", "./s", nil, nil},
		{"missing path", unix, nil, "./s", "", []string{"/home/me/./s"}, errNotFound},
		{"a tilde is a name like any other", unix, nil, "~/s", "", []string{"/home/me/~/s"}, errNotFound},
		{"a backslash is no separator", unix, []string{`/usr/bin/a\b`}, `a\b`, `/usr/bin/a\b`, nil, nil},
		{"empty PATH", search{}, []string{"npx"}, "npx", "", nil, errNotFound},

		{"cmd, not the shell script beside it", windows, []string{`C:\node\npx`, `C:\node\npx.cmd`}, "npx", `C:\node\npx.cmd`, nil, nil},
		{"order of PATHEXT", windows, []string{`C:\node\s.cmd`, `C:\node\s.exe`}, "s", `C:\node\s.exe`, nil, nil},
		{"quoted directory", windows, []string{`C:\a;b\s.exe`}, "s", `C:\a;b\s.exe`, nil, nil},
		{"final backslash", windows, []string{`C:\tools\s.exe`}, "s", `C:\tools\s.exe`, nil, nil},
		{"with its extension", windows, []string{`C:\node\npx.CMD`}, "npx.CMD", `C:\node\npx.CMD`, nil, nil},
		{"a dot in the name", windows, []string{`C:\node\python3.11`, `C:\node\python3.11.exe`}, "python3.11", `C:\node\python3.11.exe`, nil, nil},
		{"associated extension", windows, []string{`C:\node\s.py`}, "s", `C:\node\s.py`, nil, nil},
		{"never from the current directory of Windows", windows, []string{`s.exe`, `C:\work\s.exe`, `bin\s.exe`}, "s", "", []string{`C:\node`, `C:\a;b`, `C:\tools\`}, exec.ErrDot},
		{"relative Windows path", windows, []string{`C:\work\bin/s.exe`}, `bin/s`, `C:\work\bin/s.exe`, nil, nil},
		{"Windows path with an extension of its own", windows, []string{`D:\s.rb`}, `D:\s.rb`, `D:\s.rb`, nil, nil},
		{"Windows path to a shell script", windows, []string{`D:\npx`, `D:\npx.cmd`}, `D:\npx`, `D:\npx.cmd`, nil, nil},
		{"network path", windows, []string{`\\host\share\s.exe`}, `\\host\share\s.exe`, `\\host\share\s.exe`, nil, nil},
		{"default PATHEXT", search{windows: true, path: `C:\node`}, []string{`C:\node\npx.cmd`}, "npx", `C:\node\npx.cmd`, nil, nil},
		{"missing on Windows", windows, nil, "s", "", []string{`C:\node`, `C:\a;b`, `C:\tools\`}, errNotFound},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := test.search
			s.try = func(file string) error {
				switch {
				case slices.Contains(test.files, file+"!"):
					return fs.ErrPermission
				case slices.ContainsFunc(test.files, func(f string) bool { return f == file || s.windows && strings.EqualFold(f, file) }):
					return nil
				default:
					return fs.ErrNotExist
				}
			}
			got, looked, err := s.find(test.command)
			if !errors.Is(err, test.err) || got != test.want {
				t.Fatalf("find(%q) = %q, %v; want %q, %v", test.command, got, err, test.want, test.err)
			}
			if err != nil && !reflect.DeepEqual(looked, test.looked) {
				t.Errorf("looked in %q, want %q", looked, test.looked)
			}
		})
	}
}

func TestFindRefusesImpossibleCommands(t *testing.T) {
	for _, command := range []string{"", "a\x00b"} {
		if got, _, err := (search{path: "/bin"}).find(command); err == nil {
			t.Errorf("find(%q) = %q, want an error", command, got)
		}
	}
}

func TestEnviron(t *testing.T) {
	env := []string{"PATH=/bin", "CLAUDE_CODE_MESSAGING_TOKEN=x", "Claude_Code_Messaging_Socket=y", "CLAUDE_CODE_MESSAGING_TOKENS=z", "CLAUDE_CODE_MESSAGING_SOCKET=", "CLAUDECODE=1"}
	tests := []struct {
		fold bool
		want []string
	}{
		{false, []string{"PATH=/bin", "Claude_Code_Messaging_Socket=y", "CLAUDE_CODE_MESSAGING_TOKENS=z", "CLAUDECODE=1"}},
		{true, []string{"PATH=/bin", "CLAUDE_CODE_MESSAGING_TOKENS=z", "CLAUDECODE=1"}},
	}
	for _, test := range tests {
		if got := withhold(env, test.fold); !slices.Equal(got, test.want) {
			t.Errorf("withhold(fold %t) = %q, want %q", test.fold, got, test.want)
		}
	}
}

func TestSettled(t *testing.T) {
	env := []string{"A=1", "a=2", "B=1", "A=3", "B", "", "=C:=x", "=D:=y", "E=a=b"}
	tests := []struct {
		fold bool
		want []string
	}{
		{false, []string{"a=2", "B=1", "A=3", "B", "", "=C:=x", "=D:=y", "E=a=b"}},
		{true, []string{"B=1", "A=3", "B", "", "=C:=x", "=D:=y", "E=a=b"}},
	}
	for _, test := range tests {
		if got := settled(env, test.fold); !slices.Equal(got, test.want) {
			t.Errorf("settled(fold %t) = %q, want %q", test.fold, got, test.want)
		}
	}
}

func TestVariable(t *testing.T) {
	env := []string{"PATH=first", "Path=second", "PATHS=other"}
	for _, test := range []struct {
		fold bool
		want string
	}{{false, "first"}, {true, "second"}} {
		if got, _ := variable(env, "PATH", test.fold); got != test.want {
			t.Errorf("variable(fold %t) = %q, want %q", test.fold, got, test.want)
		}
	}
	if _, ok := variable(env, "HOME", true); ok {
		t.Error("found a variable that is not there")
	}
}

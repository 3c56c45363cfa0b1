package wrap

import (
	"errors"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

// TestChooseLauncher describes machines by strings alone, so every platform is tested on every platform.
func TestChooseLauncher(t *testing.T) {
	const brewed = "/opt/homebrew/Cellar/bouncer/1.2.3/bin/bouncer"
	tests := []struct {
		os, exe string
		path    string            // where the name bouncer leads to on PATH
		links   map[string]string // other files that exist, and the file that each leads to
		want    string            // empty for an error
		why     string            // part of the error
	}{
		// Where most people have it.
		{os: "linux", exe: "/usr/local/bin/bouncer", want: "/usr/local/bin/bouncer"},
		{os: "linux", exe: "/home/ada/go/bin/bouncer", want: "/home/ada/go/bin/bouncer"},
		{os: "darwin", exe: "/opt/homebrew/bin/bouncer", want: "/opt/homebrew/bin/bouncer"},
		{os: "windows", exe: `C:\Users\ada\go\bin\bouncer.exe`, want: `C:\Users\ada\go\bin\bouncer.exe`},
		{os: "windows", exe: `\\host\tools\bouncer.exe`, want: `\\host\tools\bouncer.exe`},
		{
			os: "windows", exe: `C:\Users\ada\AppData\Local\Microsoft\WinGet\Links\bouncer.exe`,
			want: `C:\Users\ada\AppData\Local\Microsoft\WinGet\Links\bouncer.exe`,
		},

		// Homebrew.
		{os: "darwin", exe: brewed, links: map[string]string{"/opt/homebrew/bin/bouncer": brewed}, want: "/opt/homebrew/bin/bouncer"},
		{
			os: "darwin", exe: "/usr/local/Cellar/bouncer/1.2.3/bin/bouncer",
			links: map[string]string{"/usr/local/bin/bouncer": "/usr/local/Cellar/bouncer/1.2.3/bin/bouncer"}, want: "/usr/local/bin/bouncer",
		},
		{
			os: "linux", exe: "/home/linuxbrew/.linuxbrew/Cellar/bouncer/1.2.3/bin/bouncer",
			links: map[string]string{"/home/linuxbrew/.linuxbrew/bin/bouncer": "/home/linuxbrew/.linuxbrew/Cellar/bouncer/1.2.3/bin/bouncer"},
			want:  "/home/linuxbrew/.linuxbrew/bin/bouncer",
		},
		{
			os: "darwin", exe: "/opt/homebrew/Caskroom/bouncer/1.2.3/bouncer",
			links: map[string]string{"/opt/homebrew/bin/bouncer": "/opt/homebrew/Caskroom/bouncer/1.2.3/bouncer"}, want: "/opt/homebrew/bin/bouncer",
		},
		{os: "darwin", exe: brewed, why: "Homebrew replaces"},
		{os: "darwin", exe: brewed, links: map[string]string{"/opt/homebrew/bin/bouncer": "/elsewhere/bouncer"}, why: "Homebrew replaces"},
		{os: "darwin", exe: brewed, path: "/Users/ada/bin/bouncer", links: map[string]string{"/Users/ada/bin/bouncer": brewed}, want: "/Users/ada/bin/bouncer"},
		{os: "darwin", exe: brewed, path: brewed, why: "Homebrew replaces"},

		// Scoop.
		{
			os: "windows", exe: `C:\Users\ada\scoop\apps\bouncer\1.2.3\bouncer.exe`,
			links: map[string]string{`C:\Users\ada\scoop\shims\bouncer.exe`: ""}, want: `C:\Users\ada\scoop\shims\bouncer.exe`,
		},
		{
			os: "windows", exe: `D:\scoop\apps\bouncer\1.2.3\bin\bouncer.exe`,
			links: map[string]string{`D:\scoop\apps\bouncer\current\bin\bouncer.exe`: `D:\scoop\apps\bouncer\1.2.3\bin\bouncer.exe`},
			want:  `D:\scoop\apps\bouncer\current\bin\bouncer.exe`,
		},
		{
			os: "windows", exe: `C:\Users\ada\scoop\apps\bouncer\current\bouncer.exe`,
			want: `C:\Users\ada\scoop\apps\bouncer\current\bouncer.exe`,
		},
		{os: "windows", exe: `C:\Users\ada\scoop\apps\bouncer\1.2.3\bouncer.exe`, why: "Scoop replaces"},

		// mise and asdf: their shims are programs of their own.
		{
			os: "linux", exe: "/home/ada/.local/share/mise/installs/bouncer/1.2.3/bin/bouncer",
			links: map[string]string{"/home/ada/.local/share/mise/shims/bouncer": "/usr/bin/mise"}, want: "/home/ada/.local/share/mise/shims/bouncer",
		},
		{
			os: "linux", exe: "/home/ada/.asdf/installs/golang/1.26.0/bin/bouncer",
			links: map[string]string{"/home/ada/.asdf/shims/bouncer": ""}, want: "/home/ada/.asdf/shims/bouncer",
		},
		{os: "linux", exe: "/home/ada/.asdf/installs/bouncer/1.2.3/bin/bouncer", why: "mise or asdf replaces"},
		{os: "linux", exe: "/home/ada/.local/share/mise/installs/bouncer/latest/bouncer", want: "/home/ada/.local/share/mise/installs/bouncer/latest/bouncer"},

		// Nix has no shim that the path tells; PATH does.
		{
			os: "linux", exe: "/nix/store/abc-bouncer/bin/bouncer", path: "/run/current-system/sw/bin/bouncer",
			links: map[string]string{"/run/current-system/sw/bin/bouncer": "/nix/store/abc-bouncer/bin/bouncer"}, want: "/run/current-system/sw/bin/bouncer",
		},
		{os: "linux", exe: "/nix/store/abc-bouncer/bin/bouncer", why: "Nix replaces"},

		// An unpacked archive: no package manager will remove it, but a link on PATH is better.
		{
			os: "linux", exe: "/opt/bouncer-1.2.3/bouncer", path: "/usr/local/bin/bouncer",
			links: map[string]string{"/usr/local/bin/bouncer": "/opt/bouncer-1.2.3/bouncer"}, want: "/usr/local/bin/bouncer",
		},
		{
			os: "linux", exe: "/opt/bouncer-1.2.3/bouncer", path: "/usr/bin/bouncer",
			links: map[string]string{"/usr/bin/bouncer": "/usr/bin/bouncer"}, want: "/opt/bouncer-1.2.3/bouncer",
		},
		{
			os: "linux", exe: "/opt/bouncer-1.2.3/bouncer", path: "/tmp/bouncer",
			links: map[string]string{"/tmp/bouncer": "/opt/bouncer-1.2.3/bouncer"}, want: "/opt/bouncer-1.2.3/bouncer",
		},

		// Places that won't last.
		{os: "linux", exe: "/home/ada/.cache/go-build/3a/3a9f-d/bouncer", why: "go run"},
		{os: "linux", exe: "/home/ada/scratch/go-build123456/b001/exe/bouncer", why: "go run"},
		{os: "windows", exe: `C:\Users\ada\AppData\Local\go-build\3a\3a9f-d\bouncer.exe`, why: "go run"},
		{os: "linux", exe: "/tmp/x/bouncer", why: "temporary"},
		{os: "linux", exe: "/scratch/x/bouncer", why: "temporary"},
		{os: "darwin", exe: "/private/var/folders/zz/T/bouncer", why: "temporary"},
		{os: "windows", exe: `c:\users\ada\appdata\local\temp\bouncer.exe`, why: "temporary"},
		{os: "linux", exe: "/home/ada/.npm/_npx/f00/node_modules/.bin/bouncer", why: "package runner"},
		{os: "linux", exe: "bouncer", why: "not absolute"},
		{os: "windows", exe: `\bouncer.exe`, why: "not absolute"},

		// Names that only look like it.
		{os: "linux", exe: "/home/ada/tmp/bouncer", want: "/home/ada/tmp/bouncer"},
		{os: "linux", exe: "/home/ada/go-builder/bouncer", want: "/home/ada/go-builder/bouncer"},
		{os: "linux", exe: "/home/ada/apps/bouncer/bin/bouncer", want: "/home/ada/apps/bouncer/bin/bouncer"},
	}
	for _, test := range tests {
		t.Run(test.os+" "+test.exe, func(t *testing.T) {
			env := clients.Env{OS: test.os, Local: `C:\Users\ada\AppData\Local`, Getenv: func(name string) string {
				return map[string]string{"TMPDIR": "/scratch"}[name]
			}}
			look := func(name string) (string, bool) {
				if name == "bouncer" {
					return test.path, test.path != ""
				}
				_, ok := test.links[name]
				return name, ok
			}
			same := func(a, b string) bool { return a == b || test.links[a] == b }
			got, err := ChooseLauncher(test.exe, look, env, same)
			if got != test.want {
				t.Errorf("got %q, want %q (%v)", got, test.want, err)
			}
			if test.want == "" && (!errors.Is(err, ErrShortLived) || !strings.Contains(err.Error(), test.why)) {
				t.Errorf("error %v, want one about %q", err, test.why)
			}
		})
	}
}

package session

import (
	"iter"
	"slices"
	"strings"
)

// maxAncestors bounds how far up the client is looked for.
const maxAncestors = 64

// process is what is known of one ancestor.
type process struct {
	pid, parent int
	start       uint64   // when it started, in the system's own unit: a later process may get the same pid, never the same pair
	name        string   // of its program, for when there are no argv
	argv        []string // nil where the system doesn't tell
}

// client finds the process whose session this is: the nearest ancestor of self that only it, and not a wrapper around one
// server, can be. Where that can't be told it errs on the narrow side, and a run that belongs to nobody is alone.
// find tells what is known of a process; false ends the search.
func client(self int, find func(pid int) (process, bool)) (process, bool) {
	p, ok := find(self)
	if !ok {
		return process{}, false
	}
	for above := range ancestors(p, find) {
		switch {
		case isHost(above):
			return p, true // everything that runs here comes from it
		case !isLauncher(above):
			return above, true
		}
		p = above
	}
	return p, true
}

// belowRun reports whether an ancestor is bouncer standing before a server: what a server starts speaks for no person.
func belowRun(self int, find func(pid int) (process, bool)) bool {
	p, ok := find(self)
	if !ok {
		return false
	}
	for above := range ancestors(p, find) {
		if above.program() == "bouncer" && len(above.argv) > 1 && slices.Contains(above.argv[1:], "run") {
			return true
		}
	}
	return false
}

// ancestors ranges over what has started a process, the nearest first. It ends where a parent is gone, or a newer process has its pid.
func ancestors(p process, find func(pid int) (process, bool)) iter.Seq[process] {
	return func(yield func(process) bool) {
		for range maxAncestors {
			above, ok := find(p.parent)
			if !ok || above.pid == p.pid || above.start > p.start || !yield(above) {
				return
			}
			p = above
		}
	}
}

// program is the bare name of what runs: the script's where the process is an interpreter that runs a known launcher.
func (p process) program() string {
	if len(p.argv) == 0 || p.argv[0] == "" {
		return bare(p.name)
	}
	// npm and its like put what they do in place of their command line.
	for _, title := range []string{"npm ", "npx ", "pnpm ", "yarn "} {
		if strings.HasPrefix(p.argv[0], title) {
			return strings.TrimSpace(title)
		}
	}
	title := strings.TrimPrefix(p.argv[0], "-") // a login shell
	if len(p.argv) == 1 {
		title, _, _ = strings.Cut(title, ": ") // a daemon that tells whom it serves
	}
	name := bare(title)
	if !isInterpreter(name) {
		return name
	}
	if script := bare(scriptOf(p.argv[1:])); slices.Contains(launchers(), script) {
		return script
	}
	return name
}

// scriptOf is the script in an interpreter's arguments, or the module behind -m. A flag with a value of its own may hide it; then
// the interpreter passes for a client, which is the narrow side.
func scriptOf(args []string) string {
	for i, word := range args {
		switch {
		case word == "-m" && i+1 < len(args):
			return args[i+1]
		case !strings.HasPrefix(word, "-"):
			return word
		}
	}
	return ""
}

// bare is a program's name without its folder and what systems put behind it. Both kinds of slash count everywhere, for a
// backslash in the name of a program is a rarity.
func bare(path string) string {
	name := strings.ToLower(path[strings.LastIndexAny(path, `/\`)+1:])
	for _, end := range []string{".exe", ".cmd", ".bat", ".ps1", ".js", ".cjs", ".mjs", "-cli"} {
		name = strings.TrimSuffix(name, end)
	}
	return name
}

func isInterpreter(name string) bool {
	return name == "node" || name == "nodejs" || name == "bun" || name == "deno" || name == "ruby" || name == "perl" ||
		strings.HasPrefix(name, "python")
}

func isLauncher(p process) bool { return slices.Contains(launchers(), p.program()) }

// launchers are programs that start others and don't talk to them.
func launchers() []string {
	return []string{
		"sh", "bash", "zsh", "fish", "dash", "ash", "ksh", "mksh", "tcsh", "csh", "nu", "xonsh", "elvish", "busybox",
		"cmd", "powershell", "pwsh", "conhost",
		"env", "nohup", "sudo", "doas", "su", "runuser", "timeout", "gtimeout", "nice", "ionice", "chrt", "taskset", "setsid", "stdbuf",
		"time", "script", "unbuffer", "xargs", "strace", "ltrace", "unshare", "nsenter", "setpriv", "chroot", "prlimit", "caffeinate",
		"direnv", "dotenv", "op", "aws-vault", "doppler", "chamber", "nix", "nix-shell", "devbox", "flatpak-spawn", "bwrap", "firejail", "sandbox-exec",
		"npx", "npm", "pnpm", "pnpx", "yarn", "yarnpkg", "bunx", "corepack", "volta", "nvm", "fnm", "mise", "asdf", "rtx", "pyenv", "rbenv", "nodenv",
		"uvx", "uv", "pipx", "poetry", "hatch", "pdm", "rye", "scoop", "shim",
		"bouncer",
	}
}

// isHost reports whether a process starts whatever anybody runs: two clients can descend from it.
func isHost(p process) bool {
	name := p.program()
	if strings.HasPrefix(name, "gnome-terminal") || strings.HasPrefix(name, "tmux") || strings.HasPrefix(name, "sshd") {
		return true
	}
	return p.pid <= 1 && name == "" || slices.Contains([]string{
		"init", "systemd", "launchd", "tini", "dumb-init", "docker-init", "s6-svscan", "runsvdir", "supervisord", "containerd-shim", "conmon", "runc",
		"screen", "zellij", "mosh-server", "login", "getty", "agetty", "cron", "crond", "atd", "xinetd", "inetd",
		"terminal", "iterm2", "alacritty", "kitty", "wezterm-gui", "wezterm-mux-server", "ghostty", "konsole", "xterm", "foot", "xfce4-terminal", "terminator", "tilix", "ptyxis",
		"explorer", "svchost", "services", "winlogon", "userinit", "wininit", "sihost", "taskhostw", "windowsterminal", "openconsole", "wslhost", "wslservice",
	}, name)
}

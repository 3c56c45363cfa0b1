package session

import (
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/taint"
)

const (
	maxWhat    = 300 // bytes of what an identity names
	maxServer  = 120 // bytes of the server's name in it
	maxNesting = 8   // launchers inside launchers
)

// Identity names a server independently of the client that starts it: what its command line starts, and the name it has
// in the config, as in
//
//	npm:@modelcontextprotocol/server-filesystem#files
//	pypi:mcp-server-git#git
//	docker:ghcr.io/github/github-mcp-server#github
//	uv:/home/ada/weather,python:server.py#weather
//	command:/usr/local/bin/mail-server~9f86d081884c7d65#mail
//
// A package stands there without its version, so that an update is compared with what it replaces, and without the
// arguments of the server. Where no package can be told, the command stands there with a digest of its arguments, in
// which the values of flags that are secrets by their name don't count. No argument is ever part of an identity as it is.
//
// Telling too little apart is the safe mistake: two servers of one identity are compared with each other, and a person
// is asked. One server of two identities is taken on trust twice.
func Identity(name string, argv []string) string {
	what, ok := origin(argv, 0)
	if !ok {
		what = command(argv)
	}
	return what + "#" + bounded(name, maxServer)
}

// Name returns the server's name in an identity.
func Name(identity string) string {
	_, name, _ := strings.Cut(identity, "#")
	return name
}

// bounded cuts s to limit bytes and a digest of the whole.
func bounded(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return strings.ToValidUTF8(s[:limit], "") + "~" + short(s)
}

// short is enough of a digest to tell things apart, and too little to carry anything.
func short(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// shown returns s if it may stand in an identity as it is: a name, a path or an address without anything hidden and
// without anything behind it that may be an argument. Else it returns the first word's digest.
func shown(s string) string {
	if s == "" || strings.Contains(s, " -") || strings.ContainsAny(s, "#=?<>") || taint.Visible(s, maxWhat) != s {
		return "~" + short(s)
	}
	return s
}

// command is the identity of a command line that starts no known kind of package.
func command(argv []string) string {
	if len(argv) == 0 {
		return "command:"
	}
	if len(argv) == 1 {
		return "command:" + shown(argv[0])
	}
	return "command:" + shown(argv[0]) + "~" + short(withoutSecrets(argv[1:])...)
}

// withoutSecrets leaves out the values of flags that hold secrets by their name, so that a new token makes no new server.
func withoutSecrets(args []string) []string {
	var kept []string
	for i := 0; i < len(args); i++ {
		flag, _, inline := strings.Cut(args[i], "=")
		kept = append(kept, args[i])
		if !strings.HasPrefix(flag, "-") || !secretFlag(flag) {
			continue
		}
		kept[len(kept)-1] = flag
		if !inline {
			i++
		}
	}
	return kept
}

func secretFlag(flag string) bool {
	flag = strings.ToLower(flag)
	return slices.ContainsFunc([]string{"token", "key", "secret", "password", "passwd", "credential", "credentials"}, func(end string) bool {
		return strings.HasSuffix(flag, end)
	})
}

// origin tells what a command line starts. ok is false when it starts no kind of package or script that is known.
func origin(argv []string, depth int) (what string, ok bool) {
	if len(argv) == 0 || depth == maxNesting {
		return "", false
	}
	args := argv[1:]
	inner := func(argv []string) (string, bool) { return origin(argv, depth+1) }
	switch base := program(argv[0]); base {
	case "npx", "pnpx", "bunx":
		return npm(npxFlags(), args, inner)
	case "npm":
		return subcommand(args, []string{"exec", "x"}, func(rest []string) (string, bool) { return npm(npxFlags(), rest, inner) })
	case "pnpm", "yarn":
		return subcommand(args, []string{"dlx"}, func(rest []string) (string, bool) { return npm(dlxFlags(), rest, inner) })
	case "bun":
		if what, ok := subcommand(args, []string{"x"}, func(rest []string) (string, bool) { return npm(npxFlags(), rest, inner) }); ok {
			return what, ok
		}
		return script(base, flags{values: []string{"--cwd", "-c", "--config", "-r", "--preload", "--env-file"}}, unless(args, "run"))
	case "uvx":
		return pypi(uvFlags(), args)
	case "uv":
		return uv(args, inner)
	case "pipx":
		return subcommand(args, []string{"run"}, func(rest []string) (string, bool) { return pypi(pipxFlags(), rest) })
	case "dnx":
		return nuget(args)
	case "docker", "podman", "nerdctl":
		return container(args, inner)
	case "deno":
		return deno(args)
	case "go":
		return subcommand(args, []string{"run"}, func(rest []string) (string, bool) {
			_, rest = flags{values: []string{"-C", "-exec", "-mod", "-modfile", "-tags", "-ldflags", "-gcflags"}}.split(rest)
			if len(rest) == 0 {
				return "", false
			}
			path, _, _ := strings.Cut(rest[0], "@")
			return "go:" + shown(path), true
		})
	case "node", "nodejs", "tsx", "ts-node":
		return script("node", flags{values: []string{"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--tsconfig"}, inline: []string{"-e", "--eval", "-p", "--print"}}, args)
	case "python", "pythonw", "pypy", "py":
		return script("python", flags{values: []string{"-W", "-X", "--check-hash-based-pycs"}, programs: []string{"-m"}, inline: []string{"-c"}}, args)
	case "java":
		return script(base, flags{values: []string{"-cp", "-classpath", "--class-path", "-p", "--module-path", "--add-modules"}, programs: []string{"-jar", "-m", "--module"}}, args)
	case "ruby", "php", "perl", "dotnet":
		return script(base, flags{values: []string{"-I", "-d", "-r"}, inline: []string{"-e"}}, args)
	case "sh", "bash", "zsh", "dash", "ksh", "fish":
		return shell(base, args, inner)
	case "cmd":
		return afterSwitch(args, []string{"/c", "/k", "/r"}, inner)
	case "powershell", "pwsh":
		return afterSwitch(args, []string{"-command", "-c"}, inner)
	case "env":
		return inner(withoutAssignments(args))
	case "exec", "nohup", "command":
		return inner(args)
	case "mise", "op", "doppler", "infisical", "dotenvx", "dotenv", "fnm", "direnv", "aws-vault", "sops":
		if i := slices.Index(args, "--"); i >= 0 {
			return inner(args[i+1:])
		}
	}
	// Some configs have the whole command line in the place of the command.
	if len(argv) == 1 && strings.Contains(argv[0], " ") {
		if words, ok := words(argv[0]); ok && len(words) > 1 {
			return inner(words)
		}
	}
	return "", false
}

// program is a command's name without folder, ending and, of an interpreter, version.
func program(command string) string {
	base := command[strings.LastIndexAny(command, `/\`)+1:]
	lower := strings.ToLower(base)
	for _, ending := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		if strings.HasSuffix(lower, ending) {
			base = strings.TrimSuffix(lower, ending)
		}
	}
	for _, name := range []string{"python", "pythonw", "pypy"} {
		if version, ok := strings.CutPrefix(base, name); ok && strings.Trim(version, "0123456789.") == "" {
			return name
		}
	}
	return base
}

func unless(args []string, word string) []string {
	if len(args) > 0 && args[0] == word {
		return args[1:]
	}
	return args
}

// subcommand hands on what stands behind the first word that is no flag, if that is one of names.
func subcommand(args, names []string, then func(rest []string) (string, bool)) (string, bool) {
	_, rest := flags{values: []string{"-C", "--dir", "--prefix", "--cwd", "-w", "--workspace", "--filter", "-F"}}.split(args)
	if len(rest) == 0 || !slices.Contains(names, rest[0]) {
		return "", false
	}
	return then(rest[1:])
}

// flags says how the flags of a launcher are told from what it starts.
type flags struct {
	values   []string // these take the next word
	switches []string // if there are any, every flag but these takes the next word
	sources  []string // these take the name of a package that what is started lies in
	programs []string // behind these stands the name of what is started
	inline   []string // behind these stands the text of a program
}

// split parts the flags from what they are followed by: what is started, and its arguments.
func (f flags) split(args []string) (sources, rest []string) {
	for i := 0; i < len(args); i++ {
		flag, value, inline := strings.Cut(args[i], "=")
		switch {
		case args[i] == "--":
			return sources, args[i+1:]
		case !strings.HasPrefix(flag, "-") || flag == "-":
			return sources, args[i:]
		case slices.Contains(f.inline, flag):
			return sources, nil
		case slices.Contains(f.programs, flag):
			return sources, args[i+1:]
		case slices.Contains(f.sources, flag):
			if !inline && i+1 < len(args) {
				i++
				value = args[i]
			}
			sources = append(sources, value)
		case !inline && f.takes(flag) && i+1 < len(args) && args[i+1] != "--":
			i++
		}
	}
	return sources, nil
}

func (f flags) takes(flag string) bool {
	if f.switches == nil {
		return slices.Contains(f.values, flag)
	}
	if slices.Contains(f.values, flag) {
		return true
	}
	// -it is -i -t.
	joined := !strings.HasPrefix(flag, "--") && !strings.ContainsFunc(flag[1:], func(r rune) bool {
		return !slices.Contains(f.switches, "-"+string(r))
	})
	return !joined && !slices.Contains(f.switches, flag)
}

// script is what an interpreter runs: a file, or a module that a flag names.
func script(interpreter string, f flags, args []string) (string, bool) {
	_, rest := f.split(args)
	if len(rest) == 0 || rest[0] == "-" {
		return "", false
	}
	return interpreter + ":" + shown(rest[0]), true
}

// address returns a URL without what may be a secret or a version: user, query and fragment. A query may also tell two
// things apart, so a digest of it stays.
func address(s string) string {
	scheme, rest, _ := strings.Cut(s, "://")
	rest, _, _ = strings.Cut(rest, "#")
	rest, query, queried := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	host = host[strings.LastIndexByte(host, '@')+1:]
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	text := shown(scheme + "://" + host + "/" + path)
	if queried {
		text += "~" + short(query)
	}
	return text
}

package session

import (
	"slices"
	"strings"
)

// npxFlags are those of npx and npm exec. As npx itself does, an unknown flag is taken to have a value.
func npxFlags() flags {
	return flags{
		sources: []string{"-p", "--package"},
		inline:  []string{"-c", "--call"},
		switches: []string{
			"-y", "--yes", "--no", "--no-install", "-q", "--quiet", "-s", "--silent", "-d", "-f", "--force", "--verbose", "--bun",
			"--prefer-offline", "--prefer-online", "--offline", "--ignore-existing", "--always-spawn", "--ignore-scripts",
			"--no-audit", "--no-fund", "--no-progress", "--no-color", "--no-update-notifier", "--legacy-peer-deps",
			"-g", "--global", "--ws", "--workspaces", "--include-workspace-root",
		},
	}
}

func dlxFlags() flags {
	return flags{sources: []string{"-p", "--package"}, values: []string{"--reporter", "--loglevel", "--registry", "--allow-build"}}
}

func uvFlags() flags {
	return flags{
		sources: []string{"--from", "--spec"},
		values: []string{
			"--with", "-w", "--with-editable", "--with-requirements", "--python", "-p", "--index", "--default-index", "--index-url", "-i",
			"--extra-index-url", "--find-links", "-f", "--index-strategy", "--keyring-provider", "--resolution", "--prerelease",
			"--fork-strategy", "--exclude-newer", "--upgrade-package", "-P", "--refresh-package", "--reinstall-package", "--link-mode",
			"--config-setting", "-C", "--no-build-isolation-package", "--no-build-package", "--no-binary-package", "--cache-dir", "--color",
			"--directory", "--project", "--config-file", "--allow-insecure-host", "--env-file", "--constraints", "-c", "--build-constraints", "-b",
			"--overrides", "--extra", "--group", "--only-group", "--no-group", "--package", "--python-platform", "--torch-backend",
		},
	}
}

func pipxFlags() flags {
	return flags{sources: []string{"--spec"}, values: []string{"--python", "--pip-args", "--index-url", "-i", "--with", "--backend"}}
}

// npm is what npx and its like start: the packages named by flags with the program in them, or the first word.
func npm(f flags, args []string, inner func([]string) (string, bool)) (string, bool) {
	sources, rest := f.split(args)
	if len(sources) > 0 {
		return from("npm:", sources, rest, npmPackage)
	}
	if len(rest) == 0 {
		return "", false
	}
	name := npmPackage(rest[0])
	switch name {
	case "tsx", "ts-node": // what they run is the server
		if what, ok := inner(append([]string{name}, rest[1:]...)); ok {
			return what, true
		}
	case "mcp-remote", "supergateway", "mcp-proxy": // the server is at the other end
		for _, word := range rest[1:] {
			if strings.HasPrefix(word, "https://") || strings.HasPrefix(word, "http://") {
				host, _, _ := strings.Cut(address(word)[strings.Index(word, "//")+2:], "/")
				return "npm:" + name + "," + shown(host) + "~" + short(word), true // a path, too, may hold a key
			}
		}
	case "@smithery/cli":
		if i := slices.Index(rest, "run"); i > 0 && i+1 < len(rest) {
			return "npm:" + name + "," + shown(npmPackage(rest[i+1])), true
		}
	}
	return "npm:" + shown(name), true
}

// from is a program out of packages that flags name.
func from(kind string, sources, rest []string, clean func(string) string) (string, bool) {
	var names []string
	for _, s := range sources {
		names = append(names, shown(clean(s)))
	}
	what := kind + strings.Join(names, "+")
	if len(rest) > 0 && rest[0] != names[0][strings.LastIndexByte(names[0], '/')+1:] {
		what += "," + shown(rest[0])
	}
	return what, true
}

// npmPackage is a package without its version or range.
func npmPackage(spec string) string {
	if strings.Contains(spec, "://") {
		return address(spec)
	}
	if strings.HasPrefix(spec, ".") || strings.HasPrefix(spec, "/") {
		return spec
	}
	spec, _, _ = strings.Cut(spec, "#")
	if spec == "" {
		return spec
	}
	at := strings.IndexByte(spec[1:], '@') + 1
	if at == 0 || strings.HasPrefix(spec, "git@") {
		return spec
	}
	if alias, ok := strings.CutPrefix(spec[at+1:], "npm:"); ok {
		return npmPackage(alias)
	}
	if strings.Contains(spec[at+1:], "://") {
		return address(spec[at+1:])
	}
	return spec[:at]
}

// pypi is what uvx and its like start.
func pypi(f flags, args []string) (string, bool) {
	sources, rest := f.split(args)
	if len(sources) > 0 {
		return from("pypi:", sources, rest, pypiPackage)
	}
	if len(rest) == 0 {
		return "", false
	}
	return "pypi:" + shown(pypiPackage(rest[0])), true
}

// pypiPackage is a requirement without version, extras and markers, in the one spelling that all of its spellings mean.
func pypiPackage(spec string) string {
	if name, source, ok := strings.Cut(spec, "@"); ok && strings.Contains(source, "://") && !strings.Contains(name, "://") {
		spec = strings.TrimSpace(source)
	}
	if scheme, rest, ok := strings.Cut(spec, "://"); ok {
		rest, fragment, _ := strings.Cut(rest, "#")
		host, path, _ := strings.Cut(rest, "/")
		path, _, _ = strings.Cut(path, "@") // a branch or a commit
		text := address(scheme + "://" + host + "/" + path)
		if strings.Contains(fragment, "subdirectory=") {
			text += "~" + short(fragment)
		}
		return text
	}
	if strings.ContainsAny(spec, `/\`) {
		return spec
	}
	if end := strings.IndexAny(spec, "[=<>!~;@ "); end >= 0 {
		spec = spec[:end]
	}
	parts := strings.FieldsFunc(strings.ToLower(spec), func(r rune) bool { return r == '-' || r == '_' || r == '.' })
	return strings.Join(parts, "-")
}

// uv is a tool, or a program of the project in a folder.
func uv(args []string, inner func([]string) (string, bool)) (string, bool) {
	f := uvFlags()
	f.sources = []string{"--directory", "--project"}
	folders, rest := f.split(args)
	switch {
	case len(rest) >= 2 && rest[0] == "tool" && rest[1] == "run":
		return pypi(uvFlags(), rest[2:])
	case len(rest) == 0 || rest[0] != "run":
		return "", false
	}
	f.programs = []string{"-m", "--module"}
	more, rest := f.split(rest[1:])
	if len(rest) == 0 {
		return "", false
	}
	what, ok := inner(rest)
	if !ok {
		what = shown(rest[0])
	}
	if folders = append(folders, more...); len(folders) > 0 {
		what = shown(folders[0]) + "," + what
	}
	return "uv:" + what, true
}

// nuget is what dnx starts.
func nuget(args []string) (string, bool) {
	_, rest := flags{values: []string{"--version", "--source", "--add-source", "--configfile", "--verbosity", "-v", "--framework"}}.split(args)
	if len(rest) == 0 {
		return "", false
	}
	name, _, _ := strings.Cut(rest[0], "@")
	return "nuget:" + shown(strings.ToLower(name)), true
}

// container is an image without tag and digest. A package that is started inside of it belongs to it.
func container(args []string, inner func([]string) (string, bool)) (string, bool) {
	_, rest := flags{values: []string{"--context", "-c", "-H", "--host", "--config", "-l", "--log-level", "-n", "--namespace", "--connection"}}.split(args)
	if len(rest) > 0 && rest[0] == "container" {
		rest = rest[1:]
	}
	if len(rest) == 0 || rest[0] != "run" {
		return "", false
	}
	_, rest = flags{switches: []string{
		"-i", "--interactive", "-t", "--tty", "-d", "--detach", "--rm", "--init", "--privileged", "--read-only", "-P", "--publish-all",
		"-q", "--quiet", "--no-healthcheck", "--oom-kill-disable", "--sig-proxy", "--disable-content-trust", "--replace", "--rmi",
		"--env-host", "--http-proxy", "--no-hosts", "--no-hostname", "--rootfs", "--tls-verify", "--use-api-socket", "--help",
	}}.split(rest[1:])
	if len(rest) == 0 {
		return "", false
	}
	image, _, _ := strings.Cut(rest[0], "@")
	if colon := strings.LastIndexByte(image, ':'); colon > strings.LastIndexByte(image, '/') {
		image = image[:colon]
	}
	what := "docker:" + shown(image)
	if started, ok := inner(rest[1:]); ok {
		what += "," + started
	}
	return what, true
}

// deno runs packages of two registries, URLs and files.
func deno(args []string) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	if args[0] == "run" || args[0] == "x" {
		args = args[1:]
	}
	_, rest := flags{values: []string{"-c", "--config", "--import-map", "--cert", "--location", "--ext", "--seed", "-L", "--log-level", "--conditions"}}.split(args)
	if len(rest) == 0 {
		return "", false
	}
	for _, kind := range []string{"npm:", "jsr:"} {
		if spec, ok := strings.CutPrefix(rest[0], kind); ok {
			return kind + shown(denoPackage(strings.TrimPrefix(spec, "/"))), true
		}
	}
	if strings.Contains(rest[0], "://") {
		return "deno:" + address(rest[0]), true
	}
	return "deno:" + shown(rest[0]), true
}

// denoPackage takes the version out of @scope/name@version/part.
func denoPackage(spec string) string {
	name := npmPackage(spec)
	if behind, ok := strings.CutPrefix(spec, name+"@"); ok {
		if slash := strings.IndexByte(behind, '/'); slash >= 0 {
			return name + behind[slash:]
		}
	}
	return name
}

// shell is what a shell runs: a command line behind -c, or a script.
func shell(base string, args []string, inner func([]string) (string, bool)) (string, bool) {
	for i, word := range args {
		switch {
		case !strings.HasPrefix(word, "-"):
			return base + ":" + shown(word), true
		case strings.HasPrefix(word, "--"):
		case strings.Contains(word, "c"):
			if i+1 == len(args) {
				return "", false
			}
			words, ok := words(args[i+1])
			if !ok {
				return "", false
			}
			return inner(words)
		}
	}
	return "", false
}

// afterSwitch is what stands behind /c or -Command, as one word or several.
func afterSwitch(args, switches []string, inner func([]string) (string, bool)) (string, bool) {
	for i, word := range args {
		if !slices.Contains(switches, strings.ToLower(word)) {
			continue
		}
		rest := args[i+1:]
		if len(rest) != 1 {
			return inner(rest)
		}
		if words, ok := words(rest[0]); ok {
			return inner(words)
		}
		break
	}
	return "", false
}

// words splits a simple command line as a shell would, down to the last of several commands. ok is false for one that
// takes more than splitting.
func words(line string) (list []string, ok bool) {
	var word strings.Builder
	started := false
	end := func() {
		if started {
			list = append(list, word.String())
		}
		word.Reset()
		started = false
	}
	var quote byte
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == '\'' && c != '\'', quote == '"' && c != '"' && c != '\\' && c != '`' && c != '$':
			word.WriteByte(c)
		case c == quote:
			quote = 0
		case c == '"' || c == '\'':
			quote, started = c, true
		case c == '\\' && i+1 < len(line) && strings.IndexByte("\\\"'$ ", line[i+1]) >= 0:
			i++
			word.WriteByte(line[i])
			started = true
		case c == '`', c == '|', c == '<', c == '>', c == '(', c == '$' && i+1 < len(line) && line[i+1] == '(':
			return nil, false
		case c == ' ', c == '\t', c == '\n':
			end()
		case c == ';', c == '&':
			end()
			list = nil
		default:
			word.WriteByte(c)
			started = true
		}
	}
	end()
	return withoutAssignments(list), quote == 0 && len(list) > 0
}

// withoutAssignments leaves out what stands before a command: flags of env, and NAME=value.
func withoutAssignments(list []string) []string {
	for i := 0; i < len(list); i++ {
		switch {
		case list[i] == "-u" || list[i] == "--unset" || list[i] == "-C" || list[i] == "--chdir":
			i++
		case strings.HasPrefix(list[i], "-"):
		case strings.Contains(list[i], "=") && !strings.ContainsAny(list[i][:strings.IndexByte(list[i], '=')], `/\.`):
		default:
			return list[i:]
		}
	}
	return nil
}

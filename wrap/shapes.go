package wrap

import (
	"slices"
	"strings"
)

// isCommandLine reports whether a command is a whole line such as "npx -y server". Clients start programs without a shell,
// so that none finds it. A path with blanks is no such line: only what begins with a program that starts others counts.
func isCommandLine(command string) bool {
	first, _, more := strings.Cut(strings.TrimSpace(command), " ")
	return more && slices.Contains([]string{
		"bash", "bun", "bunx", "cmd", "deno", "docker", "env", "java", "node", "npm", "npx", "pipx", "pnpm", "podman",
		"powershell", "pwsh", "py", "python", "python3", "sh", "uv", "uvx", "wsl", "yarn", "zsh",
	}, programName(first))
}

// programName is the name of a program's file, in lower case and without the endings of Windows.
func programName(command string) string {
	base := strings.ToLower(command[strings.LastIndexAny(command, `/\`)+1:])
	for _, ending := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		base = strings.TrimSuffix(base, ending)
	}
	return base
}

// isOwn reports whether the arguments of bouncer make it a server of its own.
func isOwn(args []string) bool {
	for len(args) > 0 && strings.HasPrefix(args[0], "--home") {
		if args[0] == "--home" && len(args) > 1 {
			args = args[1:]
		}
		args = args[1:]
	}
	return len(args) == 0 || args[0] == "serve" || args[0] == "gateway"
}

// startsBouncer reports whether a command line starts bouncer by way of another program: `cmd /c bouncer serve`,
// `bash -lc "exec bouncer run ..."`. To wrap it would be to wrap it twice.
func startsBouncer(argv, known []string) bool {
	var words []string
	for _, arg := range argv {
		words = append(words, strings.Fields(arg)...)
	}
	for i := 1; i+1 < len(words); i++ {
		if isLauncher(strings.Trim(words[i], `"'`), known) && slices.Contains([]string{"serve", "gateway", "run"}, words[i+1]) {
			return true
		}
	}
	return false
}

// remark says what is worth knowing about a command line: that the server behind it is somewhere else.
func remark(argv []string) string {
	for i, arg := range argv {
		if i > 0 && !strings.HasPrefix(arg, "@") && strings.ContainsAny(arg, `/\`) {
			continue // a file that the server is to work on
		}
		switch name := packageName(arg); {
		case name == "mcp-remote":
			return "a bridge to a remote server (" + name + ")"
		case slices.Contains([]string{"mcp-proxy", "supergateway", "@smithery/cli", "mcp-guardian", "mcp-scan", "thv"}, name):
			return "another proxy (" + name + ")"
		case name == "gateway" && i > 0 && argv[i-1] == "mcp" && programName(argv[0]) == "docker":
			return "another proxy (docker mcp gateway)"
		}
	}
	return ""
}

// packageName is the name in a word that names a program or a package, without its folder and version.
func packageName(word string) string {
	if strings.HasPrefix(word, "@") {
		scope, rest, _ := strings.Cut(word, "/")
		name, _, _ := strings.Cut(rest, "@")
		return scope + "/" + name
	}
	name, _, _ := strings.Cut(programName(word), "@")
	name, _, _ = strings.Cut(name, "==")
	return name
}

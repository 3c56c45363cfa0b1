package session

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestIdentity(t *testing.T) {
	tests := []struct {
		line string // words parted by spaces; ␣ is a space inside a word
		want string // without the name
	}{
		{"npx -y @scope/server /home/ada", "npm:@scope/server"},
		{"npx @scope/server@1.2.3", "npm:@scope/server"},
		{"npx --yes server@^2 --token s3cret", "npm:server"},
		{"npx --yes=true --registry https://r.example server@latest", "npm:server"},
		{"npx --prefer-offline server", "npm:server"},
		{"npx -p @scope/server@1 server", "npm:@scope/server"},
		{"npx -p @scope/server@1 other-program x", "npm:@scope/server,other-program"},
		{"npx --package=a@1 --package b@2 run-it", "npm:a+b,run-it"},
		{"npx -- server@1", "npm:server"},
		{"npx -y alias@npm:@real/server@2", "npm:@real/server"},
		{"npx -y github:owner/repo#v1.2", "npm:github:owner/repo"},
		{"npx -y git+https://user:s3cret@host.example/o/r.git#v1", "npm:git+https://host.example/o/r.git"},
		{"npx -y ./packages/server", "npm:./packages/server"},
		{"C:\\nodejs\\npx.cmd -y server@1", "npm:server"},
		{"/opt/homebrew/bin/npx -y server@1", "npm:server"},
		{"npm exec -y -- server@1 --flag", "npm:server"},
		{"npm x --package=server@1 -- server", "npm:server"},
		{"pnpm dlx server@1", "npm:server"},
		{"pnpm --silent dlx --package server@1 server", "npm:server"},
		{"yarn dlx -q server@1", "npm:server"},
		{"bunx --bun server@1", "npm:server"},
		{"bun x server@1", "npm:server"},
		{"bun run /srv/server.ts", "bun:/srv/server.ts"},
		{"npx -y tsx@4 /srv/server.ts", "node:/srv/server.ts"},
		{"npx -y @smithery/cli@latest run @owner/server@1 --key s3cret", "npm:@smithery/cli,@owner/server"},

		{"uvx mcp-server-git --repository /r", "pypi:mcp-server-git"},
		{"uvx mcp-server-git@2025.1.1", "pypi:mcp-server-git"},
		{"uvx MCP_Server.git[extra]==1.0", "pypi:mcp-server-git"},
		{"uvx --python 3.12 mcp-server-git>=1", "pypi:mcp-server-git"},
		{"uvx --from mcp-server-git==1 mcp-server-git", "pypi:mcp-server-git"},
		{"uvx --from git+https://github.com/o/r@v1 serve", "pypi:git+https://github.com/o/r,serve"},
		{"uvx --from=git+https://u:p@github.com/o/r@v2 serve", "pypi:git+https://github.com/o/r,serve"},
		{"uv tool run --from server==2 serve", "pypi:server,serve"},
		{"pipx run --spec server==2 server", "pypi:server"},
		{"pipx run server==2", "pypi:server"},
		{"uv run --directory /srv/weather weather.py", "uv:/srv/weather,weather.py"},
		{"uv --directory /srv/weather run weather.py --key x", "uv:/srv/weather,weather.py"},
		{"uv run --with mcp python /srv/server.py", "uv:python:/srv/server.py"},
		{"uv run -m weather --port 1", "uv:weather"},
		{"dnx Contoso.Server@1.0 --yes", "nuget:contoso.server"},

		{"docker run -i --rm -e TOKEN=s3cret ghcr.io/o/server:1.2 stdio", "docker:ghcr.io/o/server"},
		{"docker run -it --name x mcp/server@sha256:0000", "docker:mcp/server"},
		{"docker run --rm --mount type=bind,src=/a,dst=/b localhost:5000/server", "docker:localhost:5000/server"},
		{"docker --context other container run server:2", "docker:server"},
		{"podman run --rm node:22 npx -y server@1", "docker:node,npm:server"},
		{"docker compose run server", "command:docker~"},

		{"deno run -A npm:@scope/server@1/bin --x", "npm:@scope/server/bin"},
		{"deno run --allow-net jsr:@scope/server@^1", "jsr:@scope/server"},
		{"deno run https://host.example/server.ts?token=s3cret", "deno:https://host.example/server.ts~"},
		{"node --import tsx /srv/dist/index.js --token s3cret", "node:/srv/dist/index.js"},
		{"/usr/bin/python3.12 -m mcp_server_git --repository r", "python:mcp_server_git"},
		{"python -u /srv/server.py", "python:/srv/server.py"},
		{"python -c import_server", "command:python~"},
		{"java -Xmx1g -jar /srv/server.jar", "java:/srv/server.jar"},
		{"go run example.com/cmd/server@v1.2.3", "go:example.com/cmd/server"},

		{"cmd /c npx -y server@1", "npm:server"},
		{"cmd.exe /d /s /c npx␣-y␣server@1", "npm:server"},
		{"powershell -NoProfile -Command npx␣-y␣server@1", "npm:server"},
		{"bash -lc npx␣-y␣server@1", "npm:server"},
		{"bash -c source␣~/.nvm/nvm.sh␣&&␣exec␣npx␣-y␣'server@1'", "npm:server"},
		{"sh -c TOKEN=s3cret␣npx␣-y␣server@1␣|␣tee␣log", "command:sh~"},
		{"sh /srv/start.sh", "sh:/srv/start.sh"},
		{"env -i A=b npx -y server@1", "npm:server"},
		{"/usr/bin/env -u HOME node /srv/x.js", "node:/srv/x.js"},
		{"mise exec node@22 -- npx -y server@1", "npm:server"},
		{"npx␣-y␣server@1", "npm:server"},

		{"/usr/local/bin/mail-server", "command:/usr/local/bin/mail-server"},
		{"/opt/My␣Tools/mail", "command:/opt/My Tools/mail"},
		{"/usr/local/bin/mail-server serve --token s3cret", "command:/usr/local/bin/mail-server~"},
		{"npx", "command:npx"},
		{"npx -c echo", "command:npx~"},
	}
	for _, tt := range tests {
		argv := strings.Split(tt.line, " ")
		for i := range argv {
			argv[i] = strings.ReplaceAll(argv[i], "␣", " ")
		}
		got := Identity("name", argv)
		if want, digest := strings.CutSuffix(tt.want, "~"); digest {
			rest, ok := strings.CutPrefix(got, want+"~")
			if !ok || len(rest) != 16+len("#name") {
				t.Errorf("%s\n got %s\nwant %s and a digest", tt.line, got, want)
			}
		} else if got != tt.want+"#name" {
			t.Errorf("%s\n got %s\nwant %s", tt.line, got, tt.want)
		}
		if again := Identity("name", slices.Clone(argv)); again != got {
			t.Errorf("%s: %s, then %s", tt.line, got, again)
		}
		if strings.Contains(got, "s3cret") {
			t.Errorf("%s tells the secret", got)
		}
	}
}

// The table in the documentation is true, but for digests.
func TestDocumentedIdentities(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "docs", "pins.md"))
	if err != nil {
		t.Fatal(err)
	}
	digest := regexp.MustCompile("~[0-9a-f]{16}")
	rows := 0
	for line := range strings.Lines(string(data)) {
		left, right, ok := strings.Cut(strings.Trim(line, "| \n"), " | ")
		if !ok || !strings.Contains(right, "#name`") {
			continue
		}
		rows++
		commands, identities := strings.Split(left, "`"), strings.Split(right, "`")
		for i := 1; i < len(identities); i += 2 {
			argv := strings.Split(commands[i], " ")
			if got := Identity("name", argv); digest.ReplaceAllString(got, "~") != digest.ReplaceAllString(identities[i], "~") {
				t.Errorf("%s is %s, documented as %s", commands[i], got, identities[i])
			}
		}
	}
	if rows < 10 {
		t.Errorf("found %d rows", rows)
	}
}

func TestIdentityTellsApart(t *testing.T) {
	lines := [][]string{
		nil,
		{"npx", "a"},
		{"npx", "b"},
		{"npx", "@s/a"},
		{"uvx", "a"},
		{"docker", "run", "a"},
		{"npx", "mcp-remote", "https://one.example/sse"},
		{"npx", "mcp-remote", "https://one.example/other"},
		{"npx", "mcp-remote", "https://two.example/sse"},
		{"docker", "run", "node", "npx", "a"},
		{"docker", "run", "node", "npx", "b"},
		{"node", "/a.js"},
		{"node", "/b.js"},
		{"server", "--mode", "a"},
		{"server", "--mode", "b"},
		{"deno", "run", "https://h.example/x.ts?a"},
		{"deno", "run", "https://h.example/x.ts?b"},
		{"uvx", "--from", "git+https://h.example/o/r#subdirectory=a", "x"},
		{"uvx", "--from", "git+https://h.example/o/r#subdirectory=b", "x"},
	}
	seen := map[string][]string{}
	for _, argv := range lines {
		for _, name := range []string{"one", "two"} {
			id := Identity(name, argv)
			if other, taken := seen[id]; taken {
				t.Errorf("%q and %q are both %s", argv, other, id)
			}
			seen[id] = append(argv, name)
		}
	}
}

// A new token is no new server, and stands nowhere.
func TestIdentityForgetsSecrets(t *testing.T) {
	with := func(secret string) string {
		return Identity("mail", []string{"/bin/mail", "serve", "--api-key", secret, "--token=" + secret, "-v"})
	}
	if with("one") != with("another") {
		t.Error("a secret makes another server")
	}
	for _, argv := range [][]string{
		{"/bin/mail --token hunter2hunter2"}, {"node", "x.js --token hunter2hunter2"}, {"npx", "mcp-remote", "https://h.example/hunter2hunter2/sse"},
	} {
		if id := Identity("mail", argv); strings.Contains(id, "hunter2") {
			t.Errorf("%q: %s", argv, id)
		}
	}
}

func TestIdentityOfOddNames(t *testing.T) {
	long := strings.Repeat("é", 500)
	id := Identity(long, []string{"npx", "a"})
	if len(id) > 200 || id == Identity(long+"x", []string{"npx", "a"}) {
		t.Errorf("a long name: %s", id)
	}
	if got := Name(Identity("a#b", []string{"npx", "a#b"})); got != "a#b" {
		t.Errorf("the name in it is %q", got)
	}
}

func FuzzIdentity(f *testing.F) {
	for _, line := range []string{
		"npx\x00-y\x00server@1", "docker\x00run\x00-e\x00A=b\x00img:1", "bash\x00-lc\x00npx -y 'a b'", "uv\x00--directory\x00/x\x00run\x00y.py",
		"cmd\x00/c\x00npx", "npx\x00--package", "deno\x00run\x00npm:@a/b@1/c", "uvx\x00--from\x00a @ git+https://h/p@v#subdirectory=x\x00y",
		"env\x00env\x00env\x00env\x00env\x00env\x00env\x00env\x00env", "npx -y server", "docker\x00run\x00-it", "\x00\x00", "npx\x00-y\x00http://",
	} {
		f.Add("name", line)
	}
	f.Fuzz(func(t *testing.T, name, line string) {
		argv := strings.Split(line, "\x00")
		id := Identity(name, argv)
		if id != Identity(name, slices.Clone(argv)) {
			t.Fatal("not the same twice")
		}
		what, _, _ := strings.Cut(id, "#")
		if got := what + "#" + Name(id); got != id {
			t.Fatalf("%q is not what and name", id)
		}
		if strings.ContainsFunc(what, func(r rune) bool { return r < ' ' || r == 0x7f || 0x200b <= r && r <= 0x202e }) {
			t.Fatalf("%q hides something", what)
		}
	})
}

// Whatever the launcher, another version is the same server, and another package is not.
func FuzzIdentityVersions(f *testing.F) {
	f.Add("server", "other", "1.2.3", "latest")
	f.Add("a", "a-b", "0", "10")
	f.Fuzz(func(t *testing.T, one, two, v1, v2 string) {
		one, two, v1, v2 = plainWord(one), plainWord(two), plainWord(v1), plainWord(v2)
		for _, form := range []string{
			"npx -y P@V", "npx -y @scope/P@V x", "npm exec -- P@V", "pnpm dlx P@V", "yarn dlx P@V", "bunx P@V", "npx -p P@V P", "npx -y npm:P@V",
			"uvx P==V", "uvx P@V", "uvx --from P>=V P", "pipx run P==V", "uv tool run P[x]~=V", "dnx P@V",
			"docker run -i --rm -e A=b P:V", "docker run r.example:1/P:V", "docker run P@sha256:V",
			"deno run -A npm:P@V", "deno run jsr:@s/P@V/m", "cmd /c npx -y P@V", "npx -y git+https://h.example/P#V", "uvx --from git+https://h.example/P@V x",
			"go run h.example/P@V",
		} {
			make := func(p, v string) string {
				return Identity("n", strings.Split(strings.NewReplacer("P", p, "V", v).Replace(form), " "))
			}
			if a, b := make(one, v1), make(one, v2); a != b {
				t.Errorf("%s: %s and %s", form, a, b)
			}
			if a, b := make(one, v1), make(two, v1); one != two && a == b {
				t.Errorf("%s: %q and %q are both %s", form, one, two, a)
			}
		}
	})
}

// plainWord is made of what every registry allows in a name.
func plainWord(s string) string {
	s = strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' {
			return r
		}
		return -1
	}, s)
	return "w" + s[:min(len(s), 40)]
}

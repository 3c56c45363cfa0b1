package main

import (
	"bufio"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/internal/link"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// lookup finds out what command lines would start.
type lookup struct {
	env      clients.Env
	path     string // PATH of this terminal
	self     string // the running executable
	launcher string
	unfit    string
}

func (a *app) newLookup() (lookup, error) {
	env, err := a.clientEnv()
	if err != nil {
		return lookup{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return lookup{}, err
	}
	l := lookup{env: env, self: self, path: a.getenv("PATH")}
	l.launcher, err = a.launcher()
	if errors.Is(err, wrap.ErrShortLived) {
		l.unfit, err = err.Error(), nil
	}
	return l, err
}

// start resolves a launcher and compares it with the running bouncer.
func (l lookup) start(launcher string) doctor.Program {
	p := l.resolve(launcher, l.path)
	if p.Missing() || p.Unknown {
		return p
	}
	p.Self = p.Path == l.launcher || sameFile(p.Path, l.self)
	onPath := func(name string) (string, bool) {
		found := l.resolve(name, l.path).Path
		return found, found != ""
	}
	better, err := wrap.ChooseLauncher(p.Path, onPath, l.env, sameFile)
	p.Fleeting = err != nil || better != p.Path
	return p
}

// upstream finds a server's program: as a terminal would, and then as its client does.
func (l lookup) upstream(s wrap.Server) doctor.Program {
	path := l.path
	if s.HasPath {
		if path = s.Path; strings.ContainsAny(path, "$%") {
			return doctor.Program{Unknown: true}
		}
	}
	p := l.resolve(s.Command, path)
	if p.Unknown || p.Missing() {
		return p
	}
	needs := interpreter(p.Path)
	if needs != "" && l.resolve(needs, path).Missing() {
		p.Needs = needs
		return p
	}
	if s.HasPath {
		return p // the entry brings its own
	}
	c, _ := clients.ByID(s.File.Client)
	return l.beyond(p, c.Start, s.Command, needs)
}

// beyond says whether a client that the desktop starts finds a program, and its interpreter, too.
func (l lookup) beyond(p doctor.Program, start clients.Start, command, needs string) doctor.Program {
	if start == clients.Terminal {
		return p
	}
	words := []string{command}
	if needs != "" {
		words = append(words, needs)
	}
	for _, word := range words {
		if filepath.IsAbs(word) {
			continue
		}
		path, sure := launchPath(start, l.env)
		switch {
		case sure && l.resolve(word, path).Missing():
			p.Beyond, p.PATH = doctor.Lost, path
			if start == clients.DesktopShell {
				p.Beyond = doctor.Unlikely
			}
		case l.env.OS == "linux" && start == clients.Desktop && l.inHome(l.resolve(word, l.path).Path):
			p.Beyond = doctor.Doubtful
		default:
			continue
		}
		if word != command {
			p.Needs = word
		}
		return p
	}
	return p
}

// launchPath is the PATH that a client has before it asks anybody for a better one.
func launchPath(start clients.Start, env clients.Env) (string, bool) {
	if start == clients.DesktopShell {
		start = clients.Desktop
	}
	return start.Path(env)
}

func (l lookup) inHome(file string) bool {
	rel, err := filepath.Rel(l.env.Home, file)
	return err == nil && l.env.Home != "" && filepath.IsLocal(rel)
}

// resolve tells what a command starts on a PATH.
func (l lookup) resolve(command, path string) doctor.Program {
	if strings.ContainsAny(command, "$%") || strings.HasPrefix(command, "~") {
		return doctor.Program{Unknown: true}
	}
	if !filepath.IsAbs(command) && strings.ContainsAny(command, `/\`) {
		return doctor.Program{Unknown: true}
	}
	found, err := link.LookPath(command, []string{"PATH=" + path, "PATHEXT=" + os.Getenv("PATHEXT")})
	if err != nil {
		return doctor.Program{}
	}
	return doctor.Program{Path: found}
}

// interpreter is the program that a script's first line finds through PATH: `#!/usr/bin/env node`.
func interpreter(file string) string {
	if runtime.GOOS == "windows" {
		return ""
	}
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // it was only read
	line, err := bufio.NewReaderSize(f, 256).ReadSlice('\n')
	if err != nil {
		return "" // no script, or none that anybody wrote
	}
	words := strings.Fields(strings.TrimPrefix(string(line), "#!"))
	if !strings.HasPrefix(string(line), "#!") || len(words) < 2 || filepath.Base(words[0]) != "env" {
		return ""
	}
	for _, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return word
		}
	}
	return ""
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

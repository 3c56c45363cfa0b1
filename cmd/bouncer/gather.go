package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// gather looks at everything that doctor's checks may ask about. It writes nothing and starts nothing.
func (a *app) gather(s selection) (doctor.Facts, error) {
	found, err := a.find(s)
	if err != nil {
		return doctor.Facts{}, err
	}
	p, err := a.places()
	if err != nil {
		return doctor.Facts{}, err
	}
	g, err := a.newProbe()
	if err != nil {
		return doctor.Facts{}, err
	}
	facts := doctor.Facts{Launcher: g.launcher, Unfit: g.unfit, Audit: doctor.Audit{Dir: p.State}}
	for _, f := range found.Files {
		facts.Files = append(facts.Files, g.file(f))
	}
	for _, f := range found.Managed {
		file := g.file(f)
		file.Managed = true
		facts.Files = append(facts.Files, file)
	}
	for _, fault := range found.Unreadable {
		facts.Files = append(facts.Files, doctor.File{Client: fault.Client, Path: fault.Path, Err: &fault})
	}
	facts.Clients = installed(facts.Files)
	facts.Policies = tryPolicies(p.Policy, facts.Files)
	facts.Audit.Report, facts.Audit.Err = audit.Verify(p.State)
	return facts, nil
}

// installed lists the clients that have a config.
func installed(files []doctor.File) []doctor.Client {
	var list []doctor.Client
	for _, c := range clients.All() {
		if slices.ContainsFunc(files, func(f doctor.File) bool { return f.Client == c.ID }) {
			list = append(list, doctor.Client{ID: c.ID, Name: c.Name})
		}
	}
	return list
}

// tryPolicies loads the user's policy file, if there is one, and those that entries name.
func tryPolicies(own string, files []doctor.File) []doctor.Policy {
	var names []string
	if _, err := os.Lstat(own); err == nil {
		names = append(names, own)
	}
	for _, f := range files {
		for _, e := range f.Entries {
			names = append(names, e.Policies...)
		}
	}
	var policies []doctor.Policy
	for _, name := range names {
		seen := slices.ContainsFunc(policies, func(p doctor.Policy) bool { return p.Path == name })
		if seen || !filepath.IsAbs(name) { // the client expands a relative name, or resolves it against its own folder
			continue
		}
		_, err := readPolicy(name)
		policies = append(policies, doctor.Policy{Path: name, Err: err})
	}
	return policies
}

// probe finds out what command lines would start.
type probe struct {
	env      clients.Env
	self     string // the running executable
	launcher string
	unfit    string
}

func (a *app) newProbe() (probe, error) {
	env, err := a.clientEnv()
	if err != nil {
		return probe{}, err
	}
	self, err := os.Executable()
	if err != nil {
		return probe{}, err
	}
	g := probe{env: env, self: self}
	g.launcher, err = a.launcher()
	if errors.Is(err, wrap.ErrShortLived) {
		g.unfit, err = err.Error(), nil
	}
	return g, err
}

func (g probe) file(f wrap.File) doctor.File {
	file := doctor.File{Client: f.Client, Path: f.Path, Shared: f.Shared}
	entries, err := wrap.Entries(f, g.self, g.launcher)
	if err != nil {
		file.Err = err
		return file
	}
	for _, e := range entries {
		entry := doctor.Entry{Entry: e, Project: project(f, e)}
		if e.Command != "" {
			entry.Upstream = resolve(e.Command)
		}
		if e.State == wrap.Wrapped {
			entry.Start = g.start(e.Launcher)
		}
		file.Entries = append(file.Entries, entry)
	}
	return file
}

// start resolves a launcher and compares it with the running bouncer.
func (g probe) start(launcher string) doctor.Program {
	p := resolve(launcher)
	if p.Missing() || p.Unknown {
		return p
	}
	p.Self = p.Path == g.launcher || sameFile(p.Path, g.self)
	better, err := wrap.ChooseLauncher(p.Path, lookPath, g.env, sameFile)
	p.Fleeting = err != nil || better != p.Path
	return p
}

// resolve tells what a command starts on this PATH. A client may have another one, above all a client with a window.
func resolve(command string) doctor.Program {
	if strings.ContainsAny(command, "$%") || strings.HasPrefix(command, "~") {
		return doctor.Program{Unknown: true}
	}
	if !filepath.IsAbs(command) && strings.ContainsAny(command, `/\`) {
		return doctor.Program{Unknown: true}
	}
	path, _ := lookPath(command)
	return doctor.Program{Path: path}
}

func lookPath(name string) (string, bool) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", false
	}
	return path, true
}

func sameFile(a, b string) bool {
	first, err := os.Stat(a)
	if err != nil {
		return false
	}
	second, err := os.Stat(b)
	return err == nil && os.SameFile(first, second)
}

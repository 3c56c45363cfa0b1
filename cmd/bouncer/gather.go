package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// gather looks at everything that doctor's checks may ask about. It writes nothing and starts nothing. The servers that it
// found come along, each for the entry of its place in the facts.
func (a *app) gather(s selection) (doctor.Facts, map[*doctor.Entry]wrap.Server, error) {
	found, err := a.find(s)
	if err != nil {
		return doctor.Facts{}, nil, err
	}
	p, err := a.places()
	if err != nil {
		return doctor.Facts{}, nil, err
	}
	l, err := a.newLookup()
	if err != nil {
		return doctor.Facts{}, nil, err
	}
	store := wrap.NewStore(p.State)
	g := gathering{lookup: l, known: a.known(), history: store.History(), pins: pinStores{}, read: policyFiles{}, state: p.State}
	if g.asides, err = store.Asides(); err != nil {
		return doctor.Facts{}, nil, err
	}
	facts := doctor.Facts{
		Launcher: l.launcher, Unfit: l.unfit,
		Files: g.files(found),
		Audit: doctor.Audit{Dir: p.State},
		State: doctor.State{Dir: p.State, Generations: g.history.Len(), Partial: len(s.clients)+len(s.configs) > 0},
	}
	if len(s.configs) == 0 {
		facts.Sources = wrap.Sources(l.env, s.clients...)
	}
	for _, fault := range found.Unreadable {
		facts.Files = append(facts.Files, doctor.File{Client: fault.Client, Path: fault.Path, Err: &fault})
	}
	facts.Hooks = g.hooks(found, &facts)
	facts.Clients = installed(facts, l.env)
	if p.Chosen {
		facts.Home = p.State
	}
	facts.Policies = tryPolicies(p.Policy, facts.Files)
	facts.Audit.Report, facts.Audit.Err = audit.Verify(p.State)
	return facts, g.index(facts.Files), nil
}

// installed lists the clients that have a config, or anything else that holds servers.
func installed(facts doctor.Facts, env clients.Env) []doctor.Client {
	var list []doctor.Client
	for _, c := range clients.All() {
		files := 0
		for _, f := range facts.Files {
			if f.Client == c.ID || slices.Contains(f.Also, c.ID) {
				files++
			}
		}
		if files == 0 && !slices.ContainsFunc(facts.Sources, func(u wrap.Uncovered) bool { return u.Client == c.ID }) {
			continue
		}
		client := doctor.Client{ID: c.ID, Name: c.Name}
		if files > 1 {
			client.Reads = reads(c, env)
		}
		list = append(list, client)
	}
	return list
}

// reads is the config that the running program of a client reads, where that can be told.
func reads(c clients.Client, env clients.Env) string {
	program, running, err := wrap.RunningProgram(c.Process)
	if err != nil || !running || program.Reads == nil {
		return ""
	}
	for _, file := range program.Reads(env) {
		if _, err := os.Stat(file); err == nil {
			return file
		}
	}
	return ""
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
			if own, err := policyOf(e.Home); err == nil && e.Home != "" && exists(own) {
				names = append(names, own)
			}
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

func exists(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// refusal says why bouncer run would not take the flags of a wrapped entry, or nothing. The command itself is asked.
func refusal(e wrap.Entry) string {
	silent := &app{in: strings.NewReader(""), out: io.Discard, err: io.Discard}
	cmd, _, err := newRootCmd(silent).Find([]string{"run"})
	if err == nil {
		err = cmd.ParseFlags(e.Flags)
	}
	if err == nil && cmd.Flags().NArg() > 0 {
		err = fmt.Errorf("%q stands before the --", cmd.Flags().Arg(0))
	}
	if err == nil {
		err = checkProfile(e.Profile)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// gathering turns what was read into facts.
type gathering struct {
	lookup
	known   []string
	history wrap.History
	asides  []wrap.Aside
	pins    pinStores
	read    policyFiles
	state   string        // this command's state directory
	servers []wrap.Server // in the order of the entries
}

// files describes every file that was found and its servers.
func (g *gathering) files(found wrap.Found) []doctor.File {
	servers, faults := found.Survey(g.known...)
	var files []doctor.File
	at := map[string]int{}
	all := slices.Concat(found.Files, found.Managed)
	for _, f := range all {
		at[f.Path] = len(files)
		readable, writable := exposed(g.env.OS, f.Mode)
		files = append(files, doctor.File{
			Client: f.Client, Also: f.Also, Path: f.Path, Key: f.Key(), Shared: f.Shared, Legible: readable, Open: writable,
			Managed: slices.ContainsFunc(found.Managed, func(m wrap.File) bool { return m.Path == f.Path }),
		})
	}
	for _, err := range faults {
		if f, ok := asFileError(err); ok {
			files[at[f.Path]].Err = err
		}
	}
	g.servers = servers
	for i := range files {
		if files[i].Err == nil {
			g.fill(&files[i], all[i], servers)
		}
	}
	return files
}

// fill describes the servers of one file, and those that are not in it any more.
func (g *gathering) fill(file *doctor.File, of wrap.File, servers []wrap.Server) {
	servers = slices.DeleteFunc(slices.Clone(servers), func(s wrap.Server) bool { return s.File.Path != of.Path })
	past := g.history.Past(of, g.known...)
	var entries []wrap.Entry
	for _, s := range servers {
		entries = append(entries, s.Entry)
	}
	for _, s := range servers {
		file.Entries = append(file.Entries, g.entry(s, past, entries))
	}
	file.Gone = gone(past, file.Entries)
}

// exposed says what others on this computer may do with a file. On Windows no mode tells.
func exposed(goos string, mode fs.FileMode) (readable, writable bool) {
	if goos == "windows" {
		return false, false
	}
	return mode&0o044 != 0, mode&0o022 != 0
}

// gone lists the servers that were wrapped and are not there any more.
func gone(past wrap.Past, entries []doctor.Entry) []doctor.Gone {
	var list []doctor.Gone
	for key, when := range past.Wrapped {
		there := slices.ContainsFunc(entries, func(e doctor.Entry) bool { return wrap.PointerKey(e.Pointer) == key })
		if !there {
			list = append(list, doctor.Gone{Name: key[strings.LastIndexByte(key, 0)+1:], When: when})
		}
	}
	slices.SortFunc(list, func(a, b doctor.Gone) int { return strings.Compare(a.Name, b.Name) })
	return list
}

func (g *gathering) entry(s wrap.Server, past wrap.Past, all []wrap.Entry) doctor.Entry {
	e := doctor.Entry{
		Undone: past.Undone(s.Entry), Added: past.Came(s.Entry, all),
		Entry: s.Entry, Project: s.Project, Effect: s.Effect, Secrets: s.Secrets,
		Aside: slices.ContainsFunc(g.asides, func(a wrap.Aside) bool { return a.Of(s.File, s.Entry) }),
	}
	if e.Command != "" {
		e.Upstream = g.upstream(s)
	}
	if e.State == wrap.Wrapped || e.Serves {
		e.Start = g.start(e.Launcher)
	}
	if e.State == wrap.Wrapped {
		e.Refused = refusal(s.Entry)
		e.Pins = g.changes(s.Entry)
		files, _ := policiesOf(s.Entry) // a home that can't be told is said where it is looked for
		e.Observed = g.read.observe(s.Entry, files)
	}
	return e
}

func (g *gathering) changes(e wrap.Entry) doctor.Pins {
	n, dir := g.pins.waiting(e)
	if dir == g.state {
		dir = ""
	}
	return doctor.Pins{Waiting: n, Home: dir}
}

// index finds the server of each entry.
func (g *gathering) index(files []doctor.File) map[*doctor.Entry]wrap.Server {
	servers := map[*doctor.Entry]wrap.Server{}
	next := map[string]int{}
	for _, s := range g.servers {
		i := slices.IndexFunc(files, func(f doctor.File) bool { return f.Path == s.File.Path })
		servers[&files[i].Entries[next[s.File.Path]]] = s
		next[s.File.Path]++
	}
	return servers
}

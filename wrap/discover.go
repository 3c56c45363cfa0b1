package wrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// DiscoverOptions choose which configs are read.
type DiscoverOptions struct {
	Clients []string        // ids; empty for all
	Files   []string        // only these files, whatever the clients; each takes the shape of the client whose place it is
	Key     []string        // where the servers stand in Files; nil for where the client has them, mcpServers where no client is known
	Scopes  []clients.Scope // only files that can hold servers of these; empty for all
}

// Found is every config that was found, in the order of clients.All, best first.
type Found struct {
	Files      []File
	Managed    []File      // an organisation's: reported, never edited
	Hooks      []File      // settings with a place for a hook; they may not exist yet
	Unreadable []FileError // configs and policy files that are there and can't be read

	env       clients.Env
	approvals map[string]approvals // of clients that start a project's servers only when their names are approved
}

// Discover reads the configs that exist. It creates nothing, and a file that can't be read keeps no other from being read.
func Discover(env clients.Env, o DiscoverOptions) Found {
	env = equip(env)
	d := discovery{lists: map[string]settings{}, scopes: o.Scopes, readings: readings(env)}
	d.found.env, d.found.approvals = env, map[string]approvals{}
	if len(o.Files) > 0 {
		for _, file := range o.Files {
			if o.Key == nil && d.addNamedHook(env, file) {
				continue
			}
			d.addNamed(named(env, file), o.Key)
		}
		return d.found
	}
	for _, c := range places(env) {
		if len(o.Clients) == 0 || slices.Contains(o.Clients, c.client) {
			d.add(c, false)
		}
	}
	d.addHooks(env, o)
	return d.found
}

// addNamed reads a config that a person has named, perhaps together with where its servers stand.
func (d *discovery) addNamed(c candidate, key []string) {
	if key == nil {
		d.add(c, true)
		return
	}
	narrowed, err := c.under(key)
	if err == nil {
		before := len(d.found.Files)
		d.add(narrowed, true)
		for _, f := range d.found.Files[before:] {
			err = reached(f.Data, f.Format, key)
		}
		if err != nil {
			d.found.Files = d.found.Files[:before]
		}
	}
	if err != nil {
		d.found.Unreadable = append(d.found.Unreadable, FileError{Client: c.client, Path: c.path, Err: err})
	}
}

// equip gives an environment eyes for what its places depend on.
func equip(env clients.Env) clients.Env {
	if env.Glob == nil {
		env.Glob = glob
	}
	if env.Exists == nil {
		env.Exists = func(file string) bool { _, err := os.Stat(file); return err == nil }
	}
	if env.Read == nil {
		env.Read = func(file string) []byte {
			data, _, err := readRegular(file)
			if err != nil {
				return nil
			}
			return data
		}
	}
	return env
}

func glob(pattern string) []string {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return nil // the pattern is ours, so its folder is named in a way that no pattern can say
	}
	return files
}

// candidate is a place where a config may be.
type candidate struct {
	client string
	config clients.Config
	path   string
	env    clients.Env
}

func places(env clients.Env) []candidate {
	var list []candidate
	for _, client := range clients.All() {
		for _, config := range client.Configs {
			for _, path := range config.Paths(env) {
				list = append(list, candidate{client.ID, config, path, env})
			}
		}
	}
	return list
}

// named finds out which client reads a file that the person has named. The places of this environment come first; then
// those of the project, and of the home, that the file would be in: another folder's .mcp.json is still a .mcp.json.
func named(env clients.Env, file string) candidate {
	if !filepath.IsAbs(file) {
		file = filepath.Join(env.Project, file)
	}
	file = filepath.Clean(file)
	for i, e := range surroundings(env, file) {
		for _, c := range places(e) {
			if samePath(c.path, file) || i == 0 && sameFile(c.path, file) { // a client's path may lead to it
				c.path = file
				return c
			}
		}
	}
	unknown := candidate{path: file, env: env}
	unknown.config.Maps = []clients.Map{{Scope: clients.User, Pointer: usualKey()}}
	return unknown
}

// surroundings lists this environment, then those in which each folder above the file is the project, then the home.
func surroundings(env clients.Env, file string) []clients.Env {
	elsewhere := clients.Env{OS: env.OS, Glob: env.Glob, Exists: env.Exists, Read: env.Read}
	projects, homes := []clients.Env{env}, []clients.Env(nil)
	for at := filepath.Dir(file); ; at = filepath.Dir(at) {
		project, home := elsewhere, elsewhere
		project.Project, home.Home = at, at
		projects, homes = append(projects, project), append(homes, home)
		if at == filepath.Dir(at) {
			return append(projects, homes...)
		}
	}
}

func samePath(a, b string) bool {
	return a == b || strings.EqualFold(a, b) && sameFile(a, b)
}

// discovery gathers what is found.
type discovery struct {
	found    Found
	real     []string            // what was read already, symlinks resolved
	lists    map[string]settings // policy files read so far
	scopes   []clients.Scope
	readings []reading
}

// add reads one config. A file that nobody asked for by name may well not exist.
func (d *discovery) add(c candidate, asked bool) {
	if len(d.scopes) > 0 && !slices.ContainsFunc(c.config.Maps, func(m clients.Map) bool { return slices.Contains(d.scopes, m.Scope) }) {
		return
	}
	data, mode, err := readRegular(c.path)
	if missing(err) && !asked {
		return
	}
	if err != nil {
		d.found.Unreadable = append(d.found.Unreadable, FileError{Client: c.client, Path: c.path, Err: err})
		return
	}
	if d.seen(c.path) {
		return
	}
	also, lock := d.others(c)
	file := File{
		Client: c.client, Also: also, Path: c.path, Maps: c.config.Maps, Format: c.config.Format,
		Shared: c.config.Shared, Lock: lock, Data: data, Mode: mode,
	}
	switch {
	case c.config.Managed:
		d.found.Managed = append(d.found.Managed, file)
		return
	case c.client == "":
		file.Format = guessFormat(data)
	case c.config.Policies != nil:
		file.Lists = d.readLists(c)
	}
	d.found.Files = append(d.found.Files, file)
}

// reading is a client's config that exists.
type reading struct {
	real   string
	client string
	lock   bool
}

// readings are the configs that clients read, by the file that their path leads to.
func readings(env clients.Env) []reading {
	var list []reading
	for _, c := range places(env) {
		if real, err := filepath.EvalSymlinks(c.path); err == nil {
			list = append(list, reading{real, c.client, c.config.Lock})
		}
	}
	return list
}

// others finds the clients besides its own that read the file of a path, and whether one of all of them locks it: a lock
// belongs to the file, not to the name by which this command has come to it.
func (d *discovery) others(c candidate) (ids []string, lock bool) {
	lock = c.config.Lock
	real, err := filepath.EvalSymlinks(c.path)
	if err != nil {
		return nil, lock
	}
	for _, r := range d.readings {
		if !samePath(r.real, real) {
			continue
		}
		lock = lock || r.lock
		if r.client != c.client && !slices.Contains(ids, r.client) {
			ids = append(ids, r.client)
		}
	}
	return ids, lock
}

// seen reports whether the file was read under another name before, as when the home is the project too. Then it is listed
// once.
func (d *discovery) seen(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = path
	}
	if !slices.ContainsFunc(d.real, func(other string) bool { return samePath(real, other) }) {
		d.real = append(d.real, real)
		return false
	}
	return true
}

// errNotRegular keeps us from waiting for ever at a pipe.
var errNotRegular = errors.New("not a regular file")

func readRegular(path string) ([]byte, fs.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		if link, linkErr := os.Readlink(path); linkErr == nil && missing(err) {
			return nil, 0, fmt.Errorf("symbolic link to %s, which does not exist", link)
		}
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errNotRegular
	}
	data, err := os.ReadFile(path)
	return data, info.Mode(), err
}

// missing reports whether there is no file, nor anything else in its place.
func missing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// guessFormat tells by its text how a config of an unknown client is read. What parses as neither is strict: its error says more.
func guessFormat(data []byte) jsonc.Format {
	if _, err := jsonc.Parse(data, jsonc.Strict); err == nil {
		return jsonc.Strict
	}
	if _, err := jsonc.Parse(data, jsonc.Comments); err == nil {
		return jsonc.Comments
	}
	return jsonc.Strict
}

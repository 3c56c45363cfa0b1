package wrap

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// addHooks finds the settings of the chosen clients that have a place for a hook. They belong to the person.
func (d *discovery) addHooks(env clients.Env, o DiscoverOptions) {
	if len(o.Scopes) > 0 && !slices.Contains(o.Scopes, clients.User) {
		return
	}
	for _, c := range clients.All() {
		if c.Hook.File != nil && (len(o.Clients) == 0 || slices.Contains(o.Clients, c.ID)) {
			d.addHook(env, c, c.Hook.File(env))
		}
	}
}

// addNamedHook reads a file that the person has named, if it is a client's place for a hook.
func (d *discovery) addNamedHook(env clients.Env, file string) bool {
	for _, c := range clients.All() {
		if c.Hook.File == nil {
			continue
		}
		if place := c.Hook.File(env); place != "" && samePath(place, filepath.Clean(file)) {
			d.addHook(env, c, place)
			return true
		}
	}
	return false
}

// addHook reads settings. A client whose folder is not there has never been started, and gets none.
func (d *discovery) addHook(env clients.Env, c clients.Client, path string) {
	folder, err := os.Stat(filepath.Dir(path))
	known := slices.ContainsFunc(d.found.Unreadable, func(f FileError) bool { return f.Path == path }) // for the lists in it
	if path == "" || err != nil || !folder.IsDir() || known {
		return
	}
	file := File{
		Client: c.ID, Path: path, Format: jsonc.Strict,
		Hook: &Hook{Event: c.Hook.Event, OS: env.OS, Barred: barred(c.Hook.Rules(env))},
	}
	file.Data, file.Mode, err = readRegular(path)
	writable := folder.Mode().Perm()&0o200 != 0
	switch {
	case err != nil && missing(err) && isNothing(path):
		file.Hook.Absent = true
	case err != nil:
		d.found.Unreadable = append(d.found.Unreadable, FileError{Client: c.ID, Path: path, Err: err})
		return
	default:
		writable = writable && file.Mode.Perm()&0o200 != 0
		if real, err := filepath.EvalSymlinks(path); err == nil { // dotfiles are often links into a folder that nobody may write
			info, err := os.Stat(filepath.Dir(real))
			writable = writable && err == nil && info.Mode().Perm()&0o200 != 0
		}
	}
	if !writable && file.Hook.Barred == "" {
		file.Hook.Barred = "its settings are read-only"
	}
	d.found.Hooks = append(d.found.Hooks, file)
}

// isNothing reports whether there is not even a link at a path.
func isNothing(path string) bool {
	_, err := os.Lstat(path)
	return missing(err)
}

// barred says which settings keep a client from running the person's hooks, or nothing. Settings that can't be read say
// nothing to the client either.
func barred(rules []clients.Rules) string {
	for _, r := range rules {
		data, _, err := readRegular(r.Path)
		if err != nil {
			continue
		}
		doc, err := jsonc.Parse(data, jsonc.Comments)
		if err != nil {
			continue
		}
		if key := barringKey(doc, r.Managed); key != "" {
			return fmt.Sprintf("%s in %s keeps its client from running it", key, r.Path)
		}
	}
	return ""
}

// barringKey is the member that switches hooks off, or nothing.
func barringKey(doc *jsonc.Doc, managed bool) string {
	for _, m := range doc.Root.Members {
		on := m.Value.Kind == 't'
		switch {
		case m.Key == "disableAllHooks" && on,
			m.Key == "allowManagedHooksOnly" && on && managed:
			return m.Key
		case m.Key == "strictPluginOnlyCustomization" && managed:
			plugins := slices.ContainsFunc(m.Value.Elems, func(v jsonc.Value) bool {
				surface, _ := doc.Text(v)
				return surface == "hooks"
			})
			if on || plugins {
				return m.Key
			}
		}
	}
	return ""
}

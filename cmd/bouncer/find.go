package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// find reads the configs of a selection.
func (a *app) find(s selection) (wrap.Found, error) {
	env, err := a.clientEnv()
	if err != nil {
		return wrap.Found{}, err
	}
	found := wrap.Discover(env, wrap.DiscoverOptions{Clients: s.clients, Files: s.configs})
	found.Files = slices.DeleteFunc(found.Files, func(f wrap.File) bool { return !s.touches(f) })
	return found, nil
}

// faults are the files that could not be read, as errors.
func faults(found wrap.Found) []error {
	var list []error
	for i := range found.Unreadable {
		list = append(list, &found.Unreadable[i])
	}
	return list
}

// touches reports whether a file can hold a server of the selection's scopes.
func (s *selection) touches(f wrap.File) bool {
	return len(s.scopes) == 0 || slices.ContainsFunc(f.Maps, func(m clients.Map) bool {
		return slices.Contains(s.scopes, string(m.Scope))
	})
}

// holds reports whether an entry is one of the selection's servers and scopes.
func (s *selection) holds(e wrap.Entry) bool {
	return (len(s.servers) == 0 || slices.Contains(s.servers, e.Name)) &&
		(len(s.scopes) == 0 || slices.Contains(s.scopes, string(e.Scope)))
}

func (s *selection) clientScopes() []clients.Scope {
	var scopes []clients.Scope
	for _, name := range s.scopes {
		scopes = append(scopes, clients.Scope(name))
	}
	return scopes
}

// launcher is the path that configs start bouncer by.
func (a *app) launcher() (string, error) {
	if a.launch != "" {
		return a.launch, nil
	}
	env, err := a.clientEnv()
	if err != nil {
		return "", err
	}
	return wrap.FindLauncher(env)
}

// known lists the launchers that count as this bouncer besides those that are called so: its own path, if it was renamed.
func known() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self}
}

// project is the folder that an entry belongs to, or empty for one that holds everywhere.
func project(f wrap.File, e wrap.Entry) string {
	switch e.Scope {
	case clients.Local:
		if len(e.Pointer) >= 2 {
			return e.Pointer[1] // projects, FOLDER, mcpServers, NAME
		}
	case clients.Project:
		folder := filepath.Dir(f.Path)
		if strings.HasPrefix(filepath.Base(folder), ".") {
			return filepath.Dir(folder) // .cursor and its like lie in the project's folder
		}
		return folder
	}
	return ""
}

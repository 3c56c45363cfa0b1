package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// find reads the configs of a selection.
func (a *app) find(s selection) (wrap.Found, error) {
	env, err := a.clientEnv()
	if err != nil {
		return wrap.Found{}, err
	}
	if _, err := systemHome(); err != nil && len(s.configs) == 0 {
		return wrap.Found{}, advise(err, "set HOME, or name the files with --config")
	}
	if _, err := a.cwd(); err != nil && len(s.configs) == 0 {
		fmt.Fprintf(a.err, "bouncer: left out what belongs to a project, since the working directory can't be told: %v\n", err)
	}
	s.configs = slices.Clone(s.configs)
	for i, file := range s.configs {
		if file == "" {
			return wrap.Found{}, misuse("--config takes the path of a file", "--config is empty")
		}
		if s.configs[i], err = a.absolute(file); err != nil {
			return wrap.Found{}, err
		}
	}
	return wrap.Discover(env, wrap.DiscoverOptions{Clients: s.clients, Files: s.configs, Key: s.key, Scopes: s.clientScopes()}), nil
}

// faults are the files that could not be read, as errors.
func faults(found wrap.Found) []error {
	var list []error
	for i := range found.Unreadable {
		list = append(list, &found.Unreadable[i])
	}
	return list
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

// known lists the launchers that count as this bouncer besides those that are called so: its own path and the one that
// configs start it by, if they have other names.
func (a *app) known() []string {
	var list []string
	if self, err := os.Executable(); err == nil {
		list = append(list, self)
	}
	if launcher, err := a.launcher(); err == nil {
		list = append(list, launcher)
	}
	return list
}

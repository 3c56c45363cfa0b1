package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/adrg/xdg"

	"github.com/bouncer-mcp/bouncer/clients"
)

// places are bouncer's own directories. Nothing is created by naming them.
type places struct {
	State  string // backups, stored originals, audit.jsonl
	Policy string // the user's policy file
}

// places follows --home, then BOUNCER_HOME, then the system's conventions.
func (a *app) places() (places, error) {
	home := a.home
	if home == "" {
		home = a.getenv("BOUNCER_HOME")
	}
	if home == "" {
		return places{
			State:  filepath.Join(xdg.StateHome, "bouncer"),
			Policy: filepath.Join(xdg.ConfigHome, "bouncer", "policy.yaml"),
		}, nil
	}
	home, err := a.absolute(home)
	if err != nil {
		return places{}, err
	}
	return places{State: home, Policy: filepath.Join(home, "policy.yaml")}, nil
}

// home is what --home must say for a server whose env moves the system's places. Where state and policy lie in different
// folders, the policy's counts: a server that records elsewhere is a nuisance, one that nobody's policy judges is a hole.
func (p places) home() string { return filepath.Dir(p.Policy) }

// absolute resolves a path named on the command line.
func (a *app) absolute(path string) (string, error) {
	if filepath.IsAbs(path) {
		return filepath.Clean(path), nil
	}
	dir, err := a.cwd()
	if err != nil {
		return "", fmt.Errorf("working directory: %w", err)
	}
	return filepath.Join(dir, path), nil
}

// clientEnv is what the places of client configs depend on.
func (a *app) clientEnv() (clients.Env, error) {
	dir, err := a.cwd()
	if err != nil {
		return clients.Env{}, fmt.Errorf("working directory: %w", err)
	}
	return clients.Env{
		OS:      a.goos,
		Home:    xdg.Home,
		Config:  xdg.ConfigHome,
		Roaming: a.getenv("APPDATA"),
		Local:   a.getenv("LOCALAPPDATA"),
		Project: dir,
		Getenv:  a.getenv,
		Glob: func(pattern string) []string {
			matches, err := filepath.Glob(pattern)
			if err != nil {
				return nil // the only error is a malformed pattern, which matches nothing
			}
			return matches
		},
		Exists: func(path string) bool {
			_, err := os.Stat(path)
			return err == nil
		},
	}, nil
}

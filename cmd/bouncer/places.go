package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/proxy"
)

// places are bouncer's own directories. Nothing is created by naming them.
type places struct {
	State  string // backups, stored originals, audit.jsonl
	Policy string // the user's policy file
	Chosen bool   // by --home or BOUNCER_HOME: a server that is not told of it looks elsewhere
}

// places follows --home, then BOUNCER_HOME, then the system's conventions.
func (a *app) places() (places, error) {
	home := a.home
	if home == "" {
		home = a.getenv("BOUNCER_HOME")
	}
	if home == "" {
		return systemPlaces()
	}
	home, err := a.absolute(home)
	if err != nil {
		return places{}, err
	}
	file, err := policyIn(home)
	return places{State: home, Policy: file, Chosen: true}, err
}

// kept is places for a command that only tells what is kept there. A folder that was chosen and isn't there is a slip, and "there
// is nothing" would sound like an answer.
func (a *app) kept() (places, error) {
	p, err := a.places()
	if err != nil || !p.Chosen {
		return p, err
	}
	if _, err := os.Stat(p.State); !errors.Is(err, fs.ErrNotExist) {
		return p, nil
	}
	by := "BOUNCER_HOME"
	if a.home != "" {
		by = "--home"
	}
	return p, advise(fmt.Errorf("%s does not exist", p.State), by+" names this folder; bouncer has kept nothing there yet")
}

// systemPlaces are those by the system's conventions.
func systemPlaces() (places, error) {
	named := filepath.IsAbs(os.Getenv("XDG_STATE_HOME")) && filepath.IsAbs(os.Getenv("XDG_CONFIG_HOME"))
	if _, err := systemHome(); err != nil && !named {
		return places{}, advise(fmt.Errorf("no place for bouncer's own files: %w", err), "--home=DIR names one")
	}
	return places{
		State:  filepath.Join(xdg.StateHome, "bouncer"),
		Policy: filepath.Join(xdg.ConfigHome, "bouncer", "policy.yaml"),
	}, nil
}

// systemHome is the person's home folder. Where nothing tells it, there is none: the root of the file system is nobody's.
func systemHome() (string, error) {
	home, err := os.UserHomeDir()
	switch {
	case err != nil:
		return "", fmt.Errorf("no home folder: %w", err)
	case !filepath.IsAbs(home):
		return "", fmt.Errorf("no home folder: %q is no absolute path", home)
	}
	return xdg.Home, nil
}

// policyOf is the user's policy file of a wrapped server: its --home leads there, or the system's conventions.
func policyOf(home string) (string, error) {
	if strings.Contains(home, "$") {
		return "", nil // its client puts something in
	}
	if home != "" {
		return policyIn(home)
	}
	p, err := systemPlaces()
	return p.Policy, err
}

// policyPointer names a file in the state directory that holds the path of the user's policy file. A server whose env moves
// the system's places is told the state directory alone (--home), and finds the policy from there.
const policyPointer = "policy.path"

// policyIn is the user's policy file for a --home: policy.yaml in it, or the one that init has noted there. A note that
// can't be read is an error, since no server may run without the policy that was meant for it.
func policyIn(home string) (string, error) {
	own := filepath.Join(home, "policy.yaml")
	if _, err := os.Lstat(own); err == nil {
		return own, nil
	}
	note, err := os.ReadFile(filepath.Join(home, policyPointer))
	if errors.Is(err, fs.ErrNotExist) {
		return own, nil
	}
	if err != nil {
		return "", err
	}
	file := strings.TrimSuffix(string(note), "\n")
	if !filepath.IsAbs(file) {
		return "", fmt.Errorf("%s: no absolute path", filepath.Join(home, policyPointer))
	}
	return file, nil
}

// note leaves word in the state directory of where the policy is, unless that goes without saying.
func (p places) note() error {
	if filepath.Dir(p.Policy) == p.State {
		return nil
	}
	file, text := filepath.Join(p.State, policyPointer), []byte(p.Policy+"\n")
	if there, err := os.ReadFile(file); err == nil && bytes.Equal(there, text) {
		return nil
	}
	if err := os.MkdirAll(p.State, 0o700); err != nil {
		return err
	}
	return atomicfile.Replace(file, text, 0o600)
}

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

// paths reads the paths in calls as those of a server that is started here.
func (a *app) paths() (proxy.Paths, error) {
	dir, err := a.cwd()
	if err != nil {
		return proxy.Paths{}, fmt.Errorf("working directory: %w", err)
	}
	home, err := os.UserHomeDir()
	return proxy.NewPaths(dir, home), err
}

// clientEnv is what the places of client configs depend on.
func (a *app) clientEnv() (clients.Env, error) {
	home, err := systemHome()
	config := xdg.ConfigHome
	if err != nil {
		home, config = "", "" // then only configs that are named can be found
	}
	dir, err := a.cwd()
	if err != nil {
		dir = "" // it was removed, or may not be looked at: no project is here
	}
	return clients.Env{
		OS:      a.goos,
		Home:    home,
		Config:  config,
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

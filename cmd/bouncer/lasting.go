package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
)

// lasting writes into the person's own policy what they allow for good.
type lasting struct {
	file    string   // the policy
	above   []string // files that count before it
	server  policy.Server
	profile string
	lock    string // a file that other runs lock, too
}

// Preview returns the file that Allow would change, and the change.
func (l lasting) Preview(tool policy.Tool, destinations []string) (file, change string, err error) {
	before, after, err := l.edit(tool, destinations)
	if err != nil {
		return "", "", err
	}
	_, change, _ = strings.Cut(string(diff.Diff(l.file, before, l.file, after)), "\n") // the first line is a command
	return l.file, change, nil
}

// Allow lets a tool use these destinations from now on. Servers that run know of it when they start again.
func (l lasting) Allow(tool policy.Tool, destinations []string) error {
	if err := errors.Join(os.MkdirAll(filepath.Dir(l.file), 0o700), os.MkdirAll(filepath.Dir(l.lock), 0o700)); err != nil {
		return err
	}
	unlock, err := atomicfile.LockFile(l.lock, 2*time.Second)
	if err != nil {
		return err
	}
	defer unlock()
	before, after, err := l.edit(tool, destinations)
	if err != nil {
		return err
	}
	if before == nil {
		return atomicfile.Create(l.file, after, 0o600)
	}
	return atomicfile.Replace(l.file, after, 0o600)
}

// edit returns the policy as it is, nil if there is none, and as it would be.
func (l lasting) edit(tool policy.Tool, destinations []string) (before, after []byte, err error) {
	before, err = os.ReadFile(l.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	now, err := l.trusted(tool, before)
	if err != nil {
		return nil, nil, err
	}
	after, err = policy.Trusting(l.file, before, l.server.Name, tool.Name, destinations, now)
	if err != nil {
		return nil, nil, err
	}
	if err := l.sound(before, after); err != nil {
		return nil, nil, err
	}
	then, err := l.trusted(tool, after)
	if err != nil {
		return nil, nil, err
	}
	for _, d := range destinations {
		if !policy.Trusts(then, d) {
			return nil, nil, fmt.Errorf("%s: another policy decides what %q trusts", l.file, tool.Name)
		}
	}
	return before, after, nil
}

// sound refuses a change that policy check would warn of, such as an entry that holds a display name.
func (l lasting) sound(before, after []byte) error {
	was, err := policy.Parse(l.file, before)
	if err != nil {
		return err
	}
	is, err := policy.Parse(l.file, after)
	if err != nil {
		return err
	}
	known, now := policy.Check(was), policy.Check(is)
	for _, w := range now {
		same := func(k policy.Warning) bool { return k.Code == w.Code && k.Msg == w.Msg } // its line may have moved
		if !slices.ContainsFunc(known, same) {
			return errors.New(w.String())
		}
	}
	return nil
}

// Trusts reports whether a tool may use a destination.
func (l lasting) Trusts(tool policy.Tool, destination string) bool {
	data, err := os.ReadFile(l.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false
	}
	trusted, err := l.trusted(tool, data)
	return err == nil && policy.Trusts(trusted, destination)
}

// trusted are the destinations that a tool may use, if this is the person's policy.
func (l lasting) trusted(tool policy.Tool, data []byte) ([]string, error) {
	var layers []*policy.Layer
	for _, file := range l.above {
		layer, err := readPolicy(file)
		if err != nil {
			return nil, err
		}
		layers = append(layers, layer)
	}
	layer, err := policy.Parse(l.file, data)
	if err != nil {
		return nil, err
	}
	set := policy.NewSet(append(append(layers, layer), packs.All()...)...).For(l.server).Under(l.profile)
	return set.Resolve(tool).TrustedDestinations, nil
}

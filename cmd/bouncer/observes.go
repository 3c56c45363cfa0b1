package main

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// policyFiles are the policies that have been read, by path; nil for one that does not load, so that nothing runs under it.
type policyFiles map[string]*policy.Layer

// observe reports whether calls to a wrapped server pass whatever is found, under these policy files, highest first.
func (p policyFiles) observe(e wrap.Entry, files []string) bool {
	var layers []*policy.Layer
	for _, file := range files {
		if !filepath.IsAbs(file) { // the client expands it, or resolves it against its own folder
			continue
		}
		layers = append(layers, p.layer(file))
	}
	return policy.NewSet(layers...).For(policy.Server{Name: e.Name}).Under(e.Profile).Observes()
}

// layer reads a policy file once.
func (p policyFiles) layer(file string) *policy.Layer {
	layer, known := p[file]
	if !known {
		layer, _ = readPolicy(file) // doctor tells why one does not load
		p[file] = layer
	}
	return layer
}

// unloadable are those of some policy files that keep a server from starting.
func (p policyFiles) unloadable(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool { return !filepath.IsAbs(file) || p.layer(file) != nil })
}

// policiesOf returns the policy files that a wrapped entry is judged by, highest first.
func policiesOf(e wrap.Entry) ([]string, error) {
	files := append([]string{}, e.Policies...)
	own, err := policyOf(e.Home)
	if err != nil {
		return files, err
	}
	if _, err := os.Stat(own); err == nil { // doctor tells why a policy that exists does not load
		files = append(files, own)
	}
	return files, nil
}

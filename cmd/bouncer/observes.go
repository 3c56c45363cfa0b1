package main

import (
	"os"
	"path/filepath"

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
		layer, known := p[file]
		if !known {
			layer, _ = readPolicy(file)
			p[file] = layer
		}
		layers = append(layers, layer)
	}
	return policy.NewSet(layers...).For(policy.Server{Name: e.Name}).Under(e.Profile).Observes()
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

// Package packs holds curated policies for servers people really run.
package packs

import (
	"embed"
	"strings"

	"github.com/bouncer-mcp/bouncer/policy"
)

//go:embed *.yaml
var files embed.FS

// Names returns the names of the packs, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil // the folder is part of the program
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = strings.TrimSuffix(e.Name(), ".yaml")
	}
	return names
}

// Source returns the text of a pack.
func Source(name string) ([]byte, bool) {
	text, err := files.ReadFile(name + ".yaml")
	return text, err == nil
}

// All returns every pack as a layer, sorted by name. Reading them costs nothing before a tool of theirs is resolved.
func All() []*policy.Layer {
	var all []*policy.Layer
	for _, name := range Names() {
		text, _ := Source(name)
		all = append(all, policy.NewPack(name, text))
	}
	return all
}

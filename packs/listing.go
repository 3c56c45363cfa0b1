package packs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// Listing is what a server lists of its tools.
type Listing struct {
	Package string // what the server was started from, as a policy.Server names it; empty when unknown
	Tools   []policy.Tool
}

// ReadListing reads a saved answer to tools/list, with or without the envelope of the response. A member "package"
// beside the tools says what the server was started from.
func ReadListing(text []byte) (Listing, error) {
	root, err := wire.ParseValue(text)
	if err != nil {
		return Listing{}, err
	}
	if result := root.Get("result"); result != nil {
		root = result
	}
	tools := root.Get("tools")
	if tools.Kind() != '[' {
		return Listing{}, errors.New(`not an answer to tools/list: there is no list "tools"`)
	}
	var l Listing
	l.Package, _ = root.Get("package").Text()
	for raw := range tools.Elems() {
		name, ok := raw.Get("name").Text()
		if !ok {
			return Listing{}, fmt.Errorf("tool %d of the list has no name", len(l.Tools)+1)
		}
		description, _ := raw.Get("description").Text()
		l.Tools = append(l.Tools, policy.Tool{
			Name: name, Description: description,
			InputSchema: raw.Get("inputSchema"), Annotations: raw.Get("annotations"),
		})
	}
	return l, nil
}

func (l Listing) tool(name string) (policy.Tool, bool) {
	i := slices.IndexFunc(l.Tools, func(t policy.Tool) bool { return t.Name == name })
	if i < 0 {
		return policy.Tool{}, false
	}
	return l.Tools[i], true
}

// Takes reports whether a tool takes the argument that a dotted path leads to. Where its schema leaves open what an
// argument holds, anything may be in it.
func Takes(t policy.Tool, path string) bool {
	w := walk{root: t.InputSchema, steps: maxSteps}
	return w.leads(t.InputSchema, path)
}

const maxSteps = 10_000 // through one schema, whose references may go round in circles

// walk follows a path through a schema. Lists are transparent.
type walk struct {
	root  wire.Value
	steps int // that are left
}

// leads reports whether the path leads somewhere in what a node describes.
func (w *walk) leads(node wire.Value, path string) bool {
	if path == "" {
		return true
	}
	if w.steps--; w.steps < 0 {
		return false
	}
	open := true
	for key, val := range node.Members() {
		switch key {
		case "properties":
			open = false
			for name, child := range val.Members() {
				if rest, ok := strings.CutPrefix(path+".", name+"."); ok && w.leads(child, strings.TrimSuffix(rest, ".")) {
					return true
				}
			}
		case "items":
			open = false
			if w.leads(val, path) {
				return true
			}
		case "anyOf", "oneOf", "allOf":
			open = false
			for branch := range val.Elems() {
				if w.leads(branch, path) {
					return true
				}
			}
		case "$ref":
			open = false
			ref, _ := val.Text()
			if w.leads(w.referred(ref), path) {
				return true
			}
		case "type":
			kind, _ := val.Text()
			open = open && !slices.Contains([]string{"string", "number", "integer", "boolean", "null"}, kind)
		}
	}
	return open
}

// referred follows a reference inside the document.
func (w *walk) referred(ref string) wire.Value {
	node := w.root
	for part := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		node = node.Get(strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~"))
	}
	return node
}

package policy

import (
	"iter"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

const (
	maxDepth   = 8    // of nested objects in a schema; recursive schemas have no end
	maxSchemas = 4000 // visited in one tool
)

// schema walks a JSON Schema as far as names and types go. References and combinators are transparent, and so are
// arrays: what an element may be is what the array may be.
type schema struct {
	root   wire.Value
	budget int
	known  map[member]property
}

// member is one property of what the shapes, known by where the first of them lies, describe.
type member struct {
	shapes *wire.Value
	name   string
}

type property struct {
	shapes   []wire.Value
	declared bool
}

func newSchema(root wire.Value) *schema { return &schema{root: root, budget: maxSchemas} }

// shapes returns everything that a value described by node may look like: schemas without references, combinators and arrays.
func (s *schema) shapes(node wire.Value) []wire.Value {
	var all []wire.Value
	s.expand(node, maxDepth, &all)
	return all
}

func (s *schema) expand(node wire.Value, depth int, all *[]wire.Value) {
	if s.budget--; s.budget < 0 || depth == 0 || node.Kind() != '{' {
		return
	}
	split := false
	for key, val := range node.Members() {
		switch key {
		case "$ref":
			ref, _ := val.Text()
			s.expand(s.lookup(ref), depth-1, all)
			split = true
		case "anyOf", "oneOf", "allOf", "prefixItems":
			for branch := range val.Elems() {
				s.expand(branch, depth-1, all)
			}
			split = true
		case "then", "else":
			s.expand(val, depth-1, all)
		case "items":
			s.expand(val, depth-1, all)
			for item := range val.Elems() {
				s.expand(item, depth-1, all)
			}
			split = true
		}
	}
	if !split || node.Get("properties") != nil {
		*all = append(*all, node)
	}
}

// lookup follows a reference inside the document.
func (s *schema) lookup(ref string) wire.Value {
	pointer, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil
	}
	if pointer == "" {
		return s.root
	}
	node := s.root
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		part, _ = unescape(part)
		part = strings.ReplaceAll(strings.ReplaceAll(part, "~1", "/"), "~0", "~")
		node = node.Get(part)
	}
	return node
}

// properties ranges over the properties of all shapes. One that several of them describe comes several times.
func (s *schema) properties(shapes []wire.Value) iter.Seq2[string, wire.Value] {
	return func(yield func(string, wire.Value) bool) {
		for _, shape := range shapes {
			for name, node := range shape.Get("properties").Members() {
				if !yield(name, node) {
					return
				}
			}
		}
	}
}

// names ranges over the names of the properties.
func (s *schema) names(shapes []wire.Value) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range s.properties(shapes) {
			if !yield(name) {
				return
			}
		}
	}
}

// property returns what the shapes say of one property; declared is false when none of them lists it.
// It remembers, since a call may hold a long list of objects of one kind.
func (s *schema) property(shapes []wire.Value, name string) (nodes []wire.Value, declared bool) {
	if len(shapes) == 0 {
		return nil, false
	}
	key := member{&shapes[0], name}
	p, ok := s.known[key]
	if !ok {
		for _, shape := range shapes {
			if node := shape.Get("properties").Get(name); node != nil {
				p.declared = true
				p.shapes = append(p.shapes, s.shapes(node)...)
			}
		}
		if s.known == nil {
			s.known = map[member]property{}
		}
		s.known[key] = p
	}
	return p.shapes, p.declared
}

// closed reports whether values of these shapes can't name a destination of the caller's choice: flags, and fixed words.
func closed(shapes []wire.Value) bool {
	return len(shapes) > 0 && !slices.ContainsFunc(shapes, func(shape wire.Value) bool {
		if shape.Get("enum") != nil || shape.Get("const") != nil {
			return false
		}
		switch kind := shape.Get("type"); kind.Kind() {
		case '"':
			return !isFlag(kind)
		case '[':
			for k := range kind.Elems() {
				if !isFlag(k) {
					return true
				}
			}
			return false
		}
		return true
	})
}

func isFlag(kind wire.Value) bool {
	name, _ := kind.Text()
	return name == "boolean" || name == "null"
}

// listed reports whether a string is one of the fixed words of some shape.
func listed(shapes []wire.Value, value string) bool {
	is := func(v wire.Value) bool { text, ok := v.Text(); return ok && text == value }
	for _, shape := range shapes {
		if is(shape.Get("const")) {
			return true
		}
		for v := range shape.Get("enum").Elems() {
			if is(v) {
				return true
			}
		}
	}
	return false
}

// topParams returns the names of a tool's arguments.
func topParams(t Tool) map[string]bool {
	s := newSchema(t.InputSchema)
	params := map[string]bool{}
	for name := range s.properties(s.shapes(t.InputSchema)) {
		params[name] = true
	}
	return params
}

// leads reports whether a path leads into one of a tool's arguments.
func leads(path string, params map[string]bool) bool {
	top, _, _ := strings.Cut(path, ".")
	return params[path] || params[top]
}

// openParams returns the names of the arguments that may hold any text.
func openParams(t Tool) []string {
	s := newSchema(t.InputSchema)
	var params []string
	for name, node := range s.properties(s.shapes(t.InputSchema)) {
		if !closed(s.shapes(node)) && !slices.Contains(params, name) {
			params = append(params, name)
		}
	}
	return params
}

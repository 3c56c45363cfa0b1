package policy

import (
	"iter"
	"strings"
	"sync"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Select returns every value that a dotted path leads to in the arguments of a call. Arrays on the way are
// transparent. Where a name itself holds a dot, each reading of the path counts.
func Select(args wire.Value, path string) []wire.Value {
	var all []wire.Value
	for elem := range args.Elems() {
		all = append(all, Select(elem, path)...)
	}
	for name, val := range args.Members() {
		if name == path {
			all = append(all, val)
		} else if rest, ok := strings.CutPrefix(path, name+"."); ok {
			all = append(all, Select(val, rest)...)
		}
	}
	return all
}

// Destinations returns the paths of those arguments of a call that are destinations by their names, whether or not
// the schema lists them. Empty lists and objects, null and flags are not among them.
func Destinations(t Tool, args wire.Value) []string {
	c := caller{in: intentOf(t.Name), schema: newSchema(t.InputSchema)}
	c.object(args, c.schema.shapes(t.InputSchema), "")
	return c.paths
}

type caller struct {
	in     intent
	schema *schema
	paths  []string
	seen   map[string]bool

	formatted bool // inside a text for people
}

func (c *caller) object(args wire.Value, shapes []wire.Value, prefix string) {
	for elem := range args.Elems() {
		c.object(elem, shapes, prefix)
	}
	with := sync.OnceValue(func() company { return companyOf(names(args)) })
	for name, val := range args.Members() {
		path, ws := prefix+name, words(name)
		child, _ := c.schema.property(shapes, name)
		if role := c.in.role(ws); role.counts(with) && (role != location || !c.formatted) {
			if speaks(val, child) && !c.parts(val, child, path) {
				c.found(path)
			}
			continue
		}
		formatted := c.formatted
		c.formatted = formatted || isProse(ws) // a link in it reaches nobody, a recipient does
		c.object(val, child, path+".")
		c.formatted = formatted
	}
}

func names(args wire.Value) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range args.Members() {
			if !yield(name) {
				return
			}
		}
	}
}

// parts reports the parts of a destination that say which one it is. It is false where the schema does not account for
// all that is there; the whole is the destination then.
func (c *caller) parts(val wire.Value, shapes []wire.Value, path string) bool {
	if !c.accounted(val, shapes) {
		return false
	}
	parts := 0
	for obj := range objects(val) {
		for name, part := range obj.Members() {
			child, _ := c.schema.property(shapes, name)
			if !c.in.identifies(words(name)) || !speaks(part, child) {
				continue
			}
			if parts++; !c.parts(part, child, path+"."+name) {
				c.found(path + "." + name)
			}
		}
	}
	return parts > 0
}

func (c *caller) found(path string) {
	if c.seen[path] {
		return
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[path] = true
	c.paths = append(c.paths, path)
}

// accounted reports whether val is an object, or a list of nothing but objects, and the schema names all their members.
func (c *caller) accounted(val wire.Value, shapes []wire.Value) bool {
	for elem := range val.Elems() {
		if !c.accounted(elem, shapes) {
			return false
		}
	}
	for name := range val.Members() {
		if _, declared := c.schema.property(shapes, name); !declared {
			return false
		}
	}
	return val.Kind() == '{' || val.Kind() == '['
}

// objects ranges over val itself, or the objects in a list.
func objects(val wire.Value) func(yield func(wire.Value) bool) {
	return func(yield func(wire.Value) bool) {
		if val.Kind() == '{' {
			yield(val)
			return
		}
		for elem := range val.Elems() {
			for obj := range objects(elem) {
				if !yield(obj) {
					return
				}
			}
		}
	}
}

// speaks reports whether there is text or a number inside val that is not one of the schema's fixed words; a member's
// name counts as text.
func speaks(val wire.Value, shapes []wire.Value) bool {
	for leaf := range val.Leaves() {
		switch leaf.Value.Kind() {
		case '0':
			return true
		case '"':
			if text, _ := leaf.Value.Text(); !listed(shapes, text) {
				return true
			}
		}
	}
	return false
}

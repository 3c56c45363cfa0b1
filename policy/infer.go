package policy

import (
	"slices"
	"sync"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

const (
	inferredCalls = 2  // budget of a tool that deletes
	maxSinks      = 64 // inferred for one tool; in a call, Destinations finds the others
)

// Infer derives a rule from a tool's name and schema alone.
func Infer(t Tool) Rule {
	f := finder{in: intentOf(t.Name), schema: newSchema(t.InputSchema)}
	shapes := f.schema.shapes(t.InputSchema)
	f.object(shapes, "", maxDepth)
	r := Rule{SinkParams: f.sinks, WriteParams: f.writes, Exfiltrating: len(f.sinks) > 0}
	r.Fetch = r.Exfiltrating && f.in.fetches && !f.reaches && !f.payload
	if !f.in.reads && f.in.sends && meaningful(t.Name) && !slices.ContainsFunc(shapes, hasProperties) {
		r.Exfiltrating = true // says that it sends, and does not say what with: every argument is a sink
	}
	if f.in.deletes {
		r.MaxCalls, r.Limited = inferredCalls, true
	}
	return r
}

// meaningful reports whether a word of the name says that the tool sends; intent.sends also holds for names that say nothing.
func meaningful(name string) bool {
	return slices.ContainsFunc(words(name), func(w string) bool { return meaningOf(w)&sending != 0 && meaningOf(w)&(acting|naming) != 0 })
}

func hasProperties(shape wire.Value) bool { return shape.Get("properties") != nil }

// finder collects the parameters of one tool.
type finder struct {
	in      intent
	schema  *schema
	sinks   []string
	writes  []string
	reaches bool // a sink is more than a location
	payload bool // an argument can take data along
}

// object looks at the properties of shapes. prefix leads to them: it is empty, or ends in a dot.
func (f *finder) object(shapes []wire.Value, prefix string, depth int) {
	if depth == 0 {
		return
	}
	with := sync.OnceValue(func() company { return companyOf(f.schema.names(shapes)) })
	for name, node := range f.schema.properties(shapes) {
		path, ws := prefix+name, words(name)
		child := f.schema.shapes(node)
		f.payload = f.payload || carriesPayload(ws)
		if closed(child) {
			continue
		}
		if role := f.in.role(ws); role.counts(with) {
			f.reaches = f.reaches || role != location
			f.sink(child, path, depth)
			continue
		}
		if f.in.holdsPath(ws) && !slices.ContainsFunc(child, hasProperties) {
			f.writes = add(f.writes, path)
		}
		if !isProse(ws) {
			f.object(child, path+".", depth-1)
		}
	}
}

// sink adds a destination: the parts of it that say which one it is, where the schema names such parts, or else the whole.
func (f *finder) sink(shapes []wire.Value, path string, depth int) {
	parts := 0
	bare := func(shape wire.Value) bool { return !hasProperties(shape) && !closed([]wire.Value{shape}) }
	if depth > 1 && !slices.ContainsFunc(shapes, bare) {
		for name, node := range f.schema.properties(shapes) {
			if child := f.schema.shapes(node); f.in.identifies(words(name)) && !closed(child) {
				f.sink(child, path+"."+name, depth-1)
				parts++
			}
		}
	}
	if parts == 0 {
		f.sinks = add(f.sinks, path)
	}
}

func add(paths []string, path string) []string {
	if len(paths) == maxSinks || slices.Contains(paths, path) {
		return paths
	}
	return append(paths, path)
}

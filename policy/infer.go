package policy

import (
	"slices"
	"strings"
	"sync"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

const (
	inferredCalls = 2  // budget, under the profile strict, of a tool that deletes
	maxSinks      = 64 // inferred for one tool; in a call, Destinations finds the others
)

// Infer derives a rule from a tool's definition alone: its name, its schema and, where they make it stricter, its
// description and its annotations.
func Infer(t Tool) Rule { return classify(t).rule }

// classification is what the definition of a tool says about it, and why it is taken to say so.
type classification struct {
	rule    Rule
	deletes bool // by its name
	notes   []note
}

// note is the reason for one trait of a tool, or for one role of a parameter.
type note struct{ trait, param, why string }

// The traits of a tool and the roles of a parameter, as Explain names them.
const (
	traitSends        = "exfiltrating"
	traitFetch        = "fetch"
	traitChanging     = "changing"
	traitIrreversible = "irreversible"
	traitDirectory    = "directory"
	traitIdentity     = "identity"
	traitSensitive    = "sensitive"
	traitUntrusted    = "untrusted"

	roleDestination = "destination"
	roleObject      = "object"
	rolePath        = "path"
	roleContent     = "content"
)

// classifier reads one definition.
type classifier struct {
	tool    Tool
	words   []string
	in      intent
	schema  *schema
	shapes  []wire.Value // of the arguments
	reaches bool         // a sink is more than a location
	payload bool         // an argument can take data along
	objects candidates
	classification
}

// classify is the one place where a tool's definition becomes traits and roles. A server chooses its names, so that no
// trait that relaxes anything follows from less than what the tool itself would have to be called.
func classify(t Tool) classification {
	c := &classifier{tool: t, words: words(t.Name), in: intentOf(t.Name), schema: newSchema(t.InputSchema)}
	c.shapes = c.schema.shapes(t.InputSchema)
	c.object(c.shapes, "", maxDepth)
	c.send()
	c.change()
	c.rule.ObjectParams = c.chooseObjects()
	c.commit()
	c.lookUp()
	return c.classification
}

// send decides whether the tool brings anything out.
func (c *classifier) send() {
	r := &c.rule
	r.Exfiltrating = len(r.SinkParams) > 0
	r.Fetch = r.Exfiltrating && c.in.fetches && !c.reaches && !c.payload
	if r.Fetch {
		c.note(traitFetch, "it only reads from the addresses that it is given")
	}
	if !r.Exfiltrating && !c.in.reads {
		c.reply()
	}
	if !c.in.reads && c.in.sends && !slices.ContainsFunc(c.shapes, hasProperties) {
		if w, ok := sendingWord(c.words); ok {
			r.Exfiltrating = true // says that it sends, and does not say what with: every argument is a sink
			c.note(traitSends, "name word "+w+", and no parameter is known")
		}
	}
}

// reply looks for what tells whom a tool reaches where no parameter names a person: the message that it answers, or anything,
// if its name says that it sends.
func (c *classifier) reply() {
	r := &c.rule
	if r.SinkParams = c.answered(); len(r.SinkParams) > 0 {
		r.Exfiltrating = true
		for _, path := range r.SinkParams {
			c.noteParam(roleDestination, path, "it says who is answered")
		}
		return
	}
	if w, ok := dispatching(c.words); ok && len(openParams(c.tool)) > 0 {
		r.Exfiltrating = true
		c.note(traitSends, "name word "+w+", and no parameter says to whom")
	}
}

// change decides whether the tool does something: whatever does not clearly look something up does.
func (c *classifier) change() {
	switch {
	case c.in.reads, c.rule.Fetch:
		return
	case c.in.unknown:
		c.note(traitChanging, "no name word says what it does")
	case c.in.fetches:
		c.note(traitChanging, "it takes more along than an address")
	default:
		c.note(traitChanging, "its name does not say that it only reads")
	}
	c.rule.Changing = true
	c.deletes = c.in.deletes
}

// word returns the first word of the name with one of these meanings.
func (c *classifier) word(m meaning) string {
	for _, w := range c.words {
		if meaningOf(w)&m != 0 {
			return w
		}
	}
	return ""
}

func (c *classifier) note(trait, why string) {
	c.notes = append(c.notes, note{trait: trait, why: why})
}

func (c *classifier) noteParam(role, param, why string) {
	const most = 4 * maxSinks
	if len(c.notes) >= most {
		return
	}
	c.notes = append(c.notes, note{trait: role, param: param, why: why})
}

// sendingWord returns the word of a name that says that the tool sends; intent.sends also holds for names that say nothing.
func sendingWord(ws []string) (string, bool) {
	i := slices.IndexFunc(ws, func(w string) bool { return meaningOf(w)&sending != 0 && meaningOf(w)&(acting|naming) != 0 })
	if i < 0 {
		return "", false
	}
	return ws[i], true
}

func hasProperties(shape wire.Value) bool { return shape.Get("properties") != nil }

// object looks at the properties of shapes. prefix leads to them: it is empty, or ends in a dot.
func (c *classifier) object(shapes []wire.Value, prefix string, depth int) {
	if depth == 0 {
		return
	}
	with := sync.OnceValue(func() company { return companyOf(c.schema.names(shapes)) })
	for name, node := range c.schema.properties(shapes) {
		path, ws := prefix+name, words(name)
		child := c.schema.shapes(node)
		c.payload = c.payload || carriesPayload(ws)
		if closed(child) {
			continue
		}
		nested := slices.ContainsFunc(child, hasProperties)
		if !nested {
			c.objects.consider(c.in, c.words, ws, path)
		}
		if role := c.in.role(ws); role.counts(with) {
			c.reaches = c.reaches || role != location
			c.sink(child, path, depth)
			continue
		}
		if c.in.holdsPath(ws) && !nested {
			c.rule.WriteParams = add(c.rule.WriteParams, path)
			c.noteParam(rolePath, path, "by its name")
		}
		if !isProse(ws) {
			c.object(child, path+".", depth-1)
		}
	}
}

// sink adds a destination: the parts of it that say which one it is, where the schema names such parts, or else the whole.
func (c *classifier) sink(shapes []wire.Value, path string, depth int) {
	parts := 0
	bare := func(shape wire.Value) bool { return !hasProperties(shape) && !closed([]wire.Value{shape}) }
	if depth > 1 && !slices.ContainsFunc(shapes, bare) {
		for name, node := range c.schema.properties(shapes) {
			if child := c.schema.shapes(node); c.in.identifies(words(name)) && !closed(child) {
				c.sink(child, path+"."+name, depth-1)
				parts++
			}
		}
	}
	if parts == 0 {
		c.rule.SinkParams = add(c.rule.SinkParams, path)
		c.noteParam(roleDestination, path, "by its name")
	}
}

func add(paths []string, path string) []string {
	if len(paths) == maxSinks || slices.Contains(paths, path) {
		return paths
	}
	return append(paths, path)
}

// required reports whether the schema asks for an argument.
func (c *classifier) required(name string) bool {
	for _, shape := range c.shapes {
		for v := range shape.Get("required").Elems() {
			if text, ok := v.Text(); ok && text == name {
				return true
			}
		}
	}
	return false
}

// says reports whether the description holds one of these phrases, each in lower case.
func (c *classifier) says(phrases ...string) (string, bool) {
	const most = 4096 // of a description; what matters stands at its beginning
	text := strings.ToLower(c.tool.Description[:min(len(c.tool.Description), most)])
	for _, p := range phrases {
		if strings.Contains(text, p) {
			return p, true
		}
	}
	return "", false
}

package policy

import (
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Cases is a file of examples: what a session has seen, what is called then, and what must become of it.
type Cases struct {
	Policies []string // files that hold in the place of the person's own, relative to this one; nil when it names none
	Cases    []Case
}

// Case is one session.
type Case struct {
	Name    string
	Line    int
	Profile string // empty for the policy's
	Server  string // that stands for calls and outputs which name none
	Tools   CaseTools
	Prompts []string // what the person says first
	Outputs []CaseOutput
	Calls   []CaseCall // at least one
}

// CaseTools are the definitions that a case is played with: those in a saved answer to tools/list, and those in the file itself.
type CaseTools struct {
	File   string
	Inline []Tool
}

// CaseOutput is something that a tool has said.
type CaseOutput struct {
	Server, Tool string
	Text         string     // of the result; a document stands in it as JSON
	Args         wire.Value // of the call that led to it; nil when that does not matter
}

// CaseCall is a call and what must become of it.
type CaseCall struct {
	Line         int
	Server, Tool string
	Args         wire.Value
	Expect       string      // allow, ask or deny
	Because      string      // part of the reason; empty for any
	Approve      string      // what the person answers when asked: once, session or nothing
	Result       *CaseOutput // what comes back when the call passes; nil for nothing
}

// ParseCases reads a file of cases. The error is a *Error, or several joined with errors.Join.
func ParseCases(name string, data []byte) (*Cases, error) {
	p := &caseParser{parser{file: name}}
	c := &Cases{}
	if root := p.document(data); root != nil {
		p.file(c, root)
	}
	if len(p.errs) == 0 && len(c.Cases) == 0 {
		p.failAt(0, 0, "holds no cases")
	}
	if len(p.errs) > 0 {
		return nil, p.err()
	}
	return c, nil
}

// A caseParser reads cases with the same strictness as policies.
type caseParser struct{ parser }

func (p *caseParser) file(c *Cases, root *yaml.Node) {
	if root.Kind != yaml.MappingNode {
		p.fail(root, "a file of cases is a mapping with the list cases, and this is %s", kind(root))
		return
	}
	common := Case{Server: "server"}
	var list *yaml.Node
	for _, f := range p.pairs(root) {
		switch f.name {
		case "cases":
			list = f.val
		case "policy":
			c.Policies = p.texts("policy", f.val)
		default:
			if !p.setting(&common, f) {
				p.fail(f.key, "unknown key %s%s", quote(f.name), didYouMean(f.name, "cases", "policy", "tools", "server", "profile"))
			}
		}
	}
	if list == nil {
		return
	}
	if list.Kind != yaml.SequenceNode {
		p.fail(list, "cases must be a list, and this is %s", kind(list))
		return
	}
	for i, n := range list.Content {
		if p.exhausted() {
			return
		}
		c.Cases = append(c.Cases, p.one(common, i, p.deref(n)))
	}
}

// setting reads what may stand in a case or above all of them.
func (p *caseParser) setting(c *Case, f pair) bool {
	switch f.name {
	case "tools":
		c.Tools = p.definitions(f.val)
	case "server":
		c.Server = p.line("server", f.val)
	case "profile":
		c.Profile = p.profile("profile", f.val)
	default:
		return false
	}
	return true
}

func (p *caseParser) one(common Case, i int, n *yaml.Node) Case {
	c := common
	c.Name, c.Line = "case "+strconv.Itoa(i+1), n.Line
	if n.Kind != yaml.MappingNode {
		p.fail(n, "a case is a mapping, and this is %s", kind(n))
		return c
	}
	var alone []pair // what belongs to the only call
	for _, f := range p.pairs(n) {
		switch f.name {
		case "name":
			c.Name = p.line("name", f.val)
		case "prompt":
			c.Prompts = []string{p.text("prompt", f.val)}
		case "prompts":
			c.Prompts = p.texts("prompts", f.val)
		case "outputs":
			for _, o := range p.elems("outputs", f.val) {
				c.Outputs = append(c.Outputs, p.output(CaseOutput{Server: c.Server}, "outputs", o))
			}
		case "call":
			c.Calls = append(c.Calls, p.call(f.val))
		case "calls":
			for _, n := range p.elems("calls", f.val) {
				c.Calls = append(c.Calls, p.call(n))
			}
		case "expect", "because", "approve":
			alone = append(alone, f)
		default:
			if !p.setting(&c, f) {
				p.fail(f.key, "%s: unknown key %s%s", shown(c.Name), quote(f.name), didYouMean(f.name,
					"name", "profile", "tools", "server", "prompt", "prompts", "outputs", "call", "calls", "expect", "because", "approve"))
			}
		}
	}
	p.settle(&c, n, alone)
	return c
}

// settle hands the only call what stands beside it, and checks that every call says what it expects.
func (p *caseParser) settle(c *Case, n *yaml.Node, alone []pair) {
	for _, f := range alone {
		if len(c.Calls) != 1 {
			p.fail(f.key, "%s: %s belongs into each of the calls, unless there is just one", shown(c.Name), f.name)
			continue
		}
		p.expectation(&c.Calls[0], f)
	}
	if len(c.Calls) == 0 {
		p.fail(n, "%s: a case needs a call", shown(c.Name))
	}
	for i := range c.Calls {
		call := &c.Calls[i]
		if call.Expect == "" {
			p.failAt(call.Line, 0, "%s: a call needs expect: allow, ask or deny", shown(c.Name))
		}
		if call.Server == "" {
			call.Server = c.Server
		}
		if call.Result != nil {
			call.Result.Server, call.Result.Tool, call.Result.Args = call.Server, call.Tool, call.Args
		}
	}
	for i := range c.Outputs {
		if c.Outputs[i].Tool == "" {
			p.fail(n, "%s: an output needs the tool that it is of", shown(c.Name))
		}
	}
}

func (p *caseParser) call(n *yaml.Node) CaseCall {
	c := CaseCall{Line: n.Line, Args: wire.Value("{}")}
	if n.Kind != yaml.MappingNode {
		p.fail(n, "a call is a mapping with tool and args, and this is %s", kind(n))
		return c
	}
	for _, f := range p.pairs(n) {
		switch f.name {
		case "tool":
			c.Tool = p.line("call: tool", f.val)
		case "server":
			c.Server = p.line("call: server", f.val)
		case "args":
			if c.Args = p.json(f.val); f.val.Kind != yaml.MappingNode {
				p.fail(f.val, "call: args must be a mapping, and this is %s", kind(f.val))
			}
		case "result":
			o := p.output(CaseOutput{}, "result", f.val)
			c.Result = &o
		default:
			if !p.expectation(&c, f) {
				p.fail(f.key, "call: unknown key %s%s", quote(f.name), didYouMean(f.name, "tool", "server", "args", "expect", "because", "approve", "result"))
			}
		}
	}
	if c.Tool == "" {
		p.fail(n, "a call needs a tool")
	}
	return c
}

func (p *caseParser) expectation(c *CaseCall, f pair) bool {
	switch f.name {
	case "expect":
		c.Expect = p.word("expect", f.val, "allow", "ask", "deny")
	case "because":
		c.Because = p.line("because", f.val)
	case "approve":
		c.Approve = p.word("approve", f.val, "once", "session")
	default:
		return false
	}
	return true
}

func (p *caseParser) output(o CaseOutput, where string, n *yaml.Node) CaseOutput {
	if n.Kind != yaml.MappingNode {
		p.fail(n, "%s: an output is a mapping with text or json, and this is %s", where, kind(n))
		return o
	}
	forms := 0
	for _, f := range p.pairs(n) {
		switch f.name {
		case "tool":
			o.Tool = p.line(where+": tool", f.val)
		case "server":
			o.Server = p.line(where+": server", f.val)
		case "args":
			o.Args = p.json(f.val)
		case "text":
			o.Text = p.text(where+": text", f.val)
			forms++
		case "json":
			o.Text = string(p.json(f.val))
			forms++
		default:
			p.fail(f.key, "%s: unknown key %s%s", where, quote(f.name), didYouMean(f.name, "tool", "server", "args", "text", "json"))
		}
	}
	if forms != 1 {
		p.fail(n, "%s: an output has either text or json", where)
	}
	return o
}

// definitions reads the name of a listing, or the definitions themselves.
func (p *caseParser) definitions(n *yaml.Node) CaseTools {
	if n.Kind == yaml.ScalarNode {
		return CaseTools{File: p.line("tools", n)}
	}
	var all CaseTools
	for _, n := range p.elems("tools", n) {
		v := p.json(n)
		t := Tool{InputSchema: v.Get("inputSchema"), Annotations: v.Get("annotations")}
		t.Name, _ = v.Get("name").Text()
		t.Description, _ = v.Get("description").Text()
		if t.Name == "" {
			p.fail(n, "tools: a definition needs a name")
		}
		for key := range v.Members() {
			if !slices.Contains([]string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"}, key) {
				p.fail(n, "tools: unknown key %s%s", quote(key), didYouMean(key, "name", "description", "inputSchema", "annotations"))
			}
		}
		all.Inline = append(all.Inline, t)
	}
	return all
}

func (p *caseParser) elems(where string, n *yaml.Node) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		p.fail(n, "%s must be a list, and this is %s", where, kind(n))
		return nil
	}
	var all []*yaml.Node
	for _, elem := range n.Content {
		if p.exhausted() {
			break
		}
		all = append(all, p.deref(elem))
	}
	return all
}

// texts reads a list of texts, or the only one of them.
func (p *caseParser) texts(where string, n *yaml.Node) []string {
	if n.Kind == yaml.ScalarNode {
		return []string{p.text(where, n)}
	}
	all := []string{}
	for _, elem := range p.elems(where, n) {
		all = append(all, p.text(where, elem))
	}
	return all
}

func (p *caseParser) text(where string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" || n.Value == "" {
		p.fail(n, "%s must be text, and this is %s", where, kind(n))
	}
	return n.Value
}

func (p *caseParser) word(where string, n *yaml.Node, known ...string) string {
	if n.Kind == yaml.ScalarNode && slices.Contains(known, n.Value) {
		return n.Value
	}
	p.fail(n, "%s must be one of %v, and this is %s%s", where, known, quote(n.Value), didYouMean(n.Value, known...))
	return known[0] // so that nothing is said of a word that is missing
}

// maxJSON is what one value of a file may grow to.
const maxJSON = 4 * MaxSize

// json writes a value as the JSON that a client or server would send. Dates stay the texts that they are.
func (p *caseParser) json(n *yaml.Node) wire.Value {
	raw := p.appendJSON(nil, n)
	v, err := wire.ParseValue(raw)
	if err != nil {
		p.fail(n, "no JSON can say this: %v", err)
		return wire.Value("null")
	}
	return v
}

func (p *caseParser) appendJSON(dst []byte, n *yaml.Node) []byte {
	if len(dst) > maxJSON {
		p.fail(n, "aliases make a value longer than %d bytes", maxJSON)
		p.nodes = maxNodes
	}
	if p.exhausted() {
		return append(dst, "null"...)
	}
	switch n.Kind {
	case yaml.MappingNode:
		dst = append(dst, '{')
		for i, f := range p.pairs(n) {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = p.appendJSON(append(wire.AppendQuoted(dst, f.name), ':'), f.val)
		}
		return append(dst, '}')
	case yaml.SequenceNode:
		dst = append(dst, '[')
		for i, elem := range n.Content {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = p.appendJSON(dst, p.deref(elem))
		}
		return append(dst, ']')
	}
	switch n.ShortTag() {
	case "!!null":
		return append(dst, "null"...)
	case "!!bool":
		var is bool
		if n.Decode(&is) == nil && is {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case "!!int", "!!float":
		if v, err := wire.ParseValue([]byte(n.Value)); err == nil && v.Kind() == '0' {
			return append(dst, n.Value...)
		}
		p.fail(n, "write the number %s as JSON has it, or in quotes", quote(n.Value))
		return append(dst, '0')
	}
	return wire.AppendQuoted(dst, n.Value)
}

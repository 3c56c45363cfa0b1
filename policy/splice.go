package policy

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// editor puts text between the bytes of a YAML document.
type editor struct {
	data  []byte
	lines []int // offsets
	eol   string
}

var errShared = errors.New("the entry is used in several places (& and *)")

func newEditor(data []byte) *editor {
	e := &editor{data: data, lines: []int{0}, eol: "\n"}
	for i, c := range data {
		if c == '\n' {
			e.lines = append(e.lines, i+1)
		}
	}
	if bytes.Contains(data, []byte("\r\n")) {
		e.eol = "\r\n"
	}
	return e
}

const trustedKey = "trusted_destinations"

func (e *editor) trust(server, tool string, items, already []string) ([]byte, error) {
	root, all := (&parser{}).document(e.data), slices.Concat(already, items)
	own := []string{"servers", server, "tools", tool}
	if root == nil {
		return e.insert(e.end(), e.startLine(e.end())+"version: 1"+e.eol+e.block("", own, all)), nil
	}
	path := []string{tool}
	if valueOf(root, "version") != nil {
		path = own
		if !holdsList(root, own) && holdsList(root, []string{"tools", tool}) {
			path = []string{"tools", tool}
		}
	}
	at, head := root, (*yaml.Node)(nil)
	for i, key := range path {
		k, v := find(at, key)
		if k == nil {
			return e.into(at, head, path[i:], all), nil
		}
		if v.Kind == yaml.AliasNode || v.Anchor != "" {
			return nil, errShared
		}
		at, head = v, k
	}
	list := valueOf(at, trustedKey)
	switch {
	case list == nil:
		return e.into(at, head, nil, all), nil
	case list.Kind == yaml.AliasNode || list.Anchor != "":
		return nil, errShared
	}
	return e.onto(list, items), nil
}

func holdsList(root *yaml.Node, path []string) bool {
	at := root
	for _, key := range path {
		if at = valueOf(at, key); at == nil {
			return false
		}
	}
	return valueOf(at, trustedKey) != nil
}

func find(n *yaml.Node, key string) (k, v *yaml.Node) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return nil, nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Value == key && k.Kind == yaml.ScalarNode {
			return k, n.Content[i+1]
		}
	}
	return nil, nil
}

func valueOf(n *yaml.Node, key string) *yaml.Node {
	_, v := find(n, key)
	return v
}

// into puts a list, below keys that are not there yet, into a mapping; head is the mapping's own key, nil for the document.
func (e *editor) into(mapping, head *yaml.Node, keys, items []string) []byte {
	switch {
	case mapping.Style&yaml.FlowStyle != 0:
		text := flow(keys, items)
		if len(mapping.Content) > 0 {
			text += ", "
		}
		return e.insert(e.offset(mapping)+1, text)
	case head == nil:
		return e.insert(e.end(), e.startLine(e.end())+e.block(strings.Repeat(" ", mapping.Column-1), keys, items))
	}
	at := e.below(head.Line)
	return e.insert(at, e.startLine(at)+e.block(strings.Repeat(" ", mapping.Column-1), keys, items))
}

// onto puts items into a list.
func (e *editor) onto(list *yaml.Node, items []string) []byte {
	if list.Style&yaml.FlowStyle != 0 {
		text := strings.Join(quoted(items), ", ")
		if len(list.Content) > 0 {
			text += ", "
		}
		return e.insert(e.offset(list)+1, text)
	}
	at := e.below(list.Content[len(list.Content)-1].Line)
	text := e.startLine(at)
	for _, item := range quoted(items) {
		text += strings.Repeat(" ", list.Column-1) + "- " + item + e.eol
	}
	return e.insert(at, text)
}

// block spells keys and the list below them, a line each.
func (e *editor) block(indent string, keys, items []string) string {
	var b strings.Builder
	for _, key := range keys {
		b.WriteString(indent + plainKey(key) + ":" + e.eol)
		indent += "  "
	}
	b.WriteString(indent + trustedKey + ":" + e.eol)
	for _, item := range quoted(items) {
		b.WriteString(indent + "  - " + item + e.eol)
	}
	return b.String()
}

// flow spells keys and the list below them in one line.
func flow(keys, items []string) string {
	text := trustedKey + ": [" + strings.Join(quoted(items), ", ") + "]"
	for _, key := range slices.Backward(keys) {
		text = plainKey(key) + ": {" + text + "}"
	}
	return text
}

// quoted spells texts as JSON does, which YAML reads alike.
func quoted(items []string) []string {
	all := make([]string, len(items))
	for i, item := range items {
		all[i] = string(wire.AppendQuoted(nil, item))
	}
	return all
}

// plainKey leaves a key without quotes where it can only be read as a name.
func plainKey(key string) string {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	n := yaml.Node{Kind: yaml.ScalarNode, Value: key}
	if len(key) > 3 && strings.Trim(key[:1], letters) == "" && strings.Trim(key, letters+"0123456789_-") == "" && n.ShortTag() == "!!str" {
		return key // no yes, no or off
	}
	return string(wire.AppendQuoted(nil, key))
}

// offset is where a node begins: YAML counts characters.
func (e *editor) offset(n *yaml.Node) int {
	at := e.lines[min(n.Line, len(e.lines))-1]
	for range n.Column - 1 {
		_, size := utf8.DecodeRune(e.data[at:])
		at += size
	}
	return at
}

// below is where the line behind that one begins.
func (e *editor) below(line int) int {
	if line < len(e.lines) {
		return e.lines[line]
	}
	return e.end()
}

func (e *editor) end() int { return len(e.data) }

// startLine is what has to stand before a line that begins at an offset.
func (e *editor) startLine(at int) string {
	if at == 0 || e.data[at-1] == '\n' {
		return ""
	}
	return e.eol
}

func (e *editor) insert(at int, text string) []byte {
	return slices.Concat(e.data[:at], []byte(text), e.data[at:])
}

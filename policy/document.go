package policy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// MaxSize is how long a policy file may be, in bytes.
const MaxSize = 1 << 20

const (
	maxNodes = 100_000 // visited; aliases count each time they are used
)

// parser gathers every fault of one file instead of stopping at the first.
type parser struct {
	file  string
	pack  bool
	errs  []*Error
	nodes int
}

func (p *parser) fail(n *yaml.Node, format string, args ...any) {
	p.failAt(n.Line, n.Column, format, args...)
}

func (p *parser) failAt(line, col int, format string, args ...any) {
	p.errs = append(p.errs, &Error{File: p.file, Line: line, Col: col, Msg: fmt.Sprintf(format, args...)})
}

// err returns the faults in the order of the file, each once: an alias shows its target's again.
func (p *parser) err() error {
	slices.SortStableFunc(p.errs, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.Msg, b.Msg))
	})
	p.errs = slices.CompactFunc(p.errs, func(a, b *Error) bool { return *a == *b })
	if len(p.errs) == 1 {
		return p.errs[0]
	}
	all := make([]error, len(p.errs))
	for i, e := range p.errs {
		all[i] = e
	}
	return errors.Join(all...)
}

// document returns the value of the file's only document, or nil when there is none or it can't be read.
func (p *parser) document(data []byte) *yaml.Node {
	if len(data) > MaxSize {
		p.failAt(0, 0, "larger than %d bytes", MaxSize)
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !p.checkText(data) {
		return nil
	}
	docs, err := decode(data)
	switch {
	case err != nil:
		line, msg := syntaxError(err, data)
		p.failAt(line, 0, "not valid YAML: %s", msg)
		return nil
	case len(docs) > 1:
		p.fail(&docs[1], "a second YAML document begins here; a policy file holds one")
		return nil
	case len(docs) == 0 || len(docs[0].Content) == 0:
		return nil
	}
	root := docs[0].Content[0]
	if root.ShortTag() == "!!null" && root.Value == "" {
		return nil // nothing but a document marker
	}
	return root
}

// checkText refuses what YAML refuses without saying where.
func (p *parser) checkText(data []byte) bool {
	line, col := 1, 1
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			p.failAt(line, col, "not valid UTF-8")
			return false
		case r == '\n':
			line, col = line+1, 0
		case r == '\t', r == '\r', r == 0x85:
		case r < 0x20, r >= 0x7f && r < 0xa0, r == 0xfeff, r == 0xfffe, r == 0xffff:
			p.failAt(line, col, "character %U is not allowed", r)
			return false
		}
		i += size
		col++
	}
	return true
}

// decode returns the first two documents.
func decode(data []byte) (docs []yaml.Node, err error) {
	// The library reports its own errors by panics and catches those; a file must not get another one out of it.
	defer func() {
		if r := recover(); r != nil {
			docs, err = nil, fmt.Errorf("%v", r)
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	for len(docs) < 2 {
		var doc yaml.Node
		if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		docs = append(docs, doc)
	}
	return docs, nil
}

// syntaxError takes the line out of the library's message.
func syntaxError(err error, data []byte) (line int, msg string) {
	msg = strings.TrimPrefix(err.Error(), "yaml: ")
	line = 1 // the library leaves the first line out
	if rest, ok := strings.CutPrefix(msg, "line "); ok {
		num, text, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(num); err == nil {
			line, msg = n, text
		}
		// Its scanner counts lines from 1, its parser from 0.
		if strings.HasPrefix(msg, "did not find expected") && !strings.Contains(msg, "character") {
			line++
		}
	}
	if rest, ok := strings.CutPrefix(msg, "unknown anchor '"); ok {
		name, _, _ := strings.Cut(rest, "'")
		if i := bytes.Index(data, []byte("*"+name)); i >= 0 {
			line = 1 + bytes.Count(data[:i], []byte("\n"))
		}
	}
	return line, msg
}

// deref follows an alias, and stops a file whose aliases multiply.
func (p *parser) deref(n *yaml.Node) *yaml.Node {
	p.nodes++
	if p.nodes == maxNodes {
		p.fail(n, "aliases make the file grow beyond %d values", maxNodes)
	}
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func (p *parser) exhausted() bool { return p.nodes >= maxNodes }

// pair is one member of a mapping.
type pair struct {
	name     string
	key, val *yaml.Node
}

// pairs returns the members of a mapping whose keys are good.
func (p *parser) pairs(n *yaml.Node) []pair {
	var all []pair
	first := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content) && !p.exhausted(); i += 2 {
		key, val := p.deref(n.Content[i]), p.deref(n.Content[i+1])
		switch tag := key.ShortTag(); {
		case tag == "!!merge":
			p.fail(key, "merge keys (<<) are not allowed; write the fields out")
			continue
		case key.Kind != yaml.ScalarNode:
			p.fail(key, "a key must be text, and this is %s", kind(key))
			continue
		case tag != "!!str":
			p.fail(key, "a key must be text, and %s is %s; put it in quotes", quote(key.Value), kind(key))
			continue
		}
		if prev := first[key.Value]; prev != nil {
			p.fail(key, "duplicate key %s, first at line %d, column %d", quote(key.Value), prev.Line, prev.Column)
			continue
		}
		first[key.Value] = key
		all = append(all, pair{key.Value, key, val})
	}
	return all
}

// kind names a node's type as a person would.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch tag := n.ShortTag(); tag {
	case "!!str":
		return "text"
	case "!!null":
		return "null"
	case "!!bool":
		return "a boolean"
	case "!!int":
		return "a whole number"
	case "!!float":
		return "a decimal number"
	case "!!timestamp":
		return "a date"
	default:
		return "of type " + quote(tag)
	}
}

// quote shows a value from the file, on one line and not too long.
func quote(s string) string {
	const most = 60
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "..."
	}
	return strconv.Quote(s)
}

// shown is a name as it is, unless it needs quotes to stay readable.
func shown(name string) string {
	if q := quote(name); q != `"`+name+`"` {
		return q
	}
	return name
}

package wrap

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Stash is what an entry written by the original bouncer keeps in its sentinel: the whole former entry, which no client
// reads, so that run must start the server from it.
type Stash struct {
	Command string
	Args    []string
	Env     []string // NAME=value
	Dir     string
}

// Stashed returns the server of the entry called name under mcpServers. The client that would have expanded ${NAME} in
// it never saw it, so that is done here: ${NAME}, ${NAME:-default} and ${env:NAME}; a name that is not set stays as it stands.
func Stashed(data []byte, name string, lookup func(string) (string, bool)) (Stash, error) {
	doc, err := jsonc.Parse(data, jsonc.Comments)
	if err != nil {
		return Stash{}, err
	}
	if _, ok, err := doc.Lookup("mcpServers", name); err != nil || !ok {
		return Stash{}, errors.Join(fmt.Errorf("no server %q", name), err)
	}
	r := stashReader{doc: doc, path: []string{"mcpServers", name, Sentinel}, lookup: lookup}
	s := Stash{Command: r.text("command"), Args: r.texts("args"), Env: r.pairs("env"), Dir: r.text("cwd")}
	switch {
	case r.err != nil:
		return Stash{}, r.err
	case s.Command == "":
		return Stash{}, fmt.Errorf("server %q: no command under %s", name, Sentinel)
	}
	return s, nil
}

// stashReader reads members of one object and keeps the first error.
type stashReader struct {
	doc    *jsonc.Doc
	path   []string
	lookup func(string) (string, bool)
	err    error
}

func (r *stashReader) member(key string) (jsonc.Value, bool) {
	v, ok, err := r.doc.Lookup(append(slices.Clone(r.path), key)...)
	if err != nil && r.err == nil {
		r.err = err
	}
	return v, ok && v.Kind != 'n'
}

func (r *stashReader) string(v jsonc.Value, what string) string {
	s, ok := r.doc.Text(v)
	if !ok && r.err == nil {
		r.err = r.doc.Errorf(v.Start, "%s is no string", what)
	}
	return expand(s, r.lookup)
}

func (r *stashReader) text(key string) string {
	v, ok := r.member(key)
	if !ok {
		return ""
	}
	return r.string(v, key)
}

func (r *stashReader) texts(key string) []string {
	v, ok := r.member(key)
	if !ok {
		return nil
	}
	if v.Kind != '[' && r.err == nil {
		r.err = r.doc.Errorf(v.Start, "%s is no array", key)
	}
	var out []string
	for _, elem := range v.Elems {
		out = append(out, r.string(elem, "an element of "+key))
	}
	return out
}

func (r *stashReader) pairs(key string) []string {
	v, ok := r.member(key)
	if !ok {
		return nil
	}
	if v.Kind != '{' && r.err == nil {
		r.err = r.doc.Errorf(v.Start, "%s is no object", key)
	}
	var out []string
	for _, m := range v.Members {
		out = append(out, m.Key+"="+r.string(m.Value, "a value of "+key))
	}
	return out
}

// expand puts variables in, once, as clients do.
func expand(s string, lookup func(string) (string, bool)) string {
	var out strings.Builder
	for {
		before, rest, ok := strings.Cut(s, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !ok || !closed {
			out.WriteString(s)
			return out.String()
		}
		out.WriteString(before)
		name, fallback, hasFallback := strings.Cut(name, ":-")
		value, set := lookup(strings.TrimPrefix(name, "env:"))
		switch {
		case set:
			out.WriteString(value)
		case hasFallback:
			out.WriteString(fallback)
		default:
			out.WriteString("${" + name + "}")
		}
		s = after
	}
}

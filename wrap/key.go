package wrap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// ParseKey reads a JSON pointer (RFC 6901) to an object of servers. As in clients.Map, * stands for every member.
func ParseKey(key string) ([]string, error) {
	if key == "" {
		return []string{}, nil // the whole file
	}
	if !strings.HasPrefix(key, "/") {
		return nil, fmt.Errorf("%q is no JSON pointer, which begins with a slash", key)
	}
	words := strings.Split(key[1:], "/")
	for i, word := range words {
		if strings.Contains(strings.NewReplacer("~0", "", "~1", "").Replace(word), "~") {
			return nil, fmt.Errorf("%q is no JSON pointer: a tilde is written ~0", key)
		}
		words[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(word)
	}
	return words, nil
}

// FormatKey is the inverse of ParseKey.
func FormatKey(pointer []string) string {
	var b strings.Builder
	for _, word := range pointer {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(word))
	}
	return b.String()
}

// usualKey is where the servers stand in a file of no known client, unless a person says otherwise.
func usualKey() []string { return []string{"mcpServers"} }

// Key is where the servers stand in a file of which a person has to say so; nil for all others.
func (f File) Key() []string {
	if f.Client != "" || len(f.Maps) != 1 || slices.Equal(f.Maps[0].Pointer, usualKey()) {
		return nil
	}
	return f.Maps[0].Pointer
}

// under narrows a config down to the servers at a pointer. The places in a file of no known client are the person's to say;
// those of the others are known.
func (c candidate) under(pointer []string) (candidate, error) {
	if c.client == "" {
		c.config.Maps = []clients.Map{{Scope: clients.User, Pointer: pointer}}
		return c, nil
	}
	var maps []clients.Map
	var there []string
	for _, m := range c.config.Maps {
		there = append(there, FormatKey(m.Pointer))
		if slices.Equal(m.Pointer, pointer) {
			maps = append(maps, m)
		}
	}
	if len(maps) == 0 {
		return c, fmt.Errorf("%s keeps its servers at %s, not at %q", c.client, strings.Join(there, " and "), FormatKey(pointer))
	}
	c.config.Maps = maps
	return c, nil
}

// reached checks that there is something at a pointer that a person has named: a slip of the pen must not look like a file
// without servers. What can't be parsed is said later, with its place.
func reached(data []byte, format jsonc.Format, pointer []string) error {
	if slices.Contains(pointer, "*") {
		return nil
	}
	doc, err := jsonc.Parse(data, format)
	if err != nil {
		return nil
	}
	if _, ok, err := doc.Lookup(pointer...); err == nil && !ok {
		return fmt.Errorf("there is nothing at %s", FormatKey(pointer))
	}
	return nil
}

package policy

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Exactly returns the item of an allowlist that trusts a destination and, but for the case of its letters, no other. It is
// false where there is none: the destination is not trusted as it stands, or would be read as a pattern.
func Exactly(destination string) (item string, ok bool) {
	item = trim(destination)
	if strings.HasPrefix(item, "@") || strings.HasPrefix(item, "*") || strings.HasSuffix(item, "/*") {
		return "", false
	}
	if u, isURL := parseURL(item); isURL && u.path == "" && u.tail == "" {
		item += "/" // without a path it would be trusted with each
	}
	return item, trustFault(item) == "" && Trusts([]string{item}, destination)
}

// Trusting returns the text of a policy file with destinations added that one tool of a server may use from then on. Nothing
// else in the file changes, and every other byte of it stays. Where the file has no list for the tool yet, the new one
// begins with what is trusted already, which it would replace otherwise.
func Trusting(file string, data []byte, server, tool string, destinations, already []string) ([]byte, error) {
	if isGlob(server) || isGlob(tool) || strings.Contains(tool, "/") {
		return nil, fmt.Errorf("%s of %s: a policy would read the name as a pattern", quote(tool), quote(server))
	}
	before, err := Parse(file, data)
	if err != nil {
		return nil, err
	}
	items, err := allExactly(destinations)
	if err != nil {
		return nil, err
	}
	bom := []byte("\ufeff")
	bare := bytes.TrimPrefix(data, bom)
	e := newEditor(bare)
	text, err := e.trust(server, tool, items, already)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	text = append(slices.Clone(data[:len(data)-len(bare)]), text...)
	after, err := Parse(file, text)
	if err == nil && !onlyTrusts(before, after, server, tool, items) {
		err = errors.New("it would not mean what it should")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: can't be changed by a program: %w", file, err)
	}
	return text, nil
}

func allExactly(destinations []string) ([]string, error) {
	items := make([]string, len(destinations))
	for i, d := range destinations {
		item, ok := Exactly(d)
		if !ok {
			return nil, fmt.Errorf("%s can't stand in an allowlist", quote(d))
		}
		items[i] = item
	}
	return items, nil
}

// onlyTrusts reports whether two versions of a file differ in nothing but that one entry for a tool trusts these items, too.
func onlyTrusts(before, after *Layer, server, tool string, items []string) bool {
	was, is := plainBody(before), plainBody(after)
	i := 0
	for i < len(was.rules) && i < len(is.rules) && reflect.DeepEqual(was.rules[i], is.rules[i]) {
		i++
	}
	if i == len(is.rules) {
		return false
	}
	got := is.rules[i]
	if got.tool != tool || got.server != "" && got.server != server {
		return false
	}
	for _, item := range items {
		if !slices.Contains(got.trusted, item) {
			return false
		}
	}
	if len(is.rules) > len(was.rules) { // it is new
		was.rules = slices.Insert(was.rules, i, scoped{server: got.server, tool: tool})
	}
	if slices.ContainsFunc(was.rules[i].trusted, func(old string) bool { return !slices.Contains(got.trusted, old) }) {
		return false
	}
	is.rules[i].trusted = was.rules[i].trusted
	return reflect.DeepEqual(was, is) && before.Profile == after.Profile
}

// plainBody is what a file says, without where in the file it says so.
func plainBody(l *Layer) body {
	b := *l.parsed()
	b.rules, b.sections, b.links, b.askings = slices.Clone(b.rules), slices.Clone(b.sections), slices.Clone(b.links), slices.Clone(b.askings)
	for i := range b.rules {
		b.rules[i].line, b.rules[i].col = 0, 0
	}
	for i := range b.sections {
		b.sections[i].line, b.sections[i].col = 0, 0
	}
	for i := range b.links {
		b.links[i].line, b.links[i].col = 0, 0
	}
	for i := range b.askings {
		b.askings[i].line, b.askings[i].col = 0, 0
	}
	return b
}

package engine

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
)

// acted returns the rule of a call whose arguments say what is done, as far as nothing but its tool's name was known: event with
// the action delete is a delete_event. Where a person's policy speaks of the tool, its word counts.
func (r *resolved) acted(args wire.Value) *resolved {
	if r.rule.Open || slices.ContainsFunc(r.rule.Layers, func(l string) bool { return l != "inferred" && !strings.HasPrefix(l, "pack ") }) {
		return r
	}
	as, rule := *r, r.rule
	for leaf := range args.Leaves() {
		word, lasting := verbOf(leaf, r.rule.Changing)
		if word == "" {
			continue
		}
		if lasting {
			rule.Changing, rule.Irreversible = true, true
		}
		if does, ok := policy.Acting(r.tool, word); ok {
			rule.Changing = true
			rule.Irreversible = rule.Irreversible || does.Irreversible
			for _, path := range does.ObjectParams {
				if !slices.Contains(rule.ObjectParams, path) {
					rule.ObjectParams = append(slices.Clip(rule.ObjectParams), path)
				}
			}
		}
	}
	as.rule = rule
	return &as
}

// verbOf returns what a leaf of the arguments says that the call does. lasting: by itself, it can't be undone.
func verbOf(leaf wire.Leaf, changing bool) (word string, lasting bool) {
	if len(leaf.Path) == 0 {
		return "", false
	}
	name := ""
	for i := len(leaf.Path) - 1; i >= 0 && name == ""; i-- {
		name, _ = leaf.Path[i].Key()
	}
	text, ok := leaf.Value.Text()
	if leaf.IsKey || !ok || len(text) > maxInside {
		if leaf.IsKey && len(leaf.Path) > 1 && policy.Deletes(text) {
			return text, true // an operation by its name: {"deleteSheet": ...}
		}
		return "", false
	}
	fields := strings.Fields(text[:min(len(text), maxWhole)])
	if len(fields) == 0 {
		return "", false
	}
	switch name = strings.ToLower(name); name {
	case "operation", "action", "method", "verb", "op", "mode", "type":
		if len(fields) > 2 {
			return "", false
		}
		if deletes := policy.Deletes(fields[0]); deletes || name == "operation" || name == "action" { // the mode of a file may well be replace
			return fields[0], deletes
		}
	case "sql", "query", "statement", "cypher", "mutation":
		if statement(fields, changing) {
			return fields[0], true
		}
	case "command", "cmd":
		for _, word := range fields[:min(len(fields), 3)] {
			if policy.Deletes(word) {
				return word, true
			}
		}
	}
	return "", false
}

// statement recognises a statement that takes away. A search may begin with the word delete, too, but does not go on like one.
func statement(fields []string, changing bool) bool {
	next := ""
	if len(fields) > 1 {
		next = strings.ToLower(fields[1])
	}
	switch strings.ToLower(fields[0]) {
	case "delete":
		return next == "from"
	case "drop":
		return slices.Contains([]string{"table", "database", "schema", "view", "index", "user", "role", "collection", "keyspace", "column", "function", "trigger"}, next)
	case "truncate", "alter", "grant", "revoke":
		return next != "" && (changing || next == "table" || next == "user" || next == "role" || next == "all")
	case "update", "merge", "replace":
		return slices.ContainsFunc(fields, func(f string) bool { return strings.EqualFold(f, "set") || strings.EqualFold(f, "into") })
	}
	return strings.HasPrefix(strings.ToLower(fields[0]), "mutation") && slices.ContainsFunc(fields, func(f string) bool { return strings.ContainsAny(f, "{(") })
}

package engine

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/policy"
)

// heed makes the rule follow arguments that say what is done, as far as nothing but the tool's name was known: event with the
// action delete is a delete_event. Where a person's policy speaks of the tool, its word counts.
func (j *judgement) heed() {
	if j.fixed {
		return
	}
	for i := range j.args.Tree {
		n := &j.args.Tree[i]
		if n.Member && n.Parent > 0 && j.sense(n.Name).deletes {
			j.does(n.Name, true) // an operation by its name: {"deleteSheet": ...}
		}
		if n.Kind == '"' && len(n.Text) <= maxInside {
			if word, lasting := verbOf(j.args.called(int32(i)), n.Text, j.resolved.rule.Changing); word != "" {
				j.does(word, lasting)
			}
		}
	}
}

// does applies what an argument says. lasting: by itself, it can't be undone.
func (j *judgement) does(word string, lasting bool) {
	does, ok := policy.Acting(j.tool, word)
	if !ok && !lasting {
		return
	}
	rule := *j.rule
	rule.Changing = true
	rule.Irreversible = rule.Irreversible || lasting || does.Irreversible
	for _, path := range does.ObjectParams {
		if !slices.Contains(rule.ObjectParams, path) {
			rule.ObjectParams = append(slices.Clip(rule.ObjectParams), path)
		}
	}
	j.rule = &rule
}

// verbOf returns what a string in an argument of some name says that the call does. lasting: by itself, it can't be undone.
func verbOf(name, text string, changing bool) (word string, lasting bool) {
	text = text[:min(len(text), maxWhole)]
	switch name = strings.ToLower(name); name {
	case "operation", "action", "method", "verb", "op", "mode", "type":
		fields := strings.Fields(text)
		if len(fields) == 0 || len(fields) > 2 {
			return "", false
		}
		if deletes := policy.Deletes(fields[0]); deletes || name == "operation" || name == "action" { // the mode of a file may well be replace
			return fields[0], deletes
		}
	case "sql", "query", "statement", "cypher", "mutation":
		if fields := strings.Fields(text); len(fields) > 0 && statement(fields, changing) {
			return fields[0], true
		}
	case "command", "cmd":
		fields := strings.Fields(text)
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

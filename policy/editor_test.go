package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"gopkg.in/yaml.v3"
)

// editorSchema is docs/policy.schema.json, by which editors check a policy while it is written.
func editorSchema(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(read(t, "..", "docs", "policy.schema.json")), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// everything is a policy with every key there is.
const everything = `
version: 1
profile: strict
tools:
  send_email: {exfiltrating: true, sink_params: [to], trusted_destinations: ["@corp.example"], irreversible: false}
  "files/*": {write_params: [path], allowed_path_prefixes: [./out], arg_patterns: {path: "[a-z]+"}, max_calls: 3}
  find: {profile: observe, object_params: [id], trusted_outputs: [email], untrusted_outputs: [notes]}
servers:
  bank: {profile: balanced, tools: {transfer: {max_calls: 0}}}
taint: {links: [[contacts, mail]]}
approval: {channels: [elicitation, dialog], timeout: 45, clients: {"ci-*": {channels: [], timeout: 1}}}
`

// shownPolicies are the policies of the documentation, and those of this test.
func shownPolicies(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{
		"everything": everything,
		"flat":       "send_email: {exfiltrating: true, sink_params: [to]}\nwrite_file: {max_calls: 1}\ntools: {irreversible: true}\n",
		"empty":      "",
		"bare":       "version: 1\n",
		"example":    read(t, "..", "examples", "bouncer.yaml"),
	}
	pages, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		for i, block := range strings.Split(read(t, page), "```") {
			text, ok := strings.CutPrefix(block, "yaml\n")
			if _, err := Parse(page, []byte(text)); ok && err == nil {
				all[fmt.Sprintf("%s, block %d", filepath.Base(page), i/2+1)] = text
			}
		}
	}
	return all
}

// The schema takes every policy that the parser takes, as far as the documentation shows any, and where a policy is changed in one
// place the two agree about what came out.
func TestEditorSchema(t *testing.T) {
	schema := editorSchema(t)
	shown := shownPolicies(t)
	if len(shown) < 8 {
		t.Errorf("only %d policies", len(shown))
	}
	for name, text := range shown {
		var tree any
		if err := yaml.Unmarshal([]byte(text), &tree); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(tree); err != nil {
			t.Errorf("%s: the schema refuses it: %v", name, err)
		}
		for what, changed := range mutants(tree) {
			compare(t, schema, name+": "+what, changed)
		}
	}
}

// compare holds what the schema says of a policy against what the parser says.
func compare(t *testing.T, schema *jsonschema.Resolved, what string, tree any) {
	t.Helper()
	text, err := json.Marshal(tree) // which is YAML too
	if err != nil {
		t.Fatal(err)
	}
	if tree == nil {
		text = nil // the word null is no policy, an empty file is one
	}
	_, fault := Parse("policy.yaml", text)
	byEditor := schema.Validate(tree)
	switch {
	case fault == nil && byEditor != nil:
		t.Errorf("%s: the schema refuses what the parser takes: %v\n%s", what, byEditor, text)
	case fault != nil && byEditor == nil && !beyond(fault):
		t.Errorf("%s: the schema takes what the parser refuses: %v\n%s", what, fault, text)
	}
}

// beyond reports a fault that no schema can see: what a value means.
func beyond(fault error) bool {
	for _, sign := range []string{"trusted_destinations: ", "error parsing regexp"} {
		if strings.Contains(fault.Error(), sign) {
			return true
		}
	}
	return false
}

// mutants are all policies that differ from one in a single place: an unknown key more, a value of another type, a key that is
// no name.
func mutants(tree any) map[string]any {
	all := map[string]any{}
	values := []any{nil, true, 0, -1, 1.5, 7, 1 << 40, "", " ", "text", "balanced", "observe", "dialog", []any{}, []any{"a"}, []any{"a", "a"}, []any{""}, []any{1}, []any{[]any{"a", "b", "c"}}, map[string]any{}, map[string]any{"a": 1}, map[string]any{"a": "b"}, map[string]any{"max_calls": 1}}
	var walk func(path string, node any, put func(any) any)
	walk = func(path string, node any, put func(any) any) {
		for i, v := range values {
			all[fmt.Sprintf("%s becomes value %d", path, i)] = put(v)
		}
		switch node := node.(type) {
		case map[string]any:
			with := func(key string, v any) any {
				changed := maps.Clone(node)
				changed[key] = v
				return put(changed)
			}
			for _, key := range []string{"unknown", "", " x", "a*", "pack", "rules"} {
				all[fmt.Sprintf("%s gets the key %q", path, key)] = with(key, map[string]any{"unknown": 1})
				all[fmt.Sprintf("%s gets %q, a rule", path, key)] = with(key, map[string]any{"max_calls": 1})
			}
			for key, value := range node {
				walk(path+"/"+key, value, func(v any) any { return with(key, v) })
			}
		case []any:
			for i, value := range node {
				walk(fmt.Sprintf("%s/%d", path, i), value, func(v any) any {
					changed := slices.Clone(node)
					changed[i] = v
					return put(changed)
				})
			}
		}
	}
	walk("", tree, func(v any) any { return v })
	return all
}

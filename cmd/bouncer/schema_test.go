package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/doctor"
)

// TestSchema holds what doctor prints as JSON against docs/doctor.schema.json: what the schema wants is there, and what is
// there the schema knows.
func TestSchema(t *testing.T) {
	limit := 2
	full := doctor.Finding{
		Code: "tools-listed", Severity: doctor.Info, Client: "cursor", Scope: "user", Server: "mail", File: "/c.json", Line: 3, Column: 7,
		Message: "lists 1 tool", Repair: "none",
		Tools: []doctor.Tool{{Name: "send", Sink: true, Params: []string{"to"}, Sources: []string{"pack gmail"}, Limit: &limit}},
	}
	least := doctor.Finding{Code: "client-found", Severity: doctor.Info, Message: "none"}
	s := readSchema(t)
	for _, report := range []doctorReport{{Findings: []doctor.Finding{full, least}}, {Findings: []doctor.Finding{}}} {
		for _, fault := range s.check(s.root, "", asJSON(t, report)) {
			t.Error(fault)
		}
	}
	for _, check := range doctor.Checks() {
		for _, severity := range check.Severities {
			finding := least
			finding.Code, finding.Severity = check.Code, severity
			for _, fault := range s.check(s.root, "", asJSON(t, doctorReport{Findings: []doctor.Finding{finding}})) {
				t.Error(fault)
			}
		}
	}
	wrong := asJSON(t, doctorReport{Findings: []doctor.Finding{{Code: "Not A Code", Severity: "fatal", Line: -1}}})
	if faults := s.check(s.root, "", wrong); len(faults) < 4 {
		t.Errorf("the checker finds only %q", faults)
	}
}

func asJSON(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back any
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

// schema checks values against the few keywords of JSON Schema that the report's schema uses.
type schema struct{ root map[string]any }

func readSchema(t *testing.T) schema {
	t.Helper()
	text, err := os.ReadFile("../../docs/doctor.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s schema
	if err := json.Unmarshal(text, &s.root); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s schema) check(node map[string]any, path string, v any) (faults []string) {
	if ref, ok := node["$ref"].(string); ok {
		node = s.root["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	fault := func(format string, args ...any) {
		faults = append(faults, path+": "+fmt.Sprintf(format, args...))
	}
	if enum, ok := node["enum"].([]any); ok && !slices.Contains(enum, v) {
		fault("%v is none of %v", v, enum)
	}
	switch v := v.(type) {
	case map[string]any:
		if node["type"] != "object" {
			fault("an object")
			return faults
		}
		properties := node["properties"].(map[string]any)
		for _, name := range node["required"].([]any) {
			if _, ok := v[name.(string)]; !ok {
				fault("%s is missing", name)
			}
		}
		for name, value := range v {
			if property, ok := properties[name].(map[string]any); ok {
				faults = append(faults, s.check(property, path+"/"+name, value)...)
			} else {
				fault("%s is not in the schema", name)
			}
		}
	case []any:
		if node["type"] != "array" {
			fault("an array")
			return faults
		}
		for i, elem := range v {
			faults = append(faults, s.check(node["items"].(map[string]any), fmt.Sprintf("%s/%d", path, i), elem)...)
		}
	case string:
		if kind := node["type"]; kind != nil && kind != "string" {
			fault("a string")
		}
		if pattern, ok := node["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(v) {
			fault("%q does not match %s", v, pattern)
		}
		if node["minLength"] != nil && v == "" {
			fault("is empty")
		}
	case float64:
		if node["type"] != "integer" {
			fault("a number")
		}
		if least, ok := node["minimum"].(float64); ok && v < least {
			fault("%v is less than %v", v, least)
		}
	case bool:
		if node["type"] != "boolean" {
			fault("a boolean")
		}
	default:
		fault("%v", v)
	}
	return faults
}

package audit

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestSchema holds records against docs/audit.schema.json: each has what the schema wants, and no member that it does not know.
func TestSchema(t *testing.T) {
	text, err := os.ReadFile("../docs/audit.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	for _, object := range []*jsonschema.Schema{&s, s.Definitions["evidence"]} {
		object.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}} // which nothing satisfies
	}
	schema, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}

	log, err := Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	full := sample(1)
	full.Verdict, full.Observed, full.Answer, full.Channel = "allow", "deny", "once", "elicitation"
	full.Evidence[0].Role = "destination"
	full.Layers, full.Evidence = slices.Repeat(full.Layers, maxList+1), slices.Repeat(full.Evidence, maxList+1)
	for _, v := range []Verdict{sample(1), full, {Verdict: "deny", Time: time.Now()}} {
		if err := log.Verdict(v); err != nil {
			t.Fatal(err)
		}
	}
	for _, outcome := range []string{"ok", "tool_error", "rpc_error", "cancelled", "lost"} {
		if err := log.Result(Result{Time: time.Now(), Outcome: outcome, Duration: time.Second, Bytes: 7}); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	records := 0
	for line, err := range Records(log.dir) {
		if err != nil {
			t.Fatal(err)
		}
		var record map[string]any
		if err := json.Unmarshal(line, &record); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(record); err != nil {
			t.Errorf("%v\n%s", err, line)
		}
		if record["more"] = 1; schema.Validate(record) == nil {
			t.Error("the schema takes a member that it does not know")
		}
		records++
	}
	if records != 8 {
		t.Errorf("%d records", records)
	}
}

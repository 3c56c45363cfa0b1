package doctor_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/doctor"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
	"github.com/bouncer-mcp/bouncer/wrap"
)

// TestSARIF reads the report as a code scanner does: by the names of the standard.
func TestSARIF(t *testing.T) {
	facts := cursor(unwrapped(wrap.Plain))
	facts.Files = append(facts.Files, doctor.File{
		Client: "claude-code", Path: "/w/a b/.mcp.json",
		Err: &wrap.FileError{Path: "/w/a b/.mcp.json", Err: &jsonc.Error{Line: 4, Col: 7, Msg: "unexpected comma"}},
	})
	text, err := json.Marshal(doctor.SARIF(doctor.Diagnose(facts), "/w", "1.2.3"))
	if err != nil {
		t.Fatal(err)
	}
	var log struct {
		Version string
		Runs    []struct {
			Tool struct {
				Driver struct {
					Name, Version string
					Rules         []struct{ ID string }
				}
			}
			Results []struct {
				RuleID    string
				RuleIndex int
				Level     string
				Message   struct{ Text string }
				Locations []struct {
					PhysicalLocation struct {
						ArtifactLocation struct{ URI string }
						Region           struct{ StartLine, StartColumn int }
					}
				}
			}
		}
	}
	if err := json.Unmarshal(text, &log); err != nil {
		t.Fatal(err)
	}
	if log.Version != "2.1.0" || len(log.Runs) != 1 || log.Runs[0].Tool.Driver.Version != "1.2.3" {
		t.Fatalf("%s", text)
	}
	run := log.Runs[0]
	want := map[string]string{"config-unreadable": "error", "server-unwrapped": "warning", "client-found": "note"}
	for _, r := range run.Results {
		if level, ok := want[r.RuleID]; ok && level != r.Level {
			t.Errorf("%s has level %s", r.RuleID, r.Level)
		}
		delete(want, r.RuleID)
		if run.Tool.Driver.Rules[r.RuleIndex].ID != r.RuleID || r.Message.Text == "" {
			t.Errorf("%+v", r)
		}
		switch r.RuleID {
		case "config-unreadable":
			at := r.Locations[0].PhysicalLocation
			if at.ArtifactLocation.URI != "a%20b/.mcp.json" || at.Region.StartLine != 4 || at.Region.StartColumn != 7 {
				t.Errorf("%+v", at)
			}
		case "server-unwrapped":
			if uri := r.Locations[0].PhysicalLocation.ArtifactLocation.URI; uri != "file:///home/ada/.cursor/mcp.json" {
				t.Errorf("%s", uri)
			}
			if !strings.HasPrefix(r.Message.Text, "cursor: server fs starts npx") || !strings.Contains(r.Message.Text, "Repair: bouncer init") {
				t.Errorf("%s", r.Message.Text)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
	empty, err := json.Marshal(doctor.SARIF(nil, "/w", ""))
	if err != nil || !strings.Contains(string(empty), `"results":[]`) {
		t.Error(errors.Join(err, errors.New(string(empty))))
	}
}

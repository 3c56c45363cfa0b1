package proxy

import (
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/engine"
	"github.com/bouncer-mcp/bouncer/taint"
)

func TestForGood(t *testing.T) {
	to := func(values ...string) engine.Verdict {
		v := engine.Verdict{Action: engine.Ask, Contract: "sink_gate"}
		for _, value := range values {
			v.Findings = append(v.Findings, engine.Finding{Pair: engine.Pair{Param: "to", Value: value}, Class: taint.Field})
		}
		return v
	}
	with := func(change func(*engine.Finding)) engine.Verdict {
		v := to("a@b.com", "c@d.com")
		change(&v.Findings[1])
		return v
	}
	pinning := to("a@b.com")
	pinning.Contract = "pinning"
	for _, tt := range []struct {
		name string
		v    engine.Verdict
		want []string
	}{
		{"destinations", to("a@b.com", "c@d.com"), []string{"a@b.com", "c@d.com"}},
		{"as many as can be seen", to("1", "2", "3", "4"), []string{"1", "2", "3", "4"}},
		{"too many", to("1", "2", "3", "4", "5"), nil},
		{"one that can't be seen whole", to(strings.Repeat("a", maxSeenWhole+1)), nil},
		{"one that a text told the agent to use", with(func(f *engine.Finding) { f.Class = taint.Aimed }), nil},
		{"an object", with(func(f *engine.Finding) { f.Role = engine.Object }), nil},
		{"something that can't be undone", with(func(f *engine.Finding) { f.Role = engine.Deed }), nil},
		{"no destination", with(func(f *engine.Finding) { f.Pair = engine.Pair{} }), nil},
		{"a tool", pinning, nil},
		{"nothing", engine.Verdict{}, nil},
	} {
		if got := forGood(tt.v); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q", tt.name, got)
		}
	}
}

package serve

import (
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/packs"
	"github.com/bouncer-mcp/bouncer/policy"
)

func TestVerifyPolicy(t *testing.T) {
	c := newWorld(t).connect(t, eras[0], nil)
	var out verifyOutput
	args := func(yaml string) string { return `{"policy_yaml":` + string(wire.AppendQuoted(nil, yaml)) + `}` }
	ask(t, c, "bouncer_verify_policy", args("send: {sink_params: [to]}\ndrop: {max_calls: 1}\n"), &out)
	if !out.Valid || out.Rules != 2 || !slices.Equal(out.Tools, []string{"drop", "send"}) || len(out.Faults)+len(out.Warnings) > 0 {
		t.Errorf("%+v", out)
	}
	out = verifyOutput{}
	ask(t, c, "bouncer_verify_policy", args("send:\n  exfiltratin: true\n  max_calls: many\n"), &out)
	if out.Valid || len(out.Faults) != 2 || out.Faults[0].Line != 2 || out.Faults[0].Column != 3 || out.Faults[1].Line != 3 || out.Error == "" {
		t.Errorf("%+v", out)
	}
	out = verifyOutput{}
	ask(t, c, "bouncer_verify_policy", args("send_email: {exfiltrating: false, trusted_destinations: ['@gmail.com']}\n"), &out)
	if !out.Valid || len(out.Warnings) < 2 || out.Warnings[0].Line != 1 {
		t.Errorf("%+v", out)
	}
	out = verifyOutput{}
	ask(t, c, "bouncer_verify_policy", args("version: 1\nservers:\n  brokn: {profile: strict}\n"), &out)
	if !out.Valid || len(out.Warnings) != 1 || out.Warnings[0].Code != "unknown_server" || out.Warnings[0].Line != 3 {
		t.Errorf("%+v", out)
	}
	out = verifyOutput{}
	ask(t, c, "bouncer_verify_policy", args(strings.Repeat("#", policy.MaxSize+1)), &out)
	if out.Valid || len(out.Faults) != 1 || out.Faults[0].Line != 0 {
		t.Errorf("%+v", out)
	}
}

func TestActivePolicies(t *testing.T) {
	w := newWorld(t)
	own, err := policy.Parse("policy.yaml", []byte("version: 1\nprofile: strict\ntools: {send: {max_calls: 1}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	w.Policies = func() ([]*policy.Layer, error) { return []*policy.Layer{own, {Name: "empty.yaml"}}, nil }
	c := w.connect(t, eras[1], nil)
	var out activeOutput
	ask(t, c, "bouncer_get_active_policies", `{}`, &out)
	if len(out.Own) != 2 || out.Own[0].File != "policy.yaml" || out.Own[0].Profile != "strict" || len(out.Packs) != len(packs.Names()) || out.Packs[0].Text != "" {
		t.Errorf("%+v", out.Own)
	}
	ask(t, c, "bouncer_get_active_policies", `{"pack_name":"GMA"}`, &out)
	if len(out.Packs) != 1 || out.Packs[0].Name != "gmail" || !strings.Contains(out.Packs[0].Text, "send_email") || out.Packs[0].URI != "bouncer://packs/gmail" {
		t.Errorf("%+v", out.Packs)
	}
}

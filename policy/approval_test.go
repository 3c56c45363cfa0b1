package policy

import (
	"reflect"
	"strings"
	"testing"
)

func TestApproval(t *testing.T) {
	set := NewSet(
		layer(t, "high.yaml", "version: 1\napproval:\n  timeout: 20\n  clients:\n    cursor*: {timeout: 30}\n    claude-code: {channels: [terminal]}\n"),
		layer(t, "low.yaml", "version: 1\napproval:\n  clients:\n    \"*\": {timeout: 70}\n    quiet: {channels: []}\n  channels: [dialog, elicitation]\n  timeout: 60\n"),
	)
	for _, tt := range []struct {
		client string
		want   Approval
	}{
		{"", Approval{[]string{"dialog", "elicitation"}, 20}},
		{"cursor-vscode 1.0.0", Approval{[]string{"dialog", "elicitation"}, 30}},
		{"claude-code 2.1.0", Approval{[]string{"terminal"}, 20}},
		{"claude-code", Approval{[]string{"terminal"}, 20}},
		{"claude-codex 1", Approval{[]string{"dialog", "elicitation"}, 20}},
		{"quiet 1", Approval{[]string{}, 20}},
	} {
		if got := set.Approval(tt.client); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: got %v, want %v", tt.client, got, tt.want)
		}
	}
	if got := (*Set)(nil).Approval("x"); !reflect.DeepEqual(got, Approval{}) {
		t.Errorf("no layers: %v", got)
	}
}

func TestApprovalFaults(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"approval: now", "approval must be a mapping with channels, timeout or clients, and this is text"},
		{"approval: {timeout: 0}", `approval: timeout must be a whole number of seconds from 1 to 3600, and this is "0"`},
		{"approval: {timeout: 45s}", `and this is "45s"`},
		{"approval: {timeout: 3601}", `and this is "3601"`},
		{"approval: {timeout: [1]}", "and this is a list"},
		{"approval: {channel: [dialog]}", `approval: unknown key "channel"; did you mean channels?`},
		{"approval: {channels: dialog}", "approval: channels must be a list"},
		{"approval: {channels: [dialogue]}", `unknown channel "dialogue"; did you mean dialog?`},
		{"approval: {channels: [dialog, dialog]}", "dialog is named twice"},
		{"approval: {clients: {a: {clients: {}}}}", `approval: a: unknown key "clients"`},
		{"approval: {clients: {' ': {}}}", "is no client name"},
	} {
		_, err := Parse("policy.yaml", []byte("version: 1\n"+tt.text+"\n"))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.text, err, tt.want)
		}
	}
	if _, err := ParsePack("p", []byte("version: 1\napproval: {timeout: 3}\n")); err == nil || !strings.Contains(err.Error(), "a pack has no approval") {
		t.Errorf("in a pack: %v", err)
	}
}

package main

import (
	"reflect"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/proxy"
)

func TestAskingBy(t *testing.T) {
	all := policy.Channels()
	for _, tt := range []struct {
		name, policy string
		want         proxy.Asking
	}{
		{"no policy", "", proxy.Asking{Channels: all}},
		{"a time", "version: 1\napproval: {timeout: 20}\n", proxy.Asking{Channels: all, For: 20 * time.Second}},
		{"the channels by name", "version: 1\napproval: {channels: [elicitation, dialog, terminal]}\n", proxy.Asking{Channels: all, Stay: true}},
		{"no terminal", "version: 1\napproval: {channels: [dialog]}\n", proxy.Asking{Channels: []string{"dialog"}}},
		{"nobody", "version: 1\napproval: {channels: []}\n", proxy.Asking{Channels: []string{}}},
		{"another client", "version: 1\napproval: {clients: {cursor: {timeout: 20}}}\n", proxy.Asking{Channels: all}},
		{"this client", "version: 1\napproval: {clients: {claude-code: {timeout: 20}}}\n", proxy.Asking{Channels: all, For: 20 * time.Second}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			layer, err := policy.Parse("policy.yaml", []byte(tt.policy))
			if err != nil {
				t.Fatal(err)
			}
			if got := askingBy(policy.NewSet(layer))("claude-code 2.1.0"); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

package wrap

import (
	"reflect"
	"strings"
	"testing"
)

func TestStashed(t *testing.T) {
	env := map[string]string{"TOK": "t0k", "EMPTY": ""}
	lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	tests := []struct {
		name, entry string
		want        Stash
		fault       string
	}{
		{
			name:  "whole",
			entry: `{"x-bouncer-upstream":{"command":"npx","args":["-y","srv","${TOK}"],"env":{"A":"${env:TOK}","B":"${NO:-d}"},"cwd":"/w"}}`,
			want:  Stash{Command: "npx", Args: []string{"-y", "srv", "t0k"}, Env: []string{"A=t0k", "B=d"}, Dir: "/w"},
		},
		{
			name:  "unset and empty",
			entry: `{"x-bouncer-upstream":{"command":"c","args":["${NO}","${EMPTY:-d}","${","a}"],"env":null}}`,
			want:  Stash{Command: "c", Args: []string{"${NO}", "", "${", "a}"}},
		},
		{name: "remote", entry: `{"x-bouncer-upstream":{"url":"https://x"}}`, fault: "no command"},
		{name: "no sentinel", entry: `{"command":"c"}`, fault: "no command"},
		{name: "sentinel is no object", entry: `{"x-bouncer-upstream":"c"}`, fault: "line 1"},
		{name: "number among args", entry: `{"x-bouncer-upstream":{"command":"c","args":[1]}}`, fault: "no string"},
		{name: "args is text", entry: `{"x-bouncer-upstream":{"command":"c","args":"x"}}`, fault: "no array"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Stashed([]byte(`{"mcpServers":{"s":`+tt.entry+`}}`), "s", lookup)
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Fatalf("error %v, want one with %q", err, tt.fault)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v\nwant %+v", got, err, tt.want)
			}
		})
	}
	if _, err := Stashed([]byte(`{"mcpServers":{}}`), "s", lookup); err == nil || !strings.Contains(err.Error(), `no server "s"`) {
		t.Errorf("missing server: %v", err)
	}
}

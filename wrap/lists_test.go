package wrap

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseLists(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       Lists
	}{
		{"nothing", `{"model": "opus"}`, Lists{}},
		{"empty file", ``, Lists{}},
		{"null", `{"allowedMcpServers": null, "deniedMcpServers": null}`, Lists{}},
		{"lockdown", `{"allowedMcpServers": []}`, Lists{AllowSet: true}},
		{
			"all kinds", `{
			"deniedMcpServers": [{"serverName": "a"}, {"serverCommand": ["npx", "x"]}, {"serverUrl": "https://*"}],
			"allowedMcpServers": [{"serverName": "b"}, {"serverCommand": ["uvx"]}, {"serverUrl": "https://*"}]}`,
			Lists{DenyNames: []string{"a"}, DenyCommands: [][]string{{"npx", "x"}}, AllowSet: true, AllowNames: []string{"b"}, AllowCommands: [][]string{{"uvx"}}},
		},
		{"malformed items", `{"deniedMcpServers": [{"serverName": 1}, {"serverCommand": "npx"}, {"serverCommand": [1]}, {}]}`, Lists{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseLists([]byte(tt.text))
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
	for _, text := range []string{`{`, `[]`, `{"deniedMcpServers": {}}`, `{"deniedMcpServers": [1]}`, `{"deniedMcpServers": [], "deniedMcpServers": []}`} {
		if _, err := ParseLists([]byte(text)); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

func TestMergeLists(t *testing.T) {
	got := Lists{DenyNames: []string{"a"}, AllowCommands: [][]string{{"x"}}}.Merge(Lists{DenyNames: []string{"b"}, AllowSet: true, AllowNames: []string{"c"}, DenyCommands: [][]string{{"y"}}})
	want := Lists{DenyNames: []string{"a", "b"}, DenyCommands: [][]string{{"y"}}, AllowSet: true, AllowNames: []string{"c"}, AllowCommands: [][]string{{"x"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestDenial(t *testing.T) {
	argv := []string{"npx", "-y", "${PKG:-p}@${V}", "/home/${USER}/x"}
	wrapped := append([]string{"bouncer", "run", "--upstream-name=s", "--"}, argv...)
	for _, tt := range []struct {
		name  string
		lists Lists
		want  string
	}{
		{"no lists", Lists{}, ""},
		{"wrapped command allowed", Lists{AllowSet: true, AllowCommands: [][]string{wrapped}}, ""},
		{"both commands allowed", Lists{AllowSet: true, AllowCommands: [][]string{argv, wrapped}}, ""},
		{"wrapped command allowed, plain one denied", Lists{DenyCommands: [][]string{argv}, AllowSet: true, AllowCommands: [][]string{wrapped}}, "on the client's deny list"},
		{"wrapped command allowed, name denied", Lists{DenyNames: []string{"s"}, AllowSet: true, AllowCommands: [][]string{wrapped}}, "on the client's deny list"},
		{"wrapped command denied", Lists{DenyCommands: [][]string{wrapped}}, "deny list once it is wrapped"},
		{"others denied", Lists{DenyNames: []string{"t"}, DenyCommands: [][]string{{"npx", "-y"}, {"npx", "-y", "p@1", "/home/ada/y"}}}, ""},
		{"name denied", Lists{DenyNames: []string{"s"}}, "deny list"},
		{"command denied", Lists{DenyCommands: [][]string{argv}}, "deny list"},
		{"expanded command denied", Lists{DenyCommands: [][]string{{"npx", "-y", "p@1", "/home/ada/x"}}}, "deny list"},
		{"denied and allowed", Lists{DenyNames: []string{"s"}, AllowSet: true, AllowNames: []string{"s"}}, "deny list"},
		{"name allowed", Lists{AllowSet: true, AllowNames: []string{"s"}}, ""},
		{"lockdown", Lists{AllowSet: true}, "not on the client's allow list"},
		{"other name allowed", Lists{AllowSet: true, AllowNames: []string{"t"}}, "not on the client's allow list"},
		{"command allowed", Lists{AllowSet: true, AllowCommands: [][]string{argv}}, "exact command"},
		{"name and command allowed", Lists{AllowSet: true, AllowNames: []string{"s"}, AllowCommands: [][]string{argv}}, "exact command"},
		{"name allowed, but commands are listed", Lists{AllowSet: true, AllowNames: []string{"s"}, AllowCommands: [][]string{{"uvx"}}}, "not on the client's allow list"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.lists.denial("s", argv, wrapped); !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestMatchesExpanded(t *testing.T) {
	for _, tt := range []struct {
		s, pattern string
		want       bool
	}{
		{"a", "a", true},
		{"ab", "a", false},
		{"", "${X}", true},
		{"anything", "${X}", true},
		{"a-b", "a${X}b", true},
		{"a-c", "a${X}b", false},
		{"xa-b", "a${X}b", false},
		{"a1b2c", "a${X}b${Y}c", true},
		{"a1c", "a${X}b${Y}c", false},
		{"a${X", "a${X", true},
		{"1b${X", "${Y}b${X", true},
		{"a${X}", "b${X}", false},
	} {
		if got := matchesExpanded(tt.s, tt.pattern); got != tt.want {
			t.Errorf("%q from %q: %v", tt.s, tt.pattern, got)
		}
	}
}

// TestWrappedAgainstLists: an entry that was wrapped before the list was written is shown as revived or hidden.
func TestWrappedAgainstLists(t *testing.T) {
	f := one(`{"command": "bouncer", "args": ["run", "--upstream-name=s", "--", "srv", "a"]}`)
	f.Lists = Lists{DenyCommands: [][]string{{"srv", "a"}}}
	if e := entry(t, f); e.State != Wrapped || e.Reason != "on the client's deny list" {
		t.Errorf("got %s %q", e.State, e.Reason)
	}
}

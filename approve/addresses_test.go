package approve

import (
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/engine"
)

func TestAddresses(t *testing.T) {
	for value, want := range map[string]string{
		"dana@example.com":                               "dana@example.com",
		"Dana <dana@example.com>":                        "dana@example.com",
		`"Petrie, Dana" <dana@example.com>`:              "dana@example.com",
		"<dana@example.com>":                             "dana@example.com",
		"lee@p.example, ann@p.example":                   "lee@p.example ann@p.example",
		"lee@p.example; Ann <ann@p.example>;":            "lee@p.example ann@p.example",
		`"dana@example.com" <evil@x.example>`:            "",
		"dana@example.com <evil@x.example>":              "",
		"dana@example.com (evil@x.example)":              "",
		"dana@example.com\nBcc: evil@x.example":          "",
		"https://user@example.com/":                      "",
		"write to dana@example.com":                      "",
		"team: dana@example.com, lee@p.example;":         "",
		"#general":                                       "",
		"":                                               "",
		strings.Repeat("x", maxAddresses) + "@p.example": "",
	} {
		if got := Addresses(value); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: %q", value, got)
		}
	}
}

func TestHeadlineCountsDestinations(t *testing.T) {
	object := engine.Finding{Pair: engine.Pair{Param: "id", Value: "7"}, Role: engine.Object}
	for _, tt := range []struct {
		want     string
		findings []engine.Finding
	}{
		{"mail: send would use a destination nobody has vouched for.", []engine.Finding{unseen("to", "Kim <kim@example.com>")}},
		{"mail: send would use 2 destinations nobody has vouched for.", []engine.Finding{unseen("to", "lee@p.example, ann@p.example")}},
		{"mail: send would use 3 destinations nobody has vouched for.", []engine.Finding{unseen("to", "lee@p.example, ann@p.example"), unseen("cc", "kim@p.example")}},
		{"mail: send would use 2 values nobody has vouched for.", []engine.Finding{unseen("to", "lee@p.example"), object}},
		{"mail: send would use 3 values nobody has vouched for.", []engine.Finding{object, unseen("to", "lee@p.example, ann@p.example")}},
	} {
		q := Question{Server: "mail", Tool: "send", Verdict: gate(tt.findings...)}
		if got := q.headline(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func TestTextTellsOtherSpellings(t *testing.T) {
	q := Question{Server: "mail", Tool: "send", Args: parse(t, `{}`), Verdict: gate(unseen("to", "Dana <dana@example.com>"), unseen("cc", "sam@p.example"))}
	q.Trusted = map[string][]string{"Dana <dana@example.com>": {"dana@example.com"}}
	const want = `1. to = "Dana ‹dana@example.com›"
   not seen in this session
   "dana@example.com" is trusted, but only spelled exactly so
2. cc = "sam@p.example"
   not seen in this session`
	if got := q.Text(); !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s", got)
	}
}

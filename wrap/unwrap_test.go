package wrap

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// TestUnwrapEvidence takes bouncer away when only some of the three copies of the original are left, or disagree.
func TestUnwrapEvidence(t *testing.T) {
	wrapped := func(tail, sentinel string) string {
		text := `{"command": "bouncer", "args": ["run", "--upstream-name=s", "--", ` + tail + `]`
		if sentinel != "" {
			text += `, "x-bouncer-upstream": ` + sentinel
		}
		return text + "}"
	}
	store := func(command, args string) map[string]Original {
		return map[string]Original{PointerKey([]string{"mcpServers", "s"}): {Command: command, Args: args}}
	}
	for _, tt := range []struct {
		name, entry string
		originals   map[string]Original
		want        string
		disagree    bool
	}{
		{"sentinel gone", wrapped(`"npx", "a"`, ""), nil, `{"command": "npx", "args": ["a"]}`, false},
		{"sentinel gone, nothing behind the command", wrapped(`"npx"`, ""), nil, `{"command": "npx", "args": []}`, false},
		{"sentinel gone, store says absent", wrapped(`"npx"`, ""), store(`"npx"`, ""), `{"command": "npx"}`, false},
		{"sentinel gone, store says null", wrapped(`"npx"`, ""), store(`"npx"`, "null"), `{"command": "npx", "args": null}`, false},
		{"sentinel gone, store says empty", wrapped(`"npx"`, ""), store(`"npx"`, "[ ]"), `{"command": "npx", "args": []}`, false},
		{"sentinel gone, store knows another command", wrapped(`"npx"`, ""), store(`"uvx"`, ""), `{"command": "npx", "args": []}`, false},
		{"store spells", wrapped(`"npx", "<", "b"`, ""), store(`"\u006epx"`, "[\"\\u003c\", // c\n\"x\"]"), `{"command": "\u006epx", "args": ["\u003c", "b"]}`, false},
		{"store is broken", wrapped(`"npx"`, ""), store(`"npx`, `[`), `{"command": "npx", "args": []}`, false},
		{"sentinel says absent", wrapped(`"npx"`, `{"command": "npx"}`), store(`"npx"`, "null"), `{"command": "npx"}`, false},
		{"sentinel says null", wrapped(`"npx"`, `{"command": "npx", "args": null}`), nil, `{"command": "npx", "args": null}`, false},
		{"sentinel spells", wrapped(`"npx", "<"`, `{"command": "\u006epx", "args": ["\u003c"]}`), nil, `{"command": "\u006epx", "args": ["\u003c"]}`, false},
		{"tail wins", wrapped(`"npx", "b"`, `{"command": "uvx", "args": ["a"]}`), nil, `{"command": "npx", "args": ["b"]}`, true},
		{"tail wins with more", wrapped(`"npx", "b"`, `{"command": "npx"}`), nil, `{"command": "npx", "args": ["b"]}`, true},
		{"tail wins with nothing", wrapped(`"npx"`, `{"command": "npx", "args": ["a"]}`), nil, `{"command": "npx", "args": []}`, true},
		{"sentinel of another command, store fits", wrapped(`"npx"`, `{"command": "uvx", "args": null}`), store(`"npx"`, ""), `{"command": "npx"}`, true},
		{"sentinel is no object", wrapped(`"npx"`, `"npx"`), nil, `{"command": "npx", "args": []}`, true},
		{"sentinel is null", wrapped(`"npx", "a"`, `null`), nil, `{"command": "npx", "args": ["a"]}`, true},
		{"number edited into the tail", wrapped(`"npx", 80`, ""), nil, `{"command": "npx", "args": [80]}`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := one(tt.entry)
			if e := entry(t, f); e.Disagree != tt.disagree || e.NoSentinel != !strings.Contains(tt.entry, Sentinel) {
				t.Errorf("disagree %v, no sentinel %v", e.Disagree, e.NoSentinel)
			}
			o := options()
			o.Originals = tt.originals
			p := mustUnwrap(t, f, o)
			if want := string(one(tt.want).Data); string(p.After) != want {
				t.Errorf("got\n%s\nwant\n%s", p.After, want)
			}
		})
	}
}

func TestUnwrapLeavesOthersAlone(t *testing.T) {
	f := config(`{"mcpServers": {
		"plain": {"command": "srv"},
		"remote": {"url": "https://x"},
		"own": {"command": "bouncer", "args": ["serve"]},
		"stale": {"command": "srv", "x-bouncer-upstream": {"command": "other"}},
		"broken": 1
	}}`)
	p := mustUnwrap(t, f, options())
	if !bytes.Equal(p.After, f.Data) || actions(p) != "keep keep keep skip keep" {
		t.Errorf("%s:\n%s", actions(p), p.After)
	}
}

// TestLegacy restores entries of the original Python bouncer, which replaced the whole entry and kept it in the sentinel.
func TestLegacy(t *testing.T) {
	before := `{
  "mcpServers": {
    "fs": {
      "command": "npx",
      "args": [
        "-y",
        "caf\u00e9"
      ],
      "env": {
        "T": "${T}"
      },
      "cwd": "/w"
    },
    "web": {
      "type": "http",
      "url": "https://x"
    }
  }
}`
	wrapped := `{
  "mcpServers": {
    "fs": {
      "command": "bouncer",
      "args": [
        "run",
        "--config",
        "/home/ada/config.json",
        "--upstream-name",
        "fs"
      ],
      "x-bouncer-upstream": {
        "command": "npx",
        "args": [
          "-y",
          "caf\u00e9"
        ],
        "env": {
          "T": "${T}"
        },
        "cwd": "/w"
      }
    },
    "web": {
      "command": "bouncer",
      "args": [
        "run",
        "--config",
        "/home/ada/config.json",
        "--upstream-name",
        "web"
      ],
      "x-bouncer-upstream": {
        "type": "http",
        "url": "https://x"
      }
    }
  }
}`
	f := config(wrapped)
	f.Format = jsonc.Strict
	e := entry(t, f)
	if e.State != Wrapped || !e.Legacy || e.Command != "npx" || !slices.Equal(e.Args, []string{"-y", "café"}) || e.Reason != "" {
		t.Errorf("read %+v", e)
	}
	if p := mustWrap(t, f, options()); actions(p) != "keep keep" {
		t.Errorf("wrapping would %s", actions(p))
	}
	p := mustUnwrap(t, f, options())
	if actions(p) != "unwrap unwrap" || string(p.After) != before {
		t.Errorf("%s:\n%s", actions(p), p.After)
	}
}

func TestLegacyWithoutRecord(t *testing.T) {
	for _, sentinel := range []string{"", `, "x-bouncer-upstream": "npx"`} {
		f := one(`{"command": "bouncer", "args": ["run", "--config=/f", "--upstream-name=s"]` + sentinel + `}`)
		if e := entry(t, f); e.State != Wrapped || !e.Legacy || e.Reason == "" {
			t.Errorf("read %+v", e)
		}
		if p := mustUnwrap(t, f, options()); actions(p) != "skip" || p.Steps[0].Reason == "" || !bytes.Equal(p.After, f.Data) {
			t.Errorf("planned %s", actions(p))
		}
	}
}

func TestDropStale(t *testing.T) {
	f := config("{\"mcpServers\": {\n  \"a\": {\n    \"command\": \"srv\", // c\n    \"x-bouncer-upstream\": {\"command\": \"old\"}\n  },\n  \"b\": {\"x-bouncer-upstream\": 1, \"url\": \"https://x\"},\n  \"c\": {\"command\": \"srv\"}\n}}")
	p, err := PlanDropStale(f, options())
	if err != nil {
		t.Fatal(err)
	}
	want := "{\"mcpServers\": {\n  \"a\": {\n    \"command\": \"srv\" // c\n  },\n  \"b\": { \"url\": \"https://x\"},\n  \"c\": {\"command\": \"srv\"}\n}}"
	if string(p.After) != want || actions(p) != "drop drop keep" {
		t.Errorf("%s:\n%s", actions(p), p.After)
	}
}

// TestUnwrapFromRecord: where the command line has lost the server, the record gives it back, args and their absence included.
func TestUnwrapFromRecord(t *testing.T) {
	const record = `"x-bouncer-upstream": {"command": "np\u0078", "args": ["a", "b"]}`
	for _, tt := range []struct{ name, entry, want string }{
		{"args are gone", `{"command": "bouncer", ` + record + `}`, `{"command": "np\u0078", "args": ["a", "b"]}`},
		{"args are empty", `{"command": "bouncer", "args": [], ` + record + `}`, `{"command": "np\u0078", "args": ["a", "b"]}`},
		{"args are null", `{"args": null, "command": "bouncer", ` + record + `, "env": {}}`, `{"args": ["a", "b"], "command": "np\u0078", "env": {}}`},
		{"no dashes", `{"command": "bouncer", "args": ["run", "--upstream-name=s", "npx", "a", "b"], ` + record + `}`, `{"command": "np\u0078", "args": ["a", "b"]}`},
		{"no name", `{"command": "bouncer", "args": ["run", "--", "npx", "a", "b"], ` + record + `}`, `{"command": "np\u0078", "args": ["a", "b"]}`},
		{"half put back", `{"command": "npx", "args": ["run", "--upstream-name=s", "--", "npx", "a", "b"], ` + record + `}`, `{"command": "np\u0078", "args": ["a", "b"]}`},
		{"had no args", `{"command": "bouncer", "args": ["run"], "x-bouncer-upstream": {"command": "srv"}}`, `{"command": "srv"}`},
		{"a record of nothing", `{"command": "bouncer", "args": ["run"], "x-bouncer-upstream": {}}`, ""},
		{"no record", `{"command": "bouncer", "args": ["run"]}`, ""},
		{"no command", `{"args": ["run"], ` + record + `}`, ""},
		{"serves", `{"command": "bouncer", "args": ["serve"], ` + record + `}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f, want := one(tt.entry), tt.want
			if want == "" {
				want = tt.entry
			}
			if e := entry(t, f); e.Restorable != (tt.want != "") {
				t.Errorf("read %+v", e)
			}
			if got := string(mustUnwrap(t, f, options()).After); got != string(one(want).Data) {
				t.Errorf("got  %s\nwant %s", got, one(want).Data)
			}
			if fixed, err := PlanDropStale(f, options()); err != nil || tt.want != "" && entry(t, f).State == Stale && string(fixed.After) != string(one(want).Data) {
				t.Errorf("dropped into %s, %v", fixed.After, err)
			}
		})
	}
}

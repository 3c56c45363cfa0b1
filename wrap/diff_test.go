package wrap

import (
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

func TestMaskArgs(t *testing.T) {
	for _, tt := range []struct{ args, want []string }{
		{[]string{"-y", "@modelcontextprotocol/server-filesystem", "/home/ada/work"}, nil},
		{[]string{"--port", "80", "--verbose", "https://example.com/mcp?x=1"}, nil},
		{[]string{"--token", "abc", "x"}, []string{"--token", "***", "x"}},
		{[]string{"--api-key=abc"}, []string{"--api-key=***"}},
		{[]string{"--token", "--verbose"}, []string{"--token", "--verbose"}},
		{[]string{"-e", "GITHUB_TOKEN=abc", "-e", "LANG=C"}, []string{"-e", "GITHUB_TOKEN=***", "-e", "LANG=C"}},
		{[]string{"--header", "X-Any: abc"}, []string{"--header", "X-Any: ***"}},
		{[]string{"-H", "abc"}, []string{"-H", "***"}},
		{[]string{"--header=Authorization:Bearer abc"}, []string{"--header=Authorization: ***"}},
		{[]string{"Authorization: Bearer abc"}, []string{"Authorization: ***"}},
		{[]string{"postgres://ada:pw@db:5432/x?sslmode=off"}, []string{"postgres://***@db:5432/x?sslmode=off"}},
		{[]string{"https://x.io/mcp?api_key=abc&v=1"}, []string{"https://x.io/mcp?api_key=***&v=1"}},
		{[]string{"ghp_abcdefghijklmnopqrst"}, []string{"***"}},
		{[]string{"x:sk-ant-abcdefghijklmnop,y"}, []string{"x:***,y"}},
		{[]string{"sk-short"}, nil},
		{[]string{"-lc", "API_KEY=abc npx -y pkg --password hunter2 && exit"}, []string{"-lc", "API_KEY=*** npx -y pkg --password *** && exit"}},
		{[]string{"curl -H 'Bearer abc'", "Bearer", "abc"}, []string{"curl -H ***", "Bearer", "***"}},
		{[]string{"--author", "ada", "--monkey", "x"}, []string{"--author", "ada", "--monkey", "***"}}, // errs on the side of hiding
		{[]string{"", " ", "a  b\tc"}, nil},
	} {
		want := tt.want
		if want == nil {
			want = tt.args
		}
		if got := MaskArgs(tt.args); !slices.Equal(got, want) {
			t.Errorf("%q:\ngot  %q\nwant %q", tt.args, got, want)
		}
	}
}

func TestDiff(t *testing.T) {
	f := config(`{
  "primaryApiKey": "top-secret",
  "mcpServers": {
    "gh": {
      "command": "npx",
      "args": ["-y", "server", "--token", "arg-secret"],
      "env": {
        "TOKEN": "env-secret", // mine
        "N": "\u0061-secret"
      }
    }
  },
  "far": "away"
}
`)
	want := `--- /home/ada/config.json
+++ /home/ada/config.json
@@ -2,12 +2,13 @@
   "primaryApiKey": "***",
   "mcpServers": {
     "gh": {
-      "command": "npx",
-      "args": ["-y", "server", "--token", "***"],
+      "command": "/usr/local/bin/bouncer",
+      "args": ["run", "--upstream-name=gh", "--", "npx", "-y", "server", "--token", "***"],
       "env": {
         "TOKEN": "***", // mine
         "N": "***"
-      }
+      },
+      "x-bouncer-upstream": { "command": "npx", "args": ["-y", "server", "--token", "***"] }
     }
   },
   "far": "away"
`
	p := mustWrap(t, f, options())
	if got := Diff(p); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Diff(mustUnwrap(t, f.with(p.After), options())); strings.Contains(got, "-secret") || !strings.Contains(got, `+      "command": "npx"`) {
		t.Errorf("unwrap shows\n%s", got)
	}
	if got := Diff(mustWrap(t, f.with(p.After), options())); got != "" {
		t.Errorf("nothing to do shows\n%s", got)
	}
	p.After = []byte("{")
	if got := Diff(p); strings.Contains(got, "-secret") {
		t.Errorf("unreadable text shows\n%s", got)
	}
}

func TestDiffOfOneLine(t *testing.T) {
	f := config(`{"mcpServers":{"a":{"command":"srv","env":{"T":"secret"}}},"x":[1,{}]}`)
	want := `--- /home/ada/config.json
+++ /home/ada/config.json
@@ -1,9 +1,18 @@
 {
   "mcpServers": {
     "a": {
-      "command": "srv",
+      "command": "/usr/local/bin/bouncer",
+      "args": [
+        "run",
+        "--upstream-name=a",
+        "--",
+        "srv"
+      ],
       "env": {
         "T": "***"
+      },
+      "x-bouncer-upstream": {
+        "command": "srv"
       }
     }
   },
`
	if got := Diff(mustWrap(t, f, options())); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// FuzzMask asserts that masking keeps a config readable and its lines where they are.
func FuzzMask(f *testing.F) {
	f.Add([]byte("{\"env\": {\"A\": \"b\"},\n\"headers\": {\"x\": [\"y\"]}, \"args\": [\"--token\", \"x\"],\n\"token\": {\"a\": \"b=c\"}}"))
	f.Add([]byte(`["--header", "a: b", 1, {"password": 5}, "ghp_abcdefghijklmnopqrst"]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := jsonc.Parse(data, jsonc.Comments)
		if err != nil {
			return
		}
		if _, err := jsonc.Parse(maskFile(doc), jsonc.Comments); err != nil {
			t.Fatalf("%v in\n%s", err, maskFile(doc))
		}
	})
}

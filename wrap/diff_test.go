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
		{[]string{"--env=API_KEY=abc", "--env=DB_PASS=abc", "--env=LANG=C"}, []string{"--env=API_KEY=***", "--env=DB_PASS=***", "--env=LANG=C"}},
		{[]string{"Server=h;Password=a b;Database=x"}, []string{"Server=h;Password=***;Database=x"}},
		{[]string{"--connection-string=Server=h;Pwd=abc", "--connection-string=Password=abc"}, []string{"--connection-string=Server=h;Pwd=***", "--connection-string=Password=***"}},
		{[]string{"-u", "ada:abc", "--user=ada:abc", "--user", "ada:abc", "-u", "1000:1000"}, []string{"-u", "ada:***", "--user=ada:***", "--user", "ada:***", "-u", "1000:1000"}},
		{[]string{"--session-id", "abc", "--session-id=abc"}, []string{"--session-id", "***", "--session-id=***"}},
		{[]string{"-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"}, []string{"***"}},
		{[]string{"https://x.io/mcp#access_token=abc&v=1", "https://x.io/?a=1#token=abc"}, []string{"https://x.io/mcp#access_token=***&v=1", "https://x.io/?a=1#token=***"}},
		{[]string{"/token:abc", "/verbose"}, []string{"/token: ***", "/verbose"}},
		{[]string{"curl token abc", "token", "abc"}, []string{"curl token ***", "token", "***"}},
		{[]string{"-p", "hunter", "-phunter", "-t", "abc", "-k", "abc"}, []string{"-p", "***", "-p***", "-t", "***", "-k", "***"}},
		{[]string{"-p", "8080:80", "-p8080", "-port", "-p", "/x/y", "-t", "5", "-k", "--all", "-y"}, nil},
		{[]string{"https://hooks.slack.com/services/T0/B0/abcdefghij0123456789abcd"}, []string{"https://hooks.slack.com/services/T0/B0/***"}},
		{[]string{"https://api.telegram.org/bot123456:ABC-DEF1234ghIkl/send"}, []string{"https://api.telegram.org/***/send"}},
		{[]string{"--url=https://mcp.zapier.com/api/mcp/s/YWJjZGVmZ2hpamtsbW5vcA12/mcp"}, []string{"--url=https://mcp.zapier.com/api/mcp/s/***/mcp"}},
		{[]string{"https://example.com/releases/server-2024-11-30.tgz", "https://example.com/documentation/overview"}, nil},
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
   "far": "***"
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

// TestDiffOfNeighbours: what stands around the servers is shown, and nothing of it told. Comments are what somebody has taken
// out of the config for a while.
func TestDiffOfNeighbours(t *testing.T) {
	f := config(`{
  "customApiKeyResponses": {"approved": ["abcdef"]},
  "oauthAccount": {"refresh": "abcdef"}, // abcdefABCDEF0123456789
  "history": [{"text": "abcdef"}],
  "mcpServers": {
    // "old": {"command": "npx", "env": {"API_KEY": "abcdef"}, "args": ["abcdef", "ab\"cdef"]},
    /* TOKEN=abcdef token abcdef
       --password abcdef ghp_abcdefghijklmnopqrst and "abcdef"/ */
    "remote": {"url": "https://mcp.zapier.com/api/mcp/s/abcdefABCDEF0123456789/mcp", "env": {/* "abcdef" */}},
    "gh": {"command": "npx"}, // my password: abcdef
    "end": {"command": "abcdef", "env": {"A": "abcdef"}}
  },
  "far": "abcdef"
}
`)
	o := options()
	o.Servers = []string{"gh"}
	got := Diff(mustWrap(t, f, o))
	for _, kept := range []string{"customApiKeyResponses", `// "old": {"command": "***"`, "mcp.zapier.com", `"end": {"command": "abcdef"`} {
		if !strings.Contains(got+string(maskFile(parsed(t, f), f)), kept) {
			t.Errorf("without %q:\n%s", kept, got)
		}
	}
	all := strings.ReplaceAll(string(maskFile(parsed(t, f), f)), `"end": {"command": "abcdef"`, "")
	for _, lost := range []string{"abcdef", "cdef", "ABCDEF"} {
		if strings.Contains(all, lost) {
			t.Errorf("shows %q:\n%s", lost, all)
		}
	}
}

func parsed(t *testing.T, f File) *jsonc.Doc {
	t.Helper()
	doc, err := jsonc.Parse(f.Data, f.Format)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestDiffOfWhatIsNotShown: a change outside the servers is none that could be shown, and must not look like none.
func TestDiffOfWhatIsNotShown(t *testing.T) {
	p := Plan{Change: Change{Path: "f", Before: []byte(`{"a": "x"}`), After: []byte(`{"a": "y"}`)}}
	if got, want := Diff(p), "--- f\n+++ f\n(the files differ in what is not shown)\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzMask asserts that masking keeps a config readable and its lines where they are.
func FuzzMask(f *testing.F) {
	f.Add([]byte("{\"env\": {\"A\": \"b\"},\n\"headers\": {\"x\": [\"y\"]}, \"args\": [\"--token\", \"x\"],\n\"token\": {\"a\": \"b=c\"}}"))
	f.Add([]byte(`["--header", "a: b", 1, {"password": 5}, "ghp_abcdefghijklmnopqrst"]`))
	f.Add([]byte("{\"env\": {/* \"a\"/ */ \"b\": 1}, // TOKEN=\n\"mcpServers\": {\"s\": {\"command\": \"x\" /* ghp_abcdefghijklmnopqrst/ */}}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := jsonc.Parse(data, jsonc.Comments)
		if err != nil {
			return
		}
		if _, err := jsonc.Parse(maskFile(doc, File{}), jsonc.Comments); err != nil {
			t.Fatalf("%v in\n%s", err, maskFile(doc, File{}))
		}
	})
}

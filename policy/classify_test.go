package policy

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

var update = flag.Bool("update", false, "rewrite testdata/tools.txt")

// TestClassify holds testdata/tools.txt against what is inferred. Each line is a tool with its arguments, required ones
// starred, and behind a bar its parameters by role and its traits.
func TestClassify(t *testing.T) {
	file := filepath.Join("testdata", "tools.txt")
	data := read(t, file)
	var out strings.Builder
	n := 0
	for line := range strings.Lines(data) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			out.WriteString(line + "\n")
			continue
		}
		sig, want, _ := strings.Cut(line, "|")
		sig, want = strings.TrimSpace(sig), strings.TrimSpace(want)
		got := summary(Infer(signature(t, sig)))
		if got != want && !*update {
			t.Errorf("%s\n got %s\nwant %s", sig, got, want)
		}
		fmt.Fprintf(&out, "%-62s | %s\n", sig, got)
		n++
	}
	if n < 150 {
		t.Errorf("%d tools", n)
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(out.String(), " | \n", " |\n")), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// signature reads name(required* optional).
func signature(t *testing.T, sig string) Tool {
	t.Helper()
	name, params, ok := strings.Cut(strings.TrimSuffix(sig, ")"), "(")
	if !ok {
		t.Fatalf("%q is no signature", sig)
	}
	var props, required []string
	for p := range strings.FieldsSeq(params) {
		param, must := strings.CutSuffix(p, "*")
		props = append(props, fmt.Sprintf(`%q:{"type":"string"}`, param))
		if must {
			required = append(required, fmt.Sprintf("%q", param))
		}
	}
	return withSchema(name, `{"type":"object","properties":{`+strings.Join(props, ",")+`},"required":[`+strings.Join(required, ",")+`]}`)
}

func summary(r Rule) string {
	var all []string
	list := func(what string, paths []string) {
		if len(paths) > 0 {
			all = append(all, what+"="+strings.Join(paths, ","))
		}
	}
	list("sinks", r.SinkParams)
	list("objects", r.ObjectParams)
	if r.Changing {
		list("paths", r.WriteParams)
	}
	for _, trait := range []struct {
		name string
		is   bool
	}{
		{"fetch", r.Fetch},
		{"changing", r.Changing},
		{"irreversible", r.Irreversible},
		{"directory", r.Directory},
		{"identity", r.Identity},
		{"sensitive", r.Sensitive},
	} {
		if trait.is {
			all = append(all, trait.name)
		}
	}
	return strings.Join(all, " ")
}

// What a server says about its tools makes a rule stricter or does nothing.
func TestClaimsOnlyTighten(t *testing.T) {
	for _, tt := range []struct {
		sig, description, annotations string
		irreversible                  bool
	}{
		{"send(to*)", "", `{"readOnlyHint":true,"destructiveHint":false,"openWorldHint":false}`, false},
		{"delete_it(id*)", "Safe, and read-only.", `{"readOnlyHint":true,"destructiveHint":false}`, true},
		{"frob(x*)", "", `{"destructiveHint":true}`, true},
		{"frob(x*)", "", `{"destructiveHint":"true"}`, false},
		{"frob(x*)", "", `{"destructiveHint":true,"readOnlyHint":true}`, true},
		{"revert(x)", "", `{"destructiveHint":true}`, true},
		{"create_note(text*)", "", `{"destructiveHint":true}`, false},
		{"get_note(id*)", "", `{"destructiveHint":true}`, false},
		{"write_file(path* content*)", "", `{"destructiveHint":true}`, false},
		{"close_issue(id*)", "", `{"destructiveHint":true}`, false},
		{"frob(x*)", "Frobs it. This CANNOT be undone!", "", true},
		{"close_issue(id*)", "Irreversible.", "", true},
		{"get_note(id*)", "Cannot be undone.", "", false},
		{"frob(x*)", strings.Repeat("x", 5000) + " irreversible", "", false},
	} {
		with := signature(t, tt.sig)
		plain := Infer(with)
		with.Description, with.Annotations = tt.description, wire.Value(tt.annotations)
		r := Infer(with)
		if r.Irreversible != tt.irreversible {
			t.Errorf("%s %s %.40s: irreversible %t", tt.sig, tt.annotations, tt.description, r.Irreversible)
		}
		if fault := weaker(plain, r); fault != "" {
			t.Errorf("%s %s: %s", tt.sig, tt.annotations, fault)
		}
	}
}

// What needs a schema is not believed without one.
func TestClassifyWithoutASchema(t *testing.T) {
	for name, want := range map[string]string{
		"whoami":        "changing",
		"get_user_info": "directory",
		"get_my_email":  "sensitive",
		"delete_file":   "changing irreversible",
		"list_users":    "directory",
		"remove_item":   "changing irreversible",
	} {
		if got := summary(Infer(Tool{Name: name})); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, schema := range []string{`{"type":"object"}`, `{"type":"object","properties":{}}`, `{}`} {
		if !Infer(withSchema("whoami", schema)).Identity {
			t.Errorf("%s: no identity", schema)
		}
	}
	for _, params := range []string{"user_id", "email", "who_id", "username", "query", "account"} {
		if Infer(tool("get_user_info", params)).Identity {
			t.Errorf("get_user_info(%s) tells of anybody", params)
		}
	}
}

func TestNestedObjects(t *testing.T) {
	r := Infer(withSchema("update_tasks", `{"properties":{"tasks":{"type":"array","items":{"type":"object","properties":{"id":{"type":"string"},"content":{},"done":{"type":"boolean"}}}}}}`))
	if summary(r) != "objects=tasks.id changing" {
		t.Errorf("%s", summary(r))
	}
	r = Infer(withSchema("delete_object", `{"properties":{"type":{"enum":["a","b"]},"ids":{"type":"array","items":{"type":"integer"}}}}`))
	if summary(r) != "objects=ids changing irreversible" {
		t.Errorf("%s", summary(r))
	}
}

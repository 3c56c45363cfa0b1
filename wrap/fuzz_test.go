package wrap

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// checkInvariants asserts what must hold for any file that can be planned at all.
func checkInvariants(t *testing.T, f File) {
	t.Helper()
	p, err := PlanWrap(f, options())
	if err != nil {
		if _, readErr := Entries(f, launcher); readErr == nil {
			t.Fatalf("readable, but refused: %v", err)
		}
		return
	}
	if !slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Action == Wrap || s.Action == Rewrap }) && !bytes.Equal(p.After, f.Data) {
		t.Fatal("changed without a reason")
	}
	wrapped := f.with(p.After)
	again, err := PlanWrap(wrapped, options())
	if err != nil || !bytes.Equal(again.After, p.After) {
		t.Fatalf("wrapping twice: %v\n%s", err, again.After)
	}
	checkOutside(t, f, p)
	back, err := PlanUnwrap(wrapped, options())
	if slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Entry.State == Wrapped || s.Entry.Restorable }) {
		checkForeign(t, p, back, err)
		return
	}
	if err != nil || !bytes.Equal(back.After, f.Data) {
		t.Fatalf("unwrapping: %v\n%s", err, back.After)
	}
	checkRewritten(t, f, wrapped)
}

// checkForeign asserts that entries which somebody else has wrapped, or laid out since, come off as well, and start what
// stood behind the dashes. There is no original to compare with.
func checkForeign(t *testing.T, wrap, unwrap Plan, err error) {
	t.Helper()
	if slices.ContainsFunc(wrap.Steps, func(s Step) bool { return s.Entry.Legacy }) {
		return // its record may hold anything
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, wrap.After)
	}
	entries, err := Entries(unwrap.File.with(unwrap.After), launcher)
	if err != nil {
		t.Fatal(err)
	}
	for i, step := range unwrap.Steps {
		if twice := isLauncher(step.Entry.Command, []string{launcher}); step.Action == Unwrap && !twice && !sameUpstream(entries[i], step.Entry) {
			t.Fatalf("%q %q came back as %q %q", step.Entry.Command, step.Entry.Args, entries[i].Command, entries[i].Args)
		}
	}
}

// checkOutside asserts that no byte outside the touched entries has changed: with those cut out, both files are equal.
func checkOutside(t *testing.T, f File, p Plan) {
	t.Helper()
	hollow := func(data []byte) []byte {
		doc, servers, err := read(f.with(data), []string{launcher})
		if err != nil {
			t.Fatal(err)
		}
		var edits []jsonc.Edit
		for i, step := range p.Steps {
			if step.Action == Wrap || step.Action == Rewrap {
				obj := servers[i].member.Value
				edits = append(edits, jsonc.Edit{Start: obj.Start, End: obj.End})
			}
		}
		return jsonc.Apply(doc.Src, edits)
	}
	if before, after := hollow(p.Before), hollow(p.After); !bytes.Equal(before, after) {
		t.Fatalf("outside the entries\n%s\nbecame\n%s", before, after)
	}
}

// checkRewritten has a client write the wrapped file anew, with and without the key it does not know, and asserts that
// what every server starts comes back.
func checkRewritten(t *testing.T, f, wrapped File) {
	t.Helper()
	original, err := Entries(f, launcher)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonc.Parse(wrapped.Data, f.Format)
	if err != nil {
		t.Fatal(err)
	}
	for _, drop := range []string{"", Sentinel} {
		if slices.ContainsFunc(original, func(e Entry) bool { return drop != "" && slices.Contains(e.Pointer, drop) }) {
			continue // a server of that name would go too
		}
		rewritten := f.with(rewrite(doc, doc.Root, "\n", drop))
		p, err := PlanUnwrap(rewritten, options())
		if err != nil {
			t.Fatalf("%v in\n%s", err, rewritten.Data)
		}
		entries, err := Entries(f.with(p.After), launcher)
		if err != nil || len(entries) != len(original) {
			t.Fatalf("%d entries of %d, %v", len(entries), len(original), err)
		}
		for i, e := range entries {
			was := original[i]
			if drop != "" && was.State == Stale { // it has lost its record, and is like any other now
				continue
			}
			if !sameUpstream(e, was) || e.State != was.State {
				t.Fatalf("%s %q %q came back from a rewrite as %s %q %q", was.State, was.Command, was.Args, e.State, e.Command, e.Args)
			}
			if doc, v := valueAt(t, f.with(p.After), e.Pointer); was.State == Plain && bytes.Contains(doc.Literal(v), []byte(Sentinel)) && !bytes.Contains(f.Data, []byte(Sentinel)) {
				t.Fatalf("the sentinel is left in %s", doc.Literal(v))
			}
		}
	}
}

func valueAt(t *testing.T, f File, pointer []string) (*jsonc.Doc, jsonc.Value) {
	t.Helper()
	doc, err := jsonc.Parse(f.Data, f.Format)
	if err != nil {
		t.Fatal(err)
	}
	v, _, err := doc.Lookup(pointer...)
	if err != nil {
		t.Fatal(err)
	}
	return doc, v
}

// rewrite writes a value as JSON.stringify(v, null, 2) would, without the members called drop.
func rewrite(doc *jsonc.Doc, v jsonc.Value, line, drop string) []byte {
	var items [][]byte
	inner := line + "  "
	for _, m := range v.Members {
		if m.Key != drop || drop == "" {
			items = append(items, slices.Concat([]byte(inner), jsonc.Quote(m.Key), []byte(": "), rewrite(doc, m.Value, inner, drop)))
		}
	}
	for _, e := range v.Elems {
		items = append(items, slices.Concat([]byte(inner), rewrite(doc, e, inner, drop)))
	}
	body := bytes.Join(items, []byte(","))
	if len(items) > 0 {
		body = append(body, line...)
	}
	switch v.Kind {
	case 0:
		return nil
	case '{':
		return slices.Concat([]byte("{"), body, []byte("}"))
	case '[':
		return slices.Concat([]byte("["), body, []byte("]"))
	case '"':
		text, _ := doc.Text(v)
		return jsonc.Quote(text)
	}
	return doc.Literal(v)
}

// FuzzRoundTrip asserts the invariants for any text.
func FuzzRoundTrip(f *testing.F) {
	for _, s := range []string{
		`{"mcpServers":{"a":{"command":"npx","args":["-y","x"]},"b":{"command":"srv"}}}`,
		"{\r\n\t\"mcpServers\" : {\r\n\t\t\"a\" : {\r\n\t\t\t\"command\" : \"\\u006epx\",\r\n\t\t\t\"args\" : [\r\n\t\t\t\t\"-y\",\r\n\t\t\t\t\"x\"\r\n\t\t\t]\r\n\t\t}\r\n\t}\r\n}\r\n",
		"\xef\xbb\xbf{\"mcpServers\": {\"a\": {\"command\": \"srv\", \"args\": null, \"env\": {}}}}",
		"// head\n{\n  // c\n  \"mcpServers\" /* d */ : /* e */ {\n    \"a\": { // f\n      \"command\" /* g */ : /* h */ \"srv\" /* i */ , // j\n      \"args\": [ // k\n        // l\n        \"x\", // m\n        /* n */ \"y\" // o\n      ], // p\n    }, // q\n  },\n} // r",
		"{\"mcpServers\": {\"a\": {\"args\": [ /* none */ ], \"command\": \"srv\"}, \"b\": {\"args\": [//\n], \"command\": \"srv\",},}}\n//",
		`{"mcpServers": {"": {"command": "npx -y x"}, "-x": {"command": "--", "args": ["--"]}}, "projects": {"/w": {"mcpServers": {"a": {"command": "srv", "args": []}}}}}`,
		`{"mcpServers": {"a": {"command": "bouncer", "args": ["run", "--upstream-name=a", "--", "srv"], "x-bouncer-upstream": {"command": "srv"}}, "b": {"command": "srv"}}}`,
		`{"mcpServers": {"a": {"command": "bouncer", "args": ["run", "--config", "f", "--upstream-name", "a"], "x-bouncer-upstream": {"command": "srv"}}}}`,
		`{"mcpServers": {"a": {"url": "https://x"}, "b": {"command": "srv", "x-bouncer-upstream": 1}, "c": null, "d": {"command": "srv", "args": [1]}}}`,
		"{\"mcpServers\": {\"a\":\n{\"command\": \"srv\"\n, \"env\": {}\n}}}",
		"{\"mcpServers\": {\"\\ud800\": {\"command\": \"a\\\"b\\\\\", \"args\": [\"\\ud800\", \"\\u2028\", \"<>&\"]}}}",
		`{"mcpServers": {"a": {"args": ["run"], "x-bouncer-upstream": {"command": "srv"}}, "b": {"command": "bouncer", "args": null, "x-bouncer-upstream": {"args": [], "command": "srv"}}}}`,
		"{\"mcpServers\": {\"a\": {\n\"command\": \"srv\" // c \t\r\n}, \"b\": {\"command\": \"node\", \"args\": [\"run\", /* c */ \"--upstream-name=b\"], \"x-bouncer-upstream\": {\"command\": \"srv\" // d\n}}}}",
	} {
		f.Add([]byte(s), true)
		f.Add([]byte(s), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, comments bool) {
		file := config("").with(data)
		if !comments {
			file.Format = jsonc.Strict
		}
		checkInvariants(t, file)
	})
}

// FuzzLayout asserts them for configs in every layout: the fuzzer chooses what stands in each gap.
func FuzzLayout(f *testing.F) {
	random := rand.NewChaCha8([32]byte{})
	for range 500 {
		choices := make([]byte, 200)
		random.Read(choices)
		f.Add(choices)
	}
	f.Fuzz(func(t *testing.T, choices []byte) {
		l := layout{choices: choices}
		file := config(l.config())
		if _, err := Entries(file); err != nil {
			t.Fatalf("%v in\n%s", err, file.Data)
		}
		checkInvariants(t, file)
	})
}

// layout writes a config, asking its choices wherever there is one.
type layout struct {
	choices []byte
	out     strings.Builder
}

func (l *layout) choose(from ...string) string {
	if len(l.choices) == 0 {
		return from[0]
	}
	c := l.choices[0]
	l.choices = l.choices[1:]
	return from[int(c)%len(from)]
}

func (l *layout) gap() {
	l.out.WriteString(l.choose("", " ", "\n    ", "\r\n\t\t", " // c\n  ", " /* c */ ", " //\r\n", "/* a\n b */", "  // c \t\r\n\t", " /**/ // d\n", "\n\n  // own line\n      "))
}

// list writes items with gaps around them.
func (l *layout) list(brackets string, items ...func()) {
	l.out.WriteByte(brackets[0])
	for i, item := range items {
		l.gap()
		item()
		l.gap()
		if i < len(items)-1 {
			l.out.WriteByte(',')
		} else if l.choose("", ",") != "" {
			l.out.WriteByte(',')
		}
	}
	l.gap()
	l.out.WriteByte(brackets[1])
}

func (l *layout) literal(from ...string) func() {
	return func() { l.out.WriteString(l.choose(from...)) }
}

func (l *layout) member(key string, value func()) func() {
	return func() {
		l.out.WriteString(key)
		l.gap()
		l.out.WriteByte(':')
		l.gap()
		value()
	}
}

func (l *layout) args() {
	word := l.literal(`"-y"`, `""`, `"--"`, `"\u003c\ud800"`, `"run"`, `"// no comment"`, `"a\"b\\"`, `"é ,]"`)
	switch l.choose("two", "none", "one", "null") {
	case "two":
		l.list("[]", word, word)
	case "one":
		l.list("[]", word)
	case "none":
		l.list("[]")
	default:
		l.out.WriteString("null")
	}
}

func (l *layout) server() {
	command := l.member(l.choose(`"command"`, `"comm\u0061nd"`), l.literal(`"npx"`, `"\u006epx"`, `"C:\\x y\\z.cmd"`, `"${X:-a} }"`, `"--"`))
	args := l.member(`"args"`, l.args)
	env := l.member(`"env"`, func() { l.list("{}", l.member(`"T"`, l.literal(`"{"`))) })
	run := l.member(`"args"`, func() {
		words := []func(){l.literal(`"run"`), l.literal(`"--upstream-name=a"`, `"--upstream-name=b"`), l.literal(`"--"`), l.literal(`"npx"`, `"x"`), l.literal(`"-y"`), l.literal(`"z"`)}
		n, _ := strconv.Atoi(l.choose("4", "5", "6"))
		l.list("[]", words[:n]...)
	})
	bouncer := l.member(`"command"`, l.literal(`"/usr/local/bin/bouncer"`, `"bouncer"`))
	record := l.member(`"x-bouncer-upstream"`, l.literal(`{"command": "npx"}`, `{"command":"npx","args":null}`, `{"command": "npx", "args": ["-y"]}`, "1"))
	switch l.choose("all", "args first", "no args", "only", "between", "sandwich", "wrapped", "record first", "record among", "record gone") {
	case "wrapped":
		l.list("{}", bouncer, run, env, record)
	case "record first":
		l.list("{}", record, run, bouncer)
	case "record among":
		l.list("{}", bouncer, record, run, env)
	case "record gone":
		l.list("{}", bouncer, run)
	case "all":
		l.list("{}", command, args, env)
	case "args first":
		l.list("{}", args, command)
	case "no args":
		l.list("{}", command, env)
	case "only":
		l.list("{}", command)
	case "between":
		l.list("{}", env, args, command)
	default:
		l.list("{}", command, env, args)
	}
}

func (l *layout) config() string {
	l.out.WriteString(l.choose("", "\xef\xbb\xbf"))
	l.gap()
	servers := func() {
		l.list("{}", l.member(`"a"`, l.server), l.member(l.choose(`"b"`, `"\u0062 \"-x"`, `""`), l.server))
	}
	l.list("{}", l.member(`"mcpServers"`, servers), l.member(`"other"`, l.literal("1e3", "[1, /* x */ 2]")))
	l.gap()
	l.out.WriteString(l.choose("", "// end", "\n"))
	return l.out.String()
}

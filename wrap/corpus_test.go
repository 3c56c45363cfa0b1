package wrap

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

var update = flag.Bool("update", false, "write the golden files anew")

// sample is one config of testdata/clients/<id>. Its name begins with the scope of the place it stands for; a file of the
// same name that ends in .settings holds the client's own lists.
type sample struct {
	client clients.Client
	name   string
	data   []byte
	lists  Lists
}

func samples(t *testing.T) []sample {
	t.Helper()
	var list []sample
	for _, client := range clients.All() {
		files, err := filepath.Glob(filepath.Join(corpus(client), "*.json*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no configs (%v)", client.ID, err)
		}
		for _, file := range files {
			s := sample{client: client, name: filepath.Base(file)}
			if s.data, err = os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
			if settings, err := os.ReadFile(strings.TrimSuffix(file, filepath.Ext(file)) + ".settings"); err == nil {
				if s.lists, err = ParseLists(settings); err != nil {
					t.Fatal(err)
				}
			}
			list = append(list, s)
		}
	}
	return list
}

func corpus(client clients.Client) string {
	return filepath.Join("..", "testdata", "clients", client.ID)
}

// machines are where the tables of all three platforms are tried, wherever the test runs.
func machines() map[string]struct {
	env      clients.Env
	launcher string
} {
	type machine = struct {
		env      clients.Env
		launcher string
	}
	return map[string]machine{
		"linux":  {clients.Env{OS: "linux", Home: "/home/ada", Project: "/home/ada/work/app"}, "/usr/local/bin/bouncer"},
		"darwin": {clients.Env{OS: "darwin", Home: "/Users/ada", Project: "/Users/ada/app"}, "/opt/homebrew/bin/bouncer"},
		"windows": {clients.Env{
			OS: "windows", Home: `C:\Users\ada`, Project: `C:\src\app`,
			Roaming: `C:\Users\ada\AppData\Roaming`, Local: `C:\Users\ada\AppData\Local`,
		}, `C:\Users\Ada Lovelace\scoop\shims\bouncer.exe`},
	}
}

// file is the sample in its place, as the platform's table has it.
func (s sample) file(t *testing.T, env clients.Env) File {
	t.Helper()
	for _, config := range s.client.Configs {
		if config.Managed || !strings.HasPrefix(s.name, string(config.Maps[0].Scope)+"-") {
			continue
		}
		path := config.Paths(env)[0]
		if !env.Abs(path) {
			t.Fatalf("the place of %s is %q", s.name, path)
		}
		return File{
			Client: s.client.ID, Path: path, Maps: config.Maps, Format: config.Format, Shared: config.Shared,
			Lock: config.Lock, Data: s.data, Mode: 0o600, Lists: s.lists,
		}
	}
	t.Fatalf("no config of %s has the scope that %s begins with", s.client.ID, s.name)
	return File{}
}

func corpusOptions(launcher string) Options {
	return Options{Launcher: launcher, Home: "/home/ada/.bouncer"}
}

// TestCorpus plans every config for every platform. What is planned is in the golden files and the same everywhere; it is
// idempotent, and taken back to the byte.
func TestCorpus(t *testing.T) {
	expected := map[string]*strings.Builder{}
	configs, identical := 0, 0
	for _, s := range samples(t) {
		configs++
		var texts []string
		same := true
		for platform, m := range machines() {
			f, o := s.file(t, m.env), corpusOptions(m.launcher)
			p, err := PlanWrap(f, o)
			texts = append(texts, expectation(p, err))
			if err == nil && !invertible(t, p, o) {
				same = false
				t.Errorf("%s %s is not restored on %s", s.client.ID, s.name, platform)
			}
		}
		if same {
			identical++
		}
		if slices.Sort(texts); texts[0] != texts[len(texts)-1] {
			t.Errorf("%s %s: platforms differ:\n%s\n%s", s.client.ID, s.name, texts[0], texts[len(texts)-1])
		}
		if expected[s.client.ID] == nil {
			expected[s.client.ID] = &strings.Builder{}
		}
		fmt.Fprintf(expected[s.client.ID], "-- %s --\n%s", s.name, texts[0])
	}
	t.Logf("%d of %d configs byte-identical after wrapping and unwrapping", identical, configs)
	for _, client := range clients.All() {
		golden(t, filepath.Join(corpus(client), "plans.golden"), expected[client.ID].String())
	}
}

// expectation is a plan in short: a line for each server, with what it starts if it is to start through bouncer.
func expectation(p Plan, err error) string {
	if err != nil {
		if fault, ok := errors.AsType[*FileError](err); ok {
			err = fault.Err
		}
		return fmt.Sprintf("refused: %v\n", err)
	}
	if len(p.Steps) == 0 {
		return "no servers\n"
	}
	var b strings.Builder
	for _, step := range p.Steps {
		e := step.Entry
		where := string(e.Scope)
		if e.Scope == clients.Local {
			where += fmt.Sprintf(" %q", e.Pointer[1])
		}
		fmt.Fprintf(&b, "%s %q: %s", where, e.Name, step.Action)
		if step.Reason != "" {
			fmt.Fprintf(&b, ", %s", step.Reason)
		}
		if step.Action != Skip {
			fmt.Fprintf(&b, " %q", append([]string{e.Command}, e.Args...))
		}
		if e.Note != "" {
			fmt.Fprintf(&b, " (%s)", e.Note)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// invertible plans again what was planned, and takes it back. Servers that were wrapped before come off as well, so the
// original is compared without them too.
func invertible(t *testing.T, p Plan, o Options) bool {
	t.Helper()
	after := p.File.with(p.After)
	again := mustWrap(t, after, o)
	return bytes.Equal(again.After, p.After) && bytes.Equal(mustUnwrap(t, after, o).After, mustUnwrap(t, p.File, o).After)
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != got {
		t.Errorf("%s differs (%v); go test ./wrap -update writes it anew. Got:\n%s", file, err, got)
	}
}

// TestCorpusApplied writes every config of every platform to a disk: init, init again, unwrap, and undo of each, in one
// generation per step. After each, every file holds exactly what it should.
func TestCorpusApplied(t *testing.T) {
	for platform, place := range machines() {
		t.Run(platform, func(t *testing.T) {
			t.Parallel()
			m := newMachine(t)
			o := corpusOptions(place.launcher)
			original := m.place(place.env)
			wrapped := m.step(original, o, PlanWrap)
			m.step(wrapped, o, PlanWrap) // changes nothing, so it has no generation
			m.step(wrapped, o, PlanUnwrap)
			m.logs("1 covered 2", "2 undoable 0")
			for _, want := range [][]File{wrapped, original} {
				if !m.undo() {
					t.Fatal("nothing to undo")
				}
				for _, f := range want {
					if got, err := os.ReadFile(f.Path); err != nil || !bytes.Equal(got, f.Data) {
						t.Errorf("undo left %s with\n%s\nwant\n%s", f.Path, got, f.Data)
					}
				}
			}
		})
	}
}

// place writes all samples below the home, each as deep as the platform has it.
func (m *machine) place(env clients.Env) []File {
	m.t.Helper()
	var files []File
	for _, s := range samples(m.t) {
		f := s.file(m.t, env)
		f.Path = m.path(s.name + strings.NewReplacer(`\`, "/", ":", "").Replace(f.Path))
		if err := os.MkdirAll(filepath.Dir(f.Path), 0o700); err != nil {
			m.t.Fatal(err)
		}
		if err := os.WriteFile(f.Path, f.Data, 0o600); err != nil {
			m.t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// step plans and applies to all files that can be planned, and returns them as they are then.
func (m *machine) step(files []File, o Options, plan func(File, Options) (Plan, error)) []File {
	m.t.Helper()
	var plans []Plan
	after := slices.Clone(files)
	for i, f := range files {
		p, err := plan(f, o)
		if err != nil {
			continue // what is refused, and why, is in the golden files
		}
		plans = append(plans, p)
		after[i].Data = p.After
	}
	m.apply("test", plans...)
	for _, f := range after {
		if got, err := os.ReadFile(f.Path); err != nil || !bytes.Equal(got, f.Data) {
			m.t.Errorf("%s holds\n%s\nwant\n%s", f.Path, got, f.Data)
		}
	}
	return after
}

// TestCorpusVariants saves every config the way other editors would, and wraps and unwraps it again.
func TestCorpusVariants(t *testing.T) {
	variants := map[string]func([]byte) []byte{
		"CRLF": func(b []byte) []byte {
			return bytes.ReplaceAll(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n")), []byte("\n"), []byte("\r\n"))
		},
		"byte-order mark":  func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) },
		"no final newline": func(b []byte) []byte { return bytes.TrimRight(b, "\r\n") },
		"tabs":             func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("  "), []byte("\t")) },
	}
	m := machines()["linux"]
	for _, s := range samples(t) {
		for variant, change := range variants {
			f, o := s.file(t, m.env), corpusOptions(m.launcher)
			f.Data = change(f.Data)
			if p, err := PlanWrap(f, o); err == nil && !invertible(t, p, o) {
				t.Errorf("%s %s with %s is not restored", s.client.ID, s.name, variant)
			}
		}
	}
}

// TestCorpusIsVaried keeps the corpus from filling up with copies.
func TestCorpusIsVaried(t *testing.T) {
	seen := map[string]string{}
	list := samples(t)
	if len(list) < 60 {
		t.Errorf("only %d configs", len(list))
	}
	for _, s := range list {
		bare := strings.Join(strings.Fields(string(s.data)), "")
		if other := seen[bare]; other != "" {
			t.Errorf("%s and %s differ in nothing but blanks", other, s.name)
		}
		seen[bare] = s.name
	}
}

package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// TestMain lets a test start this binary again as another process of the same server.
func TestMain(m *testing.M) {
	if dir := os.Getenv("SESSION_TEST_DIR"); dir != "" {
		child(dir, os.Getenv("SESSION_TEST_NAME"))
		return
	}
	if play := roles()[os.Getenv("SESSION_TEST_ROLE")]; play != nil {
		play()
		return
	}
	m.Run()
}

const mail = "npm:mail-server#mail"

func day(n int) time.Time { return time.Date(2026, 1, n, 12, 0, 0, 0, time.UTC) }

// listing is a server's tools, each written name=description.
func listing(instructions string, tools ...string) Listing {
	l := Listing{Instructions: &instructions, Tools: map[string][]byte{}}
	for _, tool := range tools {
		name, description, _ := strings.Cut(tool, "=")
		raw := wire.AppendQuoted([]byte(`{"name":`), name)
		l.Tools[name] = append(wire.AppendQuoted(append(raw, `,"description":`...), description), '}')
	}
	return l
}

func compare(t *testing.T, s *Server, n int, l Listing) Differences {
	t.Helper()
	d, err := s.Compare(day(n), l)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// spell writes differences: changed names, then new ones with +, gone ones with -, and ! for instructions.
func spell(d Differences) string {
	var list []string
	if d.First {
		list = append(list, "first")
	}
	for _, c := range d.Changed {
		list = append(list, c.Tool)
	}
	for _, c := range d.New {
		list = append(list, "+"+c.Tool)
	}
	for _, c := range d.Gone {
		list = append(list, "-"+c.Tool)
	}
	if d.Instructions != nil {
		list = append(list, "!")
	}
	return strings.Join(list, " ")
}

// TestSessions runs sessions of one server one after another, each a process of its own as far as the store can see.
func TestSessions(t *testing.T) {
	type step struct {
		now    Listing
		accept []string // tools, * for everything, ! for instructions
		want   string   // differences
		left   string   // what waits afterwards
	}
	unknown := listing("", "send=a")
	unknown.Instructions = nil
	tests := []struct {
		name  string
		steps []step
	}{
		{"nothing changes", []step{
			{now: listing("hi", "send=a", "read=b"), want: "first"},
			{now: listing("hi", "read=b", "send=a")},
		}},
		{"another spelling is no change", []step{
			{now: listing("", "send=a"), want: "first"},
			{now: Listing{Instructions: new(""), Tools: map[string][]byte{"send": []byte(`{ "description" : "\u0061", "name": "send" }`)}}},
		}},
		{"another number is one", []step{
			{now: Listing{Tools: map[string][]byte{"a": []byte(`{"x":1}`)}}, want: "first"},
			{now: Listing{Tools: map[string][]byte{"a": []byte(`{"x":1.0}`)}}, want: "a", left: "a"},
		}},
		{"changed until accepted", []step{
			{now: listing("", "send=a"), want: "first"},
			{now: listing("", "send=b"), want: "send", left: "send"},
			{now: listing("", "send=b"), want: "send", left: "send", accept: nil},
			{now: listing("", "send=b"), want: "send", accept: []string{"send"}},
			{now: listing("", "send=b")},
			{now: listing("", "send=a"), want: "send", left: "send"},
		}},
		{"changed and changed back", []step{
			{now: listing("", "send=a"), want: "first"},
			{now: listing("", "send=b"), want: "send", left: "send"},
			{now: listing("", "send=a")},
		}},
		{"new until accepted", []step{
			{now: listing("", "send=a"), want: "first"},
			{now: listing("", "send=a", "wipe=b", "x=c"), want: "+wipe +x", left: "+wipe +x"},
			{now: listing("", "send=a", "wipe=b", "x=c"), want: "+wipe +x", accept: []string{"wipe"}, left: "+x"},
			{now: listing("", "send=a", "wipe=b"), want: ""},
			{now: listing("", "send=a", "wipe=b", "x=c"), want: "+x", accept: []string{"*"}},
			{now: listing("", "send=a", "wipe=b", "x=c")},
		}},
		{"gone and back", []step{
			{now: listing("", "send=a", "read=b"), want: "first"},
			{now: listing("", "read=b"), want: "-send"},
			{now: listing("", "send=a", "read=b")},
			{now: listing("", "read=b"), want: "-send"},
			{now: listing("", "send=c", "read=b"), want: "send", left: "send"},
		}},
		{"instructions", []step{
			{now: listing("be brief", "send=a"), want: "first"},
			{now: listing("be long", "send=a"), want: "!", left: "!"},
			{now: listing("be long", "send=b"), want: "send !", accept: []string{"send"}, left: "!"},
			{now: listing("be long", "send=b"), want: "!", accept: []string{"!"}},
			{now: listing("", "send=b"), want: "!", accept: []string{"*"}},
			{now: listing("", "send=b")},
		}},
		{"instructions not known", []step{
			{now: unknown, want: "first"},
			{now: listing("first heard", "send=a")},
			{now: unknown},
			{now: listing("other", "send=a"), want: "!", left: "!"},
			{now: unknown, left: "!"},
		}},
		{"nothing is not recorded", []step{
			{now: listing("")},
			{now: listing("", "send=a"), want: "first"},
			{now: listing(""), want: "-send"},
		}},
		{"odd names", []step{
			{now: listing("", "=a", "\x00=b", "a\"\n#\u202e=c"), want: "first"},
			{now: listing("", "=b", "\x00=b", "a\"\n#\u202e=c"), want: "", left: "", accept: []string{""}},
			{now: listing("", "=b", "\x00=b", "a\"\n#\u202e=c")},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, s := range tt.steps {
				server := Open(dir).Server(mail)
				d := compare(t, server, i+1, s.now)
				if got := spell(d); strings.TrimSpace(got) != s.want {
					t.Fatalf("session %d differs by %q, want %q", i+1, got, s.want)
				}
				for _, name := range s.accept {
					var err error
					switch name {
					case "*":
						err = server.AcceptAll(day(i + 1))
					case "!":
						err = server.AcceptInstructions(day(i + 1))
					default:
						err = server.Accept(day(i+1), name)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				p, err := Open(dir).Server(mail).Pending()
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Fatal(err)
				}
				if got := spell(p); got != s.left {
					t.Fatalf("after session %d %q waits, want %q", i+1, got, s.left)
				}
			}
		})
	}
}

func TestDifferenceHoldsBothForms(t *testing.T) {
	dir := t.TempDir()
	compare(t, Open(dir).Server(mail), 1, listing("", "send=a"))
	compare(t, Open(dir).Server(mail), 2, listing("", "send=b"))
	compare(t, Open(dir).Server(mail), 3, listing("", "send=b"))
	p, err := Open(dir).Server(mail).Pending()
	if err != nil {
		t.Fatal(err)
	}
	c := p.Changed[0]
	if string(c.Old) != `{"name":"send","description":"a"}` || string(c.New) != `{"name":"send","description":"b"}` {
		t.Errorf("forms %s and %s", c.Old, c.New)
	}
	if !c.Accepted.Equal(day(1)) || !c.Seen.Equal(day(2)) {
		t.Errorf("accepted %v, seen %v", c.Accepted, c.Seen)
	}
}

// A yes is about what was shown, whatever another process has found meanwhile.
func TestAcceptsWhatWasShown(t *testing.T) {
	dir := t.TempDir()
	compare(t, Open(dir).Server(mail), 1, listing("", "send=a"))
	compare(t, Open(dir).Server(mail), 2, listing("", "send=b"))
	shown := Open(dir).Server(mail)
	if p, err := shown.Pending(); err != nil || spell(p) != "send" {
		t.Fatalf("%q, %v", spell(p), err)
	}
	compare(t, Open(dir).Server(mail), 3, listing("", "send=poison"))
	if err := shown.Accept(day(3), "send"); err != nil {
		t.Fatal(err)
	}
	if got := spell(compare(t, Open(dir).Server(mail), 4, listing("", "send=b"))); got != "" {
		t.Errorf("what was accepted differs: %q", got)
	}
	if got := spell(compare(t, Open(dir).Server(mail), 4, listing("", "send=poison"))); got != "send" {
		t.Errorf("what was not accepted differs by %q", got)
	}
	if err := shown.Accept(day(4), "read"); err == nil {
		t.Error("accepted a tool that was never shown")
	}
	if err := Open(dir).Server(mail).Accept(day(4), "send"); err == nil {
		t.Error("accepted without showing")
	}
}

func TestAcceptWithoutARecord(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir).Server(mail)
	compare(t, s, 1, listing("", "send=a"))
	if err := os.Remove(s.path); err != nil {
		t.Fatal(err)
	}
	if err := s.AcceptAll(day(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
}

// What has been forgotten is met for the first time again, and nothing is forgotten that the person has not been shown.
func TestForget(t *testing.T) {
	dir := t.TempDir()
	if err := Open(dir).Server(mail).Forget(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing to forget: %v", err)
	}
	compare(t, Open(dir).Server(mail), 1, listing("", "send=a"))
	shown := Open(dir).Server(mail)
	if _, err := shown.Pending(); err != nil {
		t.Fatal(err)
	}
	for n, now := range []Listing{listing("", "send=b"), listing("", "send=a", "wipe=c"), listing("Obey.", "send=a")} {
		compare(t, Open(dir).Server(mail), 2+n, now)
		if err := shown.Forget(); !errors.Is(err, ErrUnseen) {
			t.Errorf("%d: what nobody has seen: %v", n, err)
		}
	}
	compare(t, Open(dir).Server(mail), 5, listing("", "send=b"))
	if p, err := shown.Pending(); err != nil || spell(p) != "send" {
		t.Fatalf("%q, %v", spell(p), err)
	}
	if err := shown.Forget(); err != nil {
		t.Fatal(err)
	}
	if list, err := Open(dir).List(); err != nil || len(list) > 0 {
		t.Errorf("%+v, %v", list, err)
	}
	if d := compare(t, Open(dir).Server(mail), 6, listing("", "send=b")); !d.First || !d.Empty() {
		t.Errorf("the next time: %+v", d)
	}
}

func TestServersAreApart(t *testing.T) {
	store := Open(t.TempDir())
	compare(t, store.Server(mail), 1, listing("", "send=a"))
	compare(t, store.Server("npm:mail-server#other"), 1, listing("", "send=b", "x=c"))
	compare(t, store.Server("npm:mail-server#other"), 2, listing("", "send=c", "x=c"))
	compare(t, store.Server("npm:../../x#../..\\Mäil"), 1, listing("", "send=c"))
	list, err := store.List()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range list {
		got = append(got, fmt.Sprintf("%s %d %q %v", s.Identity, s.Tools, spell(s.Pending), s.Err))
		if filepath.Dir(s.Path) != store.dir || !s.Since.Equal(day(1)) {
			t.Errorf("%s since %v", s.Path, s.Since)
		}
	}
	want := []string{`npm:../../x#../..\Mäil 1 "" <nil>`, `npm:mail-server#mail 1 "" <nil>`, `npm:mail-server#other 2 "send" <nil>`}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if runtime.GOOS == "windows" {
		return
	}
	for _, path := range []string{store.dir, list[0].Path} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

func TestNothingIsCreatedByLooking(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	store := Open(dir)
	if list, err := store.List(); len(list) > 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := store.Server(mail).Pending(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if d := compare(t, store.Server(mail), 1, listing("")); d.First {
		t.Error("recorded a server that says nothing")
	}
	if err := store.Server(mail).AcceptAll(day(1)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
}

// TestDamaged changes a file in many ways. Each is an error for whoever compares, and the file stays as it is.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir).Server(mail)
	compare(t, s, 1, listing("hi", "send=a", "read=b"))
	good, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string][]byte{
		"empty":             {},
		"cut":               good[:len(good)/2],
		"without its sum":   bytes.Replace(good, []byte("sum"), []byte("mus"), 1),
		"a word exchanged":  bytes.Replace(good, []byte(`\"a\"`), []byte(`\"z\"`), 1),
		"something behind":  append(slices.Clone(good), "{}"...),
		"a member twice":    bytes.Replace(good, []byte(`"format":1`), []byte(`"format":1,"format":1`), 1),
		"no object":         []byte("[]"),
		"format 0":          bytes.Replace(good, []byte(`"format":1`), []byte(`"format":0`), 1),
		"another's":         another(t),
		"a tool of nothing": resum(bytes.Replace(good, []byte(`"read":{"accepted"`), []byte(`"read":{"refused"`), 1)),
		"a bad digest":      resum(bytes.Replace(good, []byte(`"sha256":"`), []byte(`"sha256":"x`), 1)),
		"a bad time":        resum(bytes.Replace(good, []byte(`"since":"2026`), []byte(`"since":"once`), 1)),
		"too large":         append(slices.Clone(good), make([]byte, maxFile)...),
	}
	for i := range 40 { // every kind of byte
		bent := slices.Clone(good)
		bent[len(bent)*i/40] ^= 4
		cases[fmt.Sprintf("bit at %d", len(bent)*i/40)] = bent
	}
	for name, data := range cases {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(s.path, data, 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(dir).Server(mail).Compare(day(2), listing("hi", "send=a", "read=b"))
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNewer) {
				t.Errorf("Compare: %v", err)
			}
			if err := s.AcceptAll(day(2)); err == nil {
				t.Error("accepted into it")
			}
			list, err := Open(dir).List()
			if err != nil || len(list) != 1 || list[0].Err == nil {
				t.Errorf("listed as %+v, %v", list, err)
			}
			if after, _ := os.ReadFile(s.path); !bytes.Equal(after, data) {
				t.Error("the file was replaced")
			}
		})
	}
}

func another(t *testing.T) []byte {
	t.Helper()
	s := Open(t.TempDir()).Server("npm:other#mail")
	compare(t, s, 1, listing("hi", "send=a"))
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// resum makes the sum fit again.
func resum(data []byte) []byte {
	body, _, _ := bytes.Cut(data, []byte(sumStart))
	return withSum(slices.Clone(body))
}

func TestNewerFormat(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir).Server(mail)
	compare(t, s, 1, listing("", "send=a"))
	if err := os.WriteFile(s.path, []byte(`{"format":2,"whatever":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compare(day(2), listing("", "send=a")); !errors.Is(err, ErrNewer) {
		t.Errorf("got %v", err)
	}
}

// Members that a later bouncer adds within the format are no damage.
func TestUnknownMembers(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir).Server(mail)
	compare(t, s, 1, listing("", "send=a"))
	data, err := os.ReadFile(s.path)
	if err != nil {
		t.Fatal(err)
	}
	data = resum(bytes.Replace(data, []byte(`"since"`), []byte(`"other":{},"since"`), 1))
	if err := os.WriteFile(s.path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := spell(compare(t, s, 2, listing("", "send=a"))); got != "" {
		t.Errorf("differs by %q", got)
	}
}

// small is the server with room for texts of 64 KiB.
func small(dir string) *Server {
	s := Open(dir).Server(mail)
	s.kept = 64 << 10
	return s
}

// A listing that is too large to be kept can still be compared.
func TestHugeListing(t *testing.T) {
	dir := t.TempDir()
	huge := strings.Repeat("x", small(dir).kept)
	compare(t, small(dir), 1, listing("", "send=a", "read="+huge))
	s := small(dir)
	if info, err := os.Stat(s.path); err != nil || info.Size() > 4096 {
		t.Fatalf("%v, %v", info, err)
	}
	if got := spell(compare(t, s, 2, listing("", "send=a", "read="+huge))); got != "" {
		t.Errorf("the same differs by %q", got)
	}
	d := compare(t, s, 3, listing("", "send=b", "read="+huge+"y", "new=c"))
	if got := spell(d); got != "read send +new" {
		t.Errorf("differs by %q", got)
	}
	if got := d.Changed[0].Explain(); got[0].What != "too_large" {
		t.Errorf("explained as %+v", got)
	}
	if err := s.AcceptAll(day(3)); err != nil {
		t.Fatal(err)
	}
	if got := spell(compare(t, small(dir), 4, listing("", "send=b", "read="+huge+"y", "new=c"))); got != "" {
		t.Errorf("what was accepted differs by %q", got)
	}
	if _, err := s.Compare(day(5), listing("", strings.Repeat("n", maxFile)+"=a")); err == nil {
		t.Error("kept more than it will read")
	}
}

// What many listings leave behind stays within bounds, and can still be compared.
func TestRecordStaysBounded(t *testing.T) {
	dir := t.TempDir()
	large := strings.Repeat("x", small(dir).kept-1000)
	var last Listing
	for i := range 9 {
		last = listing("", fmt.Sprintf("tool%d=%s", i, large))
		s := small(dir)
		compare(t, s, i+1, last)
		if err := s.AcceptAll(day(i + 1)); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(s.path); err != nil || info.Size() > int64(4*s.kept) {
			t.Fatalf("%v, %v", info, err)
		}
	}
	if got := spell(compare(t, small(dir), 10, last)); got != "-tool0 -tool1 -tool2 -tool3 -tool4 -tool5 -tool6 -tool7" {
		t.Errorf("differs by %q", got)
	}
}

func TestHostileDefinitions(t *testing.T) {
	for _, raw := range []string{
		`{"name":"a","description":"` + strings.Repeat(`\u202e\u0000\ud800\"`, 1000) + `"}`,
		`{"name":"a","description":"` + strings.Repeat("\u200b<>&\u2028", 1000) + `"}`,
		`{"name":"a","n":[1e400,-0,1.10,9007199254740993]}`,
		`{"name":"a","description":"` + strings.Repeat("word ", 200_000) + `"}`,
		`{"name":"a","deep":` + strings.Repeat("[", 120) + strings.Repeat("]", 120) + `}`,
		`{"name":"a","description":"` + sumStartEscaped() + `"}`,
	} {
		dir := t.TempDir()
		l := Listing{Tools: map[string][]byte{"a": []byte(raw)}}
		compare(t, Open(dir).Server(mail), 1, l)
		if got := spell(compare(t, Open(dir).Server(mail), 2, l)); got != "" {
			t.Errorf("%.80s differs by %q", raw, got)
		}
		compare(t, Open(dir).Server(mail), 2, listing("", "a=b"))
		p, err := Open(dir).Server(mail).Pending()
		if err != nil || string(p.Changed[0].Old) != raw {
			t.Errorf("%.80s came back as %.80s, %v", raw, p.Changed[0].Old, err)
		}
	}
	for _, raw := range []string{"", "{", `{"a":1,"a":2}`, "{}{}", "\xff"} {
		dir := t.TempDir()
		if _, err := Open(dir).Server(mail).Compare(day(1), Listing{Tools: map[string][]byte{"a": []byte(raw)}}); err == nil {
			t.Errorf("%q was taken", raw)
		}
	}
}

func sumStartEscaped() string { return `,\n\"sum\":\"` }

func TestLockedForTooLong(t *testing.T) {
	dir := t.TempDir()
	s := Open(dir).Server(mail)
	compare(t, s, 1, listing("", "send=a"))
	unlock, err := atomicfile.LockFile(strings.TrimSuffix(s.path, ".json")+".lock", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	s.wait = 10 * time.Millisecond
	if got := spell(compare(t, s, 2, listing("", "send=a"))); got != "" {
		t.Errorf("the same differs by %q", got)
	}
	if _, err := s.Compare(day(2), listing("", "send=b")); !errors.Is(err, atomicfile.ErrLocked) {
		t.Errorf("got %v", err)
	}
}

// child is one process of a server that many start at once. Each brings a tool of its own and accepts it.
func child(dir, name string) {
	s := Open(dir).Server(mail)
	for i := range 10 {
		tool := fmt.Sprintf("%s%d", name, i)
		d, err := s.Compare(day(1), listing("", "send=a", tool+"=x"))
		if err != nil {
			panic(err)
		}
		if d.First {
			fmt.Fprintln(os.Stderr, "first")
		}
		if err := s.Accept(day(1), tool); err != nil {
			panic(err)
		}
	}
}

// TestManyProcesses loses nothing that any of them accepted, and has one first use.
func TestManyProcesses(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	const processes = 5
	var outputs [processes]bytes.Buffer
	var all sync.WaitGroup
	for i := range processes {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), "SESSION_TEST_DIR="+dir, fmt.Sprintf("SESSION_TEST_NAME=p%d-", i))
		cmd.Stderr = &outputs[i]
		all.Go(func() {
			if err := cmd.Run(); err != nil {
				t.Errorf("%v: %s", err, &outputs[i])
			}
		})
	}
	all.Wait()
	first := 0
	for i := range outputs {
		first += strings.Count(outputs[i].String(), "first")
	}
	if first != 1 {
		t.Errorf("%d first uses", first)
	}
	list, err := Open(dir).List()
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if list[0].Tools != processes*10+1 || !list[0].Pending.Empty() {
		t.Errorf("%d tools, %q waits", list[0].Tools, spell(list[0].Pending))
	}
}

func FuzzDecode(f *testing.F) {
	now, err := define(day(1), listing("hi", "send=a"), maxKept)
	if err != nil {
		f.Fatal(err)
	}
	r := &record{tools: map[string]*pin{}}
	r.begin(day(1), now)
	r.tools["new"] = &pin{pending: now.tools["send"]}
	f.Add(r.encode(mail))
	f.Add([]byte(`{"format":1}`))
	f.Add([]byte(`{"format":1,"identity":"x","since":"2026-01-01T00:00:00Z","instructions":{},"tools":{}` + sumStart))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, _ = decode(data)
		identity, r, err := decode(resum(data))
		if err != nil {
			return
		}
		again, r2, err := decode(r.encode(identity))
		if err != nil || again != identity || !bytes.Equal(r2.encode(again), r.encode(identity)) {
			t.Fatalf("%q came back as %q, %v", identity, again, err)
		}
	})
}

// BenchmarkCompare is what a session costs that finds nothing new: 50 tools of 1 KB.
func BenchmarkCompare(b *testing.B) {
	var tools []string
	for i := range 50 {
		tools = append(tools, fmt.Sprintf("tool%d=%s", i, strings.Repeat("some words ", 90)))
	}
	l, dir := listing("hi", tools...), b.TempDir()
	if _, err := Open(dir).Server(mail).Compare(day(1), l); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if d, err := Open(dir).Server(mail).Compare(day(2), l); err != nil || !d.Empty() {
			b.Fatal(d, err)
		}
	}
}

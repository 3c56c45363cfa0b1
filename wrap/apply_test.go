package wrap

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// machine is a home with configs and a state folder that doesn't exist yet.
type machine struct {
	t     *testing.T
	home  string
	store *Store
}

func newMachine(t *testing.T) *machine {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &machine{t, home, NewStore(filepath.Join(home, "state", "bouncer"))}
}

func (m *machine) path(name string) string { return filepath.Join(m.home, filepath.FromSlash(name)) }

func (m *machine) write(name, text string) string {
	m.t.Helper()
	file := m.path(name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o640); err != nil {
		m.t.Fatal(err)
	}
	return file
}

func (m *machine) read(name string) string {
	m.t.Helper()
	data, err := os.ReadFile(m.path(name))
	if err != nil {
		m.t.Fatal(err)
	}
	return string(data)
}

func (m *machine) holds(name, want string) {
	m.t.Helper()
	if got := m.read(name); got != want {
		m.t.Errorf("%s holds %q, want %q", name, got, want)
	}
}

// plan plans the simplest change that can be told from others and made several times.
func (m *machine) plan(name string) Plan {
	m.t.Helper()
	plan, err := grow(File{Client: "client", Path: m.path(name), Mode: 0o640, Data: []byte(m.read(name))})
	if err != nil {
		m.t.Fatal(err)
	}
	return plan
}

// grow turns [0] into [0,1].
func grow(f File) (Plan, error) {
	after := append(bytes.TrimSuffix(bytes.Clone(f.Data), []byte("]")), ",1]"...)
	steps := []Step{{Entry: Entry{Name: "server"}, Action: Rewrap}, {Entry: Entry{Name: "other"}, Action: Skip}}
	return Plan{Change: Change{Path: f.Path, Before: f.Data, After: after, Mode: f.Mode, Lock: f.Lock}, File: f, Steps: steps}, nil
}

// apply applies plans that must succeed.
func (m *machine) apply(command string, plans ...Plan) Generation {
	m.t.Helper()
	g, err := Apply(m.store, plans, ApplyOptions{Command: command})
	if err != nil {
		m.t.Fatal(err)
	}
	return g
}

// tree lists everything below a folder, with modes, times and contents.
func (m *machine) tree(name string) string {
	m.t.Helper()
	var lines []string
	err := filepath.WalkDir(m.path(name), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		line := path + " " + info.Mode().String() + " " + info.ModTime().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += " " + digest(data)
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func TestApply(t *testing.T) {
	m := newMachine(t)
	m.write("b/b.json", "[2]")
	m.write("a.json", "[0]")
	when := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	plans := []Plan{m.plan("b/b.json"), m.plan("a.json")}
	g, err := Apply(m.store, plans, ApplyOptions{Command: "init", Time: when})
	if err != nil {
		t.Fatal(err)
	}
	m.holds("a.json", "[0,1]")
	m.holds("b/b.json", "[2,1]")

	list, err := m.store.Generations()
	if err != nil || len(list) != 1 {
		t.Fatalf("generations %+v (%v)", list, err)
	}
	if got := list[0]; got.Number != 1 || got.Number != g.Number || got.Command != "init" || !got.Time.Equal(when) || got.Reversed {
		t.Errorf("record %+v", got)
	}
	saved := list[0].Files[0]
	if saved.Client != "client" || saved.Path != m.path("a.json") || !slices.Equal(saved.Entries, []string{"server"}) {
		t.Errorf("record of the file %+v", saved)
	}
	if before, err := m.store.backup(list[0], saved); string(before) != "[0]" {
		t.Errorf("backup holds %q (%v)", before, err)
	}
	if info, err := os.Stat(m.path("a.json")); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != 0o640) {
		t.Errorf("the file's mode became %v (%v)", info.Mode(), err)
	}
}

// TestStoreIsPrivate walks all that an apply leaves in the state folder.
func TestStoreIsPrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes; the folder inherits the profile's access list")
	}
	m := newMachine(t)
	m.write("a.json", `["secret"]`)
	m.apply("init", m.plan("a.json"))
	files := 0
	for line := range strings.Lines(m.tree("state/bouncer")) {
		mode := strings.Fields(line)[1]
		if mode != "drwx------" && mode != "-rw-------" {
			t.Errorf("open to others: %s", line)
		}
		files += strings.Count(mode[:1], "-")
	}
	if files < 2 {
		t.Errorf("%d files, want at least the record and the backup", files)
	}
}

func TestApplyNothing(t *testing.T) {
	m := newMachine(t)
	m.write("a.json", "[0]")
	plan := m.plan("a.json")
	plan.After = plan.Before
	before := m.tree("")
	if g := m.apply("init", plan); g.Number != 0 {
		t.Errorf("generation %d for a change of nothing", g.Number)
	}
	if _, err := Undo(m.store, 0, ApplyOptions{}); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("undo: %v", err)
	}
	if after := m.tree(""); after != before {
		t.Errorf("something was written:\n%s", after)
	}
}

// TestApplyRefuses holds what stops an apply before any file is written.
func TestApplyRefuses(t *testing.T) {
	refusal := errors.New("not today")
	tests := []struct {
		name   string
		change func(*machine, *Plan) // of the second file's plan
		replan func(File) (Plan, error)
		is     error
		says   string
	}{
		{name: "changed since", change: func(m *machine, _ *Plan) { m.write("b.json", "[9]") }, is: ErrChanged, says: "b.json"},
		{
			name: "changed since, planner refuses", change: func(m *machine, _ *Plan) { m.write("b.json", "[9]") },
			replan: func(File) (Plan, error) { return Plan{}, refusal }, is: refusal, says: "b.json",
		},
		{name: "gone", change: func(m *machine, _ *Plan) { os.Remove(m.path("b.json")) }, is: fs.ErrNotExist, says: "b.json"},
		{name: "same file twice", change: func(m *machine, p *Plan) { p.Path = m.path("a.json") }, says: "same file"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(t)
			m.write("a.json", "[0]")
			m.write("b.json", "[2]")
			plans := []Plan{m.plan("a.json"), m.plan("b.json")}
			test.change(m, &plans[1])
			_, err := Apply(m.store, plans, ApplyOptions{Replan: test.replan})
			if err == nil || test.is != nil && !errors.Is(err, test.is) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("error %v, want %v, %q", err, test.is, test.says)
			}
			if _, ok := errors.AsType[*FileError](err); !ok {
				t.Errorf("%v does not name its file", err)
			}
			m.holds("a.json", "[0]")
			if list, err := m.store.Generations(); len(list) > 0 || err != nil {
				t.Errorf("a record was written: %+v (%v)", list, err)
			}
		})
	}
}

func TestApplyWithoutStore(t *testing.T) {
	m := newMachine(t)
	m.write("a.json", "[0]")
	for _, store := range []*Store{nil, {}, NewStore("")} {
		if _, err := Apply(store, []Plan{m.plan("a.json")}, ApplyOptions{}); err == nil {
			t.Error("applied without a place for backups")
		}
		m.holds("a.json", "[0]")
	}
}

// TestReplan: a file that has changed is planned once more, from its new bytes and under its lock.
func TestReplan(t *testing.T) {
	m := newMachine(t)
	m.write("a.json", "[0]")
	plan := m.plan("a.json")
	plan.Lock, plan.File.Lock = true, true
	m.write("a.json", "[5]")
	calls := 0
	_, err := Apply(m.store, []Plan{plan}, ApplyOptions{Replan: func(f File) (Plan, error) {
		calls++
		if _, err := os.Stat(m.path("a.json.lock")); err != nil {
			t.Errorf("planned without the client's lock: %v", err)
		}
		return grow(f)
	}})
	if err != nil || calls != 1 {
		t.Errorf("%d calls, %v", calls, err)
	}
	m.holds("a.json", "[5,1]")
	if _, err := os.Stat(m.path("a.json.lock")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock stays: %v", err)
	}
}

// TestAllOrNone lets the second of three files become unwritable after everything was checked.
func TestAllOrNone(t *testing.T) {
	m := newMachine(t)
	m.write("a.json", "[0]")
	m.write("b/b.json", "[2]")
	m.write("c.json", "[4]")
	m.store.files.Step = func(what string) {
		if what != "wrote the record" {
			return
		}
		if err := os.RemoveAll(m.path("b")); err != nil {
			t.Fatal(err)
		}
		m.write("b", "a file where the folder was")
	}
	g, err := Apply(m.store, []Plan{m.plan("a.json"), m.plan("b/b.json"), m.plan("c.json")}, ApplyOptions{})
	if fault, ok := errors.AsType[*FileError](err); !ok || fault.Path != m.path("b/b.json") {
		t.Errorf("error %v, want one about b.json", err)
	}
	m.holds("a.json", "[0]")
	m.holds("c.json", "[4]")
	if left, _ := filepath.Glob(m.path("*.tmp")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	list, err := m.store.Generations()
	if err != nil || len(list) != 1 || !list[0].Reversed {
		t.Errorf("generations %+v (%v), want one that was reversed", list, err)
	}
	if _, err := Undo(m.store, g.Number, ApplyOptions{}); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("undo of what was reversed: %v", err)
	}
}

// TestReverse: only our own bytes are replaced by old ones, and what could not be put back is named.
func TestReverse(t *testing.T) {
	m := newMachine(t)
	var targets []target
	for _, name := range []string{"a.json", "b.json", "c.json"} {
		m.write(name, "[0]")
		targets = append(targets, target{plan: m.plan(name), real: m.path(name)})
		m.write(name, "[0,1]")
	}
	g, err := m.store.begin(Generation{}, targets)
	if err != nil {
		t.Fatal(err)
	}
	m.write("b.json", `["someone else"]`)
	err = reverse(m.store, g, targets[2], targets[:2])
	if fault, ok := errors.AsType[*FileError](err); !ok || fault.Path != m.path("b.json") || !errors.Is(err, ErrChanged) {
		t.Errorf("error %v, want ErrChanged of b.json", err)
	}
	m.holds("a.json", "[0]")
	m.holds("b.json", `["someone else"]`)
	m.holds("c.json", "[0]")
	if list, err := m.store.Generations(); err != nil || list[0].Reversed {
		t.Errorf("noted as reversed though b.json is not: %v", err)
	}
}

// TestSymlink: the file behind a link is written, and the link stays one.
func TestSymlink(t *testing.T) {
	m := newMachine(t)
	m.write("dotfiles/a.json", "[0]")
	if err := os.Symlink(filepath.Join("dotfiles", "a.json"), m.path("a.json")); err != nil {
		t.Skipf("no symbolic links here: %v", err)
	}
	g := m.apply("init", m.plan("a.json"))
	m.holds("dotfiles/a.json", "[0,1]")
	if link, err := os.Readlink(m.path("a.json")); err != nil || link != filepath.Join("dotfiles", "a.json") {
		t.Errorf("link to %q (%v)", link, err)
	}
	if saved := g.Files[0]; saved.Path != m.path("a.json") || saved.Real != m.path("dotfiles/a.json") {
		t.Errorf("record %+v", saved)
	}
	twice := []Plan{m.plan("a.json"), m.plan("dotfiles/a.json")}
	if _, err := Apply(m.store, twice, ApplyOptions{}); err == nil {
		t.Error("one file was planned twice and applied")
	}
}

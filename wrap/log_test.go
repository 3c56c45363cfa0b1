package wrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// log lists the generations as number, standing and the other generation.
func (m *machine) log() []string {
	m.t.Helper()
	logged, err := m.store.Log()
	if err != nil {
		m.t.Fatal(err)
	}
	var list []string
	for _, l := range logged {
		list = append(list, fmt.Sprintf("%d %s %d", l.Number, l.Standing, l.By))
	}
	return list
}

func (m *machine) logs(want ...string) {
	m.t.Helper()
	if got := m.log(); !slices.Equal(got, want) {
		m.t.Errorf("generations %q, want %q", got, want)
	}
}

func TestLog(t *testing.T) {
	m := newMachine(t)
	m.logs()
	m.write("a.json", "[0]")
	m.write("b.json", "[2]")
	m.apply("init", m.plan("a.json"))
	m.apply("init", m.plan("a.json"), m.plan("b.json"))
	m.logs("1 covered 2", "2 undoable 0")
	if _, err := Undo(m.store, 1, ApplyOptions{}); !errors.Is(err, ErrChanged) {
		t.Errorf("undo of what is covered: %v", err)
	}
	if !m.undo() {
		t.Fatal("nothing to undo")
	}
	m.logs("1 undoable 0", "2 undone 3", "3 undoable 0")
	if _, err := Undo(m.store, 3, ApplyOptions{}); err != nil { // takes the undo back
		t.Fatal(err)
	}
	m.logs("1 covered 2", "2 undoable 0", "3 undone 4", "4 undoable 0")
	m.write("b.json", "[7]")
	m.logs("1 changed 0", "2 changed 0", "3 undone 4", "4 changed 0")
	m.write("b.json", "[2]")
	m.write("a.json", "[0,1]")
	m.logs("1 undoable 0", "2 undone 3", "3 undoable 0", "4 undone 0")
	if err := os.Remove(m.path("a.json")); err != nil {
		t.Fatal(err)
	}
	m.logs("1 changed 0", "2 changed 0", "3 undone 4", "4 changed 0")
}

// TestSince shows what another program did to a file after bouncer, without its secrets.
func TestSince(t *testing.T) {
	m := newMachine(t)
	path := m.write("a.json", "{\n  \"mcpServers\": {\n    \"s\": {\"command\": \"srv\"}\n  }\n}\n")
	file := config(m.read("a.json"))
	file.Path = path
	g := m.apply("init", mustWrap(t, file, options()))
	if list := m.store.Since(g); len(list) != 0 {
		t.Errorf("changed already: %+v", list)
	}
	m.write("a.json", strings.Replace(m.read("a.json"), "\n  }\n", ",\n    \"new\": {\"command\": \"npx\", \"env\": {\"TOKEN\": \"s3cr3t\"}}\n  }\n", 1))
	list := m.store.Since(g)
	if len(list) != 1 {
		t.Fatalf("%d files", len(list))
	}
	diff := Diff(list[0])
	if !strings.Contains(diff, `+    "new": {"command": "npx", "env": {"TOKEN": "***"}}`) || strings.Contains(diff, "s3cr3t") || strings.Contains(diff, `-      "command"`) {
		t.Errorf("shows\n%s", diff)
	}
}

// TestSettle: an apply that was killed between record and first write is over once the next one comes, whatever the client
// does to the file then.
func TestSettle(t *testing.T) {
	m := newMachine(t)
	m.write("a.json", "[0]")
	m.write("b.json", "[2]")
	g, err := m.store.begin(Generation{Command: "init"}, []target{{plan: m.plan("a.json"), real: m.path("a.json")}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.store.Find(0); !errors.Is(err, ErrNothingToUndo) {
		t.Errorf("undo would take what never was: %v", err)
	}
	temp := filepath.Join(m.store.generation(g.Number), ".bouncer-1.tmp")
	if err := os.WriteFile(temp, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(m.store.generation(g.Number+9), 0o700); err != nil { // killed before the record
		t.Fatal(err)
	}
	m.apply("init", m.plan("b.json"))
	m.write("a.json", "[9]")
	m.logs("1 failed 0", "2 undoable 0")
	for _, gone := range []string{temp, m.store.generation(g.Number + 9)} {
		if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there (%v)", gone, err)
		}
	}
	behind := filepath.Join(m.store.generation(g.Number+1), ".bouncer-1.tmp") // killed when all was noted
	if err := os.WriteFile(behind, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	m.write("c.json", "[3]")
	m.apply("init", m.plan("c.json"))
	if _, err := os.Stat(behind); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there (%v)", behind, err)
	}
}

// TestPrune: fifty generations and half a year are kept; beyond, the pristine file of each config and what undo needs now.
func TestPrune(t *testing.T) {
	m := newMachine(t)
	m.write("a.json", "[0]")
	m.write("b.json", "[0]")
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	apply := func(days int, plans ...Plan) {
		t.Helper()
		if _, err := Apply(m.store, plans, ApplyOptions{Time: start.AddDate(0, 0, days)}); err != nil {
			t.Fatal(err)
		}
	}
	kept := func(want ...int) {
		t.Helper()
		if got, err := m.store.numbers(); err != nil || !slices.Equal(got, want) {
			t.Errorf("generations %v (%v), want %v", got, err, want)
		}
	}
	apply(0, m.plan("a.json"))   // 1: a as it was
	apply(1, m.plan("a.json"))   // 2
	apply(2, m.plan("b.json"))   // 3: b as it was
	apply(3, m.plan("b.json"))   // 4: b as it is
	apply(181, m.plan("a.json")) // 5: on the day before, 1 was half a year old
	kept(1, 2, 3, 4, 5)
	apply(182, m.plan("a.json"))
	kept(1, 3, 4, 5, 6)
	for range keepGenerations {
		apply(183, m.plan("a.json"))
	}
	want := []int{1, 3, 4}
	for n := 7; n <= 56; n++ {
		want = append(want, n)
	}
	kept(want...)

	m.write("b.json", "[5]") // nobody can undo 4 now
	apply(184, m.plan("a.json"))
	kept(append([]int{1, 3}, append(want[4:], 57)...)...)
	first, err := m.store.Find(1)
	if err != nil {
		t.Fatal(err)
	}
	if data, err := m.store.backup(first, first.Files[0]); err != nil || string(data) != "[0]" {
		t.Errorf("the pristine file is %q, %v", data, err)
	}
}

// TestTornRecord: what can't be read is never removed, and keeps no apply from working.
func TestTornRecord(t *testing.T) {
	m := newMachine(t)
	m.write("a.json", "[0]")
	m.apply("init", m.plan("a.json"))
	torn := filepath.Join(m.store.generation(1), planFile)
	if err := os.WriteFile(torn, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.apply("init", m.plan("a.json"))
	m.holds("a.json", "[0,1,1]")
	if _, err := m.store.Log(); err == nil || !strings.Contains(err.Error(), torn) {
		t.Errorf("the log says %v", err)
	}
	if _, err := os.Stat(torn); err != nil {
		t.Error(err)
	}
}

package wrap

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// Environment variables that make a process of this test binary a child of one of the tests.
const (
	childHome = "WRAP_TEST_HOME"
	killAt    = "WRAP_TEST_KILL_AT" // the step of an apply at which the child dies
	rivalName = "WRAP_TEST_RIVAL"   // the server that a rival wraps and unwraps
	sizeLimit = "WRAP_TEST_LIMIT"   // how large a file of the child's may become
)

func TestMain(m *testing.M) {
	limitSize(os.Getenv(sizeLimit))
	home := os.Getenv(childHome)
	switch {
	case home == "":
		m.Run()
	case os.Getenv(rivalName) != "":
		beRival(home, os.Getenv(rivalName))
	default:
		applyAndDie(home, os.Getenv(killAt))
	}
}

func child(t *testing.T, home, name, value string) *exec.Cmd {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childHome+"="+home, name+"="+value)
	cmd.Stderr = os.Stderr
	return cmd
}

// applyAndDie wraps the servers of a home and says each step of it. At step number at it kills itself, as nothing can prevent
// or notice.
func applyAndDie(home, at string) {
	number, _ := strconv.Atoi(at)
	steps := 0
	store := NewStore(filepath.Join(home, "state"))
	store.files.Step = func(what string) {
		steps++
		fmt.Fprintln(os.Stdout, what)
		if steps == number {
			self, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = self.Kill()
			}
			if err != nil {
				panic(err)
			}
			time.Sleep(time.Hour) // until the signal is there
		}
	}
	if _, err := Apply(store, planHome(home, PlanWrap), ApplyOptions{Command: "init"}); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// planHome plans all servers of the configs that a kill is tried on. The first is written under its client's lock.
func planHome(home string, plan func(File, Options) (Plan, error)) []Plan {
	var plans []Plan
	for i, name := range killedFiles() {
		path := filepath.Join(home, name)
		data, mode, err := readRegular(path)
		if err != nil {
			panic(err)
		}
		file := config("").with(data)
		file.Path, file.Mode, file.Lock = path, mode, i == 0
		p, err := plan(file, options())
		if err != nil {
			panic(err)
		}
		plans = append(plans, p)
	}
	return plans
}

func killedFiles() []string { return []string{"a.json", "b.json"} }

// before is what a config holds in the beginning. Its size gives a kill something to interrupt.
func before(name string) string {
	return "{\"mcpServers\": {\"" + name + "\": {\"command\": \"srv\"}}}" + strings.Repeat(" ", 100_000) + "\n"
}

// TestKilledAtEveryStep ends an apply after each single thing it does. Then every file is old or new, the backups are whole,
// the next run does what the killed one was to do, and undo gives every byte back; nothing of the killed one is left.
func TestKilledAtEveryStep(t *testing.T) {
	steps := stepsOfApply(t)
	if len(steps) < 30 {
		t.Fatalf("an apply of two files has only these steps: %q", steps)
	}
	for i, what := range steps {
		t.Run(fmt.Sprintf("%02d %s", i+1, what), func(t *testing.T) {
			t.Parallel()
			m := killedMachine(t)
			if err := child(t, m.home, killAt, strconv.Itoa(i+1)).Run(); err == nil {
				t.Fatal("the child was not killed")
			}
			m.checkKilled()
			m.checkNextRun()
		})
	}
}

func killedMachine(t *testing.T) *machine {
	t.Helper()
	m := newMachine(t)
	m.store = NewStore(m.path("state"))
	for _, name := range killedFiles() {
		m.write(name, before(name))
	}
	return m
}

// stepsOfApply lets one child come to its end.
func stepsOfApply(t *testing.T) []string {
	t.Helper()
	out, err := child(t, killedMachine(t).home, killAt, "0").Output()
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for lines := bufio.NewScanner(strings.NewReader(string(out))); lines.Scan(); {
		steps = append(steps, lines.Text())
	}
	return steps
}

// checkKilled looks at what is there right after the kill.
func (m *machine) checkKilled() {
	m.t.Helper()
	for _, name := range killedFiles() {
		old := before(name)
		wrapped := mustWrap(m.t, config(old), options()).After
		if got := m.read(name); got != old && got != string(wrapped) {
			m.t.Errorf("%s is neither old nor new: %d bytes", name, len(got))
		}
	}
	list, err := m.store.Generations()
	if err != nil {
		m.t.Fatalf("a record is torn: %v", err)
	}
	for _, g := range list {
		for _, saved := range g.Files {
			if data, err := m.store.backup(g, saved); err != nil || string(data) != before(filepath.Base(saved.Path)) {
				m.t.Errorf("the backup of %s is not whole: %v", saved.Path, err)
			}
		}
	}
	written := 0
	for _, name := range killedFiles() {
		if m.read(name) != before(name) {
			written++
		}
	}
	if written > 0 && len(list) == 0 {
		m.t.Error("a file was written before its backup had a record")
	}
	if g, err := m.store.Find(0); written == 0 && !errors.Is(err, ErrNothingToUndo) || written > 0 && (err != nil || g.Number != 1) {
		m.t.Errorf("%d files are written, and undo would take generation %d (%v)", written, g.Number, err)
	}
}

// checkNextRun does what comes next, a minute later.
func (m *machine) checkNextRun() {
	m.t.Helper()
	past := time.Now().Add(-2 * max(atomicfile.Abandoned, lockStale))
	for _, left := range m.leftovers() {
		if err := os.Chtimes(left, past, past); err != nil {
			m.t.Fatal(err)
		}
	}
	if _, err := Apply(m.store, planHome(m.home, PlanWrap), ApplyOptions{Command: "init"}); err != nil {
		m.t.Fatalf("the next run: %v", err)
	}
	for _, p := range planHome(m.home, PlanWrap) {
		if actions(p) != "keep" {
			m.t.Errorf("%s is not wrapped after the next run", p.Path)
		}
	}
	for m.undo() {
	}
	for _, name := range killedFiles() {
		m.holds(name, before(name))
	}
	if left := m.leftovers(); len(left) > 0 {
		m.t.Errorf("left behind: %q", left)
	}
	list, err := m.store.Generations()
	if err != nil {
		m.t.Fatal(err)
	}
	for _, g := range list {
		if !g.Done && !g.Reversed {
			m.t.Errorf("generation %d is not settled", g.Number)
		}
	}
	if numbers, err := m.store.numbers(); err != nil || len(numbers) != len(list) {
		m.t.Errorf("folders %v for %d records, %v", numbers, len(list), err)
	}
}

// undo takes the newest change back, as long as there is one.
func (m *machine) undo() bool {
	m.t.Helper()
	_, err := Undo(m.store, 0, ApplyOptions{Command: "undo"})
	if err != nil && !errors.Is(err, ErrNothingToUndo) {
		m.t.Fatal(err)
	}
	return err == nil
}

// leftovers are what an apply makes and takes away again.
func (m *machine) leftovers() []string {
	var left []string
	err := filepath.WalkDir(m.home, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".tmp") || strings.HasSuffix(path, ".json.lock") {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	slices.Sort(left)
	return left
}

package wrap

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// applyFor is the home in which this process, when it is a child of TestKilled, applies changes until it is killed.
const applyFor = "WRAP_TEST_APPLY"

func TestMain(m *testing.M) {
	if home := os.Getenv(applyFor); home != "" {
		fmt.Fprintln(os.Stdout, applyForever(home))
		return
	}
	m.Run()
}

// The two states between which the child changes its files. Their size gives a kill something to interrupt.
func states() []string {
	gap := strings.Repeat(" ", 200_000)
	return []string{"[0," + gap + "0]", "[" + gap + "1, 1, 1]"}
}

// applyForever changes two files together, to and fro. The first has its client's lock.
func applyForever(home string) error {
	texts := states()
	store := NewStore(filepath.Join(home, "state"))
	for turn := 0; ; turn++ {
		var plans []Plan
		for _, name := range []string{"a.json", "b.json"} {
			path := filepath.Join(home, name)
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			file := File{Path: path, Data: data, Mode: 0o600, Lock: name == "a.json"}
			after := []byte(texts[turn%2])
			plans = append(plans, Plan{Change: Change{Path: path, Before: data, After: after, Mode: file.Mode, Lock: file.Lock}, File: file})
		}
		if _, err := Apply(store, plans, ApplyOptions{Command: "test"}); err != nil {
			return err
		}
		fmt.Fprintln(os.Stdout, "applied")
	}
}

// TestKilled kills an apply again and again at any moment: afterwards each file is old or new, and undo makes both old.
func TestKilled(t *testing.T) {
	texts := states()
	for round := range 12 {
		m := newMachine(t)
		m.store = NewStore(m.path("state"))
		m.write("a.json", texts[1])
		m.write("b.json", texts[1])
		killApply(t, m.home)
		for _, name := range []string{"a.json", "b.json"} {
			if got := m.read(name); got != texts[0] && got != texts[1] {
				t.Fatalf("round %d: %s is neither old nor new: %d bytes", round, name, len(got))
			}
		}
		if err := os.RemoveAll(m.path("a.json.lock")); err != nil { // what the client does when nobody touches it any more
			t.Fatal(err)
		}
		g, err := Undo(m.store, 0, ApplyOptions{})
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		if m.read("a.json") != m.read("b.json") {
			t.Errorf("round %d: undo of generation %d left one file old and one new", round, g.Undoes)
		}
	}
}

// killApply runs the child until it has applied something, and kills it at a random moment soon after.
func killApply(t *testing.T, home string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), applyFor+"="+home)
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "applied" {
		t.Errorf("the child did not apply: %s", lines.Text())
	}
	killer := time.AfterFunc(rand.N(30*time.Millisecond), func() { _ = child.Process.Kill() })
	defer killer.Stop()
	for lines.Scan() {
		if lines.Text() != "applied" {
			t.Errorf("the child failed: %s", lines.Text())
		}
	}
	if err := child.Wait(); err == nil {
		t.Error("the child was not killed")
	}
}

package wrap

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

const (
	rivals      = 20
	roundsVar   = "BOUNCER_RIVAL_ROUNDS" // how often the client writes; a number
	roundsPlain = 20
)

// TestRivals lets twenty processes wrap and unwrap a server each in ~/.claude.json, all at once, while the client rewrites
// the file again and again the way Claude Code does. Whatever was reported as done must be there until its owner changes it,
// and whoever reads the file at any moment must find it whole.
func TestRivals(t *testing.T) {
	rounds := roundsPlain
	if text := os.Getenv(roundsVar); text != "" {
		var err error
		if rounds, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	m := newMachine(t)
	servers := map[string]any{}
	for i := range rivals {
		servers[fmt.Sprintf("rival-%d", i)] = map[string]any{"command": "npx", "args": []string{strconv.Itoa(i)}}
	}
	text, err := json.MarshalIndent(map[string]any{"numStartups": 0, "mcpServers": servers, "projects": map[string]any{}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	path := m.write(".claude.json", string(text))

	turns := m.startRivals()
	whole, stop := make(chan error), make(chan struct{})
	go func() { whole <- readsWhole(path, stop) }()
	for i := range rounds {
		if err := claudeCodeAdds(path, fmt.Sprintf("/project/%d", i)); err != nil {
			t.Fatalf("the client's round %d: %v", i, err)
		}
		untilChanged(path)
	}
	took := turns()
	close(stop)
	if err := <-whole; err != nil {
		t.Errorf("a reader found the file torn: %v", err)
	}
	t.Logf("%d rewrites by the client, %d applies by %d rivals", rounds, took, rivals)
	m.checkRivals(path, rounds)
}

// startRivals starts the processes. The returned function ends them, and gives the number of their applies.
func (m *machine) startRivals() func() int {
	m.t.Helper()
	var group sync.WaitGroup
	var mutex sync.Mutex
	var inputs []io.Closer
	total := 0
	for i := range rivals {
		name := fmt.Sprintf("rival-%d", i)
		cmd := child(m.t, m.home, rivalName, name)
		in, err := cmd.StdinPipe()
		if err != nil {
			m.t.Fatal(err)
		}
		inputs = append(inputs, in)
		out, err := cmd.StdoutPipe()
		if err != nil {
			m.t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			m.t.Fatal(err)
		}
		group.Go(func() {
			said, _ := io.ReadAll(out)
			if err := cmd.Wait(); err != nil {
				m.t.Errorf("%s failed: %v", name, err)
			}
			turns, err := strconv.Atoi(string(said))
			if err != nil || turns == 0 {
				m.t.Errorf("%s said %q", name, said)
			}
			mutex.Lock()
			defer mutex.Unlock()
			total += turns
		})
	}
	return func() int {
		for _, in := range inputs {
			in.Close()
		}
		group.Wait()
		return total
	}
}

// beRival wraps and unwraps one server, as `bouncer init` and `bouncer unwrap` do, until its standard input ends. What it did
// last must still be so when its next turn comes.
func beRival(home, name string) {
	ended := make(chan struct{})
	go func() {
		_, _ = bufio.NewReader(os.Stdin).ReadByte()
		close(ended)
	}()
	r := rival{path: filepath.Join(home, ".claude.json"), name: name, store: NewStore(filepath.Join(home, "state", "bouncer")), last: Plain}
	for {
		if err := r.turn(); err != nil {
			panic(fmt.Errorf("%s: %w", name, err)) // fails the process, with standard error to read
		}
		select {
		case <-ended:
			fmt.Fprint(os.Stdout, r.turns)
			return
		default:
		}
	}
}

type rival struct {
	path, name string
	store      *Store
	last       State // what it made of its server
	turns      int
}

func (r *rival) turn() error {
	file := File{Client: "claude-code", Path: r.path, Maps: config("").Maps, Lock: true}
	var err error
	if file.Data, file.Mode, err = readRegular(r.path); err != nil {
		return err
	}
	entries, err := Entries(file, launcher)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name == r.name && e.State != r.last {
			return fmt.Errorf("after turn %d it was %s, and now it is %s", r.turns, r.last, e.State)
		}
	}
	plan, next := PlanWrap, Wrapped
	if r.last == Wrapped {
		plan, next = PlanUnwrap, Plain
	}
	o := options()
	o.Servers = []string{r.name}
	replan := func(f File) (Plan, error) { return plan(f, o) }
	p, err := replan(file)
	if err != nil {
		return err
	}
	switch _, err := Apply(r.store, []Plan{p}, ApplyOptions{Replan: replan}); {
	case errors.Is(err, atomicfile.ErrLocked): // to lose every race is an answer too, and changes nothing
	case err != nil:
		return err
	default:
		r.last = next
		r.turns++
	}
	return nil
}

// claudeCodeAdds does what Claude Code does to its file: it makes the lock's folder, reads and parses everything, changes
// something, and writes all of it anew beside the old file, which is then replaced.
func claudeCodeAdds(path, project string) error {
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		err := os.Mkdir(path+".lock", 0o777)
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrExist) || time.Now().After(deadline) {
			return err
		}
	}
	defer os.Remove(path + ".lock")
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var config map[string]any
	if err := json.Unmarshal(data, &config); err != nil {
		return err
	}
	config["numStartups"] = config["numStartups"].(float64) + 1
	config["projects"].(map[string]any)[project] = map[string]any{"allowedTools": []string{}, "mcpServers": map[string]any{}}
	if data, err = json.MarshalIndent(config, "", "  "); err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp.client", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp.client", path)
}

// untilChanged waits for somebody else to write the file, so that no writer has it for itself; but not for ever.
func untilChanged(path string) {
	first, err := os.Stat(path)
	for deadline := time.Now().Add(time.Second); err == nil && time.Now().Before(deadline); {
		time.Sleep(time.Millisecond)
		if now, err := os.Stat(path); err == nil && !os.SameFile(first, now) {
			return
		}
	}
}

// readsWhole reads the file over and over, and returns the first fault in it.
func readsWhole(path string, stop <-chan struct{}) error {
	for {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if !json.Valid(data) {
			return fmt.Errorf("%d bytes that are no JSON", len(data))
		}
		select {
		case <-stop:
			return nil
		case <-time.After(time.Millisecond): // leaves the machine to those who write
		}
	}
}

func (m *machine) checkRivals(path string, rounds int) {
	m.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		m.t.Fatal(err)
	}
	var now struct {
		NumStartups int
		McpServers  map[string]any
		Projects    map[string]any
	}
	if err := json.Unmarshal(data, &now); err != nil {
		m.t.Fatal(err)
	}
	if now.NumStartups != rounds || len(now.Projects) != rounds || len(now.McpServers) != rivals {
		m.t.Errorf("%d starts, %d projects, %d servers are left of %d, %d, %d",
			now.NumStartups, len(now.Projects), len(now.McpServers), rounds, rounds, rivals)
	}
	entries, err := Entries(File{Path: path, Maps: config("").Maps, Data: data}, launcher)
	if err != nil {
		m.t.Fatal(err)
	}
	for i, entry := range entries {
		if entry.Command != "npx" || len(entry.Args) != 1 || entry.Name != "rival-"+entry.Args[0] {
			m.t.Errorf("server %d is %s and starts %s %q", i, entry.Name, entry.Command, entry.Args)
		}
	}
	if left := m.leftovers(); len(left) > 0 {
		m.t.Errorf("left behind: %q", left)
	}
	if list, err := m.store.Generations(); err != nil || len(list) == 0 || len(list) > keepGenerations+2 {
		m.t.Errorf("%d generations are kept, %v", len(list), err)
	}
}

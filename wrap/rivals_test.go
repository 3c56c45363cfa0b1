package wrap

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// claudeCodeAdds does what `claude mcp add -s local` does to the file: under the client's lock, all of it parsed, one
// project added, all of it written anew beside the old one, which is then replaced.
func claudeCodeAdds(path, project string) error {
	unlock, err := atomicfile.LockDir(path+".lock", lockStale, lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var config map[string]any
	if err := json.Unmarshal(data, &config); err != nil {
		return err
	}
	projects := config["projects"].(map[string]any)
	projects[project] = map[string]any{"mcpServers": map[string]any{
		"added": map[string]any{"type": "stdio", "command": "npx", "args": []string{"added"}, "env": map[string]string{}},
	}}
	if data, err = json.MarshalIndent(config, "", "  "); err != nil {
		return err
	}
	if err := os.WriteFile(path+".tmp.client", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".tmp.client", path)
}

// TestRivals lets twenty inits and unwraps fight over ~/.claude.json with a client that rewrites it all the time.
// Whatever was reported as done must be there at the end.
func TestRivals(t *testing.T) {
	const adds = 30
	m := newMachine(t)
	path := m.write(".claude.json", `{"mcpServers": {"base": {"command": "npx", "args": ["base"]}}, "projects": {}}`)
	var group sync.WaitGroup
	group.Go(func() {
		for i := range adds {
			if err := claudeCodeAdds(path, fmt.Sprintf("/project/%d", i)); err != nil {
				t.Errorf("the client's add %d: %v", i, err)
			}
		}
	})
	for i := range 20 {
		plan := PlanWrap
		if i%2 == 1 {
			plan = PlanUnwrap
		}
		group.Go(func() { m.rival(plan) })
	}
	group.Wait()
	m.checkRivals(path, adds)
}

// rival applies a plan to the whole home. Losing every race to the lock is an answer too, losing a change is not.
func (m *machine) rival(plan func(File, Options) (Plan, error)) {
	options := Options{Launcher: "/usr/local/bin/bouncer"}
	replan := func(f File) (Plan, error) { return plan(f, options) }
	var plans []Plan
	for _, file := range Discover(m.env(), DiscoverOptions{}).Files {
		p, err := replan(file)
		if err != nil {
			m.t.Error(err)
			return
		}
		plans = append(plans, p)
	}
	if _, err := Apply(m.store, plans, ApplyOptions{Replan: replan}); err != nil && !errors.Is(err, atomicfile.ErrLocked) {
		m.t.Error(err)
	}
}

func (m *machine) checkRivals(path string, adds int) {
	m.t.Helper()
	found := Discover(m.env(), DiscoverOptions{Files: []string{path}})
	if len(found.Files) != 1 {
		m.t.Fatalf("found %+v", found)
	}
	entries, err := Entries(found.Files[0])
	if err != nil {
		m.t.Fatal(err)
	}
	if len(entries) != adds+1 {
		m.t.Errorf("%d servers, want %d", len(entries), adds+1)
	}
	for _, entry := range entries {
		if entry.State != Plain && entry.State != Wrapped || entry.Command != "npx" {
			m.t.Errorf("%v is %s and starts %s", entry.Pointer, entry.State, entry.Command)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(m.home, "*.tmp*")); len(left) > 0 {
		m.t.Errorf("left behind: %q", left)
	}
}

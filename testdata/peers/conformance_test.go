package peers

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/testdata/peers/shim"
)

// conformanceServer is the server that the Go SDK passes the suites with.
const conformanceServer = "github.com/modelcontextprotocol/go-sdk/conformance/everything-server"

// TestConformance runs both conformance suites three times: against the SDK's server itself over HTTP, against the same
// server over a pipe behind a shim, and against that with bouncer in between. bouncer must fail nothing that the shim
// alone passes; what the shim fails by itself is logged. Bouncer as a server of its own (bouncer serve) must fail nothing
// besides but what needs tools and resources that are made for the suites.
func TestConformance(t *testing.T) {
	w := newWorld(t)
	server := filepath.Join(w.home, "everything-server")
	if out, err := exec.Command("go", "build", "-o", server, conformanceServer).CombinedOutput(); err != nil {
		t.Fatalf("building the server: %v\n%s", err, out)
	}
	for _, suite := range []struct {
		name, pkg string
		args      []string
		stateless string // how the SDK's server serves this era over HTTP
		least     int    // checks that pass behind the shim, so that an empty run is found out
		itself    int    // and of bouncer itself
	}{
		{"0.1.16", "conformance-0-1", []string{"--suite", "all"}, "false", 44, 11},
		{"0.2.0 for 2025-11-25", "conformance-0-2", []string{"--requirements", "2025-11-25"}, "false", 81, 45},
		{"0.2.0 for 2026-07-28", "conformance-0-2", []string{"--requirements", "2026-07-28"}, "true", 143, 93},
	} {
		t.Run(suite.name, func(t *testing.T) {
			w := w.in(t)
			run := func(url string) checks {
				out := w.mkdir("results-" + strings.ReplaceAll(t.Name(), "/", "-") + "-" + url[strings.LastIndex(url, ":")+1:])
				args := append([]string{w.script(suite.pkg, "conformance"), "server", "--url", url, "-o", out}, suite.args...)
				// It fails when a check does, and some do.
				log, _ := w.command(out, w.bin("node"), args...).CombinedOutput()
				return w.readChecks(out, log)
			}
			direct := run(w.listen(server, suite.stateless))
			alone := run(w.shim(server))
			through := run(w.shim(w.bouncer, "run", "--upstream-name=conformance", "--", server))
			itself := run(w.shim(w.bouncer, "serve"))
			t.Logf("directly %s; shim %s; shim and bouncer %s; bouncer itself %s", direct, alone, through, itself)
			for _, name := range direct.lostIn(alone) {
				t.Logf("the shim's own: %s: %s", name, alone[name].reason)
			}
			for _, name := range through.lostIn(alone) {
				t.Logf("only with bouncer: %s: %s", name, alone[name].reason)
			}
			if n := alone.passed(); n < suite.least {
				t.Errorf("behind the shim %d checks pass, want %d", n, suite.least)
			}
			for _, name := range alone.lostIn(through) {
				t.Errorf("lost behind bouncer: %s: %s", name, through[name].reason)
			}
			if n := itself.passed(); n < suite.itself {
				t.Errorf("of bouncer itself %d checks pass, want %d", n, suite.itself)
			}
			for _, name := range alone.lostIn(itself) {
				if c := itself[name]; c.status != "" && c.status != "SKIPPED" && !needsFixture.MatchString(c.reason) {
					t.Errorf("bouncer itself fails: %s: %s", name, c.reason)
				}
			}
		})
	}
}

// listen starts the server over HTTP and returns its address.
func (w *world) listen(server, stateless string) string {
	w.t.Helper()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	cmd := w.command(w.home, server, "-http="+address, "-stateless="+stateless)
	if err := cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for begin := time.Now(); time.Since(begin) < 30*time.Second; {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
			return "http://" + address
		}
	}
	w.t.Fatalf("%s does not listen", server)
	return ""
}

// shim puts a server behind HTTP and returns its address.
func (w *world) shim(argv ...string) string {
	s := shim.New(w.env, argv...)
	h := httptest.NewServer(s)
	w.t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
		s.Close()
	})
	return h.URL
}

// check is how one check of a suite ended, and checks are those of a run by scenario and id.
type check struct{ status, reason string }

type checks map[string]check

func (w *world) readChecks(dir string, log []byte) checks {
	w.t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
	if err != nil {
		w.t.Fatal(err)
	}
	all := checks{}
	for _, file := range files {
		var list []struct{ ID, Status, ErrorMessage string }
		if err := json.Unmarshal([]byte(w.read(file)), &list); err != nil {
			w.t.Fatal(err)
		}
		scenario := filepath.Base(filepath.Dir(file))
		scenario = scenario[:len(scenario)-len("-2026-11-30T21-56-56-399Z")]
		for _, c := range list {
			name := scenario + " " + c.ID
			for i := 2; all[name] != (check{}); i++ { // some ids come several times in a scenario
				name = fmt.Sprintf("%s %s (%d)", scenario, c.ID, i)
			}
			all[name] = check{c.Status, c.ErrorMessage}
		}
	}
	if len(all) == 0 {
		w.t.Fatalf("the suite left no checks:\n%s", clip(string(log)))
	}
	return all
}

// lostIn are the checks that passed here and not there.
func (c checks) lostIn(other checks) []string {
	var lost []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if c[name].status == "SUCCESS" && other[name].status != "SUCCESS" {
			lost = append(lost, name)
		}
	}
	return lost
}

func (c checks) passed() int { return c.count("SUCCESS") }

func (c checks) count(status string) int {
	n := 0
	for _, one := range c {
		if one.status == status {
			n++
		}
	}
	return n
}

func (c checks) String() string {
	failed := c.count("FAILURE")
	return fmt.Sprintf("%d passed, %d failed, %d other", c.passed(), failed, len(c)-c.passed()-failed)
}

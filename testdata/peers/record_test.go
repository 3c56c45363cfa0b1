package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/diff"
)

// tee is the program peer-tee DIR COMMAND [ARG]...: it stands in front of a server and writes down in DIR what passes.
func tee() {
	if err := teeTo(os.Args[1], os.Args[2], os.Args[3:]...); err != nil {
		fmt.Fprintln(os.Stderr, "peer-tee:", err)
	}
}

func teeTo(dir, command string, args ...string) error {
	toServer, err := create(dir, "to-server")
	if err != nil {
		return err
	}
	fromServer, err := create(dir, "from-server")
	if err != nil {
		return err
	}
	cmd := exec.Command(command, args...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		cmd.Process.Signal(<-told)
	}()
	go func() {
		io.Copy(io.MultiWriter(toServer, in), os.Stdin)
		in.Close()
		time.Sleep(time.Second) // some servers don't end when their input does
		cmd.Process.Kill()
	}()
	if _, err := io.Copy(io.MultiWriter(fromServer, os.Stdout), out); err != nil {
		return err
	}
	return cmd.Wait()
}

// create makes a recording. Only one server may be recorded in a folder, so a second start is found out.
func create(dir, name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, name), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
}

// traffic is what passed at one place between a client and a server, line by line.
type traffic struct{ toServer, fromServer []string }

// way is one way from a client to a server, with a recorder at the client's end and, where bouncer is between them,
// another at the server's.
type way struct {
	argv          []string // what the client starts
	client, inner string   // folders of the recordings; no inner one directly
}

// ways returns the two ways to a server: directly, and through bouncer with a new home and the default policy.
func (w *world) ways(name string, server ...string) (direct, through way) {
	w.t.Helper()
	tee := w.program("peer-tee")
	dirs := func(parts ...string) string {
		dir, err := os.MkdirTemp(w.home, strings.Join(parts, "-")+"-")
		if err != nil {
			w.t.Fatal(err)
		}
		return dir
	}
	direct.client = dirs("direct")
	direct.argv = append([]string{tee, direct.client}, server...)
	through.client, through.inner = dirs("through", "client"), dirs("through", "server")
	run := []string{tee, through.client, w.bouncer, "run", "--upstream-name=" + name, "--", tee, through.inner}
	through.argv = append(run, server...)
	return direct, through
}

// launcher is a program without arguments that does what the client is to start.
func (w *world) launcher(to way) string {
	w.t.Helper()
	words := make([]string, len(to.argv))
	for i, word := range to.argv {
		words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	path := filepath.Join(to.client, "start")
	w.write(path, "#!/bin/sh\nexec "+strings.Join(words, " ")+"\n")
	if err := os.Chmod(path, 0o700); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func recorded(t *testing.T, dir string) traffic {
	t.Helper()
	lines := func(name string) []string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		return slices.Collect(strings.Lines(string(data)))
	}
	return traffic{toServer: lines("to-server"), fromServer: lines("from-server")}
}

// identical fails unless a server was driven alike and answered alike on both ways. What varies from one run of the
// peers to the next is masked in lines before they are compared between the two ways. Inside the way through bouncer
// nothing is masked: what stands in front of it must stand behind it, to the byte.
func identical(t *testing.T, direct, through way, mask ...*regexp.Regexp) {
	t.Helper()
	straight, outer, inner := recorded(t, direct.client), recorded(t, through.client), recorded(t, through.inner)
	sent := func(line string) bool { return ownElicitation(line) || isRoots(line) }
	same(t, "sent to the server", masked(without(straight.toServer, sent), mask), masked(without(outer.toServer, sent), mask))
	drop := func(line string) bool { return ownElicitation(line) || endsSubscription(line) || isRoots(line) }
	same(t, "received from the server", masked(without(straight.fromServer, drop), mask), masked(without(outer.fromServer, drop), mask))
	untouched(t, outer, inner)
}

// isRoots reports whether a line asks for the client's roots or tells them. The servers ask a moment after they start, so
// whether the client is still there depends on the time; that both lines pass bouncer as they are, untouched tells.
func isRoots(line string) bool {
	return strings.Contains(line, `"method":"roots/list"`) || strings.Contains(line, `"result":{"roots":`)
}

// untouched fails unless the traffic on both sides of bouncer is the same but for what docs/fidelity.md lists.
func untouched(t *testing.T, outer, inner traffic) {
	t.Helper()
	listings := len(inner.toServer) - len(without(inner.toServer, ownListing))
	if listings == 0 {
		t.Error("bouncer asked for no listing: it was not between the two")
	}
	sequence(t, "client to server", without(outer.toServer, ownElicitation), without(inner.toServer, ownListing), isCall)
	sequence(t, "server to client", without(inner.fromServer, ownListing), without(outer.fromServer, ownElicitation), listsTools)
}

// sequence fails unless the same lines came out in the order they went in. Only the lines that may wait for bouncer's own
// listing may be later, and even these keep their order.
func sequence(t *testing.T, direction string, in, out []string, late func(string) bool) {
	t.Helper()
	split := func(lines []string) (prompt, held []string) {
		for _, line := range lines {
			if late(line) {
				held = append(held, line)
			} else {
				prompt = append(prompt, line)
			}
		}
		return prompt, held
	}
	inPrompt, inHeld := split(in)
	outPrompt, outHeld := split(out)
	for _, pair := range [][2][]string{{inPrompt, outPrompt}, {inHeld, outHeld}} {
		if d := diff.Diff("into bouncer", joined(pair[0]), "out of bouncer", joined(pair[1])); d != nil {
			t.Errorf("%s:\n%s", direction, clip(string(d)))
		}
	}
}

// same fails unless the lines are the same, in whatever order: two runs of one server don't interleave its
// notifications alike.
func same(t *testing.T, what string, direct, through []string) {
	t.Helper()
	if len(direct) == 0 {
		t.Errorf("nothing was %s", what)
	}
	if d := diff.Diff("directly", joined(slices.Sorted(slices.Values(direct))), "through bouncer", joined(slices.Sorted(slices.Values(through)))); d != nil {
		t.Errorf("%s:\n%s", what, clip(string(d)))
	}
}

func joined(lines []string) []byte { return []byte(strings.Join(lines, "")) }

func clip(s string) string {
	const most = 6000
	return s[:min(len(s), most)]
}

// masked replaces what varies between runs.
func masked(lines []string, mask []*regexp.Regexp) []string {
	out := slices.Clone(lines)
	for i := range out {
		for _, re := range mask {
			out[i] = re.ReplaceAllString(out[i], "*")
		}
	}
	return out
}

func without(lines []string, drop func(string) bool) []string {
	return slices.DeleteFunc(slices.Clone(lines), drop)
}

// ownID is the form of the ids that bouncer gives to its requests.
var ownID = regexp.MustCompile(`^"bouncer-[0-9a-f]{32}-[0-9]+"$`)

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
	} `json:"params"`
	Result map[string]json.RawMessage `json:"result"`
}

// read takes a line apart as far as these tests care. What can't be read has no id and no method.
func read(line string) message {
	var m message
	_ = json.Unmarshal([]byte(line), &m)
	return m
}

// ownListing holds for bouncer's request for the server's tools, and for the answer to it. Both stay between bouncer and
// the server.
func ownListing(line string) bool {
	m := read(line)
	return ownID.Match(m.ID) && (m.Method == "tools/list" || m.Method == "")
}

// ownElicitation holds for bouncer's question to the person, its withdrawal and the answer. They stay between bouncer and
// the client.
func ownElicitation(line string) bool {
	m := read(line)
	return ownID.Match(m.ID) && (m.Method == "elicitation/create" || m.Method == "") ||
		m.Method == "notifications/cancelled" && ownID.Match(m.Params.RequestID)
}

// endsSubscription holds for the answer to subscriptions/listen. A client that closes ends its subscription first, and
// whether it still reads the answer is a matter of time.
func endsSubscription(line string) bool {
	return strings.Contains(string(read(line).Result["_meta"]), `"io.modelcontextprotocol/subscriptionId"`)
}

func isCall(line string) bool { return read(line).Method == "tools/call" }

func listsTools(line string) bool { return read(line).Result["tools"] != nil }

// covers fails if one of the methods was not used between the client and what it started.
func covers(t *testing.T, w way, want ...string) {
	t.Helper()
	used := map[string]bool{}
	all := recorded(t, w.client)
	for _, line := range slices.Concat(all.toServer, all.fromServer) {
		used[read(line).Method] = true
	}
	for _, method := range want {
		if !used[method] {
			t.Errorf("no %s among %v", method, slices.Sorted(maps.Keys(used)))
		}
	}
}

// program is one of the programs in this package.
func (w *world) program(name string) string {
	w.t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		w.t.Fatal(err)
	}
	return path
}

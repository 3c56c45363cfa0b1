package peers

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestClaudeCodeHook has the real client run the hook that init has put into its settings, as it runs all hooks: the settings
// load, the command succeeds, says nothing, and the prompt reaches the model as it was typed. What the client has written into
// the file meanwhile stays when the hook goes.
func TestClaudeCodeHook(t *testing.T) {
	w := newWorld(t)
	claude, server := w.bin("claude"), w.bin("mcp-server-everything")
	project := w.mkdir("project")
	settings := filepath.Join(w.home, ".claude", "settings.json")
	const before = "{\n  \"includeCoAuthoredBy\": false,\n  \"hooks\": {\"Stop\": []}\n}\n"
	w.write(settings, before)
	model := &asked{}
	api := httptest.NewServer(model)
	defer api.Close()
	w.reach(api.URL)

	w.run(project, claude, "mcp", "add", "--scope", "user", "everything", "--", server, "stdio")
	w.run(project, w.bouncer, "init", "--client", "claude-code", "--yes")
	const prompt = "write to bob@example.org"
	hooks := w.hooksOf(project, claude, prompt)
	if len(hooks) != 1 || hooks[0].Code != 0 || hooks[0].Outcome != "success" || hooks[0].Output != "" {
		t.Errorf("the client's account of its hooks: %+v", hooks)
	}
	if asked := model.text(); !strings.Contains(asked, prompt) || strings.Contains(asked, "bouncer hook") {
		t.Errorf("the model was asked:\n%s", asked)
	}

	// A bouncer that is gone keeps no prompt from going through, and puts nothing into it.
	if err := os.Rename(w.bouncer, w.bouncer+".gone"); err != nil {
		t.Fatal(err)
	}
	hooks = w.hooksOf(project, claude, prompt)
	if len(hooks) != 1 || hooks[0].Code != 0 || hooks[0].Outcome != "success" {
		t.Errorf("without bouncer: %+v", hooks)
	}
	if asked := model.text(); !strings.Contains(asked, prompt) || strings.Contains(asked, "not found") {
		t.Errorf("without bouncer, the model was asked:\n%s", asked)
	}
	if err := os.Rename(w.bouncer+".gone", w.bouncer); err != nil {
		t.Fatal(err)
	}

	w.run(project, w.bouncer, "unwrap", "--client", "claude-code", "--yes")
	if got := w.read(settings); got != before {
		t.Errorf("the settings are not as they were:\n%s", got)
	}
	if hooks := w.hooksOf(project, claude, prompt); len(hooks) != 0 {
		t.Errorf("unwrapped, and yet: %+v", hooks)
	}
}

// TestHookCommand runs the command as the client would, by a shell, in ways that the client's own run does not reach.
func TestHookCommand(t *testing.T) {
	w := newWorld(t)
	w.write(filepath.Join(w.home, ".claude.json"), `{"mcpServers": {"files": {"command": "npx", "args": ["files"]}}}`)
	w.mkdir(".claude")
	w.run(w.home, w.bouncer, "init", "--yes")
	var settings struct {
		Hooks map[string][]struct {
			Hooks []struct{ Type, Command string }
		}
	}
	if err := json.Unmarshal([]byte(w.read(filepath.Join(w.home, ".claude", "settings.json"))), &settings); err != nil {
		t.Fatal(err)
	}
	command := settings.Hooks["UserPromptSubmit"][0].Hooks[0].Command
	for _, shell := range []string{"sh", "bash"} {
		for _, input := range []string{"", "{", `{"hook_event_name":"UserPromptSubmit","prompt":"hi"}`, strings.Repeat("x", 2<<20)} {
			cmd := w.command(w.home, shell, "-c", command)
			cmd.Stdin = strings.NewReader(input)
			if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
				t.Errorf("%s, %d bytes: %v, %q", shell, len(input), err, out)
			}
		}
	}
}

// reach has the client go to another model.
func (w *world) reach(url string) {
	// Set to nothing, the variable moves the client's settings, though not its servers.
	w.env = slices.DeleteFunc(slices.Clone(w.env), func(v string) bool { return strings.HasPrefix(v, "CLAUDE_CONFIG_DIR=") })
	w.env = append(w.env, "ANTHROPIC_BASE_URL="+url, "ANTHROPIC_API_KEY="+apiKey)
}

const apiKey = "sk-none"

// settleIn answers what the client asks a person who starts it for the first time.
func (w *world) settleIn(project string) {
	w.t.Helper()
	file := filepath.Join(w.home, ".claude.json")
	var config map[string]any
	if err := json.Unmarshal([]byte(w.read(file)), &config); err != nil {
		w.t.Fatal(err)
	}
	config["hasCompletedOnboarding"] = true
	config["customApiKeyResponses"] = map[string]any{"approved": []string{apiKey}}
	config["projects"] = map[string]any{project: map[string]any{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true}}
	text, err := json.Marshal(config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(file, string(text))
}

// hookRun is what the client tells of one hook.
type hookRun struct {
	Subtype string
	Output  string
	Code    int `json:"exit_code"`
	Outcome string
}

// hooksOf lets the client put one prompt to the model.
func (w *world) hooksOf(project, claude, prompt string) []hookRun {
	w.t.Helper()
	cmd := w.command(project, claude, "-p", prompt, "--output-format", "stream-json", "--verbose", "--include-hook-events")
	out, err := cmd.Output()
	if err != nil {
		stderr := ""
		if exit, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output returns it bare
			stderr = string(exit.Stderr)
		}
		w.t.Fatalf("%v\n%s%s", err, out, stderr)
	}
	var runs []hookRun
	for line := range strings.Lines(string(out)) {
		var run hookRun
		if json.Unmarshal([]byte(line), &run) == nil && run.Subtype == "hook_response" {
			runs = append(runs, run)
		}
	}
	return runs
}

// asked keeps what a model is asked last.
type asked struct {
	model
	mu   sync.Mutex
	last string
}

func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	if strings.Contains(string(body), `"tools"`) { // without, it is to find a title
		a.last = string(body)
	}
	a.mu.Unlock()
	r.Body = io.NopCloser(bytes.NewReader(body))
	a.model.ServeHTTP(w, r)
}

func (a *asked) text() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.last
}

// terminal runs a command line in a terminal of its own until that ends.
const terminal = `
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
try:
    while os.read(fd, 65536):
        pass
except OSError:
    pass
`

// TestClaudeCodeSaid has somebody sit at the real client and name an address. A mail to it needs no question then. Put to the
// client by a program, the same words say nothing of a person, and there is nobody to ask.
func TestClaudeCodeSaid(t *testing.T) {
	const said = "bob@example.org"
	w := newWorld(t)
	claude, project := w.bin("claude"), w.mkdir("project")
	outbox := filepath.Join(w.home, "outbox")
	w.run(project, claude, "mcp", "add", "--scope", "user", "mail", "--", w.program("peer-mail"), outbox)
	w.mkdir(".claude")
	w.run(project, w.bouncer, "init", "--client", "claude-code", "--yes")
	w.settleIn(project)

	m := &model{steps: []toolUse{{"mcp__mail__send_email", map[string]any{"to": said, "body": "x"}}}}
	done := make(chan struct{}, 1)
	api := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		m.ServeHTTP(out, r)
		if len(m.seen()) == len(m.steps) {
			select {
			case done <- struct{}{}:
			default:
			}
		}
	}))
	defer api.Close()
	w.reach(api.URL)
	args := []string{"write to " + said, "--allowedTools", "mcp__mail__send_email"}
	w.run(project, claude, append([]string{"-p"}, args...)...)
	if _, err := os.Stat(outbox); err == nil {
		t.Fatalf("with nobody there, a mail was sent: %s", w.read(outbox))
	}
	if got := m.seen(); len(got) != 1 || !strings.Contains(got[0], "[bouncer blocked] ") {
		t.Errorf("with nobody there, the model got %q", got)
	}
	m.results = nil
	<-done

	cmd := w.command(project, "python3", append([]string{"-c", terminal, claude}, args...)...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Error("the client does not come to its end")
	}
	cmd.Process.Kill() // with its terminal, the client ends too
	cmd.Wait()
	if got := w.read(outbox); got != said+"\n" {
		t.Errorf("mails were sent to %q; the model got %q", got, m.seen())
	}
}

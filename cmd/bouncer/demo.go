package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/adrg/xdg"
	"github.com/spf13/cobra"

	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/internal/demo"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

func newDemoCmd(a *app) *cobra.Command {
	var mailServer bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the whole story in a temporary home: wrap, allow, deny, ask, unwrap",
		Long: `demo writes a sample Cursor config into a temporary home, wraps it, starts the wrapped
server as a client would and calls one tool three times. It needs no network, touches
none of your files, and removes everything it made.
` + codes(exitDone, exitFailed, exitMisused),
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if mailServer {
				return demo.ServeMail(a.in, a.out)
			}
			return a.demo()
		},
	}
	cmd.Flags().BoolVar(&mailServer, "mail-server", false, "be the mail server of the demo, over standard input and output")
	return cmd
}

// story is one telling of the demo.
type story struct {
	*app
	home, exe      string
	config, policy string // paths
	original       []byte
}

func (a *app) demo() error {
	home, err := os.MkdirTemp("", "bouncer-demo-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(home) }() // a folder for temporary files: what is left there is nobody's
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	if home, err = filepath.EvalSymlinks(home); err != nil {
		return err
	}
	s := &story{app: a, home: home, exe: exe}
	for _, chapter := range []func() error{s.begin, s.wrap, s.play, s.log, s.unwrap} {
		if err := chapter(); err != nil {
			return err
		}
	}
	return nil
}

// begin moves into the temporary home and writes the sample there.
func (s *story) begin() error {
	for name, dir := range map[string]string{
		"HOME": "", "USERPROFILE": "", "APPDATA": "AppData/Roaming", "LOCALAPPDATA": "AppData/Local",
		"XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".local/state", "XDG_DATA_HOME": ".local/share",
		"BOUNCER_HOME": ".bouncer",
	} {
		if err := os.Setenv(name, filepath.Join(s.home, filepath.FromSlash(dir))); err != nil {
			return err
		}
	}
	xdg.Reload()
	s.config = filepath.Join(s.home, ".cursor", "mcp.json")
	s.policy = filepath.Join(s.home, ".bouncer", "policy.yaml")
	server, err := s.installServer()
	if err != nil {
		return err
	}
	command, err := json.Marshal(server)
	if err != nil {
		return err
	}
	s.original = fmt.Appendf(nil, demo.Config, command)
	for path, data := range map[string][]byte{s.config: s.original, s.policy: []byte(demo.Policy)} {
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			return err
		}
	}
	s.say("bouncer demo: everything happens in a temporary home, written ~ below.\n")
	s.say("\n1. A Cursor config with a mail server, and a policy that trusts one address\n\n")
	s.quote(strings.ReplaceAll(string(s.original), demo.Secret, "***"))
	s.say("\n")
	s.quote("# policy.yaml\n" + demo.Policy)
	return nil
}

// installServer puts this program into the temporary home under another name: a server that is bouncer itself would
// not be wrapped.
func (s *story) installServer() (string, error) {
	server := filepath.Join(s.home, "mail-server"+filepath.Ext(s.exe))
	if os.Link(s.exe, server) == nil {
		return server, nil
	}
	program, err := os.ReadFile(s.exe)
	if err != nil {
		return "", err
	}
	return server, os.WriteFile(server, program, 0o700)
}

func (s *story) wrap() error {
	s.say("\n2. $ bouncer init --client cursor --yes\n\n")
	text, err := s.command("init", "--client=cursor", "--yes")
	s.quote(text)
	return err
}

// command runs one command line of bouncer's in the temporary home and returns what it prints.
func (s *story) command(args ...string) (string, error) {
	var out bytes.Buffer
	in := *s.app
	in.out, in.err = &out, &out
	in.in, in.interactive, in.color = strings.NewReader(""), false, false
	in.cwd = func() (string, error) { return s.home, nil }
	in.launch = s.exe
	code := run(args, &in)
	if code != exitDone {
		return out.String(), fmt.Errorf("bouncer %s ended with exit code %d", strings.Join(args, " "), code)
	}
	return out.String(), nil
}

// play starts the wrapped entry as a client would and calls its tools.
func (s *story) play() error {
	command, args, err := s.entry()
	if err != nil {
		return err
	}
	var noise bytes.Buffer
	client, err := demo.Start(command, args, nil, &noise)
	if err != nil {
		return fmt.Errorf("the wrapped server does not start: %w\n%s", err, noise.String())
	}
	s.say("\n3. A client starts that entry, and its agent reads the inbox\n\n")
	mails, _, err := client.Call("read_inbox", nil)
	if err != nil {
		return err
	}
	s.quote(mails)
	s.say("\n4. The agent calls send_email three times\n")
	err = errors.Join(
		s.send(client, demo.Trusted),
		s.send(client, demo.Injected),
		s.send(client, demo.New))
	if err != nil {
		return err
	}
	sent, _, err := client.Call("list_sent", nil)
	if err != nil {
		return err
	}
	s.say("\n   What the mail server has sent:\n\n")
	s.quote(sent)
	return client.Close()
}

// entry reads the command line of the server back from the config, as a client does.
func (s *story) entry() (command string, args []string, err error) {
	data, err := os.ReadFile(s.config)
	if err != nil {
		return "", nil, err
	}
	doc, err := jsonc.Parse(data, jsonc.Comments)
	if err != nil {
		return "", nil, err
	}
	value, _, err := doc.Lookup("mcpServers", "mail", "command")
	if err != nil {
		return "", nil, err
	}
	command, _ = doc.Text(value)
	if value, _, err = doc.Lookup("mcpServers", "mail", "args"); err != nil {
		return "", nil, err
	}
	for _, v := range value.Elems {
		arg, _ := doc.Text(v)
		args = append(args, arg)
	}
	return command, args, nil
}

// send makes one call and tells what became of it.
func (s *story) send(client *demo.Client, to string) error {
	s.say("\n   send_email to %s\n", to)
	asked := false
	client.Answer = func(question string) string {
		asked = true
		s.say("   -> asked, in the client:\n\n")
		s.quote(question)
		s.say("\n   -> the person answers: allow once\n")
		return "allow once"
	}
	text, refused, err := client.Call("send_email", map[string]string{"to": to, "subject": "Quarterly report", "body": "Attached."})
	switch {
	case err != nil:
		return err
	case refused:
		s.say("   -> denied\n\n")
		s.quote(text)
	case asked:
		s.say("   -> allowed: %s\n", text)
	default:
		s.say("   -> allowed, it is on the allowlist: %s\n", text)
	}
	return nil
}

func (s *story) log() error {
	s.say("\n5. The audit log has every verdict, written before it took effect\n\n")
	lines, err := audit.Tail(filepath.Join(s.home, ".bouncer"), 100)
	if err != nil {
		return err
	}
	for _, line := range lines {
		r, err := audit.ParseRecord(line)
		if err != nil {
			return err
		}
		if r.Kind != "verdict" {
			continue
		}
		row := fmt.Sprintf("%-5s  %-10s  %-9s", r.Verdict, r.Tool, r.Contract)
		if r.Answer != "" {
			row += "  answer: " + r.Answer
		} else if r.Reason != "" {
			row += "  " + r.Reason
		}
		s.quote(strings.TrimRight(row, " "))
	}
	report, err := audit.Verify(filepath.Join(s.home, ".bouncer"))
	if err != nil {
		return err
	}
	if report.Fault != nil {
		return fmt.Errorf("the audit log does not verify: %s", report.Fault.Reason)
	}
	s.say("\n   chain of %d records: ok\n", report.Records)
	return nil
}

func (s *story) unwrap() error {
	s.say("\n6. $ bouncer unwrap --yes\n\n")
	text, err := s.command("unwrap", "--client=cursor", "--yes")
	if at := strings.Index(text, "Unwrapped"); at > 0 {
		text = text[at:] // the diff is the one above, the other way round
	}
	s.quote(text)
	if err != nil {
		return err
	}
	now, err := os.ReadFile(s.config)
	if err != nil {
		return err
	}
	if !bytes.Equal(now, s.original) {
		return errors.New("the config is not what it was")
	}
	s.say("\nThe config is what it was at the start, byte for byte.\n")
	return nil
}

func (s *story) say(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// quote prints a text indented, with the places of this machine taken out.
func (s *story) quote(text string) {
	text = s.neutral(text)
	for line := range strings.Lines(text) {
		_, _ = io.WriteString(s.out, strings.TrimRight("   | "+strings.TrimRight(line, "\n"), " ")+"\n") // a person's terminal
	}
}

// neutral writes ~ for the temporary home and /usr/local/bin/bouncer for this program.
func (s *story) neutral(text string) string {
	for _, place := range []struct{ path, name string }{{s.exe, "/usr/local/bin/bouncer"}, {s.home, "~"}} {
		quoted, err := json.Marshal(place.path)
		if err == nil {
			text = strings.ReplaceAll(text, string(quoted[1:len(quoted)-1]), place.name)
		}
		text = strings.ReplaceAll(text, place.path, place.name)
	}
	return filepath.ToSlash(text)
}

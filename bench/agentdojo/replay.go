package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// thinks is how long the person takes to say no. A faster no is taken for a program's, and bouncer asks that client no more.
const thinks = 350 * time.Millisecond

// replay sends the calls of one record in order and answers each with its recorded result. Each run has a home of its
// own, so that no run shares a session with another.
func replay(o options, s setup, home string, r record) (score, error) {
	result := score{record: r, fates: make([]fate, len(r.Steps)), why: make([]string, len(r.Steps))}
	dir, err := os.MkdirTemp(home, "run-")
	if err != nil {
		return result, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // below a temporary folder
	script := filepath.Join(dir, "steps.json")
	text, err := json.Marshal(r.Steps)
	if err != nil {
		return result, err
	}
	if err := os.WriteFile(script, text, 0o600); err != nil {
		return result, err
	}
	self, err := os.Executable()
	if err != nil {
		return result, err
	}
	args := []string{"run", "--home=" + dir, "--upstream-name=" + r.Suite, "--profile=" + s.profile}
	if s.policies {
		args = append(args, "--policy="+policyFile(home, r.Suite))
	}
	args = append(append(args, o.args...), "--", self, "upstream", filepath.Join(o.data, "tools.json")+"#"+r.Suite, script)
	c, err := dial(o.bouncer, args)
	if err != nil {
		return result, err
	}
	if s.prompts {
		if err := tell(o.bouncer, dir, r.Prompt); err != nil {
			return result, err
		}
	}
	for i, step := range r.Steps {
		if result.fates[i], result.why[i], err = c.call(i+1, step, r.agrees(i)); err != nil {
			return result, err
		}
	}
	return result, c.close()
}

// tell hands bouncer what the person typed, as the hook of a client does.
func tell(program, dir, prompt string) error {
	input, err := json.Marshal(map[string]string{"hook_event_name": "UserPromptSubmit", "prompt": prompt})
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "hook", "prompt", "--home="+dir)
	cmd.Stdin = bytes.NewReader(input)
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		return fmt.Errorf("bouncer hook prompt: %w, and it said: %s", err, out)
	}
	return nil
}

// client is as much of an MCP client as a replay needs.
type client struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	noise strings.Builder
}

func dial(program string, args []string) (*client, error) {
	c := &client{cmd: exec.Command(program, args...)}
	c.cmd.Stderr = &c.noise
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.lines = bufio.NewReaderSize(out, 1<<20)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	err = c.send(`{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"replay","version":"1"}}}`)
	if err != nil {
		return nil, err
	}
	if _, err := c.receive(); err != nil {
		return nil, err
	}
	return c, c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *client) send(line string) error {
	_, err := io.WriteString(c.in, line+"\n")
	return err
}

// frame is what a replay looks at in what it receives.
type frame struct {
	ID     json.RawMessage
	Method string
	Params struct{ Message string }
	Result struct {
		Content []struct{ Text string }
		IsError bool
	}
	Error json.RawMessage
}

func (c *client) receive() (frame, error) {
	var f frame
	line, err := c.lines.ReadBytes('\n')
	if err != nil {
		return f, fmt.Errorf("%w\n%s", err, c.noise.String())
	}
	return f, json.Unmarshal(line, &f)
}

// call makes one call and says what became of it and why.
func (c *client) call(id int, s step, agree bool) (fate, string, error) {
	name, err := json.Marshal(s.Tool)
	if err != nil {
		return 0, "", err
	}
	if err := c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s,"arguments":%s}}`, id, name, s.Args)); err != nil {
		return 0, "", err
	}
	asked, question := false, ""
	for {
		f, err := c.receive()
		if err != nil {
			return 0, "", err
		}
		if f.Method == "elicitation/create" {
			asked, question = true, f.Params.Message
			decision := "allow once"
			if !agree {
				time.Sleep(thinks)
				decision = "deny"
			}
			if err := c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":%q}}}`, f.ID, decision)); err != nil {
				return 0, "", err
			}
			continue
		}
		if f.Error != nil {
			return 0, "", fmt.Errorf("%s: %s", s.Tool, f.Error)
		}
		text := ""
		if len(f.Result.Content) > 0 {
			text = f.Result.Content[0].Text
		}
		blocked := f.Result.IsError && strings.HasPrefix(text, "[bouncer blocked]")
		switch {
		case asked && blocked:
			return askedNo, text, nil
		case asked:
			return askedYes, question, nil
		case blocked:
			return denied, text, nil
		}
		return allowed, "", nil
	}
}

func (c *client) close() error {
	if err := c.in.Close(); err != nil {
		return err
	}
	if err := c.cmd.Wait(); err != nil {
		return fmt.Errorf("%w\n%s", err, c.noise.String())
	}
	return nil
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// fate is what became of one call.
type fate uint8

const (
	allowed fate = iota
	denied
	askedYes // asked, and the person agreed
	askedNo
)

func (f fate) stopped() bool { return f == denied || f == askedNo }
func (f fate) asked() bool   { return f == askedYes || f == askedNo }

// replay sends the calls of one record in order and answers each with its recorded result. The person agrees to what
// the user's task needs and refuses what the attack needs.
func replay(o options, home string, r record) (score, error) {
	s := score{record: r, fates: make([]fate, len(r.Steps)), why: make([]string, len(r.Steps))}
	dir, err := os.MkdirTemp(home, "run-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(dir)
	script := filepath.Join(dir, "steps.json")
	text, err := json.Marshal(r.Steps)
	if err != nil {
		return s, err
	}
	if err := os.WriteFile(script, text, 0o600); err != nil {
		return s, err
	}
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	args := append([]string{"run", "--home=" + dir, "--upstream-name=" + r.Suite}, o.args...)
	args = append(args, "--", self, "upstream", filepath.Join(o.data, "tools.json")+"#"+r.Suite, script)
	c, err := dial(o.bouncer, args)
	if err != nil {
		return s, err
	}
	for i, step := range r.Steps {
		useful := slices.Contains(r.Labels.Useful, i) && !slices.Contains(r.Labels.Attack, i) && !slices.Contains(r.Labels.Group, i)
		if s.fates[i], s.why[i], err = c.call(i+1, step, useful); err != nil {
			return s, err
		}
	}
	return s, c.close()
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
	asked := false
	for {
		f, err := c.receive()
		if err != nil {
			return 0, "", err
		}
		if f.Method == "elicitation/create" {
			asked = true
			decision := "deny"
			if agree {
				decision = "allow once"
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
			return askedYes, "", nil
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

// upstream is the server behind bouncer: it lists a suite's tools and answers the n-th call with the n-th result.
func upstream(tools, script string) error {
	file, suite, _ := strings.Cut(tools, "#")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var suites map[string]json.RawMessage
	if err := json.Unmarshal(text, &suites); err != nil {
		return err
	}
	var steps []step
	if text, err = os.ReadFile(script); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &steps); err != nil {
		return err
	}
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		var f frame
		if json.Unmarshal(line, &f) != nil || f.ID == nil {
			continue
		}
		result := `{}`
		switch f.Method {
		case "initialize":
			result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"replay","version":"1"}}`
		case "tools/list":
			result = fmt.Sprintf(`{"tools":%s}`, compact(suites[suite]))
		case "tools/call":
			result = answer(steps, f.ID)
		}
		if _, err := fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", f.ID, result); err != nil {
			return err
		}
	}
}

func answer(steps []step, id json.RawMessage) string {
	var n int
	if json.Unmarshal(id, &n) != nil || n < 1 || n > len(steps) {
		return `{"content":[]}`
	}
	s := steps[n-1]
	text, isError := s.Result, false
	if text == "" && s.Error != "" {
		text, isError = s.Error, true
	}
	out, err := json.Marshal(map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}, "isError": isError})
	if err != nil {
		return `{"content":[]}`
	}
	return string(out)
}

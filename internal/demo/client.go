package demo

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// Client starts a server the way an MCP client does and calls its tools.
type Client struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Reader
	next  int
	// Answer is asked when the server puts a question to the person; it returns the decision.
	Answer func(question string) string
}

// Start runs one entry of a config. Its standard error goes to noise.
func Start(command string, args, env []string, noise io.Writer) (*Client, error) {
	c := &Client{cmd: exec.Command(command, args...)}
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stderr = noise
	var err error
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	c.lines = bufio.NewReader(out)
	if err := c.cmd.Start(); err != nil {
		return nil, err
	}
	_, err = c.request("initialize", `{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"demo","version":"1"}}`)
	if err != nil {
		return nil, err
	}
	return c, c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

// Call calls a tool and returns its text, and whether it is an error.
func (c *Client) Call(tool string, args map[string]string) (string, bool, error) {
	a, err := json.Marshal(args)
	if err != nil {
		return "", false, err
	}
	raw, err := c.request("tools/call", fmt.Sprintf(`{"name":%q,"arguments":%s}`, tool, a))
	if err != nil {
		return "", false, err
	}
	var result struct {
		Content []struct{ Text string }
		IsError bool
	}
	if err := json.Unmarshal(raw, &result); err != nil {
		return "", false, err
	}
	var out strings.Builder
	for _, block := range result.Content {
		out.WriteString(block.Text)
	}
	return out.String(), result.IsError, nil
}

// Close ends the server by closing its input.
func (c *Client) Close() error {
	if err := c.in.Close(); err != nil {
		return err
	}
	return c.cmd.Wait()
}

func (c *Client) send(line string) error {
	_, err := io.WriteString(c.in, line+"\n")
	return err
}

// request sends one request and reads until its answer, answering what is asked meanwhile.
func (c *Client) request(method, params string) (json.RawMessage, error) {
	c.next++
	if err := c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.next, method, params)); err != nil {
		return nil, err
	}
	for {
		line, err := c.lines.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct{ Message string }
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal(line, &m); err != nil {
			return nil, err
		}
		switch {
		case m.Method == "elicitation/create" && c.Answer != nil:
			answer := fmt.Sprintf(`{"action":"accept","content":{"decision":%q}}`, c.Answer(m.Params.Message))
			if err := c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, answer)); err != nil {
				return nil, err
			}
		case m.Method == "" && m.Error != nil:
			return nil, fmt.Errorf("%s: %s", method, m.Error.Message)
		case m.Method == "":
			return m.Result, nil
		}
	}
}

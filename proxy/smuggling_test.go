package proxy_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestSmuggling plays every case of testdata/transcript/smuggling: see the README there.
func TestSmuggling(t *testing.T) {
	files, err := filepath.Glob("../testdata/transcript/smuggling/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sections := map[string]string{"tools.json": "by hand"}
		for _, f := range archive.Files {
			sections[f.Name] = string(f.Data)
		}
		cases, err := smuggledCases(sections["cases"])
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		count += len(cases)
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.play(t, sections)
				})
			}
		})
	}
	if count < 120 {
		t.Errorf("only %d cases", count)
	}
}

// smuggled is what one side says, and what must come of each line of it.
type smuggled struct {
	name     string
	client   bool // who says it
	text     string
	outcomes []string
}

// smuggledCases reads a table: NAME | client or server | TEXT | OUTCOME [+ OUTCOME]...
func smuggledCases(table string) ([]smuggled, error) {
	var cases []smuggled
	names := map[string]bool{}
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, _ := strings.Cut(line, " | ")
		sender, rest, _ := strings.Cut(rest, " | ")
		at := strings.LastIndex(rest, " | ")
		if at < 0 || sender != "client" && sender != "server" || names[name] {
			return nil, fmt.Errorf("a line that is no case, or a second of its name: %s", line)
		}
		names[name] = true
		text, err := joined(rest[:at])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		c := smuggled{name: name, client: sender == "client", text: text, outcomes: strings.Split(rest[at+3:], " + ")}
		if n := strings.Count(text, "\n") + 1; n != len(c.outcomes) {
			return nil, fmt.Errorf("%s: %d lines with %d outcomes", name, n, len(c.outcomes))
		}
		cases = append(cases, c)
	}
	return cases, nil
}

// joined reads Go strings that stand side by side; one with *N behind it stands N times.
func joined(cell string) (string, error) {
	var text strings.Builder
	for cell != "" {
		quoted, err := strconv.QuotedPrefix(cell)
		if err != nil {
			return "", err
		}
		part, err := strconv.Unquote(quoted)
		if err != nil {
			return "", err
		}
		cell = cell[len(quoted):]
		times := 1
		if count, ok := strings.CutPrefix(cell, "*"); ok {
			count, cell, _ = strings.Cut(count, " ")
			if times, err = strconv.Atoi(count); err != nil {
				return "", err
			}
		}
		text.WriteString(strings.Repeat(part, times))
		cell = strings.TrimLeft(cell, " ")
	}
	return text.String(), nil
}

func (c smuggled) play(t *testing.T, sections map[string]string) {
	s := start(t, sections)
	s.steps(sections["setup"])
	s.vars["$own"] = strings.TrimRight(s.vars["$list"], "0123456789") + "99" // an id of bouncer's own begins like all others
	s.vars["$tail"] = s.vars["$own"][1:]
	for i, line := range strings.Split(s.expand(c.text), "\n") {
		var err error
		if c.client {
			err = s.fromClient(line)
		} else {
			s.fromServer(line)
		}
		if err := errors.Join(err, s.comesTo(c, line, c.outcomes[i])); err != nil {
			t.Fatalf("%.300q: %s: %v\nnotices:\n%s", line, c.outcomes[i], err, s.notices.String())
		}
	}
	if err := errors.Join(
		s.fromClientThrough(`{"jsonrpc":"2.0","id":"alive?","method":"ping"}`),
		s.fromServerThrough(`{"jsonrpc":"2.0","id":"alive?","result":{}}`),
	); err != nil {
		t.Errorf("the session is over: %v", err)
	}
	s.steps(sections["then"])
	s.end()
}

// steps plays steps of transcripts.
func (s *stage) steps(text string) {
	s.t.Helper()
	for step := range strings.Lines(text) {
		if err := s.step(strings.TrimSpace(step)); err != nil {
			s.t.Fatalf("%s%v", step, err)
		}
	}
}

// comesTo checks what has come of a line.
func (s *stage) comesTo(c smuggled, line, outcome string) error {
	sender, other := s.atServer, s.atClient
	if c.client {
		sender, other = s.atClient, s.atServer
	}
	line = strings.TrimSuffix(line, "\r") // ends a line together with the line feed
	word, id, _ := strings.Cut(s.expand(outcome), " ")
	switch word {
	case "forwarded":
		return s.expectExactly(other, line)
	case "gated":
		return s.expect(s.atClient, `{"jsonrpc":"2.0","id":`+id+`,"result":{"content":[{"type":"text","text":"[bouncer blocked] $why"}],"isError":true$more}}`)
	case "answered":
		return s.expect(sender, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32$code,"message":"$reason"}}`)
	case "replaced":
		return s.expect(other, `{"jsonrpc":"2.0","id":`+id+`,"error":{"code":-32603,"message":"$reason"}}`)
	case "withdrawn":
		return s.expectExactly(s.atClient, s.expand(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"$ask"}}`))
	case "dropped": // nobody gets anything: the ping that follows shows it
		return nil
	case "diverted":
		return s.await(line)
	}
	return errors.New("no such outcome")
}

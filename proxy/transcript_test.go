package proxy_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// TestTranscripts plays every testdata/transcript/*.txtar: see the README beside them for the steps.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("../testdata/transcript/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			play(t, file)
		})
	}
}

func play(t *testing.T, file string) {
	archive, err := txtar.ParseFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(strings.TrimSpace(string(archive.Comment))) == 0 {
		t.Error("a transcript opens by saying what it defends against")
	}
	sections := map[string]string{}
	for _, f := range archive.Files {
		sections[f.Name] = string(f.Data)
	}
	if strings.TrimSpace(sections["system"]) == "unix" && filepath.Separator != '/' {
		t.Skip("its paths mean something else here")
	}
	s := start(t, sections)
	for n, step := range strings.Split(strings.TrimSpace(sections["steps"]), "\n") {
		if step == "" || strings.HasPrefix(step, "#") {
			continue
		}
		if err := s.step(step); err != nil {
			t.Fatalf("step %d: %s\n%v\nnotices:\n%s", n+1, step, err, s.notices.String())
		}
	}
	s.end()
	verdicts, results := s.log.lines()
	s.compare("audit", verdicts, sections["audit"])
	if want, ok := sections["results"]; ok {
		s.compare("results", results, want)
	}
}

func (s *stage) compare(what, got, want string) {
	s.t.Helper()
	want = strings.TrimSpace(want)
	if pattern, _ := s.pattern(want); !pattern.MatchString(got) {
		s.t.Errorf("%s:\n%s\nwant:\n%s", what, got, want)
	}
}

// step plays one line of a transcript.
func (s *stage) step(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	if word == "let" {
		name, value, _ := strings.Cut(rest, " ")
		s.vars[name] = s.expand(value)
		return nil
	}
	rest = s.expand(rest)
	switch word {
	case "client>":
		return s.fromClient(rest)
	case "server>":
		s.fromServer(rest)
		return nil
	case "client<":
		return s.expect(s.atClient, rest)
	case "server<":
		return s.expect(s.atServer, rest)
	case "both>":
		return s.fromClientThrough(rest)
	case "both<":
		return s.fromServerThrough(rest)
	case "hello":
		return s.hello(rest)
	case "relist":
		s.list(rest)
		return nil
	case "relists":
		return s.relists(rest)
	case "notice":
		return s.await(rest)
	case "person":
		s.words.add(rest)
		return nil
	case "hangup":
		return s.fromUp.Close()
	}
	return s.callStep(word, rest)
}

// callStep plays one of the steps that speak of a call instead of its lines.
func (s *stage) callStep(word, rest string) error {
	id, rest2, _ := strings.Cut(rest, " ")
	switch word {
	case "call":
		tool, args, _ := strings.Cut(rest2, " ")
		if args != "" {
			args = `,"arguments":` + args
		}
		s.calls[id] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":%q%s}}`, id, tool, args)
		return s.fromClient(s.calls[id])
	case "passes":
		return s.expectExactly(s.atServer, s.calls[id])
	case "returns":
		return s.fromServerThrough(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, rest2))
	case "allowed":
		if rest2 == "" {
			rest2 = `{"content":[]}`
		}
		return errors.Join(s.callStep("passes", id), s.callStep("returns", id+" "+rest2))
	case "denied":
		reason := strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace("[bouncer blocked] " + rest2)
		return s.expect(s.atClient, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}],"isError":true}}`, id, reason))
	case "asked":
		return s.asked(rest)
	case "answers":
		return s.fromClient(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, s.vars["$ask"], rest))
	case "yes":
		return s.callStep("answers", fmt.Sprintf(`{"action":"accept","content":{"decision":%q}}`, strings.TrimSpace("allow "+rest)))
	case "no":
		return s.callStep("answers", `{"action":"decline"}`)
	}
	return errors.New("no such step")
}

func (s *stage) fromClient(line string) error {
	_, err := io.WriteString(s.toRelay, line+"\n")
	return err
}

// fromClientThrough has the client say what the server must get as it is.
func (s *stage) fromClientThrough(line string) error {
	return errors.Join(s.fromClient(line), s.expectExactly(s.atServer, line))
}

func (s *stage) fromServerThrough(line string) error {
	s.fromServer(line)
	return s.expectExactly(s.atClient, line)
}

// asked takes bouncer's question from the client, binds its id to $ask, and looks for each part of text, parts being
// separated by " | ", in what the person reads.
func (s *stage) asked(text string) error {
	line, err := s.next(s.atClient)
	if err != nil {
		return err
	}
	var q struct {
		ID     string `json:"id"`
		Method string `json:"method"`
		Params struct {
			Message string `json:"message"`
		} `json:"params"`
	}
	if err := json.Unmarshal([]byte(line), &q); err != nil || q.Method != "elicitation/create" {
		return fmt.Errorf("got  %s", line)
	}
	s.vars["$ask"] = q.ID
	for part := range strings.SplitSeq(text, " | ") {
		if !strings.Contains(q.Params.Message, part) {
			return fmt.Errorf("the question lacks %q:\n%s", part, q.Params.Message)
		}
	}
	return nil
}

// hello plays the handshake of 2025-11-25 with the given client capabilities.
func (s *stage) hello(capabilities string) error {
	greeting := `{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"test","version":"1"}}}`
	answer := `{"jsonrpc":"2.0","id":"hello","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"up","version":"2"}}}`
	return errors.Join(
		s.fromClientThrough(greeting),
		s.fromServerThrough(answer),
		s.fromClientThrough(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
}

// relists has the server announce that its tools have changed, list these to bouncer, and say something more, so that
// the listing has been looked at when the step is over.
func (s *stage) relists(tools string) error {
	s.list("by hand")
	if err := s.fromServerThrough(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`); err != nil {
		return err
	}
	line, err := s.next(s.atServer)
	if err != nil {
		return err
	}
	m := ownListing.FindStringSubmatch(line)
	if m == nil {
		return fmt.Errorf("got  %s", line)
	}
	s.fromServer(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":{"tools":%s}}`, m[1], tools))
	return s.fromServerThrough(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"listed"}}`)
}

var (
	variable = regexp.MustCompile(`\$[a-z]\w*`)
	freeName = regexp.MustCompile(`\\\$[a-z]\w*`)
)

// expand puts in what earlier lines bound.
func (s *stage) expand(text string) string {
	return variable.ReplaceAllStringFunc(text, func(name string) string {
		if value, ok := s.vars[name]; ok {
			return value
		}
		return name
	})
}

// pattern makes an expression of a line in which names that are not bound yet match anything.
func (s *stage) pattern(want string) (*regexp.Regexp, []string) {
	var names []string
	text := freeName.ReplaceAllStringFunc(regexp.QuoteMeta(want), func(name string) string {
		names = append(names, strings.TrimPrefix(name, `\`))
		return `(.*?)`
	})
	return regexp.MustCompile("^" + text + "$"), names
}

// expect takes the next line at one end and binds the names in it.
func (s *stage) expect(at chan string, want string) error {
	got, err := s.next(at)
	if err != nil {
		return err
	}
	pattern, names := s.pattern(want)
	m := pattern.FindStringSubmatch(got)
	if m == nil {
		return fmt.Errorf("got  %s\nwant %s", got, want)
	}
	for i, name := range names {
		s.vars[name] = m[i+1]
	}
	return nil
}

func (s *stage) expectExactly(at chan string, want string) error {
	got, err := s.next(at)
	if err == nil && got != want {
		err = fmt.Errorf("got  %s\nwant %s", got, want)
	}
	return err
}

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

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
		if errors.Is(err, io.EOF) {
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

// compact puts a JSON text on one line.
func compact(text []byte) []byte {
	var b bytes.Buffer
	if json.Compact(&b, text) != nil {
		return []byte("[]")
	}
	return b.Bytes()
}

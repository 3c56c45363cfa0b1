package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// prose is what results are made of: text as tools return it, with a few addresses and line breaks.
const prose = "The quarterly report was read by everyone in the room, and nobody had a question about it. " +
	"Write to dana@example.com before Friday, or see https://example.com/reports/42 for the tables.\\n"

// echo is the server under every relay: it answers what a client asks of it with as little work as can be.
func echo(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<20)
	w := bufio.NewWriterSize(out, 1<<16)
	payloads := map[int]string{}
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		id := between(line, `"id":`, `,}`)
		switch method := between(line, `"method":"`, `"`); {
		case id == "":
			continue
		case method == "initialize":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}}}`+"\n", id)
		case method == "tools/list":
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"size":{"type":"integer"}}}}]}}`+"\n", id)
		default:
			n, _ := strconv.Atoi(between(line, `"size":`, `,}`))
			text, ok := payloads[n]
			if !ok {
				text = strings.Repeat(prose, n/len(prose)+1)[:n]
				text = strings.TrimRight(text, `\`)
				payloads[n] = text
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s"}]}}`+"\n", id, text)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

func between(line []byte, head, ends string) string {
	_, rest, ok := bytes.Cut(line, []byte(head))
	if !ok {
		return ""
	}
	if i := bytes.IndexAny(rest, ends); i >= 0 {
		rest = rest[:i]
	}
	return string(rest)
}

// copier is the least a relay can be: it starts the server and copies lines, with no idea what they say.
func copier(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
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
	var both sync.WaitGroup
	both.Go(func() {
		copyLines(in, os.Stdin)
		_ = in.Close() // the server sees the end of its input either way
	})
	both.Go(func() { copyLines(os.Stdout, out) })
	both.Wait()
	return cmd.Wait()
}

func copyLines(to io.Writer, from io.Reader) {
	lines := bufio.NewReaderSize(from, 1<<16)
	for {
		line, err := lines.ReadSlice('\n')
		if _, werr := to.Write(line); werr != nil {
			return
		}
		if err != nil && err != bufio.ErrBufferFull {
			return
		}
	}
}

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
)

// payload returns nearly size bytes of a kind of text that tools return, as they stand inside a JSON string, and what goes
// before and behind them; the frame around them fills the rest. The number of the result belongs between: no two results are equal, so that nobody can do
// without looking at them.
func payload(kind string, size int) (before, text, behind string, err error) {
	var b strings.Builder
	const frame = 300 // and the last row
	for row := 0; b.Len() < max(1, size-frame); row++ {
		switch kind {
		case "prose": // with a few addresses and line breaks
			b.WriteString("The quarterly report was read by everyone in the room, and nobody had a question about it. " +
				"Write to dana@example.com before Friday, or see https://example.com/reports/42 for the tables.\\n")
		case "base64":
			sum := sha256.Sum256(strconv.AppendInt(nil, int64(row), 10))
			b.WriteString(base64.RawStdEncoding.EncodeToString(sum[:30])) // a multiple of three: no padding
		case "fresh": // replaced for each result
			b.WriteString(strings.Repeat(" ", 64))
		case "digits":
			fmt.Fprintf(&b, "%d ", 1_000_000_007*row%999_999_937)
		case "json":
			fmt.Fprintf(&b, `,{\"id\":%d,\"name\":\"Person %d\",\"email\":\"p%d@corp.example\",\"note\":\"wants a call\"}`, row, row, row)
		default:
			return "", "", "", fmt.Errorf("no payload is called %q", kind)
		}
	}
	if kind == "json" {
		return `[`, b.String(), `]`, nil
	}
	return "Result ", ". " + b.String(), "", nil
}

// echo is the server under every relay: it answers what a client asks of it with as little work as can be.
func echo(in io.Reader, out io.Writer) error {
	lines := bufio.NewReaderSize(in, 1<<20)
	w := bufio.NewWriterSize(out, 1<<16)
	type text struct{ before, text, behind string }
	payloads := map[string]text{}
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
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"kind":{"type":"string"},"size":{"type":"integer"}}}}]}}`+"\n", id)
		default:
			size, kind := between(line, `"size":`, `,}`), between(line, `"kind":"`, `"`)
			p, ok := payloads[kind+size]
			if !ok {
				n, _ := strconv.Atoi(size) // the client wrote it
				if p.before, p.text, p.behind, err = payload(kind, n); err != nil {
					return err
				}
				payloads[kind+size] = p
			}
			if kind == "fresh" {
				p.text = refresh(len(p.text), id)
			}
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%s%s%s%s"}]}}`+"\n", id, p.before, id, p.text, p.behind)
		}
		if err := w.Flush(); err != nil {
			return err
		}
	}
}

// refresh returns size bytes of prose in which no sentence was said before, with an address in every tenth. Writing it takes the
// server longer than sending it: it is in every path's time.
func refresh(size int, id string) string {
	words := strings.Fields("the report was read by everyone in room and nobody had question about it but some of them would " +
		"rather see another table before Friday since last month brought more orders than anyone had planned for this year")
	n, _ := strconv.ParseUint(id, 10, 64) // the client counts
	state := n*0x9e3779b97f4a7c15 + 1
	next := func() uint64 { // xorshift
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		return state
	}
	b := make([]byte, 0, size+200)
	for len(b) < size {
		r := next()
		for range 8 + r%8 {
			b = append(append(b, words[next()%uint64(len(words))]...), ' ')
		}
		if r>>32%10 == 0 {
			b = fmt.Appendf(b, "or write to p%d@corp.example", next()>>40)
		}
		b = append(b, `.\n`...)
	}
	return string(b)
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

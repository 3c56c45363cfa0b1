package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// drain reads every line; one that is too long appears as its size and ends.
func drain(r *Reader) (lines []string, err error) {
	for {
		line, err := r.Next()
		if e, ok := errors.AsType[*TooLongError](err); ok {
			lines = append(lines, fmt.Sprintf("too long: %d %q %q", e.Size, e.Head, e.Tail))
			continue
		}
		if err != nil {
			return lines, err
		}
		lines = append(lines, string(line))
	}
}

func TestReader(t *testing.T) {
	for _, c := range []struct {
		stream string
		want   []string
	}{
		{"", nil},
		{"\n\r\n\n", nil},
		{"a\nb\r\nc", []string{"a", "b", "c"}},
		{"a\r\r\n\rb\n", []string{"a\r", "\rb"}},
		{"end\r", []string{"end\r"}}, // no line ending, so no part of one
		{"12345678\r\n", []string{"12345678"}},
		{"123456789\n-\n", []string{`too long: 9 "123456789" "123456789"`, "-"}},
		{"1234567890\r\n\n-\n", []string{`too long: 10 "1234567890" "1234567890"`, "-"}},
		{"12345678\r", []string{`too long: 9 "12345678\r" "12345678\r"`}},
		{"1234567890123", []string{`too long: 13 "1234567890123" "1234567890123"`}},
		{"123456789012\n123456789012\n-", []string{`too long: 12 "123456789012" "123456789012"`, `too long: 12 "123456789012" "123456789012"`, "-"}},
	} {
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"whole": func(r io.Reader) io.Reader { return r }, "byte by byte": iotest.OneByteReader, "data with EOF": iotest.DataErrReader,
		} {
			got, err := drain(NewReader(wrap(strings.NewReader(c.stream)), 8))
			if !slices.Equal(got, c.want) || err != io.EOF {
				t.Errorf("%q %s: got %q, %v", c.stream, name, got, err)
			}
		}
	}
}

func TestReaderErrors(t *testing.T) {
	broken := errors.New("broken")
	r := NewReader(io.MultiReader(strings.NewReader("a\nhalf"), iotest.ErrReader(broken)), 0)
	lines, err := drain(r)
	if !slices.Equal(lines, []string{"a"}) || !errors.Is(err, broken) {
		t.Errorf("got %q, %v", lines, err)
	}
	if _, err := r.Next(); !errors.Is(err, broken) {
		t.Errorf("then %v", err)
	}
	if _, err := NewReader(idle{}, 0).Next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("without progress: %v", err)
	}
}

// idle breaks the rule that a Read must return something.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestReaderMemory(t *testing.T) {
	const huge = 8 << 20
	pr, pw := io.Pipe()
	go func() {
		for _, n := range []int{10, huge, 10, 3 * huge, 10} {
			_, _ = pw.Write(append(bytes.Repeat([]byte{'x'}, n), '\n'))
		}
		_ = pw.Close()
	}()
	r := NewReader(pr, huge)
	for _, want := range []int{10, huge, 10, -1, 10} {
		line, err := r.Next()
		if _, long := errors.AsType[*TooLongError](err); long != (want < 0) || len(line) != max(0, want) {
			t.Fatalf("got %d bytes, %v; want %d", len(line), err, want)
		}
		if len(r.buf) > huge+startSize {
			t.Errorf("buffer of %d for a line of %d", len(r.buf), want)
		}
		if want == 10 && len(r.buf) > startSize {
			t.Errorf("buffer of %d kept for small lines", len(r.buf))
		}
	}
	if _, err := r.Next(); err != io.EOF || len(r.buf) != 0 {
		t.Errorf("at the end: %v, buffer of %d", err, len(r.buf))
	}
}

func TestTooLongSniff(t *testing.T) {
	filler := strings.Repeat("x", 2*headSize)
	for _, c := range []struct {
		line string
		kind Kind
		id   ID
	}{
		{`{"jsonrpc":"2.0","id":3,"result":{"t":"` + filler + `"}}`, Result, NumberID(3)},
		{`{"result":{"t":"` + filler + `"},"jsonrpc":"2.0","id":"a"}`, Result, StringID("a")},
		{`{"result":{"t":"` + filler + `"}, "id": 4 , "jsonrpc":"2.0" } `, Result, NumberID(4)},
		{`{"method":"tools/call","params":{"t":"` + filler + `"},"jsonrpc":"2.0","id":5}`, Request, NumberID(5)},
		{`{"error":{"t":"` + filler + `"},"jsonrpc":"2.0","id":5}`, Error, NumberID(5)},
		{`{"result":{"t":"` + filler + `","o":{"id":5}}}`, Result, ID{}},
		{`{"result":{"t":"` + filler + `","id":5,"more":1}}`, Result, ID{}},
		{`{"result":{"t":"` + filler + `"},"id":5.5}`, Result, ID{}},
		{filler, Invalid, ID{}},
	} {
		_, err := NewReader(strings.NewReader(c.line+"\n"), 100).Next()
		e, ok := errors.AsType[*TooLongError](err)
		if !ok || e.Size != len(c.line) {
			t.Fatalf("got %v", err)
		}
		if kind, id := e.Sniff(); kind != c.kind || id != c.id {
			t.Errorf("%.20s...%s: got %v, %v", c.line, e.Tail[len(e.Tail)-30:], kind, id)
		}
	}
}

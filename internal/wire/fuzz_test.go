package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func seeds() [][]byte {
	lines := [][]byte{
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":[1,-2.5e3,null,true]}}}`),
		[]byte(`{"jsonrpc":"2.0","id":"\u0061","result":{"content":[{"type":"text","text":"ä \ud83d\ude00 \ud800 \"\\\n"}]}}`),
		[]byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`),
		[]byte(`{"jsonrpc":"2.0","method":"n","params":{"n\u0061me":1,"name":2}}`),
		[]byte(` {"jsonrpc" : "2.0" , "method":"tools/call "} `),
		[]byte(`{"jsonrpc":"2.0","id":1.5,"result":{"` + "\xff\xed\xa0\x80" + `":NaN}}`),
		[]byte("{\"a\":\r[{}]}"),
		[]byte(`{"jsonrpc":"2.0","id":2,"result":{` + members(40) + `"\u006b":1}}`),
	}
	return append(lines, []byte(call(nest(maxDepth+1))))
}

func FuzzParse(f *testing.F) {
	for _, line := range seeds() {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		v, err := ParseValue(line)
		if want := strictly(line); (err == nil) != (want == nil) {
			t.Fatalf("got %v, the reference says %v", err, want)
		}
		frame, frameErr := Parse(line)
		if frameErr == nil && err != nil {
			t.Fatalf("a frame that is no value: %v", err)
		}
		if e, ok := errors.AsType[*FrameError](frameErr); ok && (e.Offset < 0 || e.Offset > len(line) || e.Reason == "") {
			t.Fatalf("got %+v", e)
		}
		if frameErr == nil {
			checkFrame(t, frame)
		}
		if err != nil {
			return
		}
		want := decoded(t, line)
		if got := tree(v); !reflect.DeepEqual(got, want) {
			t.Fatalf("read as %v, want %v", got, want)
		}
		canonical := Canonical(v)
		if again := Canonical(value(t, string(canonical))); !bytes.Equal(again, canonical) {
			t.Fatalf("spelled %s, then %s", canonical, again)
		}
		if got := Canonical(value(t, string(reversed(v)))); !bytes.Equal(got, canonical) {
			t.Fatalf("spelled %s, in another order %s", canonical, got)
		}
		if n, want := len(slices.Collect(v.Leaves())), leaves(want); n != want {
			t.Fatalf("%d leaves, want %d", n, want)
		}
		checkTree(t, v)
	})
}

// checkFrame checks what holds for every frame.
func checkFrame(t *testing.T, f Frame) {
	if bytes.ContainsAny(f.Raw, "\r\n") || !bytes.Equal(bytes.Trim(f.Raw, " \t"), value(t, string(f.Raw))) {
		t.Fatalf("not one line: %q", f.Raw)
	}
	var rebuilt []byte
	switch f.Kind {
	case Request:
		rebuilt = AppendRequest(nil, f.ID, f.Method, f.Params)
	case Notification:
		rebuilt = AppendNotification(nil, f.Method, f.Params)
	case Result:
		rebuilt = AppendResult(nil, f.ID, f.Result)
	case Error:
		rebuilt = AppendError(nil, f.ID, 1, "instead")
	}
	again, err := Parse(rebuilt)
	if err != nil {
		t.Fatalf("%s: %v", rebuilt, err)
	}
	if again.Kind != f.Kind || again.ID != f.ID || again.Method != f.Method ||
		!bytes.Equal(again.Params, f.Params) || !bytes.Equal(again.Result, f.Result) {
		t.Fatalf("rebuilt as %s from %s", rebuilt, f.Raw)
	}
	if id, ok := SniffID(f.Raw); id != f.ID || ok == f.ID.IsZero() {
		t.Fatalf("id %v guessed as %v", f.ID, id)
	}
}

// strictly is the reference: the standard decoder, and what it lets pass checked on its tokens.
func strictly(text []byte) error {
	if !json.Valid(text) {
		return errors.New("not JSON")
	}
	if !bytes.Equal(text, bytes.ToValidUTF8(text, nil)) {
		return errors.New("not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	type level struct {
		names map[string]bool // nil in an array
		value bool            // a member's value comes next
	}
	var open []level
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if delim, ok := token.(json.Delim); ok && (delim == '}' || delim == ']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open); n > 0 && open[n-1].names != nil {
			top := &open[n-1]
			if name, ok := token.(string); ok && !top.value {
				if top.names[name] {
					return fmt.Errorf("%q twice", name)
				}
				top.names[name], top.value = true, true
				continue
			}
			top.value = false
		}
		switch token {
		case json.Delim('{'):
			open = append(open, level{names: map[string]bool{}})
		case json.Delim('['):
			open = append(open, level{})
		}
		if len(open) > maxDepth {
			return errors.New("too deep")
		}
	}
}

func decoded(t *testing.T, text []byte) (v any) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// tree reads v with nothing but the navigation.
func tree(v Value) any {
	switch v.Kind() {
	case '{':
		object := map[string]any{}
		for name := range v.Members() {
			object[name] = tree(v.Get(name))
		}
		return object
	case '[':
		array := []any{}
		for elem := range v.Elems() {
			array = append(array, tree(elem))
		}
		return array
	case '"':
		text, _ := v.Text()
		return text
	case '0':
		text, _ := v.Number()
		return json.Number(text)
	case 't', 'f':
		b, _ := v.Bool()
		return b
	default:
		return nil
	}
}

// reversed spells v with the members of every object in reverse.
func reversed(v Value) []byte {
	switch v.Kind() {
	case '{':
		var parts []string
		for name, val := range v.fields() {
			parts = append(parts, string(name)+"\t: "+string(reversed(val)))
		}
		slices.Reverse(parts)
		return []byte("{ " + strings.Join(parts, "\n,") + " }")
	case '[':
		var parts []string
		for elem := range v.Elems() {
			parts = append(parts, string(reversed(elem)))
		}
		return []byte("[" + strings.Join(parts, " , ") + "]")
	default:
		return v
	}
}

// leaves counts scalars and member names.
func leaves(v any) int {
	n := 0
	switch v := v.(type) {
	case map[string]any:
		for val := range maps.Values(v) {
			n += 1 + leaves(val)
		}
	case []any:
		for _, elem := range v {
			n += leaves(elem)
		}
	default:
		n = 1
	}
	return n
}

// FuzzUnchecked walks bytes that nobody has checked, as the guesses about refused lines do.
func FuzzUnchecked(f *testing.F) {
	for _, line := range seeds() {
		f.Add(line, len(line)/2)
	}
	f.Fuzz(func(_ *testing.T, line []byte, cut int) {
		v := Value(line[:min(max(cut, 0), len(line))])
		for leaf := range v.Leaves() {
			_ = leaf.Path.String()
			_, _ = leaf.Value.Text()
		}
		if tree, _ := v.Tree(nil, len(v)); len(tree) > 0 {
			_ = tree.Path(len(tree) - 1)
		}
		_ = Canonical(v)
		_, _ = Shadow(v, "id")
		e := &TooLongError{Head: v, Tail: line}
		_, _ = e.Sniff()
	})
}

func FuzzReader(f *testing.F) {
	f.Add([]byte("a\nbb\r\n\n\r\nccc"), uint8(2), []byte{1, 3})
	f.Add([]byte("0123456789\r\n0123456789ab\r\nx\r\r\n"), uint8(10), []byte{11, 1, 1})
	f.Add(bytes.Repeat([]byte("0123456789abcde\n"), 3*startSize/16), uint8(15), []byte{255})
	f.Fuzz(func(t *testing.T, stream []byte, limit uint8, chunks []byte) {
		most := int(limit) + 1
		var want []string
		rest := stream
		for len(rest) > 0 {
			line, after, found := bytes.Cut(rest, []byte{'\n'})
			if found {
				line = bytes.TrimSuffix(line, []byte{'\r'})
			}
			switch rest = after; {
			case len(line) > most:
				head, tail := line[:min(len(line), headSize)], line[max(0, len(line)-tailSize):]
				want = append(want, fmt.Sprintf("too long: %d %q %q", len(line), head, tail))
			case len(line) > 0:
				want = append(want, string(line))
			}
		}
		got, err := drain(NewReader(&chunked{stream, chunks}, most))
		if err != io.EOF || !slices.Equal(got, want) {
			t.Fatalf("got %q, %v; want %q", got, err, want)
		}
	})
}

// chunked hands out its stream in pieces of the given sizes, in turn.
type chunked struct {
	stream []byte
	sizes  []byte
}

func (c *chunked) Read(p []byte) (int, error) {
	if len(c.stream) == 0 {
		return 0, io.EOF
	}
	size := len(c.stream)
	if len(c.sizes) > 0 {
		size = int(c.sizes[0]) + 1
		c.sizes = append(c.sizes[1:len(c.sizes):len(c.sizes)], c.sizes[0])
	}
	n := copy(p, c.stream[:min(size, len(c.stream))])
	c.stream = c.stream[n:]
	return n, nil
}

func FuzzSplice(f *testing.F) {
	for _, line := range seeds() {
		f.Add(line, "arguments", []byte(`{"b":1}`), 3, 9)
	}
	f.Fuzz(func(t *testing.T, line []byte, name string, text []byte, start, end int) {
		frame, err := Parse(line)
		if err != nil {
			return
		}
		edits := []Edit{{Start: start, End: end, Text: text}}
		if out, err := Splice(line, edits...); err == nil {
			if want := string(line[:start]) + string(text) + string(line[end:]); string(out) != want {
				t.Fatalf("got %s, want %s", out, want)
			}
			if _, err := Parse(out); err != nil {
				t.Fatalf("%s: %v", out, err)
			}
		}
		target := frame.Params.Get(name)
		replacement, err := ParseValue(text)
		if target == nil || err != nil {
			return
		}
		// Whatever value replaces a member, it is what stands there afterwards, and the rest is as it was.
		at, behind := target.Span(line)
		out, err := Splice(line, Edit{Start: at, End: behind, Text: replacement})
		if err != nil {
			return
		}
		again, err := Parse(out)
		if err != nil || !bytes.Equal(again.Params.Get(name), replacement) || again.ID != frame.ID || again.Method != frame.Method {
			t.Fatalf("%s became %s, %v", line, out, err)
		}
	})
}

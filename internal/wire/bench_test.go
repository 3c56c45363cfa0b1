package wire

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
)

// frames are the shapes of traffic that a relay sees most of, and the ones that are hard on a scanner.
func frames() map[string][]byte {
	text := func(s string) []byte {
		result := AppendQuoted([]byte(`{"content":[{"type":"text","text":`), s)
		return AppendResult(nil, NumberID(7), append(result, "}]}"...))
	}
	prose := "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in " +
		"want of a wife.\nHowever little known the \"feelings\" or views of such a man may be on his first entering a neighbourhood.\n"
	var rows []string
	for i := range 9000 {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"row %d","email":"r%d@example.com","tags":["a","b"],"ok":true,"score":%d.25,"parent":null}`, i, i, i, i))
	}
	list := func(s string) []byte {
		return AppendResult(nil, NumberID(7), []byte(`{"structuredContent":{"rows":[`+s+`]}}`))
	}
	return map[string][]byte{
		"call160": []byte(`{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{"name":"send_email","arguments":` +
			`{"to":"ann@example.com","subject":"Minutes","body":"Please find them attached"}}}`),
		"prose1MB":    text(strings.Repeat(prose, 1<<20/len(prose))),
		"unicode1MB":  text(strings.Repeat("Füße, 東京, naïve – “quoted” text. ", 1<<20/44)),
		"minified1MB": list(strings.Join(rows, ",")),
		"base64_1MB":  text(strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", 1<<20/44)),
		"digits":      list(strings.TrimSuffix(strings.Repeat("3.14159265358979,-271828,", 1<<20/25), ",")),
	}
}

func BenchmarkParse(b *testing.B) {
	for name, line := range frames() {
		b.Run(name+"/wire", func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(line); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(name+"/json.Valid", func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			for b.Loop() {
				if !json.Valid(line) {
					b.Fatal("invalid")
				}
			}
		})
	}
}

func BenchmarkReader(b *testing.B) {
	line := append(frames()["call160"], '\n')
	stream := bytes.Repeat(line, 1000)
	b.SetBytes(int64(len(stream)))
	for b.Loop() {
		r := NewReader(bytes.NewReader(stream), 0)
		for {
			if _, err := r.Next(); err == io.EOF {
				break
			}
		}
	}
}

func BenchmarkNavigate(b *testing.B) {
	f, err := Parse(frames()["minified1MB"])
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Leaves", func(b *testing.B) {
		b.SetBytes(int64(len(f.Result)))
		b.ReportAllocs()
		for b.Loop() {
			n := 0
			for range f.Result.Leaves() {
				n++
			}
		}
	})
	call, err := Parse(frames()["call160"])
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Get", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = call.Params.At("arguments", "body")
		}
	})
	b.Run("Members", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			for k := range call.Params.Get("arguments").Members() {
				if k == "nothing" {
					b.Fatal("found")
				}
			}
		}
	})
}

package taint

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// corpus returns running text with an address or a link here and there.
func corpus(size int) string {
	const words = "The quarterly report is ready and the team met on Tuesday to go over it. Nobody had questions, " +
		"so the next step is to write the summary and share it with the people who asked for one in March. "
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(words)
		if i%8 == 0 {
			fmt.Fprintf(&b, "Write to user%d@corp.example or see https://corp.example/r/%d for more.\n", i, i)
		}
	}
	return b.String()[:size]
}

// BenchmarkRecord takes in an output for the first time, again, and again with a changed beginning.
func BenchmarkRecord(b *testing.B) {
	type row struct {
		ID    int    `json:"id"`
		Name  string `json:"name"`
		Email string `json:"email"`
		Note  string `json:"note"`
	}
	rows := func(first string) []row {
		all := []row{{Note: first}}
		for i := range 900 {
			all = append(all, row{i, fmt.Sprintf("Person %d", i), fmt.Sprintf("p%d@corp.example", i), "met at the fair in spring, wants a call"})
		}
		return all
	}
	random := make([]byte, 75<<10)
	rand.NewChaCha8([32]byte{}).Read(random)
	base64Text, prose := base64.StdEncoding.EncodeToString(random), corpus(100<<10)
	for _, bench := range []struct {
		name   string
		output func(first string) wire.Value
	}{
		{"prose", func(first string) wire.Value { return said(b, first+prose) }},
		{"base64", func(first string) wire.Value { return said(b, first+base64Text) }},
		{"digits", func(first string) wire.Value { return said(b, first+strings.Repeat("3141592653 ", 10<<10)) }},
		{"json", func(first string) wire.Value { return value(b, map[string]any{"structuredContent": rows(first)}) }},
	} {
		const mark = "Answer 00000000. "
		output := bench.output(mark)
		number := output[bytes.Index(output, []byte(mark))+len("Answer "):][:8]
		run := func(name string, index func() *Index, each int) {
			b.Run(bench.name+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(len(output)))
				b.ReportAllocs()
				for i := 0; b.Loop(); i += each {
					copy(number, fmt.Appendf(nil, "%08d", i))
					index().Record(mail, output, nil, Reading{})
				}
			})
		}
		var same, changed Index
		run("first", func() *Index { return new(Index) }, 0)
		run("again", func() *Index { return &same }, 0)
		run("changed", func() *Index { return &changed }, 1)
	}
}

// session returns an index that has taken in size bytes of running text, all of it different.
func session(b testing.TB, size int) *Index {
	x := New([16]byte{1})
	const output = 1 << 20
	for i := 0; i < size; i += output {
		text := strings.ReplaceAll(corpus(min(output, size)), "user", fmt.Sprint("u", i))
		x.Record(mail, said(b, strings.ReplaceAll(text, "questions", fmt.Sprint("questions", i))), nil, Reading{})
	}
	return x
}

// BenchmarkTrace looks values up after little and after much has been said.
func BenchmarkTrace(b *testing.B) {
	for _, size := range []int{1 << 20, 256 << 20} {
		x := session(b, size)
		for _, arg := range []string{"user8@corp.example", "nobody@corp.example", "Bob <bob@x.com>, https://corp.example/r/8?q=1"} {
			b.Run(fmt.Sprintf("%dMB/%s", size>>20, strings.ReplaceAll(arg, "/", "_")), func(b *testing.B) {
				for b.Loop() {
					x.Trace(arg)
				}
			})
		}
	}
}

// BenchmarkMemory reports what an index keeps of a megabyte, beside the filter.
func BenchmarkMemory(b *testing.B) {
	var ids, rows strings.Builder
	for i := range (1 << 20) / 14 {
		fmt.Fprintf(&ids, `"U%010X",`, i*7919)
	}
	for i := range (1 << 20) / 100 {
		fmt.Fprintf(&rows, `{"id":%d,"name":"Person %d","email":"p%d@corp.example","note":"met at the fair in spring"},`, i, i, i)
	}
	for _, bench := range []struct {
		name   string
		output wire.Value
		as     Reading
	}{
		{"prose", said(b, corpus(1<<20)), Reading{}},
		{"rows", structured(b, "["+strings.TrimSuffix(rows.String(), ",")+"]"), Reading{}},
		{"contacts", structured(b, "["+strings.TrimSuffix(rows.String(), ",")+"]"), directory},
		{"ids", structured(b, "["+strings.TrimSuffix(ids.String(), ",")+"]"), Reading{}},
		{"ids in text", said(b, strings.ReplaceAll(ids.String(), `"`, "")), Reading{}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			kept := 0
			b.SetBytes(int64(len(bench.output)))
			for b.Loop() {
				x := New([16]byte{1})
				x.Record(mail, bench.output, nil, bench.as)
				kept = x.bytes - 8*cap(x.grams.few.bits) - 8*cap(x.grams.many.bits) - 8*(memoTexts+memoCells+memoOutputs)
			}
			b.ReportMetric(float64(kept)/float64(len(bench.output)), "kept/B")
		})
	}
}

// answer returns nearly size bytes of a text that tools return, in which mark stands at the beginning and, if each, in every row.
func answer(kind, mark string, size int, each bool) string {
	var b strings.Builder
	row := mark
	for i := 0; b.Len() < max(1, size-200); i++ {
		if each {
			row = fmt.Sprintf("%s%06d", mark[:len(mark)-6], i)
		}
		switch {
		case kind == "prose" && i == 0:
			b.WriteString("Result " + mark + ". ")
		case kind == "rows" && i == 0:
			b.WriteString("[" + mark)
		}
		if !each {
			row = fmt.Sprint(i)
		}
		if kind == "prose" {
			b.WriteString("The quarterly report was read by everyone in the room, and nobody had a question about it. " +
				"Write to dana" + row + "@example.com before Friday, or see https://example.com/reports/" + row + " for the tables.\n")
		} else {
			b.WriteString(`,{"id":` + row + `,"name":"Person ` + row + `","email":"p` + row + `@corp.example","note":"wants a call"}`)
		}
	}
	if kind == "rows" {
		b.WriteByte(']')
	}
	return b.String()
}

// BenchmarkAnswer takes in answers of which each differs from the one before: at the beginning only, as when a tool is asked again, or
// in each line and row, as when it pages through what there is.
func BenchmarkAnswer(b *testing.B) {
	const mark, width = "1000000000000", 7
	for _, size := range []int{1 << 10, 1 << 20} {
		for _, kind := range []string{"prose", "rows"} {
			for _, each := range []bool{false, true} {
				name := fmt.Sprintf("%s/%dKB/%s", kind, size>>10, map[bool]string{false: "known", true: "new"}[each])
				b.Run(name, func(b *testing.B) {
					output := said(b, answer(kind, mark, size, each))
					var places []int
					for i := 0; ; {
						n := bytes.Index(output[i:], []byte(mark[:width]))
						if n < 0 {
							break
						}
						places = append(places, i+n+1)
						i += n + 1
					}
					b.SetBytes(int64(len(output)))
					b.ReportAllocs()
					x, taken := new(Index), 0
					for i := 0; b.Loop(); i++ {
						var digits [width - 1]byte
						for n, d := len(digits)-1, i; n >= 0; n, d = n-1, d/10 {
							digits[n] = byte('0' + d%10)
						}
						for _, at := range places {
							copy(output[at:], digits[:])
						}
						if taken += len(output); each && taken > 16<<20 { // or it would be full
							x, taken = new(Index), 0
						}
						x.Record(mail, output, nil, Reading{})
					}
				})
			}
		}
	}
}

// BenchmarkProse takes in running text that nobody has said before and in which there is nothing to remember.
func BenchmarkProse(b *testing.B) {
	words := strings.Fields("although nobody on the council had expected it, they voted for another bridge over the river because many people " +
		"asked them whether it could be built before winter, and since then several engineers have looked at drawings that show how wide " +
		"each part must become; most residents believe nothing will happen soon")
	r := rand.New(rand.NewPCG(1, 2))
	outputs := make([]wire.Value, 16) // or the index would be full
	for i := range outputs {
		var text strings.Builder
		for text.Len() < 1<<20 {
			text.WriteString("This is what")
			for range 12 + r.IntN(12) {
				text.WriteString(" " + words[r.IntN(len(words))])
			}
			text.WriteString(".\n")
		}
		outputs[i] = said(b, text.String())
	}
	b.SetBytes(int64(len(outputs[0])))
	b.ReportAllocs()
	var x *Index
	for i := 0; b.Loop(); i++ {
		if i%len(outputs) == 0 {
			x = new(Index)
		}
		x.Record(mail, outputs[i%len(outputs)], nil, Reading{})
	}
}

// BenchmarkCall reads the arguments of calls: what is looked for in them, and what is noted of them.
func BenchmarkCall(b *testing.B) {
	body := strings.TrimSpace(corpus(2 << 10)[300:1324]) // nothing but words
	for _, call := range []struct{ name, args string }{
		{"echo", `{"size":1024}`},
		{"read", `{"id":"17","full":true}`},
		{"path", `{"path":"/usr/share/doc/readme.txt"}`},
		{"mail", `{"to":"ann@corp.example","subject":"Minutes","body":"As agreed, see below."}`},
		{"body", `{"to":"ann@corp.example","subject":"Minutes","body":"` + body + `"}`},
		{"links", `{"to":"ann@corp.example","subject":"Minutes","body":"` + strings.ReplaceAll(body, "Nobody", "nobody@corp.example, https://corp.example/r/1?a=b#c,") + `"}`},
		{"code", `{"path":"main.go","text":"` + strings.Repeat(`func (s *server) serve() error {\n\treturn s.listen(\"tcp\", s.address) // again\n}\n`, 12) + `"}`},
	} {
		args := wire.Value(call.args)
		x := session(b, 1<<10)
		b.Run("author/"+call.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				x.Author(args)
			}
		})
		text, ok := args.Get("body").Text()
		if !ok {
			continue
		}
		b.Run("carried/"+call.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for range x.Carried(text) {
				}
			}
		})
	}
}

package audit

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// BenchmarkAppend compares a record with the least that an append of many processes can cost: lock, write a line, unlock.
func BenchmarkAppend(b *testing.B) {
	b.Run("plain", func(b *testing.B) {
		dir := b.TempDir()
		lock, err := atomicfile.OpenLock(filepath.Join(dir, "lock"))
		if err != nil {
			b.Fatal(err)
		}
		f, err := os.OpenFile(filepath.Join(dir, "lines"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			b.Fatal(err)
		}
		line := make([]byte, 600)
		for b.Loop() {
			if err := lock.Lock(lockWait); err != nil {
				b.Fatal(err)
			}
			if _, err := f.Write(line); err != nil {
				b.Fatal(err)
			}
			if err := lock.Unlock(); err != nil {
				b.Fatal(err)
			}
		}
	})
	for logs := range 2 {
		b.Run(fmt.Sprintf("logs=%d", logs+1), func(b *testing.B) {
			dir := b.TempDir()
			var open []*Log
			for range logs + 1 {
				l, err := Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				open = append(open, l)
			}
			v := sample(1)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if err := open[i%len(open)].Verdict(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// sample is an ordinary verdict.
func sample(call uint64) Verdict {
	return Verdict{
		Time: time.Date(2026, 5, 4, 3, 2, 1, 987654000, time.UTC), Session: "5f0c", Client: "test 1.0", Server: "mail", Call: call,
		Tool:    "send_email",
		Args:    wire.Value(`{"to": ["ann@example.com"], "subject": "Minutes", "body": "As agreed on Monday, see below.\nBest, Bob"}`),
		Verdict: "ask", Contract: "sink", Reason: "ann@example.com comes from a mail of today",
		Layers: []string{"pack:gmail"},
		Evidence: []Evidence{{
			Param: "to", Value: "ann@example.com", Class: "text", Server: "mail", Tool: "read_email", Path: "content[0].text",
			Snippet: "please write to ann@example.com about it",
		}},
	}
}

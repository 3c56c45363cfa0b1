package session

import (
	"fmt"
	"path/filepath"
	"testing"
)

func benchmarkLedger(b *testing.B, neighbours int) (own, other *Ledger) {
	state := filepath.Join(b.TempDir(), "state")
	var all []*Ledger
	for i := range neighbours + 1 {
		l, err := OpenLedger(state, LedgerOptions{Server: fmt.Sprint(i), Identity: fmt.Sprint(i), Session: "one"})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = l.Close() })
		all = append(all, l)
	}
	return all[0], all[neighbours]
}

// BenchmarkReadNothing is what a decision pays for its neighbours when they have said nothing.
func BenchmarkReadNothing(b *testing.B) {
	for _, neighbours := range []int{1, 10, 100} {
		b.Run(fmt.Sprint(neighbours), func(b *testing.B) {
			l, _ := benchmarkLedger(b, neighbours)
			read := func() {
				if err := l.Read(func(Peer, []byte) {}); err != nil {
					b.Fatal(err)
				}
			}
			read()
			b.ReportAllocs()
			for b.Loop() {
				read()
			}
		})
	}
}

// BenchmarkExchange is an output with a few records: announced and appended by one, and read by a neighbour.
func BenchmarkExchange(b *testing.B) {
	for _, records := range []int{1, 100} {
		for _, read := range []bool{false, true} {
			b.Run(fmt.Sprintf("records=%d/read=%v", records, read), func(b *testing.B) {
				var list [][]byte
				for range records {
					list = append(list, make([]byte, 40))
				}
				l, other := benchmarkLedger(b, 10)
				for b.Loop() {
					if l.own.end > maxLedger-1<<20 {
						b.StopTimer()
						l, other = benchmarkLedger(b, 10)
						b.StartTimer()
					}
					if err := l.Announce(); err != nil {
						b.Fatal(err)
					}
					if err := l.Append(list...); err != nil {
						b.Fatal(err)
					}
					if !read {
						continue
					}
					if err := other.Read(func(Peer, []byte) {}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkOpenLedger(b *testing.B) {
	state := filepath.Join(b.TempDir(), "state")
	for b.Loop() {
		l, err := OpenLedger(state, LedgerOptions{Server: "a", Identity: "a"})
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

package session

import (
	"bytes"
	"testing"
)

// FuzzTake reads a file that anything can stand in. What is taken from it is what was once put into frames.
func FuzzTake(f *testing.F) {
	head, err := fileHead(Peer{Server: "mail", Identity: "npm:mail"})
	if err != nil {
		f.Fatal(err)
	}
	whole, err := appendFrames(bytes.Clone(head), [][]byte{[]byte("one"), {}, []byte("two")})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(head)
	f.Add(whole[:len(whole)-1])
	f.Add([]byte(ledgerSign))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var p part
		var records [][]byte
		used, err := p.take(data, func(_ Peer, r []byte) { records = append(records, r) })
		if used > len(data) || err != nil && used != 0 {
			t.Fatalf("took %d of %d bytes, %v", used, len(data), err)
		}
		if used == 0 {
			if records != nil {
				t.Fatalf("took %q out of nothing", records)
			}
			return
		}
		if again, _ := new(part).take(data[:used], func(Peer, []byte) {}); again != used {
			t.Errorf("took %d bytes, then %d of the same", used, again)
		}
		p = part{offset: uint64(used)}
		if more, _ := p.take(data[used:], func(Peer, []byte) {}); more != 0 {
			t.Errorf("stopped before %d bytes more", more)
		}
		kept := 0
		for _, r := range records {
			kept += len(r)
		}
		if kept > used {
			t.Errorf("%d bytes of records in %d", kept, used)
		}
	})
}

// FuzzFrames puts records in and takes them out again, whole and torn.
func FuzzFrames(f *testing.F) {
	f.Add([]byte("some records of different lengths"), uint16(3), uint16(9))
	f.Add(bytes.Repeat([]byte("x"), maxPayload+1000), uint16(40000), uint16(8))
	f.Add([]byte{}, uint16(0), uint16(0))
	f.Fuzz(func(t *testing.T, text []byte, size, torn uint16) {
		var want [][]byte
		for rest := text; len(rest) > 0; {
			n := min(len(rest), int(size)+1)
			want = append(want, rest[:n])
			rest = rest[n:]
		}
		data, err := appendFrames(nil, want)
		if err != nil {
			t.Fatal(err)
		}
		read := func(data []byte) (got [][]byte) {
			p := part{offset: 1}
			if _, err := p.take(data, func(_ Peer, r []byte) { got = append(got, r) }); err != nil {
				t.Fatal(err)
			}
			return got
		}
		equal := func(a, b [][]byte) bool {
			return bytes.Equal(bytes.Join(a, []byte{0}), bytes.Join(b, []byte{0})) && len(a) == len(b)
		}
		if got := read(data); !equal(got, want) {
			t.Errorf("put %d records in, took %d out", len(want), len(got))
		}
		if len(data) > 0 {
			if got := read(data[:len(data)-1-int(torn)%len(data)]); len(got) >= len(want) || !equal(got, want[:len(got)]) {
				t.Errorf("took %d of %d records out of a torn file", len(got), len(want))
			}
		}
	})
}

package session

import "testing"

func TestParseStat(t *testing.T) {
	const tail = " 42 7 7 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 200 18446744073709551615"
	for _, tt := range []struct {
		stat string
		want process
		ok   bool
	}{
		{"7 (claude) S" + tail, process{pid: 7, parent: 42, start: 987654, name: "claude"}, true},
		{"7 (a) R (b) S" + tail, process{pid: 7, parent: 42, start: 987654, name: "a) R (b"}, true},
		{"7 () S" + tail, process{pid: 7, parent: 42, start: 987654}, true},
		{"7 (claude) S 42 7", process{}, false},
		{"claude", process{}, false},
		{"", process{}, false},
	} {
		got, ok := parseStat([]byte(tt.stat))
		if ok != tt.ok || ok && (got.pid != tt.want.pid || got.parent != tt.want.parent || got.start != tt.want.start || got.name != tt.want.name) {
			t.Errorf("%q: got %+v, %v", tt.stat, got, ok)
		}
	}
}

package wire

import (
	"slices"
	"testing"
)

func TestSniffIDs(t *testing.T) {
	tests := []struct {
		line string
		want []ID
	}{
		{`{"jsonrpc":"2.0","id":7,"result":{"id":8},"error":null}`, []ID{NumberID(7)}},
		{`{"Id":7,"result":{}}`, []ID{NumberID(7)}},
		{`{"id":7.0}`, []ID{NumberID(7)}},
		{`{"id" : 7e0 }`, []ID{NumberID(7)}},
		{`{"id":"a\"b","result":{}`, []ID{StringID(`a"b`)}},
		{`[{"id":1,"result":{"id":9}},{"id":2}]`, []ID{NumberID(1), NumberID(2)}},
		{`{"result":"\"id\":3","x":["id",4]}`, nil},
		{`{"id":1.5}`, nil},
		{`{"id":null}`, nil},
		{`{"id":`, nil},
		{`{"id`, nil},
		{``, nil},
	}
	for _, tt := range tests {
		if got := SniffIDs([]byte(tt.line)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.line, got, tt.want)
		}
	}
}

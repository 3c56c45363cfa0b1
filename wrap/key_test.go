package wrap

import (
	"slices"
	"testing"
)

func TestParseKey(t *testing.T) {
	tests := []struct {
		key  string
		want []string // nil for one that is refused
	}{
		{"", []string{}},
		{"/mcpServers", []string{"mcpServers"}},
		{"/mcp/servers", []string{"mcp", "servers"}},
		{"/", []string{""}},
		{"/a~1b/m~0n/~01", []string{"a/b", "m~n", "~1"}},
		{"/profiles/*/servers", []string{"profiles", "*", "servers"}},
		{"mcpServers", nil},
		{"/a~b", nil},
		{"/a~", nil},
		{"/~2", nil},
	}
	for _, test := range tests {
		got, err := ParseKey(test.key)
		if (err != nil) != (test.want == nil) || !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, %v, want %q", test.key, got, err, test.want)
		}
		if err == nil && FormatKey(got) != test.key {
			t.Errorf("%q comes back as %q", test.key, FormatKey(got))
		}
	}
}

func FuzzKey(f *testing.F) {
	for _, key := range []string{"", "/", "/a", "/a~0/~1b//", "x", "/~", "/~01~10"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		words, err := ParseKey(key)
		if err == nil && FormatKey(words) != key {
			t.Errorf("%q, read as %q, comes back as %q", key, words, FormatKey(words))
		}
	})
}

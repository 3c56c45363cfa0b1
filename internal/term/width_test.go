package term_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/term"
)

func TestShorten(t *testing.T) {
	tests := []struct {
		text  string
		limit int
		want  string
	}{
		{"short", 5, "short"},
		{"", 0, ""},
		{"abcdefghij", 9, "abc...hij"},
		{"abcdefghij", 8, "ab...hij"},
		{"abcdefghij", 3, "..."},
		{"abcdefghij", 1, "."},
		{"送金サーバー", 9, "送...バー"[:len("送")] + "...ー"},
		{"e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", 5, "e\u0301...e\u0301"},
	}
	for _, test := range tests {
		got := term.Shorten(test.text, test.limit)
		if got != test.want || term.Width(got) > test.limit {
			t.Errorf("%q in %d: %q of %d columns, want %q", test.text, test.limit, got, term.Width(got), test.want)
		}
	}
}

func TestFill(t *testing.T) {
	tests := []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"one two", []string{"one two"}},
		{"one two three four", []string{"one two", "three four"}},
		{"a-word-that-is-too-long for it", []string{"a-word-that-is-too-long", "for it"}},
		{"送金 送金 送金", []string{"送金 送金", "送金"}},
	}
	for _, test := range tests {
		if got := term.Fill(test.text, 10); !slices.Equal(got, test.want) {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

func TestPad(t *testing.T) {
	for _, text := range []string{"", "ab", "送", "e\u0301"} {
		if got := term.Pad(text, 6); term.Width(got) != 6 || !strings.HasPrefix(got, text) {
			t.Errorf("%q: %q", text, got)
		}
	}
	if got := term.Pad("abc", 2); got != "abc" {
		t.Errorf("%q", got)
	}
}

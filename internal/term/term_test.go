package term_test

import (
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/term"
)

func TestVisible(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"plain text stays", "a - b\n\tc", "a - b\n\tc"},
		{"letters of any script stay", "Überweisung 送金", "Überweisung 送金"},
		{"escape sequence", "\x1b[2Jgone", `\x1b[2Jgone`},
		{"carriage return", "safe\rrm -rf", `safe\x0drm -rf`},
		{"one-byte control sequence introducer", "\u009b2J", `\x9b2J`},
		{"right-to-left override", "a\u202egpj", `a\u202egpj`},
		{"zero-width space", "a\u200bb", `a\u200bb`},
		{"invalid UTF-8 is not passed on", "a\xffb", "a\ufffdb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := term.Visible(tc.in); got != tc.want {
				t.Errorf("Visible(%q) = %q, want %q", tc.in, got, tc.want)
			}
		})
	}
}

func TestColorsNeedATerminal(t *testing.T) {
	none := func(string) string { return "" }
	if term.Is(&strings.Builder{}) || term.Colors(&strings.Builder{}, none) {
		t.Error("a string builder passes for a terminal")
	}
}

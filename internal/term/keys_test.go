package term_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/internal/term"
)

func TestNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "file"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, stream := range []any{f, strings.NewReader(""), nil} {
		if _, err := term.Raw(stream); err == nil {
			t.Errorf("%T hands over keys", stream)
		}
		if columns, lines := term.Size(stream); columns != 80 || lines != 24 {
			t.Errorf("%T is %d by %d", stream, columns, lines)
		}
		if term.Moves(stream, func(string) string { return "" }) {
			t.Errorf("%T has a cursor", stream)
		}
	}
}

//go:build !windows

package audit

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The commands in docs/audit.md check a log as Verify does.
func TestVerifyByHand(t *testing.T) {
	if _, err := exec.LookPath("sha256sum"); err != nil {
		t.Skip("the commands need sha256sum, which macOS lacks")
	}
	_, rest, _ := strings.Cut(string(read(t, filepath.Join("..", "docs", "audit.md"))), "```sh\n")
	script, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("no commands in the document")
	}
	dir := t.TempDir()
	l := open(t, dir)
	l.max = 2500
	fill(t, l, 10)
	current := filepath.Join(dir, currentName)
	whole := read(t, current)
	for _, tt := range []struct {
		log  []byte
		want string
	}{
		{whole, "10 records in order"},
		{bytes.Replace(whole, []byte("Monday"), []byte("Sunday"), 1), "record 10 is not what was written"},
		{nil, "the last records are missing"},
	} {
		rewrite(t, current, tt.log)
		cmd := exec.CommandContext(t.Context(), "sh", "-c", script)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if got := strings.TrimSpace(string(out)); got != tt.want || (err == nil) != strings.HasSuffix(tt.want, "in order") {
			t.Errorf("got %q, %v, want %q", got, err, tt.want)
		}
	}
}

//go:build !windows

package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLedgerForeignPlaces has folders and files of a session that somebody else could write to.
func TestLedgerForeignPlaces(t *testing.T) {
	for name, of := range map[string]func(dir string) string{
		"state":    func(dir string) string { return filepath.Dir(filepath.Dir(dir)) },
		"sessions": filepath.Dir,
		"session":  func(dir string) string { return dir },
		"key":      func(dir string) string { return filepath.Join(dir, "key") },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHall(t)
			l := h.open("a")
			if err := os.Chmod(of(l.dir), 0o722); err != nil {
				t.Fatal(err)
			}
			if _, err := OpenLedger(h.state, LedgerOptions{Server: "b", Session: "one"}); err == nil || !strings.Contains(err.Error(), "others may write it (mode 0722)") {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("a neighbour's file", func(t *testing.T) {
		h := newHall(t)
		a, b := h.open("a"), h.open("b")
		h.tell(a, "1")
		if err := os.Chmod(a.path(a.index), 0o622); err != nil {
			t.Fatal(err)
		}
		h.misses(b, "")
	})
	t.Run("a link in a neighbour's place", func(t *testing.T) {
		h := newHall(t)
		a, b := h.open("a"), h.open("b")
		h.tell(a, "1")
		path := a.path(a.index)
		if err := os.Rename(path, path+".old"); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path+".old", path); err != nil {
			t.Fatal(err)
		}
		h.misses(b, "")
	})
}

// TestLedgerIsPrivate looks at what OpenLedger makes.
func TestLedgerIsPrivate(t *testing.T) {
	h := newHall(t)
	l := h.open("a")
	for path, want := range map[string]os.FileMode{l.dir: 0o700, filepath.Dir(l.dir): 0o700, filepath.Join(l.dir, "key"): 0o600, filepath.Join(l.dir, "pulse"): 0o600, l.path(0): 0o600} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s: %o, want %o", path, got, want)
		}
	}
}

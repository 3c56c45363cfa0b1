package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

func TestStage(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "old", 0o600)
	before := names(t, dir)
	staged, err := Writer{}.Stage(path, []byte("new"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("staging already wrote %q", got)
	}
	staged.Discard()
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Errorf("files are %q, were %q", after, before)
	}
	if err := staged.Commit(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("commit of what was discarded: %v", err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("holds %q", got)
	}
}

// A file marked read-only is one that somebody wants to keep as it is, whoever runs this.
func TestReadOnlyTarget(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	write(t, path, "old", 0o444)
	before := names(t, dir)
	if err := Replace(path, []byte("new"), 0o600); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("got %v", err)
	}
	if got := content(t, path); got != "old" {
		t.Errorf("holds %q", got)
	}
	if after := names(t, dir); !slices.Equal(before, after) {
		t.Errorf("files are %q, were %q", after, before)
	}
	if err := os.Chmod(path, 0o600); err != nil { // or Windows can't remove it
		t.Fatal(err)
	}
}

// TestSweep: only what a killed replacement has left goes.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	old := time.Now().Add(-time.Hour)
	keep := []string{".bouncer-.tmp", ".bouncer-12a.tmp", ".bouncer-12.tmp.json", "x.bouncer-12.tmp", ".bouncer-99.tmp", "mcp.json"}
	for _, name := range append(keep, ".bouncer-123.tmp", ".bouncer-4294967295.tmp") {
		write(t, filepath.Join(dir, name), "x", 0o600)
		if name != ".bouncer-99.tmp" { // somebody is writing that one
			if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	folder := mkdir(t, filepath.Join(dir, ".bouncer-5.tmp"))
	if err := os.Chtimes(folder, old, old); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(slices.Values(append(keep, ".bouncer-5.tmp")))
	for range 2 {
		Sweep(dir, Abandoned)
		var got []string
		for _, path := range names(t, dir)[1:] {
			got = append(got, filepath.Base(path))
		}
		if !slices.Equal(got, want) {
			t.Errorf("left are %q, want %q", got, want)
		}
	}
	Sweep(filepath.Join(dir, "nowhere"), 0)
}

// TestSteps: a test that ends the process at each step has to be told of each.
func TestSteps(t *testing.T) {
	var steps []string
	w := Writer{Step: func(what string) { steps = append(steps, what) }}
	if err := w.Create(filepath.Join(t.TempDir(), "f"), []byte("x"), 0); err != nil {
		t.Fatal(err)
	}
	want := []string{"made a temporary file", "wrote it", "dressed it", "synced it", "closed it", "gave it its name", "synced its directory"}
	if !slices.Equal(steps, want) {
		t.Errorf("got %q", steps)
	}
}

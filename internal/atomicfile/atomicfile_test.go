package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
)

func write(t *testing.T, path, data string, mode fs.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

func symlink(t *testing.T, to, path string) {
	t.Helper()
	if err := os.Symlink(to, path); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t *testing.T, path string) string {
	t.Helper()
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func content(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// names lists everything below dir.
func names(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		all = append(all, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestReplace(t *testing.T) {
	tests := []struct {
		name  string
		setup func(t *testing.T, dir string) // makes the situation around dir/f, which is then replaced
		mode  fs.FileMode                    // asked for
		file  string                         // the file that must hold the new bytes
		perm  fs.FileMode                    // its mode afterwards
	}{
		{name: "new", file: "f", perm: 0o600},
		{name: "new with mode", mode: 0o644, file: "f", perm: 0o644},
		{
			name:  "existing keeps its mode",
			setup: func(t *testing.T, dir string) { write(t, filepath.Join(dir, "f"), "old", 0o640) },
			mode:  0o600, file: "f", perm: 0o640,
		},
		{
			name:  "executable",
			setup: func(t *testing.T, dir string) { write(t, filepath.Join(dir, "f"), "old", 0o755) },
			file:  "f", perm: 0o755,
		},
		{
			name: "chain of links",
			setup: func(t *testing.T, dir string) {
				write(t, filepath.Join(mkdir(t, filepath.Join(dir, "real")), "g"), "old", 0o644)
				symlink(t, "second", filepath.Join(dir, "f"))
				symlink(t, filepath.Join(dir, "real", "third"), filepath.Join(dir, "second"))
				symlink(t, "g", filepath.Join(dir, "real", "third"))
			},
			file: "real/g", perm: 0o644,
		},
		{
			name: "link to the parent of a linked directory",
			setup: func(t *testing.T, dir string) {
				mkdir(t, mkdir(t, filepath.Join(dir, "real"))+"/deep")
				write(t, filepath.Join(dir, "real", "g"), "old", 0o600)
				write(t, filepath.Join(dir, "g"), "not this one", 0o600)
				symlink(t, "real/deep", filepath.Join(dir, "d"))
				symlink(t, "d/../g", filepath.Join(dir, "f"))
			},
			file: "real/g", perm: 0o600,
		},
		{
			name:  "dangling link",
			setup: func(t *testing.T, dir string) { symlink(t, "later", filepath.Join(dir, "f")) },
			mode:  0o640, file: "later", perm: 0o640,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.setup != nil {
				tt.setup(t, dir)
			}
			before := names(t, dir)
			path, file := filepath.Join(dir, "f"), filepath.Join(dir, filepath.FromSlash(tt.file))
			link, _ := os.Readlink(path)
			if err := Replace(path, []byte("new"), tt.mode); err != nil {
				t.Fatal(err)
			}
			if got := content(t, file); got != "new" {
				t.Errorf("%s holds %q", tt.file, got)
			}
			if got, _ := os.Readlink(path); got != link {
				t.Errorf("the link reads %q, was %q", got, link)
			}
			info, err := os.Lstat(file)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode().Perm() != tt.perm && runtime.GOOS != "windows" {
				t.Errorf("mode is %v, want %v", info.Mode(), tt.perm)
			}
			after := slices.DeleteFunc(names(t, dir), func(n string) bool { return n == file })
			before = slices.DeleteFunc(before, func(n string) bool { return n == file })
			if !slices.Equal(before, after) {
				t.Errorf("other files changed: %q, were %q", after, before)
			}
		})
	}
}

func TestReplaceRefuses(t *testing.T) {
	tests := []struct {
		name  string
		setup func(t *testing.T, dir string)
		path  string
		want  error // nil: any
	}{
		{name: "missing directory", path: "none/f", want: fs.ErrNotExist},
		{name: "directory in its place", setup: func(t *testing.T, dir string) { mkdir(t, filepath.Join(dir, "f")) }, path: "f"},
		{name: "file as a directory", setup: func(t *testing.T, dir string) { write(t, filepath.Join(dir, "g"), "old", 0o600) }, path: "g/f"},
		{name: "loop of links", setup: func(t *testing.T, dir string) {
			symlink(t, "g", filepath.Join(dir, "f"))
			symlink(t, "f", filepath.Join(dir, "g"))
		}, path: "f"},
		{name: "link into a missing directory", setup: func(t *testing.T, dir string) { symlink(t, "none/g", filepath.Join(dir, "f")) }, path: "f", want: fs.ErrNotExist},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if tt.setup != nil {
				tt.setup(t, dir)
			}
			before := names(t, dir)
			err := Replace(filepath.Join(dir, tt.path), []byte("new"), 0)
			if err == nil || (tt.want != nil && !errors.Is(err, tt.want)) {
				t.Errorf("got error %v, want %v", err, tt.want)
			}
			if after := names(t, dir); !slices.Equal(before, after) {
				t.Errorf("files are %q, were %q", after, before)
			}
		})
	}
}

func TestCreate(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "f")
	if err := Create(path, []byte("first"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := Create(path, []byte("second"), 0); !errors.Is(err, fs.ErrExist) {
		t.Errorf("second Create: %v", err)
	}
	if got := content(t, path); got != "first" {
		t.Errorf("holds %q", got)
	}
	if info, err := os.Stat(path); err != nil || (info.Mode().Perm() != 0o640 && runtime.GOOS != "windows") {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	link := filepath.Join(dir, "link")
	symlink(t, "nowhere", link)
	if err := Create(link, []byte("x"), 0); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create on a dangling link: %v", err)
	}
	if got := names(t, dir); len(got) != 3 {
		t.Errorf("files: %q", got)
	}
}

// Of many who publish under one name, exactly one may succeed, whatever the early check saw.
func TestPublishNewNeverOverwrites(t *testing.T) {
	dir := t.TempDir()
	taken, tmp := filepath.Join(dir, "taken"), filepath.Join(dir, "tmp")
	write(t, taken, "first", 0o600)
	write(t, tmp, "second", 0o600)
	if err := publishNew(tmp, taken); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	if got := content(t, taken); got != "first" {
		t.Errorf("holds %q", got)
	}
}

package proxy_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bouncer-mcp/bouncer/proxy"
)

func TestPathsResolve(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"work", "far/away"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(root, "far", "away"), filepath.Join(root, "work", "link")); err != nil {
		t.Skip("this system lets nobody make symbolic links: ", err)
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{root}, parts...)...) }
	paths := proxy.NewPaths(at("work"), at("home"))
	tests := []struct {
		path string
		want []string // none: refused
	}{
		{"a/b", []string{at("work", "a", "b")}},
		{"../x", []string{at("x")}},
		{at("work", "link", "new"), []string{at("far", "away", "new")}},
		{"link/../x", []string{at("far", "x"), at("work", "x")}},
		{"link/y/../x", []string{at("far", "away", "x")}},
		{"~/n", []string{at("home", "n")}},
		{"~other/n", nil},
		{"https://example.com/x", nil},
		{"", nil},
		{"a\x00b", nil},
	}
	for _, tt := range tests {
		got, err := paths.Resolve(tt.path)
		if (err != nil) != (tt.want == nil) || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %q, %v; want %q", tt.path, got, err, tt.want)
		}
	}
	if !paths.Within(at("work", "a"), []string{at("work")}) || paths.Within(at("works"), []string{at("work")}) {
		t.Error("Within does not go by path elements")
	}
}

//go:build !windows

package session

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestRefusedPlaces makes folders and files that somebody else could write to.
func TestRefusedPlaces(t *testing.T) {
	chmod := func(t *testing.T, path string, mode os.FileMode) {
		t.Helper()
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name string
		make func(t *testing.T, s *Server)
		want string
	}{
		{"folder for the group", func(t *testing.T, s *Server) { chmod(t, s.dir, 0o770) }, "others may write it (mode 0770)"},
		{"state folder for all", func(t *testing.T, s *Server) { chmod(t, filepath.Dir(s.dir), 0o707) }, "others may write it (mode 0707)"},
		{"file for the group", func(t *testing.T, s *Server) { chmod(t, s.path, 0o660) }, "others may write it (mode 0660)"},
		{"link", func(t *testing.T, s *Server) {
			other := filepath.Join(t.TempDir(), "other")
			if err := os.Rename(s.path, other); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(other, s.path); err != nil {
				t.Fatal(err)
			}
		}, "symbolic link"},
		{"pipe", func(t *testing.T, s *Server) {
			if err := os.Remove(s.path); err != nil {
				t.Fatal(err)
			}
			if err := syscall.Mkfifo(s.path, 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
		{"folder", func(t *testing.T, s *Server) {
			if err := os.Remove(s.path); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(s.path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "not a regular file"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Open(filepath.Join(t.TempDir(), "state")).Server(mail)
			compare(t, s, 1, listing("", "send=a"))
			tt.make(t, s)
			for what, l := range map[string]Listing{"the same": listing("", "send=a"), "another": listing("", "send=b")} {
				if _, err := s.Compare(day(2), l); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%s: got %v, want %q", what, err, tt.want)
				}
			}
		})
	}
}

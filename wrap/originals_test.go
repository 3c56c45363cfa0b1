package wrap

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestConfigs(t *testing.T) {
	store := NewStore(t.TempDir())
	if list, err := store.Configs(); err != nil || len(list) > 0 {
		t.Fatalf("an empty store lists %q, %v", list, err)
	}
	for _, path := range []string{"/home/ada/a.json", "/home/ada/b c.json"} {
		if err := store.writeOriginals(originalsFile{Path: path}); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(store.originalsFolder(), ".bouncer-1.tmp"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := store.Configs()
	if slices.Sort(list); err != nil || !slices.Equal(list, []string{"/home/ada/a.json", "/home/ada/b c.json"}) {
		t.Errorf("%q, %v", list, err)
	}
	if err := os.WriteFile(store.originalsPath("/x"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list, err := store.Configs(); err == nil || len(list) != 2 {
		t.Errorf("beside a damaged record: %q, %v", list, err)
	}
}

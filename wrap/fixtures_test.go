package wrap

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/bouncer-mcp/bouncer/clients"
)

// fixture is a realistic config of one client, as the client's own place would have it.
type fixture struct {
	name string
	file File
}

// fixtures reads testdata/clients/<id>. A fixture is named for the file it stands for, without the leading dot; where two
// configs of a client have the same name, it stands for both.
func fixtures(t *testing.T) []fixture {
	t.Helper()
	var list []fixture
	env := clients.Env{OS: "linux", Home: "/home/ada", Project: "/home/ada/work/app"}
	for _, client := range clients.All() {
		files, err := filepath.Glob(filepath.Join("..", "testdata", "clients", client.ID, "*.json"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has no fixture (%v)", client.ID, err)
		}
		for _, config := range client.Configs {
			path := config.Paths(env)[0]
			i := slices.IndexFunc(files, func(file string) bool {
				return "."+filepath.Base(file) == filepath.Base(path) || filepath.Base(file) == filepath.Base(path)
			})
			if i < 0 || config.Managed {
				continue
			}
			data, err := os.ReadFile(files[i])
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, fixture{client.ID + path, File{
				Client: client.ID, Path: path, Maps: config.Maps, Format: config.Format,
				Shared: config.Shared, Lock: config.Lock, Data: data, Mode: 0o600,
			}})
		}
	}
	return list
}

// TestFixtures wraps and unwraps every client's fixture, also with the line endings and marks of other editors.
func TestFixtures(t *testing.T) {
	variants := map[string]func([]byte) []byte{
		"as it is":         func(b []byte) []byte { return b },
		"CRLF":             func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n")) },
		"byte-order mark":  func(b []byte) []byte { return append([]byte("\xef\xbb\xbf"), b...) },
		"no final newline": func(b []byte) []byte { return bytes.TrimRight(b, "\n") },
		"tabs":             func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("  "), []byte("\t")) },
	}
	options := Options{Launcher: "/usr/local/bin/bouncer"}
	for _, fixture := range fixtures(t) {
		for variant, change := range variants {
			t.Run(fixture.name+" "+variant, func(t *testing.T) {
				file := fixture.file
				file.Data = change(file.Data)
				checkRoundTrip(t, file, options)
			})
		}
	}
}

func checkRoundTrip(t *testing.T, file File, options Options) {
	t.Helper()
	wrapped, err := PlanWrap(file, options)
	if err != nil {
		t.Fatal(err)
	}
	again := file
	again.Data = wrapped.After
	entries, err := Entries(again)
	if err != nil {
		t.Fatalf("%v in\n%s", err, wrapped.After)
	}
	count := 0
	for _, entry := range entries {
		switch entry.State {
		case Wrapped:
			count++
		case Remote:
		default:
			t.Errorf("%s is %s: %s", entry.Name, entry.State, entry.Reason)
		}
	}
	if count == 0 || bytes.Equal(wrapped.After, file.Data) {
		t.Error("nothing was wrapped")
	}
	if twice, err := PlanWrap(again, options); err != nil || !bytes.Equal(twice.After, wrapped.After) {
		t.Errorf("wrapping twice changed more (%v)", err)
	}
	back, err := PlanUnwrap(again, options)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(back.After, file.Data) {
		t.Errorf("unwrapping gave\n%s", back.After)
	}
	if strings.Contains(Diff(wrapped), "ghp_0000000000000000000000000000fixture") {
		t.Error("the diff shows a token")
	}
}

package session

import (
	"errors"
	"io/fs"
	"testing"
	"time"
)

func TestDefinitions(t *testing.T) {
	s := Open(t.TempDir()).Server("npm:x#x")
	if _, err := s.Definitions(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a server that was never seen: %v", err)
	}
	now := time.Now()
	list := func(tools map[string][]byte) {
		t.Helper()
		if _, err := s.Compare(now, Listing{Tools: tools}); err != nil {
			t.Fatal(err)
		}
	}
	list(map[string][]byte{"a": []byte(`{"name":"a"}`), "b": []byte(`{ "name": "b" }`)})
	list(map[string][]byte{"a": []byte(`{"name":"a","description":"new"}`), "c": []byte(`{"name":"c"}`)})
	tools, err := s.Definitions()
	if err != nil || len(tools) != 2 || string(tools["a"]) != `{"name":"a"}` || string(tools["b"]) != `{ "name": "b" }` {
		t.Errorf("%q, %v", tools, err)
	}
}

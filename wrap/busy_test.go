package wrap

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

// TestBusy applies plans while a program that takes no lock writes the file again and again. Each must come to its end, and
// keep what the program has written.
func TestBusy(t *testing.T) {
	m := newMachine(t)
	path := m.write("a.json", "[0]")
	replaces := func(make func(string) string) error {
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return atomicfile.Replace(path, []byte(make(string(data))), 0)
	}
	stop, stopped := make(chan struct{}), make(chan error)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				stopped <- nil
				return
			case <-time.After(5 * time.Millisecond):
			}
			if err := replaces(func(text string) string {
				_, list, _ := strings.Cut(text, "[")
				return fmt.Sprintf("%s[%s", strings.Repeat(" ", n%7), list)
			}); err != nil {
				stopped <- err
				return
			}
		}
	}()
	done := 0
	for range 20 {
		_, err := Apply(m.store, []Plan{m.plan("a.json")}, ApplyOptions{Command: "init", Replan: grow})
		if err == nil {
			done++
		} else if !errors.Is(err, ErrChanged) {
			t.Fatal(err)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Fatal(err)
	}
	if done < 19 {
		t.Errorf("%d of 20 came to their end", done)
	}
	generations, err := m.store.Generations()
	if err != nil {
		t.Fatal(err)
	}
	if len(generations) > 20 {
		t.Errorf("%d generations of 20 applies", len(generations))
	}
}

// TestHeldLock asserts that a lock directory beside a file is heeded although no client is known for the file, and that
// one that nobody has touched for long is nobody's lock.
func TestHeldLock(t *testing.T) {
	m := newMachine(t)
	lock := m.write("a.json", "[0]") + ".lock"
	if err := os.Mkdir(lock, 0o700); err != nil {
		t.Fatal(err)
	}
	var told []string
	_, err := Apply(m.store, []Plan{m.plan("a.json")}, ApplyOptions{Waiting: func(lock string) {
		told = append(told, lock)
		if err := os.Remove(lock); err != nil {
			t.Error(err)
		}
	}})
	if err != nil || !slices.Equal(told, []string{lock}) {
		t.Fatalf("waited for %q, error %v", told, err)
	}
	m.holds("a.json", "[0,1]")

	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Mkdir(lock, 0o700), os.Chtimes(lock, old, old)); err != nil {
		t.Fatal(err)
	}
	m.apply("init", m.plan("a.json"))
	if _, err := os.Stat(lock); err != nil {
		t.Errorf("a folder that is no lock is gone: %v", err)
	}
}

package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bouncer-mcp/bouncer/policy"
)

func lastingIn(dir string) lasting {
	return lasting{
		file: filepath.Join(dir, "config", "policy.yaml"), server: policy.Server{Name: "mail"}, profile: "balanced",
		lock: filepath.Join(dir, "state", "policy.lock"),
	}
}

func TestLasting(t *testing.T) {
	l := lastingIn(t.TempDir())
	tool := policy.Tool{Name: "send_email"}
	file, change, err := l.Preview(tool, []string{"x@y.com"})
	if err != nil || file != l.file || !strings.Contains(change, "\n+version: 1\n") || !strings.Contains(change, `+          - "x@y.com"`+"\n") {
		t.Errorf("%s: %v\n%s", file, err, change)
	}
	if _, err := os.Stat(l.file); err == nil {
		t.Error("the preview has written it")
	}
	// Runs that are told at once each write their own.
	var all sync.WaitGroup
	for _, to := range []string{"x@y.com", "a@b.com", "c@d.com"} {
		all.Go(func() {
			if err := l.Allow(tool, []string{to}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	data, err := os.ReadFile(l.file)
	if err != nil {
		t.Fatal(err)
	}
	trusted, err := l.trusted(tool, data)
	if err != nil {
		t.Fatal(err)
	}
	for _, to := range []string{"x@y.com", "a@b.com", "c@d.com"} {
		if !policy.Trusts(trusted, to) {
			t.Errorf("%s is not trusted:\n%s", to, data)
		}
	}
}

func TestLastingRefuses(t *testing.T) {
	tool := policy.Tool{Name: "send_email"}
	t.Run("a policy above decides", func(t *testing.T) {
		l := lastingIn(t.TempDir())
		l.above = []string{filepath.Join(t.TempDir(), "above.yaml")}
		if err := os.WriteFile(l.above[0], []byte("send_email: {trusted_destinations: []}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.Preview(tool, []string{"x@y.com"}); err == nil || !strings.Contains(err.Error(), "another policy decides") {
			t.Errorf("%v", err)
		}
		if err := l.Allow(tool, []string{"x@y.com"}); err == nil {
			t.Error("it was written all the same")
		}
		if _, err := os.Stat(l.file); err == nil {
			t.Error("there is a file")
		}
	})
	t.Run("what policy check warns of", func(t *testing.T) {
		l := lastingIn(t.TempDir())
		if err := l.Allow(tool, []string{"x@y.com"}); err != nil {
			t.Fatal(err)
		}
		for _, to := range []string{"Kim <kim@example.com>", "lee@p.example, ann@p.example", "mailto:kim@example.com"} {
			if _, _, err := l.Preview(tool, []string{"sam@p.example", to}); err == nil || !strings.Contains(err.Error(), "trusted_destinations") {
				t.Errorf("%q: %v", to, err)
			}
		}
		if !l.Trusts(tool, "X@y.com") || l.Trusts(tool, "X <x@y.com>") || l.Trusts(policy.Tool{Name: "reply"}, "x@y.com") {
			t.Error("it doesn't know what it trusts")
		}
	})
	t.Run("a broken policy", func(t *testing.T) {
		l := lastingIn(t.TempDir())
		if err := os.MkdirAll(filepath.Dir(l.file), 0o700); err != nil {
			t.Fatal(err)
		}
		const broken = "send_email: 3\n"
		if err := os.WriteFile(l.file, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := l.Allow(tool, []string{"x@y.com"}); err == nil {
			t.Error("it was changed")
		}
		if data, _ := os.ReadFile(l.file); string(data) != broken {
			t.Errorf("it is %q", data)
		}
	})
}

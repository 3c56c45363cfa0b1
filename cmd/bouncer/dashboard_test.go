package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// told is what a command has printed so far.
type told struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (t *told) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.Write(p)
}

func (t *told) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.text.String()
}

// TestDashboard goes in through the file that the command names, as a browser does, and ends the command.
func TestDashboard(t *testing.T) {
	p := newPerson(t, `{}`, "")
	mailPins(t, p)
	out := &told{}
	p.app.out = out
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- p.dashboard(ctx, true) }()

	file := regexp.MustCompile(`(?m)^  (.*\.html)$`)
	for start := time.Now(); !file.MatchString(out.String()) && time.Since(start) < 10*time.Second; {
		time.Sleep(5 * time.Millisecond)
	}
	found := file.FindStringSubmatch(out.String())
	if found == nil {
		t.Fatalf("it says %q", out)
	}
	page, err := os.ReadFile(found[1])
	if err != nil {
		t.Fatal(err)
	}
	lead := regexp.MustCompile(`url=(http://127\.0\.0\.1:\d+/enter\?token=\w+)`).FindSubmatch(page)
	if lead == nil || strings.Contains(out.String(), "token") {
		t.Fatalf("file: %s\nsaid: %s", page, out)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	get := func(address string) string {
		answer, err := (&http.Client{Jar: jar}).Get(address)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		body, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s %v", address, answer.StatusCode, body, err)
		}
		return string(body)
	}
	address := string(lead[1])
	root := regexp.MustCompile(`url=(/\w+/)`).FindStringSubmatch(get(address))
	if root == nil {
		t.Fatal("the entrance leads nowhere")
	}
	base := address[:strings.Index(address, "/enter")] + root[1]
	if body := get(base); !strings.Contains(body, "not started from a terminal") {
		t.Errorf("no terminal, and yet:\n%s", body)
	}
	if body := get(base + "servers"); !strings.Contains(body, "send_email") || !strings.Contains(body, "exfiltrating") {
		t.Errorf("the servers:\n%s", body)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(found[1]); err == nil {
		t.Error("the file is still there")
	}
	if _, err := http.Get(base); err == nil {
		t.Error("the page is still there")
	}
}

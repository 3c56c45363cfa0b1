package approve

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestParentIn(t *testing.T) {
	for _, tt := range []struct {
		stat string
		want int
	}{
		{"7 (claude) S 42 7 7", 42},
		{"7 (a) R 9 (b) S 42 7", 42},
		{"7 (x) S", 0},
		{"7 (x) S many", 0},
		{"", 0},
	} {
		if got := parentIn(tt.stat); got != tt.want {
			t.Errorf("%q: %d", tt.stat, got)
		}
	}
}

// TestEnvirons finds in a process what its parent was started with and it was not.
func TestEnvirons(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getenv("BOUNCER_TEST_ABOVE") == "child" {
		if w := screen(environs()); !slices.Contains(w, "DISPLAY=:4711") {
			t.Errorf("got %q", w)
		}
		return
	}
	if os.Getenv("BOUNCER_TEST_ABOVE") == "parent" {
		child := exec.Command(exe, "-test.run=^TestEnvirons$")
		child.Env = []string{"BOUNCER_TEST_ABOVE=child"}
		out, err := child.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	parent := exec.Command(exe, "-test.run=^TestEnvirons$")
	parent.Env = []string{"BOUNCER_TEST_ABOVE=parent", "DISPLAY=:4711"}
	if out, err := parent.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestKilledBouncer kills a process that shows a window.
func TestKilledBouncer(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if steps := os.Getenv("BOUNCER_TEST_SHOWS"); steps != "" {
		w := zenity(exe, []string{"BOUNCER_TEST_WINDOW=" + steps}, "text", 1)
		w.args = []string{"-test.run=^TestPlayWindow$"}
		_, _, _ = w.ask(t.Context())
		return
	}
	note := filepath.Join(t.TempDir(), "pid")
	bouncer := exec.Command(exe, "-test.run=^TestKilledBouncer$")
	bouncer.Env = []string{"BOUNCER_TEST_SHOWS=note:" + note + " wait:1m"}
	if err := bouncer.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	eventually(t, "the window", func() bool {
		data, _ := os.ReadFile(note)
		pid, _ = strconv.Atoi(string(data))
		return pid > 0
	})
	if err := bouncer.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = bouncer.Wait() // killed
	eventually(t, "the window's end", func() bool {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		return err != nil || strings.Contains(string(stat), ") Z ") // nobody may be there to wait for it
	})
}

func eventually(t *testing.T, what string, happens func() bool) {
	t.Helper()
	for start := time.Now(); time.Since(start) < 20*time.Second; time.Sleep(5 * time.Millisecond) {
		if happens() {
			return
		}
	}
	t.Fatalf("%s does not come", what)
}

// TestDialogOnScreen presses keys in the real windows. BOUNCER_SCREEN is a screen for nothing else, such as one of Xvfb.
func TestDialogOnScreen(t *testing.T) {
	display := os.Getenv("BOUNCER_SCREEN")
	if display == "" {
		t.Skip("BOUNCER_SCREEN names no screen with zenity, kdialog and xdotool")
	}
	t.Setenv("DISPLAY", display)
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	q := Question{Server: "mail", Tool: "send_email", Args: parse(t, `{"to":"x@y.com","body":"a \\n b"}`), Verdict: gate(unseen("to", "x@y.com"))}
	for _, tt := range []struct {
		tool string
		keys []string
		want Answer
		note string
	}{
		{"zenity", []string{"Return"}, No, "declined"},
		{"zenity", []string{"Escape"}, No, "declined"},
		{"zenity", []string{"Tab", "Return"}, No, "declined"},
		{"zenity", []string{"shift+Tab", "Return"}, Once, ""},
		{"zenity", []string{"shift+Tab", "shift+Tab", "Return"}, Session, ""},
		{"zenity", nil, No, "no answer in time"},
		{"kdialog", []string{"Return"}, No, "declined"},
		{"kdialog", []string{"Escape"}, No, "declined"},
		{"kdialog", []string{"Down", "Return"}, Once, ""},
		{"kdialog", []string{"Down", "Down", "Return"}, Session, ""},
		{"kdialog", nil, No, "no answer in time"},
	} {
		t.Run(tt.tool+" "+strings.Join(tt.keys, " "), func(t *testing.T) {
			d := NewDialog(filepath.Join(t.TempDir(), "lock"))
			d.find = func(path string) bool { return path == "/usr/bin/"+tt.tool }
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if tt.keys == nil {
				ctx, cancel = context.WithTimeout(t.Context(), 2*time.Second)
			}
			defer cancel()
			typed := make(chan struct{})
			go func() {
				defer close(typed)
				press(ctx, t, tt.keys)
			}()
			a, note, err := d.Ask(ctx, q)
			<-typed
			if a != tt.want || note != tt.note || err != nil {
				t.Errorf("got %d %q %v", a, note, err)
			}
		})
	}
}

// press waits for the window, reads it as long as a person would at least, and presses keys.
func press(ctx context.Context, t *testing.T, keys []string) {
	if len(keys) == 0 {
		return
	}
	if out, err := exec.CommandContext(ctx, "xdotool", "search", "--sync", "--onlyvisible", "--name", "^bouncer").CombinedOutput(); err != nil {
		t.Errorf("no window: %v %s", err, out)
		return
	}
	for i, key := range keys {
		if i == 0 {
			time.Sleep(hasty)
		}
		if out, err := exec.CommandContext(ctx, "xdotool", "key", key).CombinedOutput(); err != nil {
			t.Errorf("%s: %v %s", key, err, out)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

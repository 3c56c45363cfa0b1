package approve

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"
)

// TestPlayWindow lets this program play the tool of a window, if the variable says what it does.
func TestPlayWindow(*testing.T) {
	play := os.Getenv("BOUNCER_TEST_WINDOW")
	if play == "" {
		return
	}
	for step := range strings.FieldsSeq(play) {
		verb, rest, _ := strings.Cut(step, ":")
		switch verb {
		case "wait":
			d, _ := time.ParseDuration(rest)
			time.Sleep(d)
		case "say":
			os.Stdout.WriteString(strings.ReplaceAll(rest, "_", " "))
		case "note":
			os.WriteFile(rest, fmt.Append(nil, os.Getpid()), 0o600)
		case "complain":
			os.Stderr.WriteString(rest)
		case "flood":
			for range 100 {
				os.Stdout.WriteString(strings.Repeat("once", 1<<10))
			}
		case "fail":
			os.Exit(len(rest)) //nolint:forbidigo // it plays a program that ends so
		}
	}
	os.Exit(0) //nolint:forbidigo // before the test prints its own words
}

// hostile is what a tool may have put into a question that Text, against all expectation, has let through.
const hostile = `$(touch /tmp/x) '"; exit 0 #` + "`x`" + ` \n\\ " & do shell script "x" <b>&amp;</b> %s --timeout=1`

func fixed(os string, env ...string) *Dialog {
	return &Dialog{os: os, envs: func() [][]string { return [][]string{env} }, find: func(string) bool { return true }}
}

func TestWindow(t *testing.T) {
	home := "HOME=/home/ada"
	windows := fixed("windows", `SystemRoot=C:\Windows`, "TEMP=x")
	without := func(d *Dialog, name string) *Dialog {
		d.find = func(path string) bool { return !strings.Contains(path, name) }
		return d
	}
	parents := fixed("linux")
	parents.envs = func() [][]string {
		return [][]string{{home}, {home, "MYDISPLAY=:3"}, {"DISPLAY=:1", "LD_PRELOAD=x"}, {"DISPLAY=:2"}}
	}
	off := fixed("linux")
	off.envs = func() [][]string { return [][]string{{home, "DISPLAY="}, {"DISPLAY=:1"}} }
	for _, tt := range []struct {
		name string
		d    *Dialog
		tool string // empty: there is none
	}{
		{"macOS", fixed("darwin", home), "/usr/bin/osascript"},
		{"macOS from afar", fixed("darwin", home, "SSH_CONNECTION=1 2 3 4"), ""},
		{"macOS without it", without(fixed("darwin", home), "osascript"), ""},
		{"Windows", windows, `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`},
		{"Windows without SystemRoot", fixed("windows", "TEMP=x"), ""},
		{"Windows from afar", fixed("windows", `SystemRoot=C:\Windows`, "SSH_CONNECTION=1 2 3 4"), ""},
		{"Linux", fixed("linux", home, "DISPLAY=:0"), "/usr/bin/zenity"},
		{"Wayland", fixed("linux", home, "WAYLAND_DISPLAY=wayland-0"), "/usr/bin/zenity"},
		{"without zenity", without(fixed("linux", "DISPLAY=:0"), "zenity"), "/usr/bin/kdialog"},
		{"elsewhere", without(fixed("freebsd", "DISPLAY=:0"), "/usr/bin"), "/usr/local/bin/zenity"},
		{"without a tool", without(fixed("linux", "DISPLAY=:0"), "bin"), ""},
		{"without a screen", fixed("linux", home, "PATH=/opt/evil"), ""},
		{"a screen that is switched off", off, ""},
		{"the screen of an ancestor", parents, "/usr/bin/zenity"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, ok := tt.d.window(hostile, 45)
			if ok != (tt.tool != "") || ok && w.path != tt.tool {
				t.Fatalf("got %q, %v", w.path, ok)
			}
			if tt.d.Available() != ok {
				t.Errorf("available: %v", !ok)
			}
			if !ok {
				if _, _, err := tt.d.Ask(t.Context(), Question{Verdict: gate(unseen("to", "x"))}); !errors.Is(err, ErrUnavailable) {
					t.Errorf("asked all the same: %v", err)
				}
				return
			}
			checkTexts(t, w)
			if i := slices.IndexFunc(w.env, func(v string) bool { return strings.HasPrefix(v, "LD_") }); i >= 0 {
				t.Errorf("%s is passed on", w.env[i])
			}
		})
	}
	if w, _ := parents.window("x", 1); !slices.Contains(w.env, "DISPLAY=:1") {
		t.Errorf("the wrong screen: %q", w.env)
	}
}

// checkTexts sees that the text reaches the tool once and whole, and neither in a script nor, but for kdialog, where others
// can read it.
func checkTexts(t *testing.T, w window) {
	t.Helper()
	inArgs := slices.ContainsFunc(w.args, func(arg string) bool { return strings.Contains(arg, "touch /tmp/x") })
	inEnv := slices.Contains(w.env, "BOUNCER_QUESTION="+hostile)
	switch base := filepath.Base(w.path); {
	case base == "kdialog":
		i := slices.Index(w.args, "--menu")
		if w.args[i+1] != strings.ReplaceAll(hostile, `\`, `\\`) {
			t.Errorf("kdialog would show %q", w.args[i+1])
		}
	case strings.HasSuffix(base, "powershell.exe"):
		if inArgs || !inEnv || w.stdin != "" {
			t.Errorf("%+v", w)
		}
	case inArgs || inEnv || w.stdin != hostile:
		t.Errorf("%+v", w)
	}
	if _, ok := w.yes[""]; ok {
		t.Error("nothing counts as a yes")
	}
}

func TestEncodeCommand(t *testing.T) {
	raw, err := base64.StdEncoding.DecodeString(encodeCommand(windowsScript))
	if err != nil {
		t.Fatal(err)
	}
	var units []uint16
	for len(raw) > 0 {
		units, raw = append(units, binary.LittleEndian.Uint16(raw)), raw[2:]
	}
	if got := string(utf16.Decode(units)); got != windowsScript {
		t.Errorf("got %q", got)
	}
	if n := len(encodeCommand(windowsScript)); n > 16_000 { // Windows allows 32767 for the whole command line
		t.Errorf("%d characters", n)
	}
}

func TestReadWindow(t *testing.T) {
	const slow = 5 * time.Second
	z := zenity("zenity", nil, "", 1)
	k := kdialog("kdialog", nil, "")
	for _, tt := range []struct {
		name            string
		w               window
		said, complaint string
		code            int
		took            time.Duration
		want            Answer
		note            string
		err             bool
	}{
		{"once", z, "Allow once\n", "", 1, slow, Once, "", false},
		{"session", z, "Allow for this session\n", "", 1, slow, Session, "", false},
		{"the default button", z, "", "", 0, slow, No, "declined", false},
		{"Esc", z, "", "", 1, slow, No, "declined", false},
		{"given up", z, "", "", 5, slow, No, "no answer in time", false},
		{"no screen after all", z, "", "cannot open display", 1, slow, No, "", true},
		{"an old zenity", z, "", "unknown option", 255, slow, No, "", true},
		{"killed", z, "", "", -1, slow, No, "", true},
		{"a yes and more", z, "Allow once Allow once", "", 1, slow, No, "", true},
		{"a yes in other words", z, "once", "", 0, slow, No, "", true},
		{"a yes that nobody has read", z, "Allow once", "", 1, 900 * time.Millisecond, No, "", true},
		{"a yes of no person", z, "Allow once", "", 1, 100 * time.Millisecond, No, "", true},
		{"a no of no person", z, "", "", 1, 100 * time.Millisecond, No, "", true},
		{"a quick no", z, "", "", 1, 400 * time.Millisecond, No, "declined", false},
		{"kdialog once", k, "once\n", "", 0, slow, Once, "", false},
		{"kdialog session", k, "session\n", "", 0, slow, Session, "", false},
		{"kdialog no", k, "no\n", "", 0, slow, No, "declined", false},
		{"kdialog Esc", k, "", "", 1, slow, No, "declined", false},
		{"kdialog aborts", k, "", "could not connect to display", 134, slow, No, "", true},
		{"a script gives up", k, "late", "", 0, slow, No, "no answer in time", false},
		{"always is none of the answers", k, "always", "", 0, slow, No, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, note, err := tt.w.read(tt.said, tt.complaint, tt.code, tt.took)
			if a != tt.want || note != tt.note || (err != nil) != tt.err {
				t.Errorf("got %d %q %v", a, note, err)
			}
		})
	}
}

// TestAskWindow runs real processes in place of the tools.
func TestAskWindow(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	play := func(steps string) window {
		w := zenity(exe, append(os.Environ(), "BOUNCER_TEST_WINDOW="+steps), "text", 1)
		w.args = []string{"-test.run=^TestPlayWindow$"}
		return w
	}
	for _, tt := range []struct {
		steps string
		want  Answer
		note  string
		err   bool
	}{
		{"wait:1100ms say:Allow_once fail:x", Once, "", false},
		{"wait:350ms fail:x", No, "declined", false},
		{"wait:350ms complain:display fail:x", No, "", true},
		{"flood wait:1100ms", No, "", true},
	} {
		if a, note, err := play(tt.steps).ask(t.Context()); a != tt.want || note != tt.note || (err != nil) != tt.err {
			t.Errorf("%s: got %d %q %v", tt.steps, a, note, err)
		}
	}
	t.Run("taken away", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		begin := time.Now()
		if a, note, err := play("wait:1m say:Allow_once").ask(ctx); a != No || note != "no answer in time" || err != nil {
			t.Errorf("got %d %q %v", a, note, err)
		}
		if took := time.Since(begin); took > 30*time.Second {
			t.Errorf("the window stayed for %v", took)
		}
	})
	t.Run("not there", func(t *testing.T) {
		w := play("")
		w.path += "-missing"
		if a, _, err := w.ask(t.Context()); a != No || err == nil {
			t.Errorf("got %d %v", a, err)
		}
	})
}

func TestOneWindowAtATime(t *testing.T) {
	turn := filepath.Join(t.TempDir(), "dialog.lock")
	first := &Dialog{turn: turn}
	done, err := first.takeTurn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := (&Dialog{turn: turn}).takeTurn(ctx); err == nil {
		t.Error("two windows at once")
	}
	done()
	done, err = (&Dialog{turn: turn}).takeTurn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	done()
}

func FuzzReadWindow(f *testing.F) {
	f.Add("Allow once", "", 1, int64(2*time.Second))
	f.Add("no", "display", 0, int64(0))
	f.Fuzz(func(t *testing.T, said, complaint string, code int, took int64) {
		for _, w := range []window{zenity("z", nil, "", 1), kdialog("k", nil, "")} {
			a, note, err := w.read(said, complaint, code, time.Duration(took))
			if a != No && (w.yes[strings.TrimSpace(said)] != a || time.Duration(took) < hasty) {
				t.Fatalf("%q after %v is %d", said, time.Duration(took), a)
			}
			if a == No && note == "" && err == nil {
				t.Fatalf("a no without a reason for %q %d", said, code)
			}
		}
	})
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"bouncer":        withoutWindows,
		"mail-server":    withoutWindows, // the demo puts bouncer into its home under this name
		"claude-desktop": untilKilled,
		"fakeserver":     fakeServer,
		"fakeclient":     fakeClient,
		"fakebrowser":    fakeBrowser,
		"fakeperson":     fakePerson,
		"stubborn":       staysAlive,
	})
}

// withoutWindows is bouncer where nobody sits at the screen, and programs pass for people, who are slower.
func withoutWindows() {
	a := newApp()
	a.dialog, a.human = nil, -1
	os.Exit(run(os.Args[1:], a)) //nolint:forbidigo // this is main
}

// untilKilled passes for a client that runs.
func untilKilled() {
	killed := make(chan os.Signal, 1)
	signal.Notify(killed, os.Interrupt)
	<-killed
}

// TestScript runs every script in testdata/script against this build of bouncer.
func TestScript(t *testing.T) {
	root := scriptRoot(t)
	installed := filepath.Join(root, exeName("bouncer"))
	copyExecutable(t, installed)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		WorkdirRoot:         root,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup:               func(env *testscript.Env) error { return settle(env, installed) },
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"program": program,
			"copies":  copies,
			"expand":  expand,
			"neutral": neutral,
			"replace": replace,
			"keep":    keep,
		},
	})
}

// scriptRoot makes the folder that scripts work in. It is no temporary one: bouncer refuses to be started from there for good.
func scriptRoot(t *testing.T) string {
	t.Helper()
	parent, err := os.UserCacheDir()
	if err == nil {
		err = os.MkdirAll(parent, 0o755)
	}
	if err != nil {
		parent = "." // no home to speak of
	}
	root, err := os.MkdirTemp(parent, "bouncer-script-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	return root
}

// settle gives a script a person's home on every platform, with bouncer in ~/bin and first on PATH.
func settle(env *testscript.Env, installed string) error {
	home := filepath.Join(env.WorkDir, "home")
	bin := filepath.Join(home, "bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	if err := os.Link(installed, filepath.Join(bin, filepath.Base(installed))); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"HOME":            home,
		"USERPROFILE":     home,
		"APPDATA":         filepath.Join(home, "AppData", "Roaming"),
		"LOCALAPPDATA":    filepath.Join(home, "AppData", "Local"),
		"XDG_CONFIG_HOME": filepath.Join(home, ".config"),
		"XDG_STATE_HOME":  filepath.Join(home, ".local", "state"),
		"PATH":            bin + string(os.PathListSeparator) + env.Getenv("PATH"),
		"BOUNCER":         filepath.Join(bin, filepath.Base(installed)),
		"HOOK":            hookCommand(filepath.Join(bin, filepath.Base(installed))),
		"STATE":           filepath.Join(home, ".local", "state", "bouncer"),
		"NO_COLOR":        "",
		"GORACE":          "atexit_sleep_ms=0", // or every process of a race build takes a second to end
	} {
		env.Setenv(name, value)
	}
	return nil
}

// hookCommand is what init has a client run with each prompt.
func hookCommand(bouncer string) string {
	if runtime.GOOS == "windows" {
		return filepath.ToSlash(bouncer) + " hook prompt; exit 0"
	}
	return bouncer + " hook prompt || exit 0"
}

func exeName(name string) string {
	if runtime.GOOS == "windows" {
		return name + ".exe"
	}
	return name
}

func copyExecutable(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	if err == nil {
		err = copyFile(self, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func copyFile(from, to string) error {
	r, err := os.Open(from)
	if err != nil {
		return err
	}
	defer r.Close()
	w, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, w.Close())
}

// exits runs a command that must end with an exact code: exits 2 bouncer init --scope=moon.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARGS...]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// program makes an executable that is found but never run by a script: program $WORK/tools/npx.
func program(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: program FILE...")
	}
	for _, name := range args {
		file := exeName(ts.MkAbs(name))
		ts.Check(os.MkdirAll(filepath.Dir(file), 0o755))
		ts.Check(os.WriteFile(file, []byte("#!/bin/sh\nexit 1\n"), 0o755))
	}
}

// copies states how many files lie below a folder, itself not counting; a missing folder holds none: copies 0 $STATE.
func copies(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: copies COUNT FOLDER")
	}
	var files []string
	err := filepath.WalkDir(ts.MkAbs(args[1]), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files = append(files, path)
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		ts.Fatalf("%v", err)
	}
	if got := fmt.Sprint(len(files)); got != args[0] {
		ts.Fatalf("%s files, want %s:\n%s", got, args[0], strings.Join(files, "\n"))
	}
}

// expand puts the script's variables into a file: expand home/.cursor/mcp.json.
func expand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: expand FILE")
	}
	file := ts.MkAbs(args[0])
	text := os.Expand(ts.ReadFile(args[0]), func(name string) string {
		if value := ts.Getenv(name); value != "" {
			return value
		}
		return "${" + name + "}" // the client's own
	})
	ts.Check(os.WriteFile(file, []byte(text), 0o600))
}

// neutral writes an output with $WORK for the script's folder and plain slashes, so that it can be compared with a golden
// text on every platform: neutral stdout got.
func neutral(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: neutral stdout|stderr|FILE TO")
	}
	work := ts.Getenv("WORK")
	text := strings.ReplaceAll(ts.ReadFile(args[0]), strings.ReplaceAll(work, `\`, `\\`), "$WORK")
	text = strings.ReplaceAll(text, work, "$WORK")
	if filepath.Separator == '\\' {
		text = strings.NewReplacer(`\\`, "/", `\`, "/", ".exe", "").Replace(text)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o600))
}

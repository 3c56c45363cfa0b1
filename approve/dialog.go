package approve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/internal/atomicfile"
)

const (
	// quick is how soon a window is closed by something other than a person: another window's key press, or a tool that can't
	// show anything.
	quick = 300 * time.Millisecond
	// hasty is how soon nobody says yes who has read the question. The click was meant for what was there before.
	hasty = time.Second
	// patient is how long a window stays when nobody has said.
	patient = time.Minute
	// maxSaid is how much of a tool's output is looked at.
	maxSaid = 4 << 10
)

var (
	errQuick = errors.New("closed sooner than a person can")
	errHasty = errors.New("allowed sooner than a person can read")
)

// Dialog asks in a window of the system's own: osascript on macOS, PowerShell on Windows, zenity or kdialog elsewhere.
// One of this program's windows is open at a time, so that no window gets the click that was meant for another.
type Dialog struct {
	os   string
	envs func() [][]string // this process's environment, then those of the processes that have started it
	find func(path string) bool
	turn string // a file that is locked while a window is open
}

// NewDialog returns the dialogs of this system. turn is a file that they may make and lock.
func NewDialog(turn string) *Dialog {
	return &Dialog{
		os:   runtime.GOOS,
		envs: func() [][]string { return append([][]string{os.Environ()}, environs()...) },
		turn: turn,
		find: func(path string) bool {
			info, err := os.Stat(path)
			return err == nil && info.Mode().IsRegular()
		},
	}
}

// Name implements Channel.
func (d *Dialog) Name() string { return "dialog" }

// Available implements Channel.
func (d *Dialog) Available() bool {
	_, ok := d.window("", 0)
	return ok
}

// Ask implements Channel.
func (d *Dialog) Ask(ctx context.Context, q Question) (Answer, string, error) {
	left := patient
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	q.Always = nil // what that writes can't be shown here as it should be
	w, ok := d.window(q.Text(), int(left/time.Second)+1)
	if !ok {
		return No, "", ErrUnavailable
	}
	done, err := d.takeTurn(ctx)
	if ctx.Err() != nil {
		return No, "no answer in time", nil
	}
	if err != nil {
		return No, "", err
	}
	defer done()
	return w.ask(ctx)
}

// takeTurn waits until no other window is open.
func (d *Dialog) takeTurn(ctx context.Context) (done func(), err error) {
	const look = 50 * time.Millisecond
	lock, err := atomicfile.OpenLock(d.turn)
	if err != nil {
		return nil, err
	}
	for {
		err := lock.Lock(look)
		if err == nil {
			return func() { _ = lock.Close() }, nil // which also unlocks it
		}
		if ctx.Err() != nil || !errors.Is(err, atomicfile.ErrLocked) {
			return nil, errors.Join(err, lock.Close())
		}
	}
}

// window is a tool that shows one question. It ends by itself after a while, where it can, should bouncer not be there any
// more to end it.
type window struct {
	path  string
	args  []string
	env   []string
	stdin string
	yes   map[string]Answer // what it prints for a yes; everything else is none
	late  int               // how it exits when it gives up; 0 if it prints sayLate instead
}

// What the windows of our own scripts print.
const (
	sayNo   = "no"
	sayLate = "late"
)

// The labels of the buttons.
const (
	labelNo      = "Don't allow"
	labelOnce    = "Allow once"
	labelSession = "Allow for this session"
)

// ask shows the window until it is answered or ctx is done.
func (w window) ask(ctx context.Context) (Answer, string, error) {
	cmd := exec.CommandContext(ctx, w.path, w.args...)
	cmd.Env = w.env
	cmd.Stdin = strings.NewReader(w.stdin)
	var said, complaint bounded
	cmd.Stdout, cmd.Stderr = &said, &complaint
	cmd.WaitDelay = time.Second // a child of the tool's may hold its output open
	begin := time.Now()
	err := runWindow(cmd)
	if ctx.Err() != nil {
		return No, "no answer in time", nil
	}
	if cmd.ProcessState == nil {
		return No, "", err // it didn't start
	}
	return w.read(said.String(), complaint.String(), cmd.ProcessState.ExitCode(), time.Since(begin))
}

// read says what a tool's end means.
func (w window) read(said, complaint string, code int, took time.Duration) (Answer, string, error) {
	said = strings.TrimSpace(said)
	a, yes := w.yes[said]
	switch {
	case took < quick:
		return No, "", errQuick
	case yes && took < hasty:
		return No, "", errHasty
	case yes:
		return a, "", nil
	case said == sayLate, w.late > 0 && code == w.late:
		return No, "no answer in time", nil
	case said == sayNo, said == "" && (code == 0 || code == 1) && !strings.Contains(complaint, "display"):
		return No, "declined", nil
	}
	return No, "", fmt.Errorf("%s ended with %d", w.path, code)
}

// bounded keeps the beginning of what is written to it.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), maxSaid-b.Len())])
	return len(p), nil
}

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// fakePerson is a program of the scripts: it sits at a terminal of its own in which a command runs, and plays a file of steps.
//
//	fakeperson STEPS COMMAND [ARGS...]
//
//	sees REGEXP        something on the screen matches
//	press KEY          presses a key
//	press KEY REGEXP   and again, until something new on the screen matches
//	leaves FILE        writes an empty file
//	until FILE         waits for the file to exist
//	end                the command has ended
//
// It prints what was on the screen.
func fakePerson() {
	steps, err := os.ReadFile(os.Args[1])
	check(err)
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	check(err)
	check(unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	check(err)
	check(unix.IoctlSetWinsize(int(keyboard.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 60, Col: 200}))
	terminal, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	check(err)
	cmd := exec.Command(os.Args[2], os.Args[3:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = terminal, terminal, terminal
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	check(cmd.Start())
	check(terminal.Close())
	p := &sitter{keyboard: keyboard, ended: make(chan struct{})}
	go p.look()
	for step := range strings.Lines(string(steps)) {
		if err := p.play(strings.TrimSpace(step)); err != nil {
			fmt.Fprintf(os.Stderr, "fakeperson: %s: %v\nthe screen:\n%s\n", strings.TrimSpace(step), err, p.screen())
			_ = cmd.Process.Kill()
			os.Exit(1) //nolint:forbidigo // a program of its own
		}
	}
	_ = cmd.Wait() // how it ends is on the screen
	fmt.Fprintln(os.Stdout, p.screen())
}

// sitter is at a terminal.
type sitter struct {
	keyboard *os.File
	ended    chan struct{}

	mu   sync.Mutex
	seen strings.Builder
}

// look reads the screen until nobody writes to it.
func (p *sitter) look() {
	defer close(p.ended)
	buf := make([]byte, 4096)
	for {
		n, err := p.keyboard.Read(buf)
		p.mu.Lock()
		p.seen.Write(buf[:n])
		p.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (p *sitter) screen() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.ReplaceAll(p.seen.String(), "\r", "")
}

func (p *sitter) play(step string) error {
	word, rest, _ := strings.Cut(step, " ")
	switch word {
	case "":
		return nil
	case "sees":
		pattern := regexp.MustCompile(rest)
		return eventually(func() bool { return pattern.MatchString(p.screen()) })
	case "press":
		key, until, again := strings.Cut(rest, " ")
		if !again {
			_, err := io.WriteString(p.keyboard, key)
			return err
		}
		pattern, before := regexp.MustCompile(until), len(p.screen())
		var failed error
		err := eventually(func() bool {
			if pattern.MatchString(p.screen()[before:]) {
				return true
			}
			_, failed = io.WriteString(p.keyboard, key)
			time.Sleep(20 * time.Millisecond)
			return failed != nil
		})
		return errors.Join(err, failed)
	case "types":
		_, err := io.WriteString(p.keyboard, rest+"\r")
		return err
	case "leaves":
		return os.WriteFile(rest, nil, 0o600)
	case "until":
		return eventually(func() bool { _, err := os.Stat(rest); return err == nil })
	case "end":
		select {
		case <-p.ended:
			return nil
		case <-time.After(patience):
			return errors.New("it does not end")
		}
	}
	return errors.New("no such step")
}

package dashboard

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	ticketDir = "dashboard"
	ticketEnd = ".html"
)

// Ticket is a file that leads a browser to the page. A token on a command line could be read by every user of the machine.
type Ticket struct{ Path string }

// Ticket writes the file by which a browser gets in, once.
func (d *Dashboard) Ticket() (*Ticket, error) {
	dir := filepath.Join(d.o.State, ticketDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.Chmod(dir, 0o700); err != nil { // nor does it work on somebody else's
		return nil, err
	}
	sweep(dir, d.now())
	to := d.Address() + "enter?token=" + d.door.token
	page := fmt.Sprintf("<!doctype html>\n<meta charset=\"utf-8\">\n<meta name=\"referrer\" content=\"no-referrer\">\n"+
		"<meta http-equiv=\"refresh\" content=\"0;url=%s\">\n<title>bouncer</title>\n<p><a href=\"%s\">Open bouncer's page</a></p>\n", to, to)
	path := filepath.Join(dir, secret()+ticketEnd)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	t := &Ticket{path}
	_, err = f.WriteString(page)
	if errClose := f.Close(); err == nil {
		err = errClose
	}
	if err != nil {
		t.Remove()
		return nil, err
	}
	return t, nil
}

// Remove removes the file, which is of no use any more once a browser has got in.
func (t *Ticket) Remove() { _ = os.Remove(t.Path) } // the token in it is dead by then, or dies with its time

// Entered waits until a browser has got in, or the time for it is over, and reports which.
func (d *Dashboard) Entered(done <-chan struct{}) bool {
	look := time.NewTicker(lookEach)
	defer look.Stop()
	limit := time.NewTimer(tokenFor)
	defer limit.Stop()
	for !d.door.entered() {
		select {
		case <-done:
			return false
		case <-limit.C:
			return false
		case <-look.C:
		}
	}
	return true
}

// sweep removes the files of runs that were killed.
func sweep(dir string, now time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), ticketEnd) && now.Sub(info.ModTime()) > 2*tokenFor {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

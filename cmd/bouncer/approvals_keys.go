package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/internal/term"
)

const (
	lookEvery = 50 * time.Millisecond
	// takeIn is how long a question must have been on the screen before a key can be an answer to it: what somebody was
	// about to type when it came is none.
	takeIn = 300 * time.Millisecond
)

// answerByKeys shows what waits and answers it, until the person has had enough.
func (a *app) answerByKeys(store *approve.Store) error {
	if !term.Controls() {
		return misuse("open a terminal and run it there", "approvals needs a terminal")
	}
	watch, err := store.Watch()
	if err != nil {
		return err
	}
	defer func() { _ = watch.Close() }() // one that stays is seen to be of no living process
	restore, err := term.Raw(a.in)
	if err != nil {
		return err
	}
	out := a.out
	if r, ok := out.(*recorder); ok {
		out = r.Writer
	}
	err = a.watchApprovals(store, &screen{out: out, moves: term.Moves(out, a.getenv)})
	return errors.Join(err, restore())
}

func (a *app) watchApprovals(store *approve.Store, s *screen) error {
	keys := make(chan string)
	go readKeys(a.in, keys) // until the process ends: a read from a terminal can't be broken off
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	b := board{check: mayApprove}
	for {
		list, err := store.List()
		if err != nil {
			return err
		}
		b.update(list, time.Now())
		s.show(&b, time.Now())
		select {
		case <-tick.C:
		case key, ok := <-keys:
			if !ok {
				return nil
			}
			w, answer, what := b.press(key, time.Now())
			switch what {
			case leave:
				return nil
			case reply:
				err := store.Answer(w.ID, answer, byTerminal)
				if err == nil {
					b.said = given(w, answer, time.Now())
				} else {
					b.said = err.Error()
				}
			}
		}
	}
}

// readKeys hands over what is typed, a key at a time. More at once was pasted, and is dropped.
func readKeys(in io.Reader, keys chan<- string) {
	defer close(keys)
	buf := make([]byte, 64)
	for {
		n, err := in.Read(buf)
		if key := string(buf[:n]); n == 1 || strings.HasPrefix(key, "\x1b[") && n == 3 {
			keys <- key
		}
		if err != nil {
			return
		}
	}
}

// screen shows a board in place of what it has shown before.
type screen struct {
	out   io.Writer
	moves bool // the cursor can be moved
	last  []string
}

func (s *screen) show(b *board, now time.Time) {
	columns, height := term.Size(s.out)
	lines := b.lines(columns, now)
	if slices.Equal(lines, s.last) {
		return
	}
	switch {
	case !s.moves || s.last == nil:
	case len(s.last) < height:
		fmt.Fprintf(s.out, "\x1b[%dA\r\x1b[J", len(s.last))
	default: // its beginning is out of reach
		fmt.Fprint(s.out, "\x1b[H\x1b[2J")
	}
	fmt.Fprint(s.out, strings.Join(lines, "\r\n")+"\r\n")
	s.last = lines
}

// did is what a key asks for.
type did uint8

const (
	nothing did = iota
	reply
	leave
)

// board is what the screen shows: the questions, the one that keys are for, and what has just happened.
type board struct {
	list    []approve.Waiting
	chosen  string    // id
	since   time.Time // from when it has been on the screen
	confirm bool      // the person has been shown what always would write
	said    string
	check   func(approve.Waiting) error
}

// update takes in what waits now. The chosen question stays chosen wherever it stands.
func (b *board) update(list []approve.Waiting, now time.Time) {
	b.list = list
	if b.at() < 0 {
		b.choose(0, now)
	}
}

// at is the index of the chosen question, -1 for none.
func (b *board) at() int {
	for i, w := range b.list {
		if w.ID == b.chosen {
			return i
		}
	}
	return -1
}

func (b *board) choose(i int, now time.Time) {
	b.confirm = false
	if i < 0 || i >= len(b.list) {
		if len(b.list) == 0 {
			b.chosen = ""
		}
		return
	}
	if b.list[i].ID != b.chosen {
		b.chosen, b.since = b.list[i].ID, now
	}
}

// press takes a key.
func (b *board) press(key string, now time.Time) (approve.Waiting, approve.Answer, did) {
	at := b.at()
	switch key {
	case "q", "\x03", "\x04":
		return approve.Waiting{}, approve.No, leave
	case "\x1b[A", "k":
		b.choose(at-1, now)
	case "\x1b[B", "j":
		b.choose(at+1, now)
	case "1", "2", "3", "4", "5", "6", "7", "8", "9":
		for i, w := range b.list {
			if fmt.Sprint(w.Number) == key {
				b.choose(i, now)
			}
		}
	case "y", "s", "a", "n":
		if at >= 0 && now.Sub(b.since) >= takeIn {
			return b.answer(b.list[at], key)
		}
	default:
		b.confirm = false
	}
	return approve.Waiting{}, approve.No, nothing
}

// answer is what a key says to a question.
func (b *board) answer(w approve.Waiting, key string) (approve.Waiting, approve.Answer, did) {
	confirmed := b.confirm
	b.confirm, b.said = false, ""
	if key == "n" && confirmed {
		return w, approve.No, nothing // only to what would be written
	}
	if key == "n" {
		return w, approve.No, reply
	}
	if err := b.check(w); err != nil {
		b.said = err.Error() + "; answer in a terminal of your own, outside of the client"
		return w, approve.No, nothing
	}
	switch {
	case confirmed && key == "y":
		return w, approve.Always, reply
	case key == "a" && len(w.Always) == 0:
		b.said = approve.ErrNoAlways.Error()
	case key == "a":
		b.confirm = true
	case key == "s":
		return w, approve.Session, reply
	case key == "y":
		return w, approve.Once, reply
	}
	return w, approve.No, nothing
}

// lines are what is to be seen.
func (b *board) lines(width int, now time.Time) []string {
	var text []string
	if b.said != "" {
		text = append(text, b.said, "")
	}
	if len(b.list) == 0 {
		return fit(append(text, "Nothing waits for you. q ends."), width)
	}
	for _, w := range b.list {
		mark := "  "
		if w.ID == b.chosen {
			mark = "> "
		}
		text = append(text, fmt.Sprintf("%s%d  %s  (%s)", mark, w.Number, w.Headline, asked(w, now)))
	}
	w := b.list[max(0, b.at())]
	text = append(text, "")
	text = append(text, strings.Split(w.Text, "\n")...)
	text = append(text, "")
	if b.confirm {
		text = append(text, strings.Split(strings.TrimSuffix(w.Diff, "\n"), "\n")...)
		return fit(append(text, "Write this, and allow the call? y yes, n no"), width)
	}
	keys := "y once, s for this session, "
	if len(w.Always) > 0 {
		keys += "a always, "
	}
	keys += "n no"
	if len(b.list) > 1 {
		keys += "; arrows or a number choose"
	}
	return fit(append(text, keys+"; q ends"), width)
}

// fit breaks lines that are wider than the screen, between words where it can, so that it is known how many there are.
func fit(text []string, width int) []string {
	var lines []string
	for _, line := range text {
		line = oneLine(line)
		for {
			head, rest := breakLine(line, width)
			lines = append(lines, head)
			if rest == "" {
				break
			}
			line = rest
		}
	}
	return lines
}

// breakLine returns as much of a line as is narrower than the screen, and what is left of it.
func breakLine(line string, width int) (head, rest string) {
	used, space := 0, -1
	for i, r := range line {
		w := term.Width(string(r))
		if used+w >= width && i > 0 {
			if head := strings.TrimRight(line[:max(space, 0)], " "); head != "" && r != ' ' {
				return head, line[space+1:]
			}
			return line[:i], strings.TrimPrefix(line[i:], " ")
		}
		if r == ' ' {
			space = i
		}
		used += w
	}
	return line, ""
}

package dashboard

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
)

// soonest is how long a question must have been on the page before it can be allowed. The second half of a double click
// lands on whatever the first half has opened.
const soonest = 500 * time.Millisecond

type questionPage struct {
	frame
	Q     approve.Waiting
	Lines []string // of the text
	Diff  []diffLine
	Read  string // a digest of what is shown, which the answer brings along
	Late  bool
	Why   string // why it can't be allowed here; empty if it can
	Hasty bool
}

func (d *Dashboard) question(w http.ResponseWriter, r *http.Request) {
	q, ok, err := d.find(r.PathValue("id"))
	switch {
	case err != nil:
		d.fail(w, err)
	case !ok:
		d.back(w, r, "gone")
	default:
		d.showQuestion(w, r, q, false)
	}
}

func (d *Dashboard) showQuestion(w http.ResponseWriter, r *http.Request, q approve.Waiting, hasty bool) {
	p := questionPage{
		frame: d.frame(), Q: q, Lines: strings.Split(q.Text, "\n"), Diff: diffLines(q.Diff), Read: digest(q), Late: d.now().After(q.Until), Hasty: hasty,
	}
	if err := d.mayAllow(r, q); err != nil {
		p.Why = err.Error()
	}
	d.firstShown(q.ID)
	d.views.write(w, http.StatusOK, p.page())
}

// diffLine is a line of a change; Sign says whether it comes, goes or stays.
type diffLine struct{ Sign, Text string }

func diffLines(diff string) []diffLine {
	var lines []diffLine
	for line := range strings.Lines(diff) {
		line = visible(strings.TrimSuffix(line, "\n"))
		lines = append(lines, diffLine{line[:min(1, len(line))], line})
	}
	return lines
}

// firstShown notes and returns when a question was first on a page.
func (d *Dashboard) firstShown(id string) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	const plenty = 2000 // more than can be open
	if len(d.shown) > plenty {
		clear(d.shown)
	}
	at, ok := d.shown[id]
	if !ok {
		at = d.now()
		d.shown[id] = at
	}
	return at
}

func digest(q approve.Waiting) string {
	sum := sha256.Sum256([]byte(q.Text + "\x00" + q.Diff))
	return hex.EncodeToString(sum[:12])
}

// mayAllow says why a question can't be allowed by whoever sends r.
func (d *Dashboard) mayAllow(r *http.Request, q approve.Waiting) error {
	if d.o.ReadOnly != "" {
		return errors.New(d.o.ReadOnly)
	}
	if err := q.CheckCaller(); err != nil {
		return err
	}
	if slices.ContainsFunc(d.peer(r).processes(), q.Process.Started) {
		return errors.New("this browser was started by the client that asks")
	}
	return nil
}

func (d *Dashboard) find(id string) (approve.Waiting, bool, error) {
	waiting, err := d.o.Store.List()
	if err != nil {
		return approve.Waiting{}, false, err
	}
	i := slices.IndexFunc(waiting, func(q approve.Waiting) bool { return q.ID == id })
	if i < 0 {
		return approve.Waiting{}, false, nil
	}
	return waiting[i], true, nil
}

// answer passes on what the person has chosen. A no needs no more than the form; a yes must come from where yeses may, for the
// very text that was shown, and not sooner than it can have been read.
func (d *Dashboard) answer(w http.ResponseWriter, r *http.Request) {
	if !d.door.ours(r) {
		d.refuse(w, http.StatusForbidden, "this form is not one of this page's")
		return
	}
	q, ok, err := d.find(r.PathValue("id"))
	if err != nil {
		d.fail(w, err)
		return
	}
	if !ok {
		d.back(w, r, "gone")
		return
	}
	said, ok := answerOf(r.PostFormValue("answer"))
	if !ok {
		d.refuse(w, http.StatusBadRequest, "this form holds no answer")
		return
	}
	if said != approve.No {
		if err := d.mayAllow(r, q); err != nil {
			d.refuse(w, http.StatusForbidden, err.Error())
			return
		}
		if r.PostFormValue("read") != digest(q) || d.now().Sub(d.firstShown(q.ID)) < soonest {
			d.showQuestion(w, r, q, true)
			return
		}
	}
	switch err := d.o.Store.Answer(q.ID, said, "page"); {
	case errors.Is(err, approve.ErrGone):
		d.back(w, r, "gone")
	case errors.Is(err, approve.ErrAnswered):
		d.back(w, r, "answered")
	case errors.Is(err, approve.ErrNoAlways):
		d.refuse(w, http.StatusBadRequest, err.Error())
	case err != nil:
		d.fail(w, err)
	default:
		d.back(w, r, said.String())
	}
}

func (d *Dashboard) back(w http.ResponseWriter, r *http.Request, said string) {
	http.Redirect(w, r, d.door.path+"?said="+said, http.StatusSeeOther)
}

func answerOf(word string) (approve.Answer, bool) {
	for _, a := range []approve.Answer{approve.No, approve.Once, approve.Session, approve.Always} {
		if a.String() == word {
			return a, true
		}
	}
	return approve.No, false
}

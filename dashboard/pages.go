package dashboard

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/dashboard/internal/dom"
	"github.com/bouncer-mcp/bouncer/policy"
)

const (
	waitFor  = 25 * time.Second      // that a browser is kept waiting for something new
	lookEach = 20 * time.Millisecond // of the questions and the log, while one waits
)

// frame is what is on every page.
type frame struct {
	Root     dom.Path // of the first page
	ReadOnly string
	Form     string
}

func (d *Dashboard) frame() frame {
	if d.o.ReadOnly == "" {
		d.watch.seen()
	}
	return frame{Root: d.door.root(), ReadOnly: d.o.ReadOnly, Form: d.door.form}
}

type indexPage struct {
	frame
	Waiting []approve.Waiting
	Calls   []call
	Picture *call // the newest that was blocked
	Damaged int
	Notice  string
	Stamp   string
}

func (d *Dashboard) index(w http.ResponseWriter, r *http.Request) {
	p := indexPage{frame: d.frame(), Notice: notice(r.URL.Query().Get("said"))}
	var err error
	if p.Stamp, p.Waiting, err = d.stamp(); err != nil {
		d.fail(w, err)
		return
	}
	if p.Calls, p.Damaged, err = recent(d.o.State); err != nil {
		d.fail(w, err)
		return
	}
	if i := slices.IndexFunc(p.Calls, func(c call) bool { return c.Blocked() && len(c.Flows) > 0 }); i >= 0 {
		p.Picture = &p.Calls[i]
	}
	d.views.write(w, http.StatusOK, p.page())
}

// notice words what has just been answered. The word is from the address, so it can say no more than these.
func notice(said string) string {
	switch said {
	case approve.Once.String():
		return "Allowed once."
	case approve.Session.String():
		return "Allowed for this session."
	case approve.Always.String():
		return "Allowed from now on."
	case approve.No.String():
		return "Not allowed."
	case "gone":
		return "That question is not open any more."
	case "answered":
		return "That question had been answered already."
	}
	return ""
}

func (d *Dashboard) fail(w http.ResponseWriter, err error) {
	d.views.write(w, http.StatusInternalServerError, refusedPage(err.Error()))
}

// stamp changes with everything that the first page shows.
func (d *Dashboard) stamp() (string, []approve.Waiting, error) {
	waiting, err := d.o.Store.List()
	if err != nil {
		return "", nil, err
	}
	h := sha256.New()
	for _, q := range waiting {
		fmt.Fprintln(h, q.ID)
	}
	last, err := audit.Tail(d.o.State, 1)
	if err != nil {
		return "", nil, err
	}
	for _, line := range last {
		h.Write(line)
	}
	return hex.EncodeToString(h.Sum(nil)[:12]), waiting, nil
}

// wait answers when the first page would look different.
func (d *Dashboard) wait(w http.ResponseWriter, r *http.Request) {
	limit, look := time.NewTimer(waitFor), time.NewTicker(lookEach)
	defer limit.Stop()
	defer look.Stop()
	for {
		d.frame() // somebody looks
		now, _, err := d.stamp()
		if err != nil {
			d.fail(w, err)
			return
		}
		if now != r.URL.Query().Get("since") {
			w.WriteHeader(http.StatusOK)
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-limit.C:
			w.WriteHeader(http.StatusNoContent)
			return
		case <-look.C:
		}
	}
}

type callPage struct {
	frame
	Call call
}

func (d *Dashboard) call(w http.ResponseWriter, r *http.Request) {
	seq, err := strconv.ParseUint(r.PathValue("seq"), 10, 64)
	if err != nil {
		d.refuse(w, http.StatusNotFound, "no such call")
		return
	}
	c, ok, err := callAt(d.o.State, seq)
	switch {
	case err != nil:
		d.fail(w, err)
	case !ok:
		d.refuse(w, http.StatusNotFound, "no such call")
	default:
		d.views.write(w, http.StatusOK, callPage{d.frame(), c}.page())
	}
}

type serversPage struct {
	frame
	Servers []serverView
}

// serverView is a server, and what the end of the log tells of it.
type serverView struct {
	Name, Package string
	Tools         []toolView

	Calls, Blocked int
	Last           time.Time
	Client         string
}

// toolView is a tool in the words of its class.
type toolView struct {
	Name         string
	Is           []string
	Destinations []string
	Objects      []string
	Layers       []string
}

func (d *Dashboard) servers(w http.ResponseWriter, _ *http.Request) {
	servers, err := d.o.Servers()
	if err != nil {
		d.fail(w, err)
		return
	}
	calls, _, err := recent(d.o.State)
	if err != nil {
		d.fail(w, err)
		return
	}
	p := serversPage{frame: d.frame()}
	for _, s := range servers {
		v := serverView{Name: visible(s.Name), Package: visible(s.Package)}
		for _, t := range s.Tools {
			v.Tools = append(v.Tools, viewTool(t))
		}
		v.count(calls)
		p.Servers = append(p.Servers, v)
	}
	slices.SortStableFunc(p.Servers, func(a, b serverView) int { return b.Last.Compare(a.Last) }) // those in use first
	d.views.write(w, http.StatusOK, p.page())
}

// count takes in the calls to this server, the newest of which comes first.
func (v *serverView) count(calls []call) {
	for _, c := range calls {
		if c.Server != v.Name {
			continue
		}
		if v.Calls++; v.Calls == 1 {
			v.Last, v.Client = c.Time, c.Client
		}
		if c.State == "blocked" {
			v.Blocked++
		}
	}
}

func viewTool(x policy.Explanation) toolView {
	v := toolView{Name: visible(x.Tool), Layers: x.Layers}
	for _, t := range x.Traits {
		if t.Is && t.Name != "untrusted" { // as nearly every tool is
			v.Is = append(v.Is, t.Name)
		}
	}
	for path := range x.Arguments("destination") {
		v.Destinations = append(v.Destinations, visible(path))
	}
	for path := range x.Arguments("object") {
		v.Objects = append(v.Objects, visible(path))
	}
	return v
}

package dashboard

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/audit"
	"github.com/bouncer-mcp/bouncer/policy"
)

const (
	waitFor  = 25 * time.Second      // that a browser is kept waiting for something new
	lookEach = 20 * time.Millisecond // of the questions and the log, while one waits
)

//go:embed pages.html style.css script.js
var files embed.FS

// views are the pages' templates, and the policy under which browsers show them: nothing from anywhere, but this very style
// and this very script.
type views struct {
	pages *template.Template
	csp   string
}

func newViews() *views {
	read := func(name string) string {
		data, err := files.ReadFile(name)
		if err != nil {
			panic(err) // it is part of the program
		}
		return string(data)
	}
	style, script := read("style.css"), read("script.js")
	funcs := template.FuncMap{
		"style":  func() template.CSS { return template.CSS(style) },
		"script": func() template.JS { return template.JS(script) },
		"join":   func(words []string) string { return strings.Join(words, ", ") },
		"clock":  func(t time.Time) string { return t.Local().Format("15:04:05") },
		"day":    func(t time.Time) string { return t.Local().Format("2 January 15:04:05") },
	}
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	return &views{
		pages: template.Must(template.New("").Funcs(funcs).Parse(read("pages.html"))),
		csp: "default-src 'none'; style-src " + hash(style) + "; script-src " + hash(script) +
			"; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
	}
}

// write sends a page.
func (v *views) write(w http.ResponseWriter, code int, name string, data any) {
	var page bytes.Buffer
	if err := v.pages.ExecuteTemplate(&page, name, data); err != nil {
		http.Error(w, "this page can't be made: "+err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(code)
	_, _ = w.Write(page.Bytes()) // a browser that has gone misses nothing
}

// frame is what is on every page.
type frame struct {
	Root     string // path of the first page
	ReadOnly string
	Form     string
}

func (d *Dashboard) frame() frame {
	if d.o.ReadOnly == "" {
		d.watch.seen()
	}
	return frame{Root: d.door.path, ReadOnly: d.o.ReadOnly, Form: d.door.form}
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
	d.views.write(w, http.StatusOK, "index", p)
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
	d.views.write(w, http.StatusInternalServerError, "refused", err.Error())
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
		d.views.write(w, http.StatusOK, "call", callPage{d.frame(), c})
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
	d.views.write(w, http.StatusOK, "servers", p)
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
	for _, p := range x.Params {
		for _, role := range p.Roles {
			switch role.Is {
			case "destination":
				v.Destinations = append(v.Destinations, visible(p.Path))
			case "object":
				v.Objects = append(v.Objects, visible(p.Path))
			}
		}
	}
	return v
}

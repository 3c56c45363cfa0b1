// Package dashboard shows on a page of this machine what bouncer has decided, and lets the person answer what waits. Nobody
// gets in but the browser that was opened for it.
package dashboard

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/bouncer-mcp/bouncer/approve"
	"github.com/bouncer-mcp/bouncer/policy"
)

// Options are what a page shows and may do.
type Options struct {
	State    string                   // the directory with the audit log
	Store    *approve.Store           // of the questions
	Servers  func() ([]Server, error) // read anew for each view
	ReadOnly string                   // why nothing can be allowed on this page, as a sentence without a full stop; empty if it can
}

// Server is what is known of one server, as it was last accepted.
type Server struct {
	Name, Package string
	Tools         []policy.Explanation
}

const (
	maxConns  = 64
	maxForm   = 4 << 10 // bytes
	watchFor  = 10 * time.Second
	closeWait = time.Second
)

// Dashboard is one run of the page, for one browser.
type Dashboard struct {
	o        Options
	listener net.Listener
	door     *door
	views    *views
	peer     func(r *http.Request) peer
	now      func() time.Time
	watch    watch

	mu    sync.Mutex
	shown map[string]time.Time // when each question was first on a page
}

// Listen prepares a page on a port of the loopback interface.
func Listen(o Options) (*Dashboard, error) {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	return &Dashboard{
		o:        o,
		listener: netutil.LimitListener(l, maxConns),
		door:     newDoor(port, time.Now()),
		views:    newViews(),
		peer:     peerOf,
		now:      time.Now,
		watch:    watch{store: o.Store},
		shown:    map[string]time.Time{},
	}, nil
}

// Address is where the page is. It opens nothing by itself.
func (d *Dashboard) Address() string { return "http://" + d.door.hosts[0] + "/" }

// Code is what a person may type there instead of opening the ticket. It is good once, and for the same time.
func (d *Dashboard) Code() string { return d.door.code }

// Serve answers requests until ctx is done.
func (d *Dashboard) Serve(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := &http.Server{
		Handler:           d.handler(),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       10 * time.Second,
		WriteTimeout:      waitFor + 10*time.Second,
		IdleTimeout:       time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          silent(),
	}
	defer d.watch.stop()
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(d.listener) }()
	select {
	case err := <-ended:
		return fmt.Errorf("dashboard: %w", err)
	case <-ctx.Done():
	}
	rest, stop := context.WithTimeout(context.WithoutCancel(ctx), closeWait)
	defer stop()
	err := server.Shutdown(rest)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	if errServe := <-ended; !errors.Is(errServe, http.ErrServerClosed) {
		return errors.Join(errServe, err)
	}
	return err
}

// handler serves the pages below a path that nobody can guess, and the entrance beside it.
func (d *Dashboard) handler() http.Handler {
	pages := http.NewServeMux()
	pages.HandleFunc("GET /{$}", d.index)
	pages.HandleFunc("GET /servers", d.servers)
	pages.HandleFunc("GET /call/{seq}", d.call)
	pages.HandleFunc("GET /question/{id}", d.question)
	pages.HandleFunc("POST /question/{id}", d.answer)
	pages.HandleFunc("GET /wait", d.wait)
	all := http.NewServeMux()
	all.HandleFunc("GET /enter", d.enter)
	all.HandleFunc("POST /enter", d.enterByCode)
	all.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { d.views.write(w, http.StatusOK, codePage("")) })
	all.Handle(d.door.path, http.StripPrefix(d.door.path[:len(d.door.path)-1], d.door.inside(pages)))
	all.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { d.refuse(w, http.StatusForbidden, closedDoor) })
	return d.guard(all)
}

const closedDoor = "This page opens only for the browser that bouncer dashboard has opened."

// guard is what holds for every request.
func (d *Dashboard) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", d.views.csp)
		h.Set("X-Frame-Options", "DENY")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers say Origin: null in a POST of our own
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cache-Control", "no-store")
		if err := d.door.admits(r); err != nil {
			d.refuse(w, http.StatusForbidden, err.Error())
			return
		}
		if p := d.peer(r); p.known && !p.ours {
			d.refuse(w, http.StatusForbidden, "this page is somebody else's")
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		next.ServeHTTP(w, r)
	})
}

// enter takes the token, and leaves the cookie. Its answer is a page that leads on, not a redirect: a browser that came from
// the file would not show a cookie of the strict kind on its way.
func (d *Dashboard) enter(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || r.Header.Get("Sec-Purpose") != "" {
		d.refuse(w, http.StatusForbidden, closedDoor)
		return
	}
	cookie, err := d.door.open(r.URL.Query().Get("token"), d.now())
	if err != nil {
		d.refuse(w, http.StatusForbidden, err.Error())
		return
	}
	d.letIn(w, cookie)
}

func (d *Dashboard) enterByCode(w http.ResponseWriter, r *http.Request) {
	cookie, err := d.door.openByCode(r.PostFormValue("code"), d.now())
	switch {
	case errors.Is(err, errCode): // a slip, and the next try may be right
		d.views.write(w, http.StatusForbidden, codePage(err.Error()))
		return
	case err != nil:
		d.refuse(w, http.StatusForbidden, err.Error())
		return
	}
	d.letIn(w, cookie)
}

func (d *Dashboard) letIn(w http.ResponseWriter, cookie *http.Cookie) {
	http.SetCookie(w, cookie)
	d.views.write(w, http.StatusOK, enterPage(d.door.root()))
}

func (d *Dashboard) refuse(w http.ResponseWriter, code int, why string) {
	d.views.write(w, code, refusedPage(why))
}

// watch says that somebody looks, as long as pages are asked for.
type watch struct {
	store *approve.Store

	mu    sync.Mutex
	held  *approve.Watch
	timer *time.Timer
}

func (w *watch) seen() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held != nil {
		w.timer.Reset(watchFor)
		return
	}
	held, err := w.store.Watch()
	if err != nil {
		return // questions are shown all the same, only nobody waits for this page
	}
	w.held = held
	w.timer = time.AfterFunc(watchFor, w.stop)
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held == nil {
		return
	}
	w.timer.Stop()
	_ = w.held.Close() // whoever finds it left behind sees that this process has ended
	w.held = nil
}

// secret is text that nobody guesses.
func secret() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

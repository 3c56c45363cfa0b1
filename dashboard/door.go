package dashboard

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/bouncer-mcp/bouncer/dashboard/internal/dom"
)

const (
	tokenFor   = 2 * time.Minute // a browser may take to start
	maxGuesses = 5               // of the code; it has forty bits
	cookieName = "bouncer"
)

var (
	errHost    = errors.New("this name is not the page's")
	errFrom    = errors.New("another page has sent this request")
	errUsed    = errors.New("this link was already used. If that wasn't you, end bouncer dashboard: somebody else has read the link")
	errUnknown = errors.New("this link is not the one that was made last, or has become too old")
	errCode    = errors.New("this is not the code in the terminal")
	errNoCode  = errors.New("the code has become too old, or was guessed at too often. End bouncer dashboard and start it again: it prints a new one")
)

// door lets one browser in. The token of the file opens it, or the code in the terminal for a browser in a sandbox that may not
// read the file: once, in exchange for a cookie. Cookies don't know ports: another server
// on this machine would get to see it, so it belongs to a path that only this browser has been told.
type door struct {
	hosts []string // this page's own, the first being the usual
	path  string   // that all pages lie below, with a slash at either end

	cookie string
	form   string // what every form of these pages brings along

	mu      sync.Mutex
	token   string // empty when the door has been opened
	code    string
	guesses int // wrong ones
	until   time.Time
}

func newDoor(port int, now time.Time) *door {
	p := strconv.Itoa(port)
	return &door{
		hosts: []string{"127.0.0.1:" + p, "localhost:" + p}, path: "/" + secret() + "/",
		cookie: secret(), form: secret(), token: secret(), code: newCode(), until: now.Add(tokenFor),
	}
}

// admits checks where a request comes from, as far as browsers tell.
func (d *door) admits(r *http.Request) error {
	if !slices.Contains(d.hosts, r.Host) {
		return errHost // another name was made to lead here
	}
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	own := "http://" + r.Host
	switch r.Method {
	case http.MethodGet:
		// The entrance is reached from a file, which is no site.
		if r.URL.Path != "/enter" && site != "" && site != "same-origin" && site != "none" || origin != "" && origin != own {
			return errFrom
		}
	case http.MethodPost:
		if origin != own || site != "" && site != "same-origin" {
			return errFrom
		}
	default:
		return fmt.Errorf("%s does nothing here", r.Method)
	}
	return nil
}

// root is the path of the first page.
func (d *door) root() dom.Path { return dom.Root(strings.Trim(d.path, "/")) }

// open exchanges the token for the cookie.
func (d *door) open(token string, now time.Time) (*http.Cookie, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.token == "" {
		return nil, errUsed
	}
	if !same(token, d.token) || now.After(d.until) {
		return nil, errUnknown
	}
	return d.give(), nil
}

// openByCode exchanges the code for the cookie. It is short, so few guesses are allowed.
func (d *door) openByCode(code string, now time.Time) (*http.Cookie, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.token == "" {
		return nil, errUsed
	}
	if d.guesses >= maxGuesses || now.After(d.until) {
		return nil, errNoCode
	}
	code = strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(code))
	if !same(code, strings.ReplaceAll(d.code, "-", "")) {
		d.guesses++
		return nil, errCode
	}
	return d.give(), nil
}

// give makes the cookie, for which token and code are gone. d.mu is held.
func (d *door) give() *http.Cookie {
	d.token, d.code = "", ""
	return &http.Cookie{Name: cookieName, Value: d.cookie, Path: d.path, HttpOnly: true, SameSite: http.SameSiteStrictMode}
}

// newCode is a secret that can be typed: two groups of four letters and digits.
func newCode() string {
	var b [5]byte
	_, _ = rand.Read(b[:]) // it never fails
	text := base32.StdEncoding.EncodeToString(b[:])
	return text[:4] + "-" + text[4:]
}

// entered reports whether somebody has come in.
func (d *door) entered() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.token == ""
}

// inside serves those who have the cookie.
func (d *door) inside(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		given, err := r.Cookie(cookieName)
		if err != nil || !same(given.Value, d.cookie) {
			http.Error(w, closedDoor, http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// ours reports whether a form is one of these pages'.
func (d *door) ours(r *http.Request) bool { return same(r.PostFormValue("form"), d.form) }

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// silent takes what net/http would tell of clients that misbehave: there is nobody to tell, and they choose the words.
func silent() *log.Logger { return log.New(io.Discard, "", 0) } //nolint:forbidigo // net/http takes no other kind

package engine

import (
	"errors"
	"path"
	"strconv"
	"strings"
)

var errNoPath = errors.New("not a path that can be judged")

// readings returns the ways in which servers take a string for a path: as it stands, without white space around it,
// with either kind of separator, with percent-escapes decoded, and cleaned before any symbolic link is followed.
// A file URI is the path it names. The error is for what no two servers read alike; there may be readings all the same.
func readings(s string) ([]string, error) {
	var err error
	if uri, ok := cutScheme(s); ok {
		s, err = fromFileURI(uri)
	} else if i := strings.Index(s, "://"); i > 1 && !strings.ContainsAny(s[:i], `/\ `) {
		err = errNoPath
	}
	if s == "" || strings.IndexByte(s, 0) >= 0 {
		err = errNoPath
		s, _, _ = strings.Cut(s, "\x00") // what a server written in C reads
	}
	all := []string{s}
	if i := strings.IndexAny(s, "?#"); i > 0 && err != nil { // a server that knows URIs takes these off
		all = append(all, s[:i])
	}
	for _, change := range []func(string) string{strings.TrimSpace, percentDecoded, slashed, cleaned} {
		for _, reading := range all[:len(all):len(all)] {
			if r := change(reading); r != reading {
				all = append(all, r)
			}
		}
	}
	return all, err
}

func slashed(s string) string { return strings.ReplaceAll(s, `\`, "/") }

func cleaned(s string) string {
	if !strings.Contains(s, "..") {
		return s
	}
	return path.Clean(s)
}

// cutScheme cuts a leading file:, in whatever case.
func cutScheme(s string) (string, bool) {
	const scheme = "file:"
	s = strings.TrimSpace(s)
	if len(s) < len(scheme) || !strings.EqualFold(s[:len(scheme)], scheme) {
		return s, false
	}
	return s[len(scheme):], true
}

// fromFileURI returns the path of a file URI whose scheme is cut off. One on another host, with a query, or with ..
// in it (which means something else to a server that knows no URIs) can't be judged.
func fromFileURI(s string) (string, error) {
	var err error
	if rest, ok := strings.CutPrefix(s, "//"); ok {
		host := rest
		if i := strings.IndexByte(rest, '/'); i >= 0 {
			host, rest = rest[:i], rest[i:]
		} else {
			rest = "/" + rest
		}
		if host != "" && !strings.EqualFold(host, "localhost") {
			err = errNoPath
		}
		s = rest
	}
	if strings.ContainsAny(s, "?#") {
		err = errNoPath
	}
	s = percentDecoded(s)
	if s == "" || s[0] != '/' || strings.Contains(s, "..") {
		err = errNoPath
	}
	if len(s) >= 3 && s[0] == '/' && s[2] == ':' { // /C:/dir
		s = s[1:]
	}
	return s, err
}

// percentDecoded undoes one round of percent-encoding and leaves alone what is none.
func percentDecoded(s string) string {
	if strings.IndexByte(s, '%') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// resolvePath asks the outside world where a path leads.
func (e *Engine) resolvePath(p string) ([]string, error) {
	if e.config.Paths == nil {
		return nil, errNoPath
	}
	return e.config.Paths.Resolve(p)
}

// resolveReading resolves one reading of an argument. A leading ~ can be judged only where Paths knows whose home it is.
func (e *Engine) resolveReading(p string) ([]string, error) {
	if strings.HasPrefix(p, "~") {
		home, err := e.resolvePath("~")
		if err != nil || len(home) != 1 || strings.HasSuffix(home[0], "~") {
			return nil, errNoPath
		}
	}
	return e.resolvePath(p)
}

package engine

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/wire"
	"github.com/bouncer-mcp/bouncer/policy"
	"github.com/bouncer-mcp/bouncer/taint"
)

// A sort tells what a whole value is by its form, whatever its argument is called.
type sort uint8

const (
	other   sort = iota
	link         // a URL
	host         // by itself
	mail         // an address of a person
	account      // a bank's or a telephone's
)

// maxWhole bounds a value that is looked at for what it is as a whole. A URL may be longer.
const maxWhole = 512

// sortOf recognises a value, and what a list with commas holds: of several things, the one that leads furthest.
func (j *judgement) sortOf(value string) sort {
	if value = strings.TrimSpace(value); value == "" {
		return other
	}
	if s := j.sortOfOne(value); s != other || len(value) > maxWhole || !strings.ContainsAny(value, ",;\n") {
		return s
	}
	found := other
	for item := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ';' || r == '\n' }) {
		item = strings.TrimSpace(item)
		if len(strings.Fields(item)) > 4 {
			return other // a sentence
		}
		if s := j.sortOfOne(item); s != other && (found == other || s < found) {
			found = s
		}
	}
	return found
}

func (j *judgement) sortOfOne(s string) sort {
	if name, inner, ok := strings.Cut(s, "<"); ok && strings.HasSuffix(inner, ">") && !strings.ContainsAny(name, "<>") {
		s = strings.TrimSuffix(inner, ">") // Eve <eve@x.com>
	}
	s = strings.Trim(s, "<>\"'`")
	for _, scheme := range []string{"mailto:", "tel:", "sms:"} {
		if len(s) > len(scheme) && strings.EqualFold(s[:len(scheme)], scheme) {
			return mail
		}
	}
	switch {
	case strings.ContainsAny(s, " \t\n"):
		if iban := strings.ReplaceAll(s, " ", ""); s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' && (len(iban) < 15 || len(iban) > 34 || !isDigits(iban[2:4])) {
			return other
		}
	case isURL(s):
		return link
	case isMail(s):
		return mail
	}
	if s = strings.TrimPrefix(s, "//"); len(s) < 4 || len(s) > maxWhole {
		return other
	}
	if !strings.Contains(s, ".") && s[0] != '+' && !isDigits(s[2:4]) {
		return other
	}
	name, path, _ := strings.Cut(s, "/")
	for value := range j.seen.Carried(s) {
		switch {
		case value != s && (value != name || path == ""):
		case s[0] == '+' && isDigits(s[1:2]), s[2] >= '0' && s[2] <= '9' && !strings.Contains(s, "."):
			if strings.Trim(s, "0123456789 -") != "" { // a card says who pays
				return account
			}
		case strings.Contains(name, "."):
			return host
		}
	}
	return other
}

func isURL(s string) bool {
	scheme, rest, ok := strings.Cut(s, "://")
	return ok && rest != "" && scheme != "" && len(scheme) <= 16 && !strings.EqualFold(scheme, "file") &&
		strings.Trim(strings.ToLower(scheme), "abcdefghijklmnopqrstuvwxyz0123456789+-.") == ""
}

// isMail accepts anything that a mail server might, and leaves out @scope/package and name@1.2.3.
func isMail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at == len(s)-1 || len(s) > maxWhole {
		return false
	}
	dot := strings.LastIndexAny(s[at:], ".。．")
	if dot < 0 || strings.ContainsAny(s[at:], "/\\") {
		return false
	}
	last := strings.TrimLeft(s[at+dot:], ".。．")
	return len(last) >= 2 && !isDigits(last[:1])
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// byValue returns the arguments that are destinations by what they hold, though no name says so: in a tool that changes
// something any address, and in one that reads whatever leads out.
func (j *judgement) byValue() []Pair {
	s := sweep{j: j, flattener: flattener{schema: j.call.Tool.InputSchema}}
	for name, val := range j.call.Args.Members() {
		s.value(name, name, val, standing{})
	}
	return s.pairs
}

// standing is what the names above a value say of it.
type standing struct{ prose, own bool }

// sweep looks at all values of a call.
type sweep struct {
	flattener
	j      *judgement
	nested int
}

func (s *sweep) value(at, name string, v wire.Value, in standing) {
	switch v.Kind() {
	case '"':
		text, _ := v.Text()
		s.text(at, name, text, standing{in.prose || policy.Prose(name), in.own || policy.Own(name)})
	case '[':
		i := 0
		for elem := range v.Elems() {
			s.value(indexed(at, elem, i), name, elem, in)
			i++
		}
	case '{':
		in = standing{in.prose || policy.Prose(name), in.own || policy.Own(name)}
		for key, val := range v.Members() {
			if !s.isProperty(key) && s.judges(key, key, standing{}) {
				s.add(at, key)
			}
			s.value(below(at, key), key, val, in)
		}
	}
}

func (s *sweep) text(at, name, text string, in standing) {
	if s.judges(name, text, in) {
		s.add(at, text)
	}
	if s.nested > 0 {
		return
	}
	s.nested++
	defer func() { s.nested-- }()
	doc, headers := inside(text)
	if doc != nil && (!policy.Prose(name) || encoded(text)) && len(s.j.rule.WriteParams) == 0 {
		for _, path := range policy.Destinations(s.j.call.Tool, doc) {
			s.follow(at, doc, path)
		}
		for key, val := range doc.Members() {
			s.value(below(at, key), key, val, standing{})
		}
		for elem := range doc.Elems() {
			s.value(at, name, elem, standing{})
		}
	}
	// In a text for people, a line that begins with To: quotes a mail, unless the text may be the whole of one.
	quotes := in.prose && !encoded(text) && !strings.EqualFold(name, "message") && !strings.EqualFold(name, "content")
	if !s.j.rule.Changing || quotes || len(s.j.rule.WriteParams) > 0 {
		return
	}
	for _, recipient := range headers {
		s.add(at, recipient)
	}
}

// judges reports whether a value is a destination by what it is.
func (s *sweep) judges(name, value string, in standing) bool {
	kind := s.j.sortOf(value)
	if kind == other || kind == host && policy.HoldsPath(name) {
		return false
	}
	if s.j.rule.Changing {
		return !in.prose && (!in.own || kind == link || kind == host)
	}
	if kind == link || kind == host {
		return true
	}
	if in.own {
		return false
	}
	f := s.j.seen.Trace(value) // an address is looked up, unless somebody wants it to be
	return f.Marks&taint.MarkAimed != 0 && f.Grants&vouching == 0
}

// alone reports whether the URLs of a fetch are all that the call says to anybody: its other arguments are known to the schema,
// and nothing can be hidden in them that the person has not said.
func (j *judgement) alone(urls []Pair) bool {
	if !j.declared() {
		return false
	}
	judged := set(urls)
	for name, val := range j.call.Args.Members() {
		if policy.Harmless(j.call.Tool, name, val) {
			continue
		}
		f := flattener{schema: j.call.Tool.InputSchema}
		f.flatten(name, val)
		if slices.ContainsFunc(f.pairs, func(p Pair) bool {
			return !judged[p] && j.seen.Trace(p.Value).Grants&taint.MarkSaid == 0
		}) {
			return false
		}
	}
	return true
}

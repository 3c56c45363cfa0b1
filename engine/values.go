package engine

import (
	"slices"
	"strings"

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
	if value = strings.TrimSpace(value); value == "" || isWords(value) {
		return other
	}
	if s := j.sortOfOne(value); s != other || len(value) > maxWhole || !strings.ContainsAny(value, ",;\n") {
		return s
	}
	found := other
	for item := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == ';' || r == '\n' }) {
		item = strings.TrimSpace(item)
		if hasFields(item, 5) {
			return other // a sentence
		}
		if s := j.sortOfOne(item); s != other && (found == other || s < found) {
			found = s
		}
	}
	return found
}

// isWords recognises texts of nothing but ASCII letters, blanks and plain marks, or of a few letters and digits, which need no
// closer look: an address, a URL, a host or a number that Carried can tell has a dot, a colon, an @ or more digits, or a dot
// that is spelled out.
func isWords(s string) bool {
	const few = 7 // digits of a telephone number, and fewer characters than an address in hexadecimal has
	for i := range len(s) {
		switch c := s[i]; {
		case c|0x20 >= 'a' && c|0x20 <= 'z', c == ' ', c == '\n', c == '-', c == '_', c == ',', c == '!', c == '?':
		case c >= '0' && c <= '9' && len(s) < few:
		default:
			return false
		}
	}
	return !strings.Contains(s, " dot ")
}

// hasFields reports whether a text is made of so many words and more.
func hasFields(s string, n int) bool {
	for range strings.FieldsSeq(s) {
		if n--; n == 0 {
			return true
		}
	}
	return false
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
		if len(s) > maxWhole {
			return other
		}
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
	found := other
	name, path, _ := strings.Cut(s, "/")
	switch {
	case s[0] == '+' && isDigits(s[1:2]), isDigits(s[2:3]) && !strings.Contains(s, "."):
		if strings.Trim(s, "0123456789 -") != "" { // a card says who pays
			found = account
		}
	case strings.Contains(name, "."):
		found = host
	}
	if found == other {
		return other
	}
	for value := range j.seen.Carried(s) {
		if value == s || value == name && path != "" {
			return found
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
	s := sweep{flattener: flattener{tool: j.resolved}, judgement: j}
	s.look(&j.args)
	return s.list
}

// sweep looks at all values of a call.
type sweep struct {
	flattener
	*judgement
}

func (s *sweep) look(a *arguments) {
	for i := int32(1); int(i) < len(a.Tree); i++ {
		n := &a.Tree[i]
		if n.Member && n.Parent > 0 && !s.properties[n.Name] && s.reaches(n.Name, n.Name, nil, 0) {
			s.take(a.path(n.Parent), n.Name)
		}
		if n.Kind != '"' {
			continue
		}
		if s.reaches(a.nameOf(i), n.Text, a, i) {
			s.take(a.path(i), n.Text)
		}
		if a == &s.args {
			s.unfold(i)
		}
	}
}

// unfold looks at the document that an argument may be.
func (s *sweep) unfold(i int32) {
	text, name := s.args.Tree[i].Text, s.args.nameOf(i)
	doc, recipients := inside(text)
	if doc != nil && (!s.sense(name).prose || encoded(text)) && len(s.rule.WriteParams) == 0 {
		tree, _ := doc.Tree(nil, maxInside) // a value takes a byte at least
		at := s.args.path(i)
		s.followAll(&arguments{Tree: tree, name: name, base: at}, policy.Destinations(s.judgement.tool, doc))
		s.look(&arguments{Tree: tree, name: name, base: at, unnumbered: true})
	}
	if len(recipients) == 0 || !s.rule.Changing || len(s.rule.WriteParams) > 0 {
		return
	}
	// In a text for people, a line that begins with To: quotes a mail, unless the text may be the whole of one.
	if prose, _ := s.standing(&s.args, i); prose && !encoded(text) && !strings.EqualFold(name, "message") && !strings.EqualFold(name, "content") {
		return
	}
	for _, recipient := range recipients {
		s.take(s.args.path(i), recipient)
	}
}

// reaches reports whether a value is a destination by what it is, of a name and at a place that may say otherwise.
func (s *sweep) reaches(name, value string, a *arguments, i int32) bool {
	kind := s.sortOf(value)
	if kind == other || kind == host && s.sense(name).path {
		return false
	}
	prose, own := s.standing(a, i)
	if s.rule.Changing {
		return !prose && (!own || kind == link || kind == host)
	}
	if kind == link || kind == host {
		return true
	}
	if own {
		return false
	}
	f := s.seen.Trace(value) // an address is looked up, unless somebody wants it to be
	return f.Marks&taint.MarkAimed != 0 && f.Grants&vouching == 0
}

// standing is what the names above a value say of it.
func (s *sweep) standing(a *arguments, i int32) (prose, own bool) {
	if a == nil {
		return false, false
	}
	take := func(name string) {
		of := s.sense(name)
		prose, own = prose || of.prose, own || of.own
	}
	for ; i > 0; i = a.Tree[i].Parent {
		if a.Tree[i].Member {
			take(a.Tree[i].Name)
		}
	}
	if a.Tree[0].Kind == '[' { // its elements go by the name of the argument that holds the list
		take(a.name)
	}
	return prose, own
}

// alone reports whether the URLs of a fetch are all that the call says to anybody: its other arguments are known to the schema,
// and nothing can be hidden in them that the person has not said.
func (j *judgement) alone(urls *pairSet) bool {
	if !j.declared() {
		return false
	}
	i := int32(1)
	for name, val := range j.call.Args.Members() {
		f := flattener{tool: j.resolved}
		if !policy.Harmless(j.tool, name, val) {
			f.flatten(&j.args, i)
		}
		if slices.ContainsFunc(f.list, func(p Pair) bool {
			return !urls.has(p) && j.seen.Trace(p.Value).Grants&taint.MarkSaid == 0
		}) {
			return false
		}
		i = j.args.Tree[i].End
	}
	return true
}

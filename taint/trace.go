package taint

import "strings"

// Trace returns where a destination was seen, following every value that can be read out of it
// (addresses in a list, the host of a URL, ...): the worst class wins.
func (x *Index) Trace(value string) (Class, Origin) {
	if len(x.seen) == 0 {
		return Unseen, Origin{}
	}
	t := tracer{x: x}
	t.found = &t
	t.value(value)
	if decoded, ok := unescape(value); ok {
		t.value(decoded)
	}
	if plain, ok := narrowed(value); ok {
		t.value(plain)
	}
	if t.worst.at == nil {
		return Unseen, Origin{}
	}
	at := *t.worst.at
	if at.Snippet == "" {
		at.Snippet = Visible(value, 2*snippetSide)
	}
	return t.worst.class, at
}

// SeenWhole reports whether an output said exactly this URL before the agent ever did. It is what lets a page be
// fetched: nothing may be added, no user, no fragment, and a URL the index had to forget was not seen.
func (x *Index) SeenWhole(url string) bool {
	if x.lost || !plain(url) || strings.ContainsAny(url, " \\\"<>`") {
		return false
	}
	u, ok := parseURL(url)
	if !ok || u.userinfo {
		return false
	}
	e, ok := x.seen[string(makeKey(nil, kindURL, u.append(nil, true)))]
	return ok && !e.own && e.class != Unseen
}

// A tracer looks up everything that can be read out of one value.
type tracer struct {
	scanner
	x     *Index
	worst entry
	key   key
	whole []byte
}

// How many short names one argument may list, and in how many bytes.
const (
	maxList     = 256
	maxListText = 4 << 10
)

func (t *tracer) value(s string) {
	t.lookupWhole(s)
	if bare := strings.Trim(s, " \t\r\n\"'<>"); bare != s {
		t.lookupWhole(bare)
	}
	t.list(s)
	t.scan(s)
	t.number(s)
}

// list looks up the items of a list of names without spaces, such as "C0123, #ops".
func (t *tracer) list(s string) {
	if len(s) > maxListText || !strings.ContainsAny(s, ",;\n") {
		return
	}
	items := strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ';' || r == '\n' })
	if len(items) > maxList {
		return
	}
	for i, item := range items {
		items[i] = strings.TrimSpace(item)
		if strings.ContainsAny(items[i], " \t") {
			return
		}
	}
	for _, item := range items {
		t.lookupWhole(item)
	}
}

// number looks up an account or telephone number that is written in some other way than running text has it.
func (t *tracer) number(s string) {
	if len(s) > 64 {
		return
	}
	compact := strings.ToUpper(strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "", "/", "", "+", "").Replace(s))
	if validIBAN([]byte(compact)) {
		t.lookup(kindIBAN, []byte(compact))
	}
	compact = strings.TrimPrefix(strings.TrimPrefix(compact, "TEL:"), "00")
	if len(compact) >= 8 && strings.Trim(compact, "0123456789") == "" {
		t.lookup(kindPhone, []byte(compact))
	}
}

func (t *tracer) lookupWhole(s string) {
	if len(s) > maxWhole {
		return
	}
	t.whole = fold(t.whole[:0], s)
	if isValue(t.whole) {
		t.lookup(kindValue, t.whole)
	}
}

func (t *tracer) typed(kind byte, canon []byte, _, _ int) {
	t.lookup(kind, canon)
	if kind != kindHost {
		return
	}
	// What was said of a host holds for the hosts below it, down to a domain with two labels.
	for host := string(canon); ; {
		_, parent, ok := strings.Cut(host, ".")
		if !ok || strings.IndexByte(parent, '.') < 0 {
			return
		}
		t.lookup(kindHost, []byte(parent))
		host = parent
	}
}

func (t *tracer) lookup(kind byte, canon []byte) {
	t.key = makeKey(t.key, kind, canon)
	if e, ok := t.x.seen[string(t.key)]; ok && e.class.Worse(t.worst.class) {
		t.worst = e
	}
}

// unescape undoes one round of percent-encoding, leaving what is none.
func unescape(s string) (string, bool) {
	if strings.IndexByte(s, '%') < 0 {
		return s, false
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if hi, lo := unhex(s[i+1]), unhex(s[i+2]); hi >= 0 && lo >= 0 {
				out = append(out, byte(hi<<4|lo))
				i += 2
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out), len(out) < len(s)
}

func unhex(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

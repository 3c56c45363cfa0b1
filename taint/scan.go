package taint

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A scanner finds the values in a text that stand out as such, in one pass: addresses, URLs and hosts, account, telephone
// and card numbers, paths, identifiers, and what is put in quotes.
type scanner struct {
	text     string
	canon    []byte // the canonical form under construction
	unmasked int    // up to where masked addresses were looked for
	ascii    bool   // what is around the text was found to be ASCII,
	quiet    bool   // and without a dot that is spelled out
	links    urlRun
	found    finder
}

// urlRun is the stretch of text that a URL reaches over. The URLs inside it end where it does.
type urlRun struct {
	end   int
	inner int // URLs that began inside it
}

const (
	maxURL   = 8 << 10 // what is longer is read up to there
	maxInner = 4       // URLs inside a URL; of later ones only the host counts, or a text could make each byte be read for each of them
	maxHost  = 512     // bytes in which the host of such a one is looked for
)

// A finder gets each value in its canonical form, valid until it returns, with its place in the text.
type finder interface {
	typed(kind byte, canon []byte, start, end int)
}

func (s *scanner) scan(text string) {
	s.text, s.unmasked, s.links = text, 0, urlRun{}
	for i := 0; ; {
		if i = nextTrigger(text, i); i == len(text) {
			break
		}
		i = max(s.at(i), i+1)
	}
	if s.quiet {
		return
	}
	s.spokenDots()
	if !s.ascii && !isASCII(text) {
		s.foreignQuotes()
	}
}

// at reads what the trigger at i is part of and returns where to go on.
func (s *scanner) at(i int) int {
	text := s.text
	inWord := i > 0 && isNameByte(text[i-1])
	switch c := text[i]; c {
	case '@':
		return s.mail(i)
	case ':':
		if strings.HasPrefix(text[i:], "://") {
			return s.url(i)
		}
		return s.drive(i)
	case '.':
		if inWord && i+1 < len(text) && isNameByte(text[i+1]) {
			return s.host(i)
		}
	case '+':
		if i == 0 || !isAlnum(text[i-1]) {
			return s.phone(i)
		}
	case '"', '\'', '`':
		if !inWord {
			s.quoted(i)
		}
	case '/', '\\':
		if !inWord {
			s.path(i)
		}
	case '#':
		if !inWord {
			return s.tag(i)
		}
	case '(', '[':
		s.masked(i)
	default:
		if isDigit(c) {
			return s.token(i)
		}
		if !inWord && i+1 < len(text) && isUpper(text[i+1]) {
			return s.id(i)
		}
	}
	return 0
}

// emit reports text[lo:hi] as a value of no particular kind.
func (s *scanner) emit(lo, hi int) {
	if s.canon = fold(s.canon[:0], s.text[lo:hi]); len(s.canon) > 0 {
		s.found.typed(kindValue, s.canon, lo, hi)
	}
}

// url reads a URL around the :// at i. It goes on behind the authority: a query may hold further values.
func (s *scanner) url(colon int) int {
	lo := colon
	for lo > 0 && isSchemeByte(s.text[lo-1]) {
		lo--
	}
	for lo < colon && !isLetter(s.text[lo]) {
		lo++
	}
	if colon-lo < 2 {
		return 0
	}
	if colon < s.links.end {
		if s.links.inner++; s.links.inner > maxInner {
			return s.emitURLHost(s.text[lo:min(s.links.end, colon+maxHost)], lo)
		}
	}
	hi, ascii := urlEnd(s.text[:min(len(s.text), lo+maxURL)], colon+3)
	if lo >= s.links.end {
		s.links = urlRun{end: hi}
	}
	authority := s.emitURL(lo, hi)
	if ascii < hi {
		s.emitURL(lo, ascii)
	}
	return authority
}

func (s *scanner) emitURL(lo, hi int) (authority int) {
	u, ok := parseURL(s.text[lo:hi])
	if !ok {
		return 0
	}
	s.canon = u.append(s.canon[:0], false)
	s.found.typed(kindURL, s.canon, lo, hi)
	if u.fragment != "" {
		s.canon = u.append(s.canon[:0], true)
		s.found.typed(kindURL, s.canon, lo, hi)
	}
	return s.emitURLHost(s.text[lo:hi], lo)
}

// emitURLHost reports the host of a URL that starts at lo, and returns where the host ends.
func (s *scanner) emitURLHost(url string, lo int) (end int) {
	u, ok := parseURL(url)
	if !ok {
		return 0
	}
	start, end := lo+u.hostAt, lo+u.hostAt+len(u.host)
	s.canon = appendHost(s.canon[:0], strings.ReplaceAll(u.host, "[.]", ".")) // a link made safe to show
	if len(s.canon) > 0 {                                                     // it may be made of characters that nobody sees
		s.found.typed(kindHost, s.canon, start, end)
	}
	return end
}

// host reads a bare host name or a file's name around the dot at i.
func (s *scanner) host(dot int) int {
	lo, hi := dot, dot
	for lo > 0 && isHostByte(s.text[lo-1]) {
		lo--
	}
	for hi < len(s.text) && isHostByte(s.text[hi]) {
		hi++
	}
	s.file(dot, hi)
	s.hiddenMail(lo, hi)
	wideLo, wideHi := s.extendLeft(lo, isHostByte), s.extendRight(hi, isHostByte)
	if wideHi < len(s.text) && strings.IndexByte("@(_", s.text[wideHi]) >= 0 {
		return 0 // the local part of an address, or code
	}
	if wideLo > 0 && strings.IndexByte("@/_", s.text[wideLo-1]) >= 0 && !strings.HasSuffix(s.text[:wideLo], "//") {
		return hi // an address that was read already, or a file in a path
	}
	s.emitHost(lo, hi)
	if wideLo < lo || wideHi > hi {
		s.emitHost(wideLo, wideHi)
	}
	return hi
}

func (s *scanner) emitHost(lo, hi int) {
	for lo < hi && (s.text[lo] == '.' || s.text[lo] == '-') {
		lo++
	}
	for hi > lo && (s.text[hi-1] == '.' || s.text[hi-1] == '-') {
		hi--
	}
	if !looksLikeHost(s.text[lo:hi]) {
		return
	}
	s.canon = appendHost(s.canon[:0], s.text[lo:hi])
	s.found.typed(kindHost, s.canon, lo, hi)
}

// file reports a file's name, with the folders before it, if the last dot at or behind dot starts an extension. hi is where
// the host bytes around dot end.
func (s *scanner) file(dot, hi int) {
	for hi > dot && (s.text[hi-1] == '.' || s.text[hi-1] == '-') {
		hi--
	}
	if hi < len(s.text) && (isPathByte(s.text[hi]) && s.text[hi] != '.' && s.text[hi] != '-') {
		return // there is more of the path to come
	}
	extension := s.text[strings.LastIndexByte(s.text[:hi], '.')+1 : hi]
	if !isFileExtension(extension) && !isCodeExtension(extension) {
		return
	}
	lo := dot
	for lo > 0 && isPathByte(s.text[lo-1]) {
		lo--
	}
	if strings.HasSuffix(s.text[:lo], ":") && strings.HasPrefix(s.text[lo:], "//") {
		return // of a URL
	}
	s.emit(lo, hi)
}

// path reads a path that starts with the slash at i, or with the dots or the tilde before it.
func (s *scanner) path(slash int) {
	if s.text[slash] == '\\' && (slash == 0 || s.text[slash-1] != '\\') {
		return // an escape; a share has two
	}
	lo := slash
	for lo > 0 && slash-lo < 2 && strings.IndexByte(".~/\\", s.text[lo-1]) >= 0 {
		lo--
	}
	if lo > 0 && (isPathByte(s.text[lo-1]) || s.text[lo-1] == ':' || s.text[lo-1] == '<') {
		return
	}
	s.emitPath(lo, slash)
}

// drive reads a path with a drive letter before the colon at i.
func (s *scanner) drive(colon int) int {
	lo := colon - 1
	if colon+1 < len(s.text) && (s.text[colon+1] == '\\' || s.text[colon+1] == '/') &&
		lo >= 0 && isLetter(s.text[lo]) && (lo == 0 || !isNameByte(s.text[lo-1])) {
		s.emitPath(lo, colon+1)
	}
	return 0
}

func (s *scanner) emitPath(lo, slash int) {
	hi := slash + 1
	for hi < len(s.text) && isPathByte(s.text[hi]) {
		hi++
	}
	for hi > slash+1 && s.text[hi-1] == '.' {
		hi--
	}
	if hi > slash+1 && hi-lo <= maxPath {
		s.emit(lo, hi)
	}
}

const (
	maxPath  = 512 // no longer path is looked for in a text
	maxName  = 256 // no longer text is a name
	maxQuote = 80  // in running text
	maxToken = 80
	maxReach = 320 // of an address, to either side of its @ or its dot
)

// quoted reports what stands between the quote at i and its like, if that is one phrase.
func (s *scanner) quoted(open int) {
	rest := s.text[open+1:]
	rest = rest[:min(len(rest), maxQuote+2)]
	if rest == "" || isBlank(rest[0]) {
		return
	}
	quote := s.text[open]
	const apostrophes = 4
	for n, end := 0, 0; n <= apostrophes; n, end = n+1, end+1 {
		i := strings.IndexByte(rest[end:], quote)
		if i < 0 {
			return
		}
		end += i
		if end == 0 {
			return
		}
		if behind := open + 1 + end + 1; behind < len(s.text) && isNameByte(s.text[behind]) {
			continue // an apostrophe
		}
		s.phrase(open+1, open+1+end)
		return
	}
}

// phrase reports a quoted phrase.
func (s *scanner) phrase(lo, hi int) {
	if hi-lo <= maxQuote && strings.IndexByte(s.text[lo:hi], '\n') < 0 {
		s.emit(lo, hi)
	}
}

// foreignQuotes looks for phrases in quotes that ASCII doesn't have.
func (s *scanner) foreignQuotes() {
	for i := nextHigh(s.text, 0); i < len(s.text); i = nextHigh(s.text, i) {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		i += size
		closing := closingQuotes(r)
		if closing == "" {
			continue
		}
		rest := s.text[i:]
		rest = rest[:min(len(rest), maxQuote+4)]
		if end := strings.IndexAny(rest, closing); end > 0 {
			s.phrase(i, i+end)
		}
	}
}

// closingQuotes returns the quotes that may close a phrase that r opens.
func closingQuotes(r rune) string {
	switch r {
	case '“', '„', '‟':
		return "“”"
	case '‘', '‚', '‛':
		return "‘’"
	case '«':
		return "»"
	case '»':
		return "«"
	case '‹':
		return "›"
	case '「':
		return "」"
	case '『':
		return "』"
	case '《':
		return "》"
	}
	return ""
}

// tag reads a channel's name or a number behind the # at i.
func (s *scanner) tag(hash int) int {
	hi := wordEnd(s.text, hash+1)
	if hi > hash+1 && hi-hash <= maxToken {
		s.emit(hash, hi)
	}
	return hash + 1
}

// wordEnd returns where the word, or the words joined by single hyphens, dots and the like, that starts at i ends.
func wordEnd(text string, i int) int {
	for i < len(text) && (isNameByte(text[i]) || isJoint(text, i)) {
		i++
	}
	return i
}

// isJoint reports whether the byte at i joins two words into one token.
func isJoint(text string, i int) bool {
	return (text[i] == '-' || text[i] == '.') && i > 0 && i+1 < len(text) && isNameByte(text[i-1]) && isNameByte(text[i+1])
}

// extendLeft moves lo over bytes of a class and over letters beyond ASCII, as far as an address may reach.
func (s *scanner) extendLeft(lo int, class func(byte) bool) int {
	for end := lo; lo > 0 && end-lo < maxReach; {
		if c := s.text[lo-1]; c < utf8.RuneSelf {
			if !class(c) {
				break
			}
			lo--
			continue
		}
		r, size := utf8.DecodeLastRuneInString(s.text[:lo])
		if !isWordRune(r) {
			break
		}
		lo -= size
	}
	return lo
}

// extendRight is extendLeft in the other direction.
func (s *scanner) extendRight(hi int, class func(byte) bool) int {
	for start := hi; hi < len(s.text) && hi-start < maxReach; {
		if c := s.text[hi]; c < utf8.RuneSelf {
			if !class(c) {
				break
			}
			hi++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[hi:])
		if !isWordRune(r) {
			break
		}
		hi += size
	}
	return hi
}

func isWordRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || ignorable(r) || r == '。' || r == '．'
}

package taint

import (
	"slices"
	"strings"
)

const maxLocal = 64 // bytes of what stands before the @, where that is quoted or a comment

// mail reads an address around the @ at i and returns where to go on.
func (s *scanner) mail(at int) int {
	lo, hi := at, at+1
	for lo > 0 && isMailByte(s.text[lo-1]) {
		lo--
	}
	for hi < len(s.text) && isHostByte(s.text[hi]) {
		hi++
	}
	// The wider readings are recorded beside the plain one: quotes and operators are legal in addresses, and in
	// scripts without spaces a letter next to an address may or may not belong to it.
	wideHi := s.extendRight(hi, isHostByte)
	starts := [...]int{lo, s.extendLeft(lo, isMailByte), s.extendLeft(lo, isMailSpecial)}
	if starts[1] == at || wideHi == at+1 {
		return s.oddMail(lo, at, hi)
	}
	for _, start := range slices.Compact(starts[:]) {
		s.emitMail(start, at, hi)
		if wideHi > hi {
			s.emitMail(start, at, wideHi)
		}
	}
	return hi
}

func (s *scanner) emitMail(lo, at, hi int) {
	for lo < at && s.text[lo] == '.' {
		lo++
	}
	for hi > at+1 && (s.text[hi-1] == '.' || s.text[hi-1] == '-') {
		hi--
	}
	s.emitAddress(s.text[lo:at], s.text[at+1:hi], lo, hi)
}

func (s *scanner) emitAddress(local, domain string, lo, hi int) {
	if local != "" && domain != "" {
		s.canon = appendMail(s.canon[:0], local, domain)
		s.found.typed(kindMail, s.canon, lo, hi)
	}
}

// oddMail reads what stands around an @ that has no plain local part before it or no plain domain behind it: a quoted local
// part, comments, blanks, an IP address; or the name of a user.
func (s *scanner) oddMail(lo, at, hi int) int {
	from, local := s.oddLocal(lo, at)
	to, domain := s.oddDomain(at, hi)
	spaced := at > 0 && isBlank(s.text[at-1]) || at+1 < len(s.text) && isBlank(s.text[at+1])
	if !spaced || looksLikeHost(domain) {
		s.emitAddress(local, domain, from, to)
	}
	if lo == at && hi > at+1 && (at == 0 || strings.IndexByte(`")`, s.text[at-1]) < 0) {
		s.emit(at, wordEnd(s.text, at+1))
	}
	return at + 1
}

func (s *scanner) oddLocal(lo, at int) (from int, local string) {
	if lo < at || at == 0 {
		return lo, s.text[lo:at]
	}
	end := at
	if s.text[end-1] == ')' {
		first := max(0, at-maxLocal)
		if i := strings.LastIndexByte(s.text[first:at], '('); i >= 0 {
			end = first + i
		}
	}
	for end > 0 && at-end < maxLocal && isBlank(s.text[end-1]) {
		end--
	}
	window := s.text[max(0, end-maxLocal):end]
	if quoted, ok := strings.CutSuffix(window, `"`); ok {
		i := strings.LastIndexByte(quoted, '"')
		if i < 0 {
			return at, ""
		}
		return end - len(window) + i, strings.ReplaceAll(quoted[i+1:], `\`, "")
	}
	from = end
	for from > 0 && isMailByte(s.text[from-1]) && end-from < maxLocal {
		from--
	}
	return from, strings.TrimLeft(s.text[from:end], ".")
}

func (s *scanner) oddDomain(at, hi int) (to int, domain string) {
	if hi > at+1 || hi == len(s.text) {
		return hi, strings.TrimRight(s.text[at+1:hi], ".-")
	}
	window := s.text[hi:min(len(s.text), hi+maxLocal)]
	if window[0] == '[' {
		if i := strings.IndexByte(window, ']'); i > 0 {
			return hi + i + 1, window[:i+1]
		}
	}
	if window[0] == '(' {
		hi += strings.IndexByte(window, ')') + 1
	}
	for hi < len(s.text) && hi-at < maxLocal && isBlank(s.text[hi]) {
		hi++
	}
	start := hi
	for hi < len(s.text) && isHostByte(s.text[hi]) && hi-start < 253 {
		hi++
	}
	return hi, strings.TrimRight(s.text[start:hi], ".-")
}

// hiddenMail reports an address whose @ is spelled in another way before the host at lo: encoded for a URL or a page, or
// as a word.
func (s *scanner) hiddenMail(lo, hi int) {
	at := 0 // where the sign starts
	switch before := s.text[:lo]; {
	case lo == 0:
		return
	case s.text[lo-1] == '%' && strings.HasPrefix(s.text[lo:], "40"):
		at, lo = lo-1, lo+2
	case s.text[lo-1] == ' ' && strings.HasSuffix(before, " at "):
		at = lo - 4
	case s.text[lo-1] == ';':
		for _, entity := range [...]string{"&#64;", "&#x40;", "&#X40;", "&commat;"} {
			if strings.HasSuffix(before, entity) {
				at = lo - len(entity)
			}
		}
	}
	if at == 0 || lo >= hi {
		return
	}
	start := at
	for start > 0 && isMailByte(s.text[start-1]) && at-start < maxLocal && s.text[start-1] != '%' {
		start--
	}
	s.emitAddress(strings.TrimLeft(s.text[start:at], "."), strings.TrimRight(s.text[lo:hi], ".-"), start, hi)
}

package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Width is how many columns of a terminal a text takes.
func Width(s string) int {
	n := 0
	for i, r := range s {
		if r >= utf8.RuneSelf {
			return n + wide(s[i:])
		}
		n++
	}
	return n
}

// wide is Width for a text that is not plain.
func wide(s string) int {
	n := 0
	for _, r := range s {
		n += columns(r)
	}
	return n
}

func columns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r < 0x1100:
		return 1
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// gap stands for what was left out.
const gap = "..."

// Shorten leaves out the middle of a text that takes more than limit columns: the ends of names and paths tell them apart.
func Shorten(s string, limit int) string {
	if Width(s) <= limit {
		return s
	}
	room := max(0, limit-len(gap))
	runes := []rune(s)
	head, tail := 0, len(runes)
	left, right := room/2, room-room/2
	for head < tail && columns(runes[head]) <= left {
		left -= columns(runes[head])
		head++
	}
	for at, used := tail, 0; at > head; at-- {
		if used += columns(runes[at-1]); used > right {
			break
		}
		if columns(runes[at-1]) > 0 {
			tail = at - 1 // an accent stays with its letter
		}
	}
	return string(runes[:head]) + gap[:min(len(gap), limit)] + string(runes[tail:])
}

// Fill breaks a text into lines of at most limit columns, between words. A longer word has a line of its own.
func Fill(s string, limit int) []string {
	var lines []string
	line, used := "", 0
	for word := range strings.FieldsSeq(s) {
		n := Width(word)
		if used > 0 && used+1+n > limit {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	return append(lines, line)
}

// Pad puts blanks behind a text up to a number of columns.
func Pad(s string, limit int) string {
	return s + strings.Repeat(" ", max(0, limit-Width(s)))
}

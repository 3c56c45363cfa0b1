package policy

import (
	"strings"
	"unicode"
)

// words splits a name into lower-case words: at changes of case, around digits, and at everything else. HTTPPost,
// http_post and http-post are the same two words, and confirm holds no rm.
func words(name string) []string {
	const longest = 256 // of a name whose words matter
	rs := []rune(name[:min(len(name), longest)])
	var all []string
	start := 0
	flush := func(end int) {
		if end > start {
			all = join(all, strings.ToLower(string(rs[start:end])))
		}
		start = end
	}
	for i, r := range rs {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush(i)
			start = i + 1
		case i == start:
		case unicode.IsDigit(r) != unicode.IsDigit(rs[i-1]):
			flush(i)
		case unicode.IsUpper(r) && !unicode.IsUpper(rs[i-1]):
			flush(i) // sendEmail
		case unicode.IsUpper(rs[i-1]) && unicode.IsLower(r) && i-1 > start:
			flush(i - 1) // HTTPPost
		}
	}
	flush(len(rs))
	return all
}

// join appends a word, or completes the one before it where the two are one.
func join(all []string, word string) []string {
	if n := len(all) - 1; n >= 0 {
		switch pair := all[n] + word; pair {
		case "email", "emails", "webhook", "webhooks", "callback", "hostname", "username", "usernames", "filename", "filenames", "filepath", "dropbox",
			"mergerequest", "mergerequests", "pullrequest", "pullrequests": // neither merges nor requests anything
			all[n] = pair
			return all
		}
	}
	return append(all, word)
}

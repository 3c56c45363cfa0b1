package listing

import "strings"

// unwrapped takes off what is put around a whole document to show where it begins and ends: a fence of backquotes, with
// the name of a language or without, or a pair of double angle brackets. Anything else comes back as it is.
func unwrapped(text string) string {
	trimmed := strings.Trim(text, " \n\r")
	if inner, ok := cutBoth(trimmed, "<<", ">>"); ok {
		return inner
	}
	if inner, ok := cutBoth(trimmed, "```", "```"); ok {
		language, inner, ok := strings.Cut(inner, "\n")
		if ok && strings.Trim(language, "abcdefghijklmnopqrstuvwxyz\r") == "" && !strings.Contains(inner, "```") {
			return inner
		}
	}
	return text
}

func cutBoth(s, before, behind string) (inner string, ok bool) {
	if len(s) < len(before)+len(behind) || !strings.HasPrefix(s, before) || !strings.HasSuffix(s, behind) {
		return s, false
	}
	return s[len(before) : len(s)-len(behind)], true
}

package engine

import (
	"strings"
	"unicode"

	"github.com/bouncer-mcp/bouncer/taint"
)

// Say records the person's own words. The caller knows that they are.
func (e *Engine) Say(text string) {
	text = allowed(text)
	e.seen.Say(text)
	for _, number := range namedNumbers(text) {
		e.seen.Say(byName(number))
	}
}

// maxNumbers bounds how many numbers one text can name.
const maxNumbers = 64

// byName is the word under which a number counts as named. Said by itself, a number of a few digits may be a day, an hour or
// a price, and vouches for nothing; behind a # or a word such as issue, it does.
func byName(number string) string { return "number-by-name-" + number }

func (e *Engine) saidByName(number string) bool {
	return e.seen.Trace(byName(number)).Grants&taint.MarkSaid != 0
}

// shortNumber recognises what byName is for.
func shortNumber(s string) bool { return s != "" && len(s) <= 4 && strings.Trim(s, "0123456789") == "" }

// namedNumbers returns the short numbers of a text that stand behind a # or a word for things that have numbers, also in a row:
// issues 4, 5 and 17.
func namedNumbers(text string) []string {
	var numbers []string
	named := false
	words := strings.FieldsFunc(text, func(r rune) bool {
		return r != '#' && r != '-' && r != '.' && r != ':' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for _, word := range words {
		word = strings.ToLower(strings.TrimRight(word, ".:"))
		number, hash := strings.CutPrefix(word, "#")
		switch {
		case shortNumber(number):
			if (named || hash) && len(numbers) < maxNumbers {
				numbers = append(numbers, number)
			}
			named = named || hash
		case word == "#" || word == "and" || word == "or" || word == "":
		default:
			named = hasNumbers(word)
		}
	}
	return numbers
}

// hasNumbers recognises words for things that are told apart by their number.
func hasNumbers(word string) bool {
	switch strings.TrimSuffix(word, "s") {
	case "id", "no", "nr", "number", "issue", "pr", "mr", "request", "ticket", "task", "case", "bug", "story", "event", "message", "email",
		"mail", "file", "document", "doc", "note", "row", "record", "entry", "item", "order", "invoice", "payment", "transaction", "booking",
		"reservation", "build", "job", "comment", "thread", "card", "user", "contact", "customer", "account", "channel", "room", "door", "device":
		return true
	}
	return false
}

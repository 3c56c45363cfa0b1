package engine

import (
	"slices"
	"strings"
	"unicode"
)

// allowed returns what a person's text says without those sentences that forbid or suspect something: who asks whether a mail
// of eve is phishing, or never to write to her, has not named her as somebody to write to.
func allowed(text string) string {
	var kept strings.Builder
	for sentence := range sentences(text) {
		if !refuses(sentence) {
			kept.WriteString(sentence)
		}
		kept.WriteByte('\n')
	}
	return kept.String()
}

// sentences cuts a text behind every mark that ends a sentence. The dot in an address ends none.
func sentences(text string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		start := 0
		for i, r := range text {
			ends := strings.ContainsRune("\n\r;。！？；", r)
			if strings.ContainsRune(".!?", r) {
				next := text[i+1:]
				ends = next == "" || unicode.IsSpace(rune(next[0]))
			}
			if !ends {
				continue
			}
			end := i + len(string(r))
			if !yield(text[start:end]) {
				return
			}
			start = end
		}
		if start < len(text) {
			yield(text[start:])
		}
	}
}

// refuses recognises a sentence that says what is not to be done, or what is not to be trusted.
func refuses(sentence string) bool {
	if strings.Contains(sentence, "不要") || strings.Contains(sentence, "请勿") {
		return true
	}
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(sentence, "’", "'")), func(r rune) bool {
		return r != '\'' && r != '@' && r != '.' && r != '-' && r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	for i, word := range words {
		before, next := "", ""
		if i > 0 {
			before = words[i-1]
		}
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch strings.TrimRight(word, ".") {
		case "never", "nicht", "niemals", "nie", "nunca", "jamais", "phishing", "suspicious", "spam", "scam", "block", "blocked", "fraud":
			return true
		case "don't", "dont", "do'nt", "not":
			happened := before == "did" && i > 1 && words[i-2] == "it" // which forbids nothing
			if before != "if" && before != "or" && before != "are" && before != "is" && !happened && !harmlessly(next) {
				return true
			}
		case "no":
			if slices.Contains([]string{"", "please", "and", "but"}, before) && !harmlessly(next) {
				return true
			}
		case "ne", "n'envoie", "n'envoyez", "n'écris", "n'écrivez":
			if slices.Contains(words[i:], "pas") || slices.Contains(words[i:], "jamais") {
				return true
			}
		}
	}
	return false
}

// harmlessly recognises what makes a request of a negation: don't forget to.
func harmlessly(next string) bool {
	switch next {
	case "forget", "hesitate", "worry", "only", "just", "sure", "later", "more", "less", "need", "problem", "matter", "longer", "rush", "hurry", "miss", "":
		return true
	}
	return false
}

package taint

import (
	"iter"
	"strings"
)

// Carried ranges over the addresses, URLs, lone hosts and account, telephone or card numbers that stand in a text, with what is
// known of each. Other words of a text are not among them.
func (x *Index) Carried(text string) iter.Seq2[string, Found] {
	return func(yield func(string, Found) bool) {
		var places []span
		s := scanner{found: destinations{text, &places}}
		s.scan(text)
		for _, at := range places {
			if value := text[at.start:at.end]; !yield(value, x.Trace(value)) {
				return
			}
		}
	}
}

// destinations collects where a text holds a value that something could be sent to.
type destinations struct {
	text string
	at   *[]span
}

func (d destinations) typed(kind byte, _ []byte, start, end int) {
	switch kind {
	case kindHost:
		if isScript(d.text[start:end]) || start > 0 && strings.IndexByte("/@", d.text[start-1]) >= 0 {
			return // or the URL or address that it belongs to speaks for it
		}
		fallthrough
	case kindMail, kindURL, kindIBAN, kindPhone, kindCard:
		*d.at = append(*d.at, span{start, end})
	}
}

// isScript recognises what is a file in most texts, though it could be a host.
func isScript(host string) bool {
	switch strings.ToLower(host[strings.LastIndexByte(host, '.')+1:]) {
	case "md", "pl", "pm", "ps", "py", "rs", "sh", "so", "vb", "zip":
		return !strings.HasPrefix(host, "www.")
	}
	return false
}

package taint

import (
	"iter"
	"strings"
)

// maxTraced is how many of the values in one text are traced. Behind that only what text named to the agent just like that is
// still told, and that there is more: a text is read in time that grows with its length, however many values it is made of.
const maxTraced = 512

// Carried ranges over the addresses, URLs, lone hosts and account, telephone or card numbers that stand in a text, or in what
// a program that shows it as a page makes of it, with what is known of each. Other words of a text are not among them. Of a text
// with too many of them, the rest stands for itself once, as something that an output brought up and nobody vouches for.
func (x *Index) Carried(text string) iter.Seq2[string, Found] {
	return func(yield func(string, Found) bool) {
		d := destinations{x: x}
		shown(text, func(reading string) {
			d.text = reading
			s := scanner{found: &d}
			s.scan(reading)
		})
		for _, value := range d.values {
			if !yield(value, x.Trace(value)) {
				return
			}
		}
		for _, value := range d.aimed {
			if f := x.Trace(value); !yield(value, Found{Marks: f.Marks | MarkText, Origin: f.Origin}) {
				return
			}
		}
		if d.more != "" {
			yield(d.more, Found{Marks: MarkText})
		}
	}
}

// destinations collects the values in a text that something could be sent to, each once.
type destinations struct {
	x      *Index
	text   string
	met    map[string]struct{}
	values []string
	aimed  []string // of those too many, what was aimed
	more   string   // one of those too many, a link if there is one
}

func (d *destinations) typed(kind byte, canon []byte, start, end int) {
	switch kind {
	case kindHost:
		if isScript(d.text[start:end]) || !isAlone(d.text, start) {
			return // or the URL or address that it belongs to speaks for it
		}
	case kindMail, kindURL, kindIBAN, kindPhone, kindCard:
	default:
		return
	}
	value := d.text[start:end]
	if _, met := d.met[value]; met {
		return
	}
	if len(d.values) < maxTraced {
		d.meet(value)
		d.values = append(d.values, value)
		return
	}
	if len(d.aimed) < maxTraced && d.x.aimed(kind, canon) {
		d.meet(value)
		d.aimed = append(d.aimed, value)
	}
	if d.more == "" || kind == kindURL && !strings.Contains(d.more, "://") {
		d.more = value
	}
}

func (d *destinations) meet(value string) {
	if d.met == nil {
		d.met = make(map[string]struct{})
	}
	d.met[value] = struct{}{}
}

// isScript recognises what is a file in most texts, though it could be a host.
func isScript(host string) bool {
	switch strings.ToLower(host[strings.LastIndexByte(host, '.')+1:]) {
	case "md", "pl", "pm", "ps", "py", "rs", "sh", "so", "vb", "zip":
		return !strings.HasPrefix(host, "www.")
	}
	return false
}

package inspect

import "strings"

// A noun is a name for a machine that reads texts, with the words that belong to it.
type noun struct {
	word
	sure  bool // it can't be a person or a thing
	voice bool // one can speak to it: an assistant, not a model
}

const kinds = "assistant|assistants|agent|agents|model|models|bot|bots|chatbot|chatbots|llm|llms|assistent|assistentin|assistenten|modell|system|systems|helper"

// machine looks at a name for a machine and at what is around it.
func (t *reader) machine(w word) int {
	if w.j-w.i == len("mode") && is(t.text(w), "mode") && t.back(w.i, "you are|re now in developer|admin|administrator|debug|god|dan|unrestricted|jailbreak") >= 0 {
		return w.j
	}
	n, ok := t.noun(w)
	if !ok {
		return 0
	}
	if end := t.reads(n); end > 0 {
		return end
	}
	at := t.adorned(n.i)
	if end := t.led(n, at); end > 0 || !n.voice {
		return end
	}
	return t.ordered(n, at)
}

// adorned returns where a noun that begins at i begins with its article and adjectives.
func (t *reader) adorned(i int) int {
	for range 6 {
		w, ok := t.prev(i)
		if !ok {
			break
		}
		s := lowered(t.text(w))
		switch string(s.b[:s.n]) {
		case "a", "an": // which also lead up to an article in French and German
			if is(t.text(t.word(i)), "l|la|le|les|die|den|das") {
				return i
			}
			i = w.i
		case "the", "my", "your", "our", "this", "any", "all", "every", "each", "other", "whichever",
			"helpful", "large", "powerful", "smart", "advanced", "intelligent", "virtual", "digital", "automated", "autonomous",
			"die", "der", "das", "den", "eine", "ein", "einen", "diese", "l", "la", "le", "les", "una", "un", "une", "el", "los":
			i = w.i
		default:
			return i
		}
	}
	return i
}

// led looks at the word that leads up to the noun, which begins at place at with its article.
func (t *reader) led(n noun, at int) int {
	before, ok := t.prev(at)
	if !ok {
		return 0
	}
	s := lowered(t.text(before))
	switch string(s.b[:s.n]) {
	case "you":
		if t.back(before.i, "to") >= 0 || n.sure && at < n.i && t.gapHas(at, ',') {
			return n.j
		}
	case "hey", "hi", "hello", "dear", "attention", "yo", "okay", "ok", "listen", "liebe", "lieber", "hallo", "achtung",
		"cher", "chere", "bonjour", "estimado", "estimada", "querido", "hola", "caro", "cara", "attenzione", "atencion":
		if n.voice && t.called(n) {
			return n.j
		}
	case "to", "for", "an", "fur", "fuer", "a", "para", "pour", "todo":
		colon := strings.HasPrefix(strings.TrimLeft(t.gap(n.j), "*_` "), ":")
		if t.closes(n.j) && t.noteTo(before) && (n.sure || n.voice || colon) {
			return n.j
		}
		if n.sure && colon && t.opens(before.i) {
			return t.padded(n.j) + 1
		}
	case "as", "als", "comme", "como", "que":
		if n.sure {
			return t.duty(n.j)
		}
	case "are", "re", "now":
		if n.sure && t.youAre(before.j) && (t.closes(n.j) && !strings.HasPrefix(t.gap(n.j), "?") ||
			t.ahead(n.j, "that|who|designed|and|with|tasked|trained|created|working|acting|integrated|reading|processing|named|called") > 0) {
			return n.j
		}
	}
	return 0
}

// noteTo says whether what ends with a preposition is a message's way to say whom it is for.
func (t *reader) noteTo(preposition word) bool {
	i := preposition.i
	if t.back(i, "note|message|memo|reminder|todo|notice|attention|hinweis|nachricht|nota|mensaje") >= 0 {
		return true
	}
	at := t.back(i, "important|special|new|additional* instruction|instructions|anweisung|anweisungen|instrucciones")
	return at >= 0 && t.opens(at)
}

// youAre says whether the words up to j tell somebody what they are, rather than asking.
func (t *reader) youAre(j int) bool {
	at := t.back(j, "you are|re now?")
	return at >= 0 && t.back(at, "than|how|why|where|when|what|not") < 0
}

// duty returns the end of the words from j on that say what somebody must do.
func (t *reader) duty(j int) int {
	for _, pattern := range [...]string{
		"you must|should|have|need|are|will|shall|ought", "your task|job|duty|goal|role|first",
		"musst|sollst|bist|hast du", "du musst|sollst|bist|hast", "debes|deve|dois|devez|tu|vous",
	} {
		if end := t.ahead(j, pattern); end > 0 {
			return end
		}
	}
	return 0
}

// noun reads a name for a machine that begins with w.
func (t *reader) noun(w word) (noun, bool) {
	n := noun{word: w}
	s := lowered(t.text(w))
	switch string(s.b[:s.n]) {
	case "copilot":
		if t.back(w.i, "captain|pilot|and|the|his|her") >= 0 {
			return n, false // of an aircraft
		}
		n.sure, n.voice = true, true
	case "ai", "llm", "llms", "chatgpt", "chatbot", "chatbots", "mixtral", "gpt3", "gpt4", "gpt5", "gpt4o":
		n.sure, n.voice = true, true
		n.j = max(n.j, t.ahead(n.j, "powered|based|language|chat? "+kinds))
		n.j = max(n.j, t.ahead(n.j, "developed|made|created|trained|built by openai|google|anthropic|meta|mistral|cohere|microsoft|xai|deepseek"))
	case "gpt":
		n.sure, n.voice = true, true
		n.j = max(n.j, t.ahead(n.j, "1|2|3|4|5|4o|o"))
	case "ki", "ia":
		n.j = max(n.j, t.ahead(w.j, kinds))
		n.sure, n.voice = n.j > w.j || t.text(w) == "KI" || t.text(w) == "IA", true
		return n, n.sure
	case "language":
		n.j = t.ahead(w.j, "model|models")
		n.sure, n.voice = true, true
		return n, n.j > 0
	case "assistant", "assistants", "asistente", "assistent":
		n.voice = true
		n.j = max(n.j, t.ahead(w.j, "de? ia|ai|ki"))
		n.sure = n.j > w.j
	case "claude", "gemini", "mistral", "llama", "bard", "agent", "agents", "model", "models":
	default:
		return n, false
	}
	return n, true
}

// called says whether the noun is all that is spoken to: not an AI team, nor an assistant manager.
func (t *reader) called(n noun) bool {
	return t.closes(n.j) || t.ahead(n.j, "you|please|i|ignore|disregard|forget|if|when|this|do|kindly|must") > 0
}

// reads returns the end of the words that make the noun somebody who reads the text, 0 if there are none.
func (t *reader) reads(n noun) int {
	next, ok := t.next(n.j)
	if !ok {
		return 0
	}
	s := lowered(t.text(next))
	switch string(s.b[:s.n]) {
	case "that", "who", "which", "is", "currently", "reading", "processing", "parsing", "summarizing", "summarising", "handling":
		if n.sure || is(t.text(n.word), "assistant|assistants|agent|agents") {
			return t.ahead(n.j, "that|who|which? is|are? currently|now? reading|processing|parsing|summarizing|summarising|handling this|these")
		}
	}
	return 0
}

// ordered says where an order ends that begins with the noun: AI assistant, please ...
func (t *reader) ordered(n noun, at int) int {
	if t.ahead(n.j, "must now|immediately|instead|first") > 0 && is(t.s[at:n.i], "the |this |") {
		return n.j
	}
	if !t.opens(at) || !n.sure && at < n.i {
		return 0
	}
	g := strings.TrimLeft(t.gap(n.j), "*_`\")] ")
	if g == "" || g[0] != ',' && g[0] != ':' {
		return 0
	}
	from := t.padded(n.j) + len(t.gap(n.j)) - len(g) + 1
	if g[0] == ':' && !n.sure { // or who speaks in a conversation: what they tell the other one is no order to an agent
		return t.ahead(from, "please? "+handing+" this|these|everything|it|all")
	}
	if end := t.told(from); end > 0 {
		return end
	}
	if end := t.ahead(from, "please ignore|disregard|do|send|forward|execute|call|use|transfer|delete|read|open|change|update|follow|reply|write|share|perform|make|create|book|pay"); end > 0 {
		return end
	}
	if end := t.ahead(from, "you must|should|shall|need|have"); end > 0 {
		return end
	}
	return t.ahead(from, "ignore|disregard|forget|do|execute previous|all|the|your|not|everything|above|following|this")
}

// The verbs of orders that somebody who can act is given.
const (
	handing = "send|forward|share|email|mail|transfer|upload|post|copy"
	doing   = handing + "|reply|execute|call|use|delete|read|open|change|update|follow|perform|make|create|add|book|pay|run|fetch|visit|include|append|remove|summarize|ignore"
)

// told returns the end of an order that begins at j, which may have to wait for something: before you go on, send it. A
// verb alone is none: an assistant may also be one of the call center, or of open positions.
func (t *reader) told(j int) int {
	if from := t.ahead(j, "before|after|when|once you"); from > 0 {
		for n := 0; !strings.Contains(t.gap(from), ","); n++ {
			w, ok := t.next(from)
			if !ok || n == 8 {
				return 0
			}
			from = w.j
		}
		j = from
	}
	j = t.ahead(j, "now|first|also|then|please|kindly*")
	if end := t.ahead(j, "write|reply|respond|go to"); end > 0 {
		return end
	}
	return t.ahead(j, doing+" this|that|the|these|those|all|any|every|it|them|me|us|my|your|our|a|an|everything")
}

package inspect

import "strings"

// cue looks at a word whose stem is known and returns where the cue ends that it belongs to, 0 for none.
func (t *reader) cue(w word) int {
	s := lowered(t.s[w.i : w.i+2])
	switch string(s.b[:s.n]) {
	case "ig", "di", "fo", "ov", "ve", "ou", "ol", "es":
		return t.ignores(w)
	case "in":
		return t.instruction(w)
	case "us":
		return t.user(w)
	case "ta":
		return t.task(w)
	case "to":
		return t.tool(w)
	case "me":
		return t.mention(w)
	case "wi":
		return t.without(w)
	case "sy":
		return t.system(w)
	}
	return t.machine(w)
}

// What stands between the verb and the noun of an order to ignore orders, in the languages that share their letters. "My"
// is not among them: a person may well take back what they said.
const (
	fillers = "all|any|every|each|of|the|your|these|those|other|and|or|system|user|developer|safety|set|its|" +
		"alle|deine|ihre|eure|die|der|aller|samtliche|saemtliche|jegliche|sie|bitte|" +
		"toutes|tous|les|tes|vos|ces|des|todas|todos|las|los|tus|sus|tuas|suas|as|os|tutte|tutti|le|gli|tue|sue"
	earlier = "previous|prior|above|earlier|preceding|former|foregoing|existing|initial|original|past|" +
		"vorherige~|bisherige~|obige~|fruhere~|fruehere~|vorige~|vorangegangene~|vorstehende~|" +
		"precedente~|anterieure~|anteriores|previas|previo~|precedenti"
	later  = "above|before|previously|earlier|anteriores|previas|precedente~|anterieure~|precedenti|dessus|zuvor|oben"
	orders = "directive~|guideline~|anweisung~|instruk~|befehl~|vorgaben|directivas|programming"
	// What counts only when it is said to be an earlier one.
	looseOrders = "prompt|prompts|command|commands|directions|context|consignes|ordenes|comand~"
)

// isOrder knows instructions in any spelling that is still one, and leaves destruction alone.
func isOrder(s string) bool {
	if is(s, orders) {
		return true
	}
	if is(s, "instrucc~|instruc~|istruzion~") {
		return true
	}
	// Any letters may be in front of -nstructions, as in a misspelling, except those of other words: construction.
	tail := strings.TrimRight(s, "sS")
	const end = "nstruction"
	return len(tail) > len(end) && len(s) < 16 && sameLetters(tail[len(tail)-len(end):], end) && !is(s, "con~|de~|ob~|re~")
}

// isIgnore says whether a word orders to ignore something.
func isIgnore(s string) bool {
	w := lowered(s)
	switch string(w.b[:w.n]) {
	case "ignore", "disregard", "forget", "override", "overrule", "discard",
		"ignoriere", "ignorieren", "ignoriert", "ignorier", "vergiss", "vergessen", "vergesst",
		"ignorez", "ignorer", "oublie", "oubliez", "ignora", "ignorar", "ignoren", "ignorad", "olvida", "olvide", "olviden",
		"olvidar", "esqueca", "ignorate", "dimentica", "dimenticate":
		return true
	}
	return false
}

// ignores finds orders to ignore what somebody was told to do.
func (t *reader) ignores(w word) int {
	if !isIgnore(t.text(w)) || t.negated(w.i) {
		return 0
	}
	if end := t.ahead(w.j, "everything|anything|all that|what? you were|have|had|been* told|instructed"); end > 0 {
		return end
	}
	if end := t.ahead(w.j, "everything|anything above|prior|previous"); end > 0 {
		return end
	}
	old, whole := false, false
	for j, n := w.j, 0; n < 9; n++ {
		next, ok := t.next(j)
		if !ok {
			return 0
		}
		j = next.j
		switch s := t.text(next); {
		case is(s, earlier):
			old = true
		case is(s, fillers):
			whole = whole || is(s, "all|your|every|alle|deine|toutes|tes|vos|todas|tus|tutte|tue|todos")
		case is(s, looseOrders) || isOrder(s):
			if old {
				return j
			}
			if end := t.ahead(j, "that|which|you|i|were|was|have|been|given|received|les|ci* "+later); end > 0 {
				return end
			}
			if whole && isOrder(s) {
				return j
			}
			return 0
		case is(s, "rules|rule|messages|reglas|regles|regeln|regras|regole"):
			if old && whole {
				return j
			}
			return 0
		default:
			return 0
		}
	}
	return 0
}

// negated says whether the words up to i turn an order into something else: not to ignore, a reason to forget. Those of
// the paragraph before don't.
func (t *reader) negated(i int) bool {
	before, ok := t.prev(i)
	if !ok || strings.Count(t.s[before.j:i], "\n") > 1 {
		return false
	}
	return t.back(i, "not|never|nicht|of") >= 0 || t.back(i, "don|doesn|didn|won|can|shouldn t") >= 0 ||
		t.back(i, "to") >= 0 && t.back(i, "want|wants|need|needs|have|has|going|must you? to") < 0
}

// instruction finds orders to obey this text.
func (t *reader) instruction(w word) int {
	if !isOrder(t.text(w)) {
		return 0
	}
	if verb, ok := t.prev(t.back(w.i, "to|with|only|the|these|this|my|following|new|next*")); ok {
		s := t.text(verb)
		if is(s, "adhere|follow|obey|comply|stick") && (t.back(verb.i, "strictly") >= 0 || t.ahead(verb.j, "strictly") > 0) || is(s, "obey") {
			return w.j
		}
	}
	if at := t.back(w.i, "new|real|actual|hidden|secret"); at >= 0 {
		if t.opens(at) && strings.HasPrefix(strings.TrimLeft(t.gap(w.j), "*_` "), ":") {
			return t.padded(w.j) + 1
		}
		if t.back(at, "your") >= 0 && t.ahead(w.j, "are") > 0 {
			return w.j
		}
	}
	return 0
}

// user finds the user spoken of as a third person who must not know, or who wants what the text wants.
func (t *reader) user(w word) int {
	if !is(t.text(w), "user") {
		return 0
	}
	the := t.back(w.i, "the")
	if the < 0 {
		return 0
	}
	if before, ok := t.prev(the); ok {
		s := lowered(t.text(before))
		switch string(s.b[:s.n]) {
		case "telling", "informing", "notifying", "alerting", "consulting":
			if t.back(before.i, "without ever|first?") >= 0 {
				return w.j
			}
		case "tell", "inform", "alert", "notify":
			not := t.back(before.i, "not|t|never ever|just?")
			if not >= 0 && t.back(not, "does|doesn|did|didn|will|won|would|wouldn|should|shouldn|could|couldn|can|may|might|is|are|was|to|i|we|they|it") < 0 {
				return w.j
			}
		case "me":
			if t.gapHas(the, ',') {
				return w.j
			}
		case "from":
			if t.back(before.i, "keep|keeping this|it|these|them hidden|secret") >= 0 {
				return w.j
			}
		case "asking":
			if at := t.back(before.i, "without"); at >= 0 && t.acts(at) {
				return w.j
			}
		case "ask", "bother", "prompt":
			if t.back(before.i, "not|t|never") >= 0 {
				return t.ahead(w.j, "for|to confirmation|permission|approval|confirm|approve")
			}
		case "if", "when", "whether", "what", "that", "once", "until", "unless", "after":
			return 0
		}
	}
	next, _ := t.next(w.j)
	s := lowered(t.text(next))
	switch string(s.b[:s.n]) {
	case "wants", "asked", "requested", "instructed", "told", "needs", "expects", "authorized", "authorised":
		return t.ahead(next.j, "you to")
	case "has", "have":
		return t.ahead(next.j, "already approved|authorized|authorised|confirmed|allowed|permitted this|these|it|that|all|everything|you")
	}
	return 0
}

// gapHas says whether c stands between the word that ends before i and i.
func (t *reader) gapHas(i int, c byte) bool {
	for ; i > 0 && !isWord(t.s[i-1]); i-- {
		if t.s[i-1] == c {
			return true
		}
	}
	return false
}

// task finds the agent's own task as something to put off or to replace.
func (t *reader) task(w word) int {
	if !is(t.text(w), "task|tasks") {
		return 0
	}
	const yours = " the|your|this|any|current|original|main|other|initial|given|assigned|user|s|actual*"
	next, _ := t.next(w.j)
	n := lowered(t.text(next))
	switch string(n.b[:n.n]) {
	case "that", "which", "i", "user":
		if end := t.ahead(w.j, "that|which? i|user gave|assigned|have|given* you|to* in|at the very? beginning|start|outset"); end > 0 {
			return end
		}
	case "is", "now":
		if t.back(w.i, "your real|actual|true|only") >= 0 {
			return w.j
		}
	}
	at := t.back(w.i, yours[1:])
	verb, ok := t.prev(at)
	if !ok {
		return 0
	}
	v := lowered(t.text(verb))
	switch string(v.b[:v.n]) {
	case "solve", "solving", "continue", "continuing", "proceed", "proceeding", "resume", "resuming", "with", "to":
		if t.back(w.i, "before|after you? can|may|could|are|will|able|to* solve|solving|continue|continuing|proceed|proceeding|resume|resuming with?"+yours) >= 0 ||
			t.back(w.i, "can|may|then|should now|then? solve|continue|resume|proceed with|to? the|your original|initial|user|main s?") >= 0 {
			return w.j
		}
	}
	if t.back(at, "instead of doing|solving|completing|performing|executing|following?") >= 0 && t.closes(w.j) && is(t.text(t.word(at)), "the|your") {
		return w.j
	}
	return 0
}

// tool finds orders to call a tool.
func (t *reader) tool(w word) int {
	if !is(t.text(w), "tool|tools") {
		return 0
	}
	const verbs = "call|use|invoke|run|execute"
	const must = "you must|should|shall|need|have|are|will|ought to|now|first|then|immediately|also|instead|always|required*"
	name := t.s[w.j:w.j]
	end := w.j
	if next, ok := t.next(w.j); ok && (isName(t.text(next)) || strings.Contains(t.s[w.j:next.i], "`")) {
		name, end = t.text(next), next.j
	}
	at := t.back(w.i, verbs+" the|this|that|following|your|available*")
	if at >= 0 && name != "" && (isName(name) || t.back(at, must) >= 0) {
		return end
	}
	if at >= 0 && (t.back(at, "you must|should|need|have to? first|now|immediately|then|instead") >= 0 ||
		t.back(at, "you must") >= 0 && t.ahead(at, "call|invoke|execute") > 0) {
		return w.j
	}
	// The name in front: call the `send_email` tool.
	front, ok := t.prev(w.i)
	if !ok || !isName(t.text(front)) {
		return 0
	}
	at = t.back(front.i, verbs+" the|this|that|your*")
	if at >= 0 && (t.ahead(at, "call|invoke|execute") > 0 || t.back(at, must) >= 0) {
		return w.j
	}
	return 0
}

// isName says whether a word is what tools are called, rather than something in a language.
func isName(s string) bool { return strings.Contains(strings.Trim(s, "_"), "_") }

// mention finds orders to keep quiet about the order.
func (t *reader) mention(w word) int {
	if !is(t.text(w), "mention") || t.back(w.i, "not|t|never") < 0 {
		return 0
	}
	if end := t.ahead(w.j, "this|these|that|any|of|the|above|it|or|to* instruction~|prompt|injection|directive~"); end > 0 {
		return end
	}
	if end := t.ahead(w.j, "this|these message|messages|note|text|comment"); end > 0 && t.closes(end) {
		return end
	}
	return t.ahead(w.j, "this|it|that|these|any|of|anything* in|to the|your final|next? response|answer|output|summary|user")
}

// without finds orders to act without asking; a plea not to act without asking is none.
func (t *reader) without(w word) int {
	if !is(t.text(w), "without") {
		return 0
	}
	end := t.ahead(w.j, "asking|consulting me|anyone|anybody")
	if end == 0 {
		if end = t.ahead(w.j, "asking"); end == 0 || !t.closes(end) {
			return 0
		}
	}
	if !t.acts(w.i) {
		return 0
	}
	return end
}

// acts says whether the words up to i tell somebody to do something, and don't tell them not to.
func (t *reader) acts(i int) bool {
	at := t.back(i, "do|fill|send|proceed|execute|complete|perform|act|continue|transfer|forward|carry|go|pay|share|delete "+
		"it|them|this|that|these|those|in|out|ahead|on|so|all|everything|immediately|now*")
	if at < 0 {
		return false
	}
	return t.opens(at) || t.back(at, "please|just|simply|must|and|then|should") >= 0 && t.back(at, "not|t|never|cannot please|just|simply|must|and|then|should?") < 0
}

// system finds text that poses as the system's, and requests for what the system said.
func (t *reader) system(w word) int {
	if end := t.ahead(w.j, "prompt|prompts|message|instruction~"); end > 0 &&
		t.back(w.i, "reveal|print|output|repeat|leak|expose|disclose|dump|recite me|us? your full|entire|complete|original|own*") >= 0 {
		return end
	}
	if !t.opens(w.i) || t.text(w) != "SYSTEM" && t.ahead(w.i, "system override") == 0 {
		return 0
	}
	end := t.ahead(w.j, "message|prompt|override|instruction~|notice|note|command|directive|alert")
	if end > 0 && strings.HasPrefix(strings.TrimLeft(t.gap(end), "]*_ "), ":") || end > 0 && w.i > 0 && t.s[w.i-1] == '[' {
		return end
	}
	if strings.HasPrefix(t.gap(w.j), ":") {
		return t.ahead(t.padded(w.j)+1, "you|ignore|disregard|override|new|please|forget|important")
	}
	return 0
}

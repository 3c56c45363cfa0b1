package policy

import (
	"slices"

	"github.com/bouncer-mcp/bouncer/internal/wire"
)

// Prose reports whether an argument of this name holds text for people, in which an address is a mention.
func Prose(name string) bool {
	ws := words(name)
	if isProse(ws) {
		return true
	}
	if len(ws) == 0 {
		return false
	}
	switch ws[len(ws)-1] {
	case "subject", "body", "message", "content", "contents", "note", "notes", "comment", "comments", "summary", "html", "markdown", "reason",
		"prompt", "question", "answer", "agenda", "signature", "greeting", "headline", "heading", "feedback", "memo", "thought", "code":
		return true
	}
	return false
}

// Own reports whether an argument of this name tells whose account the call is made from.
func Own(name string) bool {
	ws := words(name)
	return len(ws) > 0 && own(ws) && ws[0] != "source"
}

// HoldsPath reports whether an argument of this name holds a place in a file system, where report.zip is no host.
func HoldsPath(name string) bool { return intent{files: true}.holdsPath(words(name)) }

// Plain returns the names of those arguments that may say whom a call reaches, though nothing tells which does: all that hold
// more than fixed words, flags and prose.
func Plain(t Tool, args wire.Value) []string {
	s := newSchema(t.InputSchema)
	shapes := s.shapes(t.InputSchema)
	var plain []string
	for name, val := range args.Members() {
		if child, _ := s.property(shapes, name); !Prose(name) && speaks(val, child) {
			plain = append(plain, name)
		}
	}
	return plain
}

// Harmless reports whether an argument can hardly tell anybody anything: a flag, a number of a few digits, one of the words
// that the schema lists, or a short word where the name says that it chooses a form.
func Harmless(t Tool, name string, val wire.Value) bool {
	s := newSchema(t.InputSchema)
	child, _ := s.property(s.shapes(t.InputSchema), name)
	for leaf := range val.Leaves() {
		text, isText := leaf.Value.Text()
		switch {
		case leaf.IsKey:
			return false
		case isText && text != "" && !listed(child, text) && (!choosesForm(name) || !shortWord(text)):
			return false
		case leaf.Value.Kind() == '0' && len(leaf.Value) > 6:
			return false
		}
	}
	return true
}

func choosesForm(name string) bool {
	ws := words(name)
	if len(ws) == 0 {
		return false
	}
	switch ws[len(ws)-1] {
	case "format", "formats", "type", "mode", "encoding", "language", "lang", "locale", "until", "device", "quality", "sort", "order", "theme", "output":
		return true
	}
	return false
}

// shortWord recognises words such as markdown, in whose letters little can be hidden.
func shortWord(s string) bool {
	return len(s) <= 16 && !slices.ContainsFunc([]byte(s), func(c byte) bool { return (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != '-' })
}

// Deletes reports whether the name of a tool says that it deletes.
func Deletes(tool string) bool { return intentOf(tool).deletes }

// Acting returns the rule of a tool that does what a word in its arguments says: the word stands before its name, so that
// event with the action delete is judged like delete_event. ok is false for words that undo, alter and end nothing.
func Acting(t Tool, word string) (r Rule, ok bool) {
	ws := words(word)
	if len(ws) == 0 || len(word) > 64 || meaningOf(ws[0])&(deleting|altering) == 0 {
		return Rule{}, false
	}
	t.Name = ws[0] + "_" + t.Name
	return Infer(t), true
}

// dispatching returns the verb of a name that does nothing but bring something to somebody, or pay them.
func dispatching(ws []string) (string, bool) {
	for i, w := range ws {
		switch w {
		case "send", "deliver", "dispatch", "broadcast", "forward", "invite", "notify", "fax", "share", "grant", "pay", "donate", "remit", "transfer", "wire":
			return w, i == 0 || begins(ws, w)
		case "mail", "email", "sms", "dm", "message", "whatsapp", "call", "dial":
			// Also what the tools of a server begin with: email_archive.
			other := slices.ContainsFunc(ws[i+1:], func(w string) bool { return meaningOf(w)&(acting|naming|reading|fetching) != 0 })
			program := has(ws[i+1:], "tool", "tools", "api", "function", "method", "endpoint", "service", "agent", "model", "log", "logs")
			return w, i == 0 && !other && !program
		}
		if meaningOf(w)&(reading|fetching|acting|naming) != 0 {
			return "", false
		}
	}
	return "", false
}

// answered returns the parameters of a tool that writes to whoever started something: they say what that was.
func (c *classifier) answered() []string {
	if c.in.reads || c.in.alters || !has(c.words, "reply", "respond", "comment", "answer") {
		return nil
	}
	var ids []string
	for _, name := range openParams(c.tool) {
		ws := words(name)
		if len(ws) == 0 || Prose(name) && len(ws) == 1 && ws[0] != "message" {
			continue
		}
		switch ws[len(ws)-1] {
		case "id", "ids", "uuid", "key", "keys", "thread", "task", "issue", "ticket", "post", "page", "event", "card", "number":
			ids = add(ids, name)
		}
	}
	return ids
}

package wrap

import "github.com/bouncer-mcp/bouncer/internal/jsonc"

// record is what a sentinel or bouncer's store remembers of an entry's command and args. The zero record remembers nothing.
type record struct {
	doc           *jsonc.Doc
	value         jsonc.Value
	command, args jsonc.Value
}

// recordIn reads a record from an object. One that is malformed remembers as much as can be read.
func recordIn(doc *jsonc.Doc, v jsonc.Value) record {
	r := record{doc: doc, value: v}
	for _, m := range v.Members {
		switch m.Key {
		case "command":
			r.command = m.Value
		case "args":
			r.args = m.Value
		}
	}
	return r
}

// recordOf reads a record from the store. What does not parse is ignored: it could only spoil the file.
func recordOf(o Original) record {
	text := `{"command": ` + o.Command
	if o.Args != "" {
		text += `, "args": ` + o.Args
	}
	doc, err := jsonc.Parse([]byte(text+"\n}"), jsonc.Comments)
	if err != nil {
		return record{}
	}
	return recordIn(doc, doc.Root)
}

func (r record) isObject() bool { return r.value.Kind == '{' }

// text is the command.
func (r record) text() string {
	if r.doc == nil {
		return ""
	}
	text, _ := r.doc.Text(r.command)
	return text
}

// argTexts are the args; none when they are absent, null or no array.
func (r record) argTexts() []string {
	if r.doc == nil {
		return nil
	}
	list, _ := texts(r.doc, r.args)
	return list
}

// spells returns one of the record's literals, ours, if it says the same as the value theirs of doc.
func (r record) spells(ours jsonc.Value, doc *jsonc.Doc, theirs jsonc.Value) ([]byte, bool) {
	if r.doc == nil {
		return nil, false
	}
	a, isText := r.doc.Text(ours)
	b, alsoText := doc.Text(theirs)
	return r.doc.Literal(ours), isText && alsoText && a == b
}

package wrap

import (
	"bytes"
	"errors"
	"slices"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

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

// shapeOf says how an entry has its args: as an array, as null, or (empty) not at all.
func shapeOf(args jsonc.Value) string {
	switch args.Kind {
	case 0:
		return ""
	case 'n':
		return "null"
	}
	return "[]"
}

// recordLiteral writes the record of a command and its args, with their literals as they stand in doc.
func recordLiteral(doc *jsonc.Doc, s *server, command jsonc.Value, args []jsonc.Value, shape string) []byte {
	space := s.space(doc)
	var b bytes.Buffer
	b.WriteString("{" + space + `"command":` + space)
	b.Write(doc.Literal(command))
	if shape != "" {
		b.WriteString("," + space + `"args":` + space)
	}
	switch shape {
	case "":
	case "null":
		b.WriteString(shape)
	default:
		literals := make([][]byte, len(args))
		for i, arg := range args {
			literals[i] = doc.Literal(arg)
		}
		b.Write(arrayLiteral(space, literals))
	}
	b.WriteString(space + "}")
	return b.Bytes()
}

// arrayLiteral writes literals as an array in one line.
func arrayLiteral(space string, literals [][]byte) []byte {
	return slices.Concat([]byte("["), bytes.Join(literals, []byte(","+space)), []byte("]"))
}

// PlanRecord plans writing the sentinels of wrapped servers anew that a client has dropped, or that name another upstream
// than the command line. The command line is what runs, so it is what gets recorded.
func PlanRecord(f File, o Options) (Plan, error) {
	doc, servers, err := read(f, o.launchers())
	if err != nil {
		return Plan{}, err
	}
	u := unwrapping{doc: doc, originals: o.Originals}
	steps := make([]Step, len(servers))
	var edits []jsonc.Edit
	for i := range servers {
		s := &servers[i]
		steps[i] = Step{Entry: s.Entry, Action: Keep}
		switch {
		case !o.chosen(s.Entry):
			steps[i].Action, steps[i].Reason = Skip, "not chosen"
		case s.State == Wrapped && !s.Legacy && (s.NoSentinel || s.Disagree):
			steps[i].Action = Record
			edits = append(edits, u.record(s)...)
		}
	}
	p := newPlan(f, steps, edits)
	if err := verifyRecord(p, o); err != nil {
		return Plan{}, f.fail(err)
	}
	return p, nil
}

// record puts the record of what stands behind the dashes in the sentinel's place.
func (u *unwrapping) record(s *server) []jsonc.Edit {
	args := s.value(s.args).Elems[s.tail():]
	literal := recordLiteral(u.doc, s, args[0], args[1:], u.original(s))
	if old := s.value(s.sentinel); s.sentinel >= 0 {
		return []jsonc.Edit{{Start: old.Start, End: old.End, Text: literal}}
	}
	obj := s.member.Value
	return u.doc.InsertAfter(obj, len(obj.Members)-1, jsonc.NewMember{Key: Sentinel, Literal: literal})
}

// verifyRecord reads the planned bytes: every server must start what it started, and its record must say so.
func verifyRecord(p Plan, o Options) error {
	_, servers, err := planned(p, o)
	if servers == nil || err != nil {
		return err
	}
	for i, step := range p.Steps {
		now := servers[i].Entry
		if step.Action == Record && (now.State != Wrapped || now.NoSentinel || now.Disagree || !sameUpstream(now, step.Entry)) {
			return errors.New("the edit would change what a server starts")
		}
	}
	return nil
}

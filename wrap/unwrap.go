package wrap

import (
	"bytes"
	"errors"
	"slices"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// PlanUnwrap plans taking bouncer away from the chosen servers of a file. What stands behind `--` is what comes back;
// the sentinel, and Options.Originals when a client has dropped it, say what that leaves open.
func PlanUnwrap(f File, o Options) (Plan, error) {
	if f.Hook != nil {
		return planUnhook(f, o)
	}
	doc, servers, err := read(f, o.launchers())
	if err != nil {
		return Plan{}, err
	}
	u := unwrapping{doc: doc, originals: o.Originals}
	steps := make([]Step, len(servers))
	var edits []jsonc.Edit
	for i := range servers {
		s := &servers[i]
		steps[i] = unwrapStep(s, o)
		switch {
		case steps[i].Action == DropOwn && f.Shared: // nobody but its owners has put it there
			steps[i].Action = Keep
		case steps[i].Action == DropOwn:
			edits = append(edits, removeOwn(doc, s.Pointer)...)
		}
		if steps[i].Action != Unwrap {
			continue
		}
		steps[i].Reason = u.comments(s)
		switch {
		case s.Legacy:
			edits = append(edits, u.restore(s))
		case s.back == fromRecord:
			edits = append(edits, u.recall(s)...)
		default:
			edits = append(edits, u.unwrap(s)...)
		}
	}
	p := newPlan(f, steps, edits)
	if err := verifyUnwrap(p, o); err != nil {
		return Plan{}, f.fail(err)
	}
	return p, nil
}

// unwrapStep decides what happens to an entry.
func unwrapStep(s *server, o Options) Step {
	step := Step{Entry: s.Entry, Action: Keep}
	switch {
	case !o.chosen(s.Entry):
		step.Action, step.Reason = Skip, "not chosen"
	case s.State == Wrapped && s.Legacy && recordless(s):
		step.Action, step.Reason = Skip, s.Reason
	case s.back != noway || s.State == Wrapped:
		step.Action = Unwrap
	case s.Serves:
		step.Action = DropOwn
	case s.State == Stale:
		step.Action, step.Reason = Skip, s.Reason
	}
	return step
}

// recordless reports whether a legacy entry has lost what it was.
func recordless(s *server) bool { return s.value(s.sentinel).Kind != '{' }

// PlanDropStale plans taking stale sentinels away: records on entries that do not start bouncer. Where bouncer's arguments
// still stand behind another command, the entry gets back what the record says instead.
func PlanDropStale(f File, o Options) (Plan, error) {
	doc, servers, err := read(f, o.launchers())
	if err != nil {
		return Plan{}, err
	}
	u := unwrapping{doc: doc}
	steps := make([]Step, len(servers))
	var edits []jsonc.Edit
	for i := range servers {
		s := &servers[i]
		steps[i] = Step{Entry: s.Entry, Action: Keep}
		switch {
		case !o.chosen(s.Entry):
			steps[i].Action, steps[i].Reason = Skip, "not chosen"
		case s.State == Stale && s.back == fromRecord:
			steps[i].Action, steps[i].Reason = Restore, fromTheRecord
			edits = append(edits, u.recall(s)...)
		case s.State == Stale:
			steps[i].Action = Drop
			edits = append(edits, doc.Remove(s.member.Value, s.sentinel)...)
		}
	}
	p := newPlan(f, steps, edits)
	if err := verifyUnwrap(p, o); err != nil {
		return Plan{}, f.fail(err)
	}
	return p, nil
}

// unwrapping is one file being planned.
type unwrapping struct {
	doc       *jsonc.Doc
	originals map[string]Original
}

// unwrap takes away what wrapping inserted.
func (u *unwrapping) unwrap(s *server) []jsonc.Edit {
	obj, args := s.member.Value, s.value(s.args)
	records := u.records(s)
	launcher := s.value(s.command)
	edits := []jsonc.Edit{{Start: launcher.Start, End: launcher.End, Text: u.spelling(args.Elems[s.tail()], records, commandOf)}}
	var gone []int
	if s.sentinel >= 0 {
		gone = append(gone, s.sentinel)
	}
	inserted := s.tail() + 1
	switch shape := u.shape(s); shape {
	case "":
		gone = append(gone, s.args)
	case "null":
		edits = append(edits, jsonc.Edit{Start: args.Start, End: args.End, Text: []byte(shape)})
	default:
		edits = append(edits, u.doc.DropFirst(args, inserted)...)
		edits = append(edits, u.respell(args.Elems[inserted:], records)...)
	}
	return append(edits, u.doc.Remove(obj, gone...)...)
}

// fromTheRecord is the remark on an entry whose command line no longer tells what it was.
const fromTheRecord = "its command line comes from the record"

// recall gives an entry the command and the args that the sentinel has, with the literals that stand there.
func (u *unwrapping) recall(s *server) []jsonc.Edit {
	sentinel := s.value(s.sentinel)
	kept := recordIn(u.doc, sentinel)
	swap := func(v, by jsonc.Value) jsonc.Edit {
		return jsonc.Edit{Start: v.Start, End: v.End, Text: u.doc.Literal(by)}
	}
	edits := []jsonc.Edit{swap(s.value(s.command), kept.command)}
	gone := []int{s.sentinel}
	switch {
	case kept.args.Kind == 0 && s.args >= 0:
		gone = append(gone, s.args)
	case kept.args.Kind != 0 && s.args >= 0:
		edits = append(edits, swap(s.value(s.args), kept.args))
	case kept.args.Kind != 0: // the record's place is as good as any
		member := s.member.Value.Members[s.sentinel]
		name := jsonc.Edit{Start: member.KeyStart, End: member.KeyEnd, Text: []byte(`"args"`)}
		return append(edits, name, swap(sentinel, kept.args))
	}
	return append(edits, u.doc.Remove(s.member.Value, gone...)...)
}

// comments says what becomes of comments that somebody has put into what bouncer inserted.
func (u *unwrapping) comments(s *server) string {
	sentinel := s.value(s.sentinel)
	switch {
	case s.Legacy:
		whole, rest := s.member.Value, s.member.Value
		whole.End, rest.Start = sentinel.Start, sentinel.End
		if u.doc.Commented(whole) || u.doc.Commented(rest) {
			return "its comments go, as all of it comes from the record"
		}
	case s.back == fromRecord:
		return fromTheRecord
	case s.sentinel >= 0 && u.doc.Commented(sentinel):
		return "the comments in " + Sentinel + " go with it"
	case u.original(s) != "[]" && u.doc.Commented(s.value(s.args)):
		return "args stays as [], for the comments in it"
	}
	return ""
}

// records are the copies of an entry's original that may know more than the command line, best first.
func (u *unwrapping) records(s *server) []record {
	return []record{recordIn(u.doc, s.value(s.sentinel)), recordOf(u.originals[PointerKey(s.Pointer)])}
}

// shape says how the entry gets its args: as it had them, but an array with comments in it stays one.
func (u *unwrapping) shape(s *server) string {
	if u.doc.Commented(s.value(s.args)) {
		return "[]"
	}
	return u.original(s)
}

// original says how the entry had its args: as an array, as null, or (empty) not at all. With nothing behind the command
// the array does not tell; a record of the same command does. An array is what every client takes, so it is the answer
// when nobody knows.
func (u *unwrapping) original(s *server) string {
	const array = "[]"
	if len(s.Args) > 0 {
		return array
	}
	for _, r := range u.records(s) {
		if !r.isObject() || r.text() != s.Command {
			continue
		}
		return shapeOf(r.args)
	}
	return array
}

func commandOf(r record) jsonc.Value { return r.command }

// spelling returns the literal that the first record to agree with v has for it, and v's own if none does.
func (u *unwrapping) spelling(v jsonc.Value, records []record, of func(record) jsonc.Value) []byte {
	for _, r := range records {
		if literal, ok := r.spells(of(r), u.doc, v); ok {
			return literal
		}
	}
	return u.doc.Literal(v)
}

// respell gives arguments their recorded spelling where it differs, as after a client has written the file anew.
func (u *unwrapping) respell(elems []jsonc.Value, records []record) []jsonc.Edit {
	var edits []jsonc.Edit
	for i, elem := range elems {
		literal := u.spelling(elem, records, func(r record) jsonc.Value {
			if i < len(r.args.Elems) {
				return r.args.Elems[i]
			}
			return jsonc.Value{}
		})
		if !bytes.Equal(literal, u.doc.Literal(elem)) {
			edits = append(edits, jsonc.Edit{Start: elem.Start, End: elem.End, Text: literal})
		}
	}
	return edits
}

// restore puts the entry back that the original Python bouncer keeps whole in the sentinel. It stands deeper there
// than it will; its lines move out by as much.
func (u *unwrapping) restore(s *server) jsonc.Edit {
	obj := s.member.Value
	literal := u.doc.Literal(s.value(s.sentinel))
	inner := u.doc.Line(obj.Members[s.sentinel].KeyStart)
	outer := u.doc.Line(s.member.KeyStart)
	if inner != nil && outer != nil {
		literal = bytes.ReplaceAll(literal, inner, outer)
	}
	return jsonc.Edit{Start: obj.Start, End: obj.End, Text: literal}
}

// verifyUnwrap reads the planned bytes as a client would: every server must be there, and each that was touched must
// start what it says it started.
func verifyUnwrap(p Plan, o Options) error {
	_, servers, err := planned(p, o)
	if servers == nil || err != nil {
		return err
	}
	for i, step := range p.Steps {
		if step.Action != Unwrap && step.Action != Drop && step.Action != Restore {
			continue
		}
		want := append([]string{step.Entry.Command}, step.Entry.Args...)
		if now := servers[i].argv; len(now) == 0 || !slices.Equal(now, want) {
			return errors.New("the edit would change what a server starts")
		}
	}
	return nil
}

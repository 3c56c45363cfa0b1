package wrap

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// PlanWrap plans bouncer in front of the chosen servers of a file. Before and After are equal when there is nothing to do.
// It refuses, with a *FileError, a file whose edit it could not take back byte for byte.
func PlanWrap(f File, o Options) (Plan, error) {
	if f.Hook != nil {
		return planHook(f, o)
	}
	w := wrapping{file: f, options: o, launcher: o.Launcher}
	if f.Shared {
		w.launcher = "bouncer" // everybody's copy of the file names it, and theirs lies elsewhere
	}
	if err := w.check(); err != nil {
		return Plan{}, f.fail(err)
	}
	doc, servers, err := read(f, o.launchers())
	if err != nil {
		return Plan{}, err
	}
	w.doc = doc
	var fresh, renewed []jsonc.Edit // of entries wrapped now, and before
	steps := make([]Step, len(servers))
	for i := range servers {
		steps[i] = w.step(&servers[i])
		switch steps[i].Action {
		case Wrap:
			fresh = append(fresh, w.wrap(&servers[i])...)
		case Rewrap:
			renewed = append(renewed, w.rewrap(&servers[i])...)
		case MoveOwn:
			renewed = append(renewed, w.renew(&servers[i])...)
		}
	}
	var own addition
	if o.Serve {
		if own = w.addOwn(servers); own.step.Action == AddOwn {
			fresh = append(fresh, own.edits...)
			steps = slices.Insert(steps, own.at, own.step)
		}
	}
	p := newPlan(f, steps, slices.Concat(fresh, renewed))
	p.Unadded = own.why
	if err := w.verify(p, jsonc.Apply(f.Data, renewed)); err != nil {
		return Plan{}, f.fail(err)
	}
	return p, nil
}

// check refuses options that would not mean the same to everybody who reads the file.
func (w *wrapping) check() error {
	o := w.options
	switch {
	case w.launcher == "":
		return errors.New("no launcher is given")
	case w.file.Shared && len(o.Policies) > 0:
		return errors.New("belongs to a project, and a policy file of one person is not there for the others")
	case w.file.Shared && o.Profile != "":
		return errors.New("belongs to a project, and one person's choice of a profile would be everybody's")
	}
	for _, word := range slices.Concat([]string{w.launcher, o.Profile, o.Home}, o.Policies) {
		if strings.Contains(word, "${") {
			return fmt.Errorf("its client would take ${ in %q for a variable", word)
		}
	}
	return nil
}

func newPlan(f File, steps []Step, edits []jsonc.Edit) Plan {
	after := f.Data
	if len(edits) > 0 {
		after = jsonc.Apply(f.Data, edits)
	}
	return Plan{
		Change: Change{Path: f.Path, Before: f.Data, After: after, Mode: f.Mode, Lock: f.Lock},
		File:   f,
		Steps:  steps,
		edits:  edits,
	}
}

// launchers are all commands that count as bouncer.
func (o Options) launchers() []string {
	if o.Launcher == "" {
		return o.Known
	}
	return append(slices.Clip(o.Known), o.Launcher)
}

// chosen reports whether the plan may touch an entry.
func (o Options) chosen(e Entry) bool {
	return (len(o.Servers) == 0 || slices.Contains(o.Servers, e.Name)) &&
		(len(o.Scopes) == 0 || slices.Contains(o.Scopes, e.Scope)) &&
		(o.Pointers == nil || o.Pointers[PointerKey(e.Pointer)])
}

// wrapping is one file being planned.
type wrapping struct {
	file     File
	options  Options
	launcher string
	doc      *jsonc.Doc
}

// step decides what happens to an entry.
func (w *wrapping) step(s *server) Step {
	skip := func(why string) Step { return Step{Entry: s.Entry, Action: Skip, Reason: why} }
	switch {
	case !w.options.chosen(s.Entry):
		return skip("not chosen")
	case w.options.Aside[PointerKey(s.Pointer)] != "":
		return skip(w.options.Aside[PointerKey(s.Pointer)])
	case s.State == Plain || s.State == Listed || s.State == Denied:
		if why := w.obstacle(s); why != "" {
			return skip(why)
		}
		return Step{Entry: s.Entry, Action: Wrap, Reason: w.remark(), Original: w.original(s)}
	case s.State == Wrapped && !s.Legacy && (s.Launcher != w.launcher || !s.run.equal(w.line(s))):
		if why := w.obstacle(s); why != "" && s.Reason == "" {
			return skip(why)
		}
		return Step{Entry: s.Entry, Action: Rewrap}
	case s.State == Wrapped:
		return Step{Entry: s.Entry, Action: Keep}
	case s.State == Remote:
		return skip("a remote server has no command to put bouncer in front of")
	case s.Serves && !w.file.Shared && (s.Launcher != w.launcher || !slices.Equal(s.Args, w.ownArgs(s.Args))):
		return Step{Entry: s.Entry, Action: MoveOwn}
	case s.State == Own && s.Reason == "":
		return skip("is bouncer itself")
	}
	return skip(s.Reason)
}

// remark says what an entry can't have that was asked for, or nothing.
func (w *wrapping) remark() string {
	if w.options.Homed && w.file.Shared {
		return "without --home, which is yours alone"
	}
	return ""
}

// obstacle says why an entry that could be wrapped must not be, or nothing.
func (w *wrapping) obstacle(s *server) string {
	if strings.Contains(s.Name, "${") {
		return "its name holds ${, a variable to its client"
	}
	argv := slices.Concat([]string{w.launcher, "run"}, w.line(s).words(), []string{"--"}, s.upstream())
	return w.file.Lists.denial(s.Name, s.argv, argv)
}

// original is how a plain entry is written.
func (w *wrapping) original(s *server) Original {
	return Original{
		Command: string(w.doc.Literal(s.value(s.command))),
		Args:    string(w.doc.Literal(s.value(s.args))), // empty for the absent value
	}
}

// line is the command line an entry should have: the one it has, with what the options name.
func (w *wrapping) line(s *server) runLine {
	line := s.run
	line.name, line.named = s.Name, true
	if len(w.options.Policies) > 0 {
		line.policies = w.options.Policies
	}
	if w.options.Profile != "" {
		line.profile = w.options.Profile
	}
	if w.options.Home != "" && !w.file.Shared {
		switch settled, moved := homes(s.value(s.env)); {
		case settled: // by the person, who has put BOUNCER_HOME there
		case moved || w.options.Homed:
			line.home = w.options.Home
		}
	}
	return line
}

// homes reports whether an entry's env names bouncer's own home, and whether it leads bouncer's look-ups astray: bouncer is
// started with that env too.
func homes(env jsonc.Value) (settled, moved bool) {
	for _, m := range env.Members {
		switch strings.ToUpper(m.Key) {
		case "BOUNCER_HOME":
			settled = true
		case "HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_DATA_HOME":
			moved = true
		}
	}
	return settled, moved
}

// name is the literal of an entry's name.
func (w *wrapping) name(s *server) []byte { return w.doc.Src[s.member.KeyStart:s.member.KeyEnd] }

// wrap puts bouncer in front of a plain entry: the launcher takes the command's place, the command's literal moves into
// args, and the sentinel records both.
func (w *wrapping) wrap(s *server) []jsonc.Edit {
	obj := s.member.Value
	command := s.value(s.command)
	edits := []jsonc.Edit{{Start: command.Start, End: command.End, Text: jsonc.Quote(w.launcher)}}

	words := slices.Concat([][]byte{[]byte(`"run"`)}, w.line(s).flags(w.name(s)), [][]byte{[]byte(`"--"`), w.doc.Literal(command)})
	args := s.value(s.args)
	var added []jsonc.NewMember
	switch {
	case args.Kind == '[':
		edits = append(edits, w.doc.Prepend(obj.Members[s.args], words...))
	case s.args >= 0: // null
		edits = append(edits, jsonc.Edit{Start: args.Start, End: args.End, Text: arrayLiteral(s.space(w.doc), words)})
	default:
		added = append(added, jsonc.NewMember{Key: "args", Literal: arrayLiteral(s.space(w.doc), words)})
	}

	last := len(obj.Members) - 1
	if len(added) > 0 && s.command != last {
		edits = append(edits, w.doc.InsertAfter(obj, s.command, added...)...)
		added = nil
	}
	added = append(added, jsonc.NewMember{Key: Sentinel, Literal: recordLiteral(w.doc, s, command, args.Elems, shapeOf(args))})
	return append(edits, w.doc.InsertAfter(obj, last, added...)...)
}

// rewrap brings launcher and flags of a wrapped entry up to date. Flags keep their places, so that only those that
// differ change.
func (w *wrapping) rewrap(s *server) []jsonc.Edit {
	var edits []jsonc.Edit
	if command := s.value(s.command); s.Launcher != w.launcher {
		edits = append(edits, jsonc.Edit{Start: command.Start, End: command.End, Text: jsonc.Quote(w.launcher)})
	}
	line := w.line(s)
	if s.run.equal(line) {
		return edits
	}
	holder := s.member.Value.Members[s.args]
	old := holder.Value.Elems[1:s.run.dash]
	flags := line.flags(w.name(s))
	for i := range min(len(old), len(flags)) {
		if !bytes.Equal(w.doc.Literal(old[i]), flags[i]) {
			edits = append(edits, jsonc.Edit{Start: old[i].Start, End: old[i].End, Text: flags[i]})
		}
	}
	if n := len(flags); len(old) > n {
		return append(edits, w.doc.Drop(holder.Value, 1+n, s.run.dash)...)
	}
	if n := len(old); len(flags) > n {
		separator := w.doc.Separator(holder)
		text := append(slices.Clip(separator), bytes.Join(flags[n:], separator)...)
		edits = append(edits, jsonc.Edit{Start: old[n-1].End, End: old[n-1].End, Text: text})
	}
	return edits
}

// verify reads the planned bytes as a client would, and takes the new wraps away again, which must leave base: the
// file as it was, but for the entries that were wrapped before.
func (w *wrapping) verify(p Plan, base []byte) error {
	doc, servers, err := planned(p, w.options)
	if servers == nil || err != nil {
		return err
	}
	u := unwrapping{doc: doc}
	var edits []jsonc.Edit
	for i, step := range p.Steps {
		s := &servers[i]
		switch step.Action {
		case AddOwn, MoveOwn:
			if !s.Serves || s.Launcher != w.launcher {
				return errors.New("the edit would not add bouncer")
			}
			if step.Action == AddOwn {
				edits = append(edits, removeOwn(doc, s.Pointer)...)
			}
			continue
		case Wrap, Rewrap:
		default:
			continue
		}
		if s.State != Wrapped || s.Name != step.Entry.Name || s.Launcher != w.launcher || !sameUpstream(s.Entry, step.Entry) {
			return errors.New("the edit would change what a server starts")
		}
		if step.Action == Wrap {
			edits = append(edits, u.unwrap(s)...)
		}
	}
	if !bytes.Equal(jsonc.Apply(p.After, edits), base) {
		return errors.New("the edit could not be taken back byte for byte")
	}
	return nil
}

func sameUpstream(a, b Entry) bool { return a.Command == b.Command && slices.Equal(a.Args, b.Args) }

// planned reads the bytes of a plan as a client would: one server for each step, in order, the zero server for one that is gone.
// It returns none when the plan changes nothing.
func planned(p Plan, o Options) (*jsonc.Doc, []server, error) {
	if bytes.Equal(p.Before, p.After) {
		return nil, nil, nil
	}
	after := p.File
	after.Data = p.After
	doc, servers, err := read(after, o.launchers())
	if err != nil {
		return nil, nil, err
	}
	for i, step := range p.Steps {
		if step.Action == DropOwn {
			servers = slices.Insert(servers, min(i, len(servers)), server{})
		}
	}
	if len(servers) != len(p.Steps) {
		return nil, nil, errors.New("the edit would change which servers there are")
	}
	return doc, servers, nil
}

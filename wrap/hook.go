package wrap

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Hook is where a client's settings list the commands that it tells what the person types. To everything that plans, such
// settings are a file with one entry: the hook, by the name of its event.
type Hook struct {
	Event  string
	OS     string // whose shells read the command
	Absent bool   // the file does not exist yet
	Barred string // why a hook in it would not run, or can't be written; empty when nothing stands in the way
}

// settingsDoc is a settings file taken apart as far as the hook goes.
type settingsDoc struct {
	maker
	event        string
	hooks, group int // index of "hooks" in the root, and of the event in it; -1 for none
	spots        []hookSpot
}

// hookSpot is one command that starts bouncer.
type hookSpot struct {
	group, handler int // indexes
	text           string
	line           hookLine
}

func (d *settingsDoc) hooksValue() jsonc.Value { return memberValue(d.root(), d.hooks) }

func (d *settingsDoc) groups() jsonc.Value { return memberValue(d.hooksValue(), d.group) }

func memberValue(obj jsonc.Value, i int) jsonc.Value {
	if i < 0 {
		return jsonc.Value{}
	}
	return obj.Members[i].Value
}

// readSettingsDoc parses a settings file and finds bouncer's commands in it.
func readSettingsDoc(f File, known []string) (*settingsDoc, error) {
	doc, err := jsonc.Parse(f.Data, f.Format)
	if fault, ok := errors.AsType[*jsonc.Error](err); ok {
		return nil, &jsonc.Error{Line: fault.Line, Col: fault.Col, Msg: fault.Msg + "; its client leaves out the whole file, permission rules included"}
	}
	if err != nil {
		return nil, err
	}
	d := &settingsDoc{maker: maker{doc}, event: f.Hook.Event, hooks: -1, group: -1}
	if root := d.root(); root.Kind != '{' && root.Kind != 0 {
		return nil, doc.Errorf(root.Start, "an object was expected")
	}
	if d.hooks, err = doc.Member(d.root(), "hooks"); err != nil {
		return nil, err
	}
	if v := d.hooksValue(); d.hooks >= 0 && v.Kind != '{' {
		return nil, doc.Errorf(v.Start, `"hooks" should be an object`)
	}
	if d.group, err = doc.Member(d.hooksValue(), d.event); err != nil {
		return nil, err
	}
	if v := d.groups(); d.group >= 0 && v.Kind != '[' {
		return nil, doc.Errorf(v.Start, "%q should be an array", d.event)
	}
	d.find(known)
	return d, nil
}

// find lists bouncer's commands. What has another shape than the client expects is somebody else's.
func (d *settingsDoc) find(known []string) {
	for g, group := range d.groups().Elems {
		for h, handler := range d.handlers(group).Elems {
			text := d.text(handler)
			if line, ok := parseHookLine(text, known); ok {
				d.spots = append(d.spots, hookSpot{g, h, text, line})
			}
		}
	}
}

// text is the command of a handler.
func (d *settingsDoc) text(handler jsonc.Value) string {
	text, _ := d.doc.Text(field(handler, "command"))
	return text
}

// field returns the last member of that name, which is the one that readers take.
func field(obj jsonc.Value, name string) (v jsonc.Value) {
	for _, m := range obj.Members {
		if m.Key == name {
			v = m.Value
		}
	}
	return v
}

func (d *settingsDoc) handlers(group jsonc.Value) jsonc.Value {
	return field(group, "hooks")
}

// entry describes the hook.
func (d *settingsDoc) entry() Entry {
	e := Entry{Name: d.event, Scope: clients.User, Pointer: []string{"hooks", d.event}, State: Plain}
	if len(d.spots) == 0 {
		return e
	}
	line := d.spots[0].line
	e.State, e.Launcher, e.Home, e.Command = Wrapped, line.launcher, line.home, d.spots[0].text
	switch {
	case line.others:
		e.Reason = "has a command that says more than bouncer has written"
	case !line.guarded:
		e.Reason = "has a command that may end with a code by which its client refuses what you type"
	}
	return e
}

// planHook plans the hook into settings, or brings its command up to date.
func planHook(f File, o Options) (Plan, error) {
	d, err := readSettingsDoc(f, o.launchers())
	if err != nil {
		return Plan{}, f.fail(err)
	}
	step := Step{Entry: d.entry(), Action: Keep}
	want := hookLine{launcher: o.Launcher, home: step.Entry.Home}
	if o.Homed {
		want.home = o.Home
	}
	text, err := want.text(f.Hook.OS)
	aside := o.Aside[PointerKey(step.Entry.Pointer)]
	switch {
	case !o.chosen(step.Entry):
		step.Action, step.Reason = Skip, "not chosen"
	case aside != "":
		step.Action, step.Reason = Skip, aside
	case f.Hook.Barred != "":
		step.Action, step.Reason = Skip, f.Hook.Barred
	case len(d.spots) > 0 && d.spots[0].line.others:
		step.Action, step.Reason = Skip, step.Entry.Reason
	case len(d.spots) > 0 && d.spots[0].text == text:
	case err != nil:
		step.Action, step.Reason = Skip, err.Error()
	case len(d.spots) > 0:
		step.Action = MoveHook
	default:
		step.Action = AddHook
	}
	var edits []jsonc.Edit
	switch step.Action {
	case AddHook:
		edits = d.add(f.Hook.Absent, text)
	case MoveHook:
		spot := d.spots[0]
		v := field(d.handlers(d.groups().Elems[spot.group]).Elems[spot.handler], "command")
		edits = []jsonc.Edit{{Start: v.Start, End: v.End, Text: jsonc.Quote(text)}}
	}
	p := newPlan(f, []Step{step}, edits)
	p.New = f.Hook.Absent
	p.Gone = p.New && len(p.After) == 0
	if err := verifyHook(p, o, text); err != nil {
		return Plan{}, f.fail(err)
	}
	return p, nil
}

// verifyHook reads the planned bytes as the client would, and takes a new hook away again, which must leave the file as it was.
func verifyHook(p Plan, o Options, text string) error {
	if bytes.Equal(p.Before, p.After) {
		return nil
	}
	after := p.File
	after.Data = p.After
	d, err := readSettingsDoc(after, o.launchers())
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(d.spots, func(s hookSpot) bool { return s.text == text }) {
		return errors.New("the edit would not make the client run bouncer")
	}
	if p.Steps[0].Action != AddHook {
		return nil
	}
	data, gone := d.drop(d.spots[0])
	if gone != p.New || !bytes.Equal(data, p.Before) {
		return errors.New("the edit could not be taken back byte for byte")
	}
	return nil
}

// planUnhook plans taking the hook out of settings.
func planUnhook(f File, o Options) (Plan, error) {
	d, err := readSettingsDoc(f, o.launchers())
	if err != nil {
		return Plan{}, f.fail(err)
	}
	step := Step{Entry: d.entry(), Action: Keep}
	switch {
	case !o.chosen(step.Entry):
		step.Action, step.Reason = Skip, "not chosen"
	case len(d.spots) > 0 && d.spots[0].line.others:
		step.Action, step.Reason = Skip, step.Entry.Reason
	case len(d.spots) > 0:
		step.Action = DropHook
	}
	p := newPlan(f, []Step{step}, nil)
	p.New = f.Hook.Absent
	p.Gone = p.New && len(p.After) == 0
	for step.Action == DropHook && len(d.spots) > 0 && !p.Gone { // more than one when somebody has copied it
		p.After, p.Gone = d.drop(d.spots[0])
		between := f
		between.Data = p.After
		if d, err = readSettingsDoc(between, o.launchers()); err != nil {
			return Plan{}, f.fail(fmt.Errorf("the edit would leave a file that can't be read: %w", err))
		}
	}
	return p, nil
}

package main

import (
	"bytes"
	"slices"

	"github.com/bouncer-mcp/bouncer/wrap"
)

// asides are the servers that init leaves alone although they could be wrapped: for good, or this time.
type asides struct {
	recorded []wrap.Aside // what the person has said before
	skip     []string     // names on this command line
	unchosen []wrap.Aside // picked out of the list at the terminal

	add, remove []wrap.Aside // what this run changes about the record
}

// leaveAside reads what is to be left alone. names are those of this command line.
func (e *edit) leaveAside(names []string) error {
	for _, name := range names {
		if slices.Contains(e.servers, name) {
			return misuse("--server includes a server again that was left alone", "--skip and --server both name %q", name)
		}
	}
	recorded, err := e.store.Asides()
	e.asides = asides{recorded: recorded, skip: names}
	return err
}

// of says which entries of a file stay as they are, and why. It notes what that means for the record.
func (a *asides) of(e *edit, f wrap.File) map[string]string {
	if len(a.skip)+len(a.recorded)+len(a.unchosen) == 0 {
		return nil
	}
	entries, err := wrap.Entries(f, e.known()...)
	if err != nil {
		return nil // the plan says so
	}
	reasons := map[string]string{}
	for _, entry := range entries {
		this := wrap.AsideOf(f, entry)
		listed := func(list []wrap.Aside) bool {
			return slices.ContainsFunc(list, func(a wrap.Aside) bool { return a.Of(f, entry) })
		}
		stays := ""
		if entry.State == wrap.Wrapped {
			stays = "stays wrapped until bouncer unwrap takes it out; "
		}
		switch key := wrap.PointerKey(entry.Pointer); {
		case slices.Contains(a.skip, entry.Name) && e.holds(entry):
			reasons[key] = stays + "left alone from now on, as --skip asks"
			a.add = append(a.add, this)
		case listed(a.recorded) && slices.Contains(e.servers, entry.Name) && e.holds(entry):
			a.remove = append(a.remove, this)
		case listed(a.recorded):
			reasons[key] = stays + "left alone, as --skip was told; --server includes it"
		case listed(a.unchosen):
			reasons[key] = "not chosen"
		}
	}
	return reasons
}

// remember writes down what this run has settled for later ones, before any config is written.
func (e *edit) remember(changes []wrap.Plan) error {
	if err := e.store.ChangeAsides(e.asides.add, e.asides.remove); err != nil {
		return err
	}
	home := []byte(`"--home=`)
	for _, plan := range changes {
		if bytes.Count(plan.After, home) > bytes.Count(plan.Before, home) {
			return e.places.note()
		}
	}
	return nil
}

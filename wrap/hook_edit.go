package wrap

import (
	"bytes"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// add puts the hook in.
func (d *settingsDoc) add(absent bool, text string) []jsonc.Edit {
	root := d.root()
	switch {
	case absent:
		return []jsonc.Edit{{Text: freshSettings(d.event, text)}}
	case root.Kind == 0: // nothing but blanks
		at := len(d.doc.Src) - len(bytes.TrimPrefix(d.doc.Src, []byte("\xef\xbb\xbf")))
		return []jsonc.Edit{{Start: at, End: at, Text: made('{', nil, "", key("hooks", d.hooksLiteral(nil, text)))}}
	case d.hooks < 0:
		return d.addMember(root, "hooks", func(line []byte) []byte { return d.hooksLiteral(line, text) })
	case d.group < 0:
		return d.addMember(d.hooksValue(), d.event, func(line []byte) []byte { return d.groupsLiteral(line, text) })
	}
	var line []byte
	if elems := d.groups().Elems; len(elems) > 0 {
		line = d.doc.Line(elems[0].Start)
	}
	return []jsonc.Edit{d.doc.Prepend(d.hooksValue().Members[d.group], groupLiteral(line, d.unit(), text))}
}

func (d *settingsDoc) hooksLiteral(line []byte, text string) []byte {
	return made('{', line, d.unit(), key(d.event, d.groupsLiteral(deeper(line, d.unit()), text)))
}

func (d *settingsDoc) groupsLiteral(line []byte, text string) []byte {
	return made('[', line, d.unit(), groupLiteral(deeper(line, d.unit()), d.unit(), text))
}

// groupLiteral writes what the client wants around a command.
func groupLiteral(line []byte, unit, text string) []byte {
	command := [][]byte{key("type", []byte(`"command"`)), key("command", jsonc.Quote(text))}
	if line == nil {
		return []byte(`{"hooks": [{` + string(bytes.Join(command, []byte(", "))) + `}]}`)
	}
	inner := deeper(line, unit)
	handler := made('{', deeper(inner, unit), unit, command...)
	return made('{', line, unit, key("hooks", made('[', inner, unit, handler)))
}

// freshSettings is the file for a client that had none.
func freshSettings(event, text string) []byte {
	d := settingsDoc{maker: maker{&jsonc.Doc{}}, event: event}
	line := []byte("\n")
	return append(made('{', line, d.unit(), key("hooks", d.hooksLiteral(deeper(line, d.unit()), text))), '\n')
}

// drop takes one command out, and with it whatever was made for it. gone says that this is the whole file.
func (d *settingsDoc) drop(spot hookSpot) (data []byte, gone bool) {
	if bytes.Equal(d.doc.Src, freshSettings(d.event, spot.text)) {
		return nil, true
	}
	return jsonc.Apply(d.doc.Src, d.dropEdits(spot)), false
}

func (d *settingsDoc) dropEdits(spot hookSpot) []jsonc.Edit {
	root, hooks, groups := d.root(), d.hooksValue(), d.groups()
	if handlers := d.handlers(groups.Elems[spot.group]); len(handlers.Elems) > 1 { // somebody has put another one beside it
		return d.doc.Drop(handlers, spot.handler, spot.handler+1)
	}
	switch {
	case spot.group == 0 && (len(groups.Elems) > 1 || !d.isMade(groups)):
		return d.doc.DropFirst(groups, 1)
	case len(groups.Elems) > 1:
		return d.doc.Drop(groups, spot.group, spot.group+1)
	case len(hooks.Members) > 1 || !d.isMade(hooks):
		return d.doc.Remove(hooks, d.group)
	case len(root.Members) == 1 && bytes.HasPrefix(d.doc.Literal(root), []byte(`{ "hooks"`)):
		return []jsonc.Edit{{Start: root.Start, End: root.End}}
	}
	return d.doc.Remove(root, d.hooks)
}

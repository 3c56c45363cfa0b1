package wrap

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// OwnName is what bouncer calls itself among a client's servers, where it is one (bouncer serve).
const OwnName = "bouncer"

// isServing reports whether an entry is bouncer as a server, in nothing but what PlanWrap writes: then it may go again.
func (r *reader) isServing(s *server) bool {
	if s.Name != OwnName || len(s.Args) == 0 || s.Args[0] != "serve" || len(s.Args) > 2 {
		return false
	}
	if len(s.Args) == 2 && !strings.HasPrefix(s.Args[1], "--home=") {
		return false
	}
	return !slices.ContainsFunc(s.member.Value.Members, func(m jsonc.Member) bool {
		switch m.Key {
		case "command", "args", "type":
			return false
		case "env": // clients write an empty one
			return len(m.Value.Members) > 0
		}
		return true
	})
}

// ownArgs are the arguments that bouncer's own entry should have: those it has, with what the options name.
func (w *wrapping) ownArgs(now []string) []string {
	if w.options.Homed {
		return []string{"serve", "--home=" + w.options.Home}
	}
	if len(now) > 0 {
		return now
	}
	return []string{"serve"}
}

// renew brings bouncer's own entry up to date.
func (w *wrapping) renew(s *server) []jsonc.Edit {
	var edits []jsonc.Edit
	if s.Launcher != w.launcher {
		v := s.value(s.command)
		edits = append(edits, jsonc.Edit{Start: v.Start, End: v.End, Text: jsonc.Quote(w.launcher)})
	}
	if args := w.ownArgs(s.Args); !slices.Equal(args, s.Args) {
		v := s.value(s.args)
		edits = append(edits, jsonc.Edit{Start: v.Start, End: v.End, Text: quotedWords(args)})
	}
	return edits
}

func quotedWords(words []string) []byte {
	text := []byte("[")
	for i, w := range words {
		if i > 0 {
			text = append(text, ", "...)
		}
		text = append(text, jsonc.Quote(w)...)
	}
	return append(text, ']')
}

// addition is bouncer's own entry on its way into a file.
type addition struct {
	step  Step
	at    int // index among the servers
	edits []jsonc.Edit
	why   string // it can't be, empty when it can, or when it is there
}

// addOwn plans bouncer itself among the person's servers in a file.
func (w *wrapping) addOwn(servers []server) (a addition) {
	m := slices.IndexFunc(w.file.Maps, func(m clients.Map) bool { return m.Scope == clients.User && !slices.Contains(m.Pointer, "*") })
	if m < 0 || w.file.Shared || len(w.options.Scopes) > 0 && !slices.Contains(w.options.Scopes, clients.User) {
		return a
	}
	pointer := join(w.file.Maps[m].Pointer, OwnName)
	for _, s := range servers {
		if !slices.Equal(s.Pointer, pointer) {
			continue
		}
		if s.State != Own {
			a.why = fmt.Sprintf("another server is called %q, so bouncer itself can't be added", OwnName)
		}
		return a
	}
	argv := append([]string{w.launcher}, w.ownArgs(nil)...)
	if standing := w.file.Lists.judge(OwnName, argv); !standing.starts() {
		a.why = "bouncer itself is not added: " + standing.String()
		return a
	}
	literal := func(line []byte) []byte {
		return made('{', line, w.maker().unit(), key("command", jsonc.Quote(w.launcher)), key("args", quotedWords(argv[1:])))
	}
	if a.edits, a.why = w.place(pointer, literal); a.why != "" {
		return a
	}
	a.step = Step{Action: AddOwn, Entry: Entry{
		Name: OwnName, Scope: clients.User, Pointer: pointer, State: Own, Serves: true, Launcher: w.launcher, Command: argv[0], Args: argv[1:],
	}}
	end := a.edits[len(a.edits)-1].Start
	for a.at < len(servers) && servers[a.at].member.KeyStart < end {
		a.at++
	}
	return a
}

func (w *wrapping) maker() maker { return maker{w.doc} }

const noPlace = "the file has no place for servers, so bouncer itself can't be added"

// place puts an entry where its pointer leads, and makes the map around it if that is all that is missing.
func (w *wrapping) place(pointer []string, literal func(line []byte) []byte) (edits []jsonc.Edit, why string) {
	l, last := w.maker(), len(pointer)-1
	parent, ok, err := w.doc.Lookup(pointer[:last]...)
	switch {
	case err != nil: // something else stands on the way
		return nil, noPlace
	case ok && parent.Kind == '{':
		return l.addMember(parent, pointer[last], literal), ""
	case last == 0: // the file as a whole is the map, and empty
		return nil, noPlace
	case ok:
		return nil, fmt.Sprintf("%q holds no servers, so bouncer itself can't be added", pointer[last-1])
	}
	around, ok, err := w.doc.Lookup(pointer[:last-1]...)
	if err != nil || !ok || around.Kind != '{' {
		return nil, noPlace
	}
	return l.addMember(around, pointer[last-1], func(line []byte) []byte {
		return made('{', line, l.unit(), key(pointer[last], literal(deeper(line, l.unit()))))
	}), ""
}

// removeOwn takes bouncer's own entry out, and with it the map that was made for it.
func removeOwn(doc *jsonc.Doc, pointer []string) []jsonc.Edit {
	l, last := maker{doc}, len(pointer)-1
	parent, _, err := doc.Lookup(pointer[:last]...)
	if err != nil {
		return nil
	}
	if last > 0 && len(parent.Members) == 1 && l.isMade(parent) && !doc.Commented(parent) {
		around, _, err := doc.Lookup(pointer[:last-1]...)
		if err != nil {
			return nil
		}
		if i, err := doc.Member(around, pointer[last-1]); err == nil && i >= 0 {
			return doc.Remove(around, i)
		}
	}
	i, err := doc.Member(parent, pointer[last])
	if err != nil || i < 0 {
		return nil
	}
	return doc.Remove(parent, i)
}

package wrap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Entries lists the servers of a file in order. An entry counts as wrapped when it starts one of the known launchers or
// anything called bouncer. The error is a *FileError.
func Entries(f File, known ...string) ([]Entry, error) {
	if f.Hook != nil {
		d, err := readSettingsDoc(f, known)
		if err != nil {
			return nil, f.fail(err)
		}
		return []Entry{d.entry()}, nil
	}
	_, servers, err := read(f, known)
	if err != nil {
		return nil, err
	}
	entries := make([]Entry, len(servers))
	for i := range servers {
		entries[i] = servers[i].Entry
	}
	return entries, nil
}

// server is one entry with its place in the file.
type server struct {
	Entry
	member jsonc.Member // of the server map
	// Indexes of the entry's members, -1 for those it has not.
	command, args, env, kind, url, sentinel int

	argv []string // command and args as they stand, bouncer's own included
	run  runLine  // of an entry that starts bouncer, or has its arguments
	back back     // how unwrapping gives the server back
}

// back says how an entry can get its server back.
type back uint8

const (
	noway      back = iota
	fromArgs        // it stands behind the dashes
	fromRecord      // the command line has lost it, and the sentinel has it
)

// value returns the entry's member with that index; for -1 the absent value.
func (s *server) value(index int) jsonc.Value {
	if index < 0 {
		return jsonc.Value{}
	}
	return s.member.Value.Members[index].Value
}

// space is what the entry puts behind commas and colons in a line.
func (s *server) space(doc *jsonc.Doc) string { return doc.Space(s.member.Value.Members[s.command]) }

// upstream is the command line of what the entry starts in the end.
func (s *server) upstream() []string { return append([]string{s.Command}, s.Args...) }

// tail is the index in args of the upstream's command. Of a wrapped entry that is not Legacy.
func (s *server) tail() int { return s.run.dash + 1 }

// read parses a file and finds its servers, in the order in which they stand.
func read(f File, known []string) (*jsonc.Doc, []server, error) {
	doc, err := jsonc.Parse(f.Data, f.Format)
	if err != nil {
		return nil, nil, f.fail(err)
	}
	r := reader{doc: doc, lists: f.Lists, known: known}
	for _, m := range f.Maps {
		if err := r.walk(doc.Root, m.Scope, nil, m.Pointer); err != nil {
			return nil, nil, f.fail(err)
		}
	}
	slices.SortStableFunc(r.servers, func(a, b server) int { return a.member.KeyStart - b.member.KeyStart })
	return doc, r.servers, nil
}

// reader gathers the servers of one file.
type reader struct {
	doc     *jsonc.Doc
	lists   Lists
	known   []string
	servers []server
}

// walk follows a pointer from v to the server maps it leads to. What is absent or null holds no servers.
func (r *reader) walk(v jsonc.Value, scope clients.Scope, path, pointer []string) error {
	switch {
	case v.Kind == 0 || v.Kind == 'n':
		return nil
	case v.Kind != '{' && len(path) == 0:
		return r.doc.Errorf(v.Start, "an object was expected")
	case v.Kind != '{':
		return r.doc.Errorf(v.Start, "%q should be an object", path[len(path)-1])
	case len(pointer) > 0 && pointer[0] != "*":
		i, err := r.doc.Member(v, pointer[0])
		if err != nil || i < 0 {
			return err
		}
		return r.walk(v.Members[i].Value, scope, join(path, pointer[0]), pointer[1:])
	}
	if err := r.distinct(v); err != nil {
		return err
	}
	for _, m := range v.Members {
		if len(pointer) > 0 {
			if err := r.walk(m.Value, scope, join(path, m.Key), pointer[1:]); err != nil {
				return err
			}
			continue
		}
		s := server{Entry: Entry{Name: m.Key, Scope: scope, Pointer: join(path, m.Key)}, member: m}
		if err := r.classify(&s); err != nil {
			return err
		}
		r.servers = append(r.servers, s)
	}
	return nil
}

// join appends without touching what path's array may be shared with.
func join(path []string, key string) []string { return append(slices.Clip(path), key) }

// distinct refuses an object in which a key stands twice: clients take the last, and the other one would be lost.
func (r *reader) distinct(obj jsonc.Value) error {
	seen := make(map[string]bool, len(obj.Members))
	for _, m := range obj.Members {
		if seen[m.Key] {
			return r.doc.Errorf(m.KeyStart, "duplicate key %q", m.Key)
		}
		seen[m.Key] = true
	}
	return nil
}

// classify finds an entry's members and says how it stands. The order of the questions matters: what starts bouncer is
// never anything else, and a record on an entry that does not start it is worth more notice than its faults.
func (r *reader) classify(s *server) error {
	if s.member.Value.Kind != '{' {
		s.State, s.Reason = Invalid, "is no object"
		return nil
	}
	if err := r.locate(s); err != nil {
		return err
	}
	command, _ := r.doc.Text(s.value(s.command))
	args, _ := texts(r.doc, s.value(s.args))
	s.argv = append([]string{command}, args...)
	s.Command, s.Args = command, args
	if _, typed := r.doc.Text(s.value(s.kind)); !r.isStdio(s) && (typed || !present(s.value(s.kind))) {
		s.URL = r.address(s)
	}

	launches := isLauncher(command, r.known)
	switch {
	case launches && s.URL != "":
		s.State = Remote // the command is a stray one: bouncer never gets to see a call
	case launches:
		r.launched(s)
		if s.State == Wrapped {
			s.Note = remark(s.upstream())
		}
	case s.sentinel >= 0:
		s.State, s.Reason = Stale, "has a record of an upstream but does not start bouncer"
		// Arguments of bouncer's behind another command are half of a wrapping: to drop the record would lose the server.
		if _, half := parseRun(args); half {
			r.recall(s)
		}
	default:
		s.State, s.Reason = r.unwrapped(s)
		if s.State == Plain || s.State == Listed {
			s.Note = remark(s.argv)
		}
	}
	return nil
}

// locate finds the members that bouncer reads or writes.
func (r *reader) locate(s *server) error {
	for _, field := range []struct {
		index *int
		key   string
	}{
		{&s.command, "command"},
		{&s.args, "args"},
		{&s.env, "env"},
		{&s.kind, "type"},
		{&s.url, "url"},
		{&s.sentinel, Sentinel},
	} {
		i, err := r.doc.Member(s.member.Value, field.key)
		if err != nil {
			return err
		}
		*field.index = i
	}
	return nil
}

// address returns a remote server's URL.
func (r *reader) address(s *server) string {
	url, ok := r.doc.Text(s.value(s.url))
	for _, m := range s.member.Value.Members {
		if !ok && (m.Key == "serverUrl" || m.Key == "httpUrl") { // other clients' names for it
			url, ok = r.doc.Text(m.Value)
		}
	}
	return url
}

// isStdio reports whether a client would take an entry's command, and not its url.
func (r *reader) isStdio(s *server) bool {
	kind, isText := r.doc.Text(s.value(s.kind))
	if present(s.value(s.kind)) && !isText {
		return false
	}
	return kind == "stdio" || kind == "local" || kind == "" && present(s.value(s.command))
}

// recorded reports whether the sentinel holds a server.
func (r *reader) recorded(s *server) bool { return recordIn(r.doc, s.value(s.sentinel)).text() != "" }

// home is the folder for bouncer's own files that an entry's env names.
func (r *reader) home(s *server) (string, bool) {
	for _, m := range s.value(s.env).Members {
		if home, ok := r.doc.Text(m.Value); m.Key == "BOUNCER_HOME" && ok && home != "" {
			return home, true
		}
	}
	return "", false
}

// recall takes what an entry was from the sentinel, if it holds a server.
func (r *reader) recall(s *server) {
	if s.command < 0 || s.URL != "" || !r.recorded(s) {
		return
	}
	record := recordIn(r.doc, s.value(s.sentinel))
	s.back, s.Restorable = fromRecord, true
	s.Command, s.Args = record.text(), record.argTexts()
}

// launched classifies an entry whose command is bouncer.
func (r *reader) launched(s *server) {
	line, isRun := parseRun(s.Args)
	s.run = line
	switch {
	case !isRun && isOwn(s.Args) && (len(s.Args) > 0 || !r.recorded(s)):
		s.State = Own
		if s.Serves = r.isServing(s); s.Serves {
			s.Launcher, s.Home = s.Command, strings.TrimPrefix(strings.Join(s.Args[1:], ""), "--home=")
		}
		return
	case !isRun || !line.named || line.dash < 0 && line.config == "" || line.dash == len(s.Args)-1:
		s.State, s.Reason = Invalid, "starts bouncer, but not with a server behind it"
		r.recall(s)
		return
	}
	s.State = Wrapped
	s.Launcher, s.Policies, s.Profile, s.Home = s.Command, line.policies, line.profile, line.home
	if home, ok := r.home(s); ok && s.Home == "" {
		s.Home, s.Settled = home, true
	}
	s.NoSentinel = s.sentinel < 0
	record := recordIn(r.doc, s.value(s.sentinel))
	if line.dash < 0 {
		s.Legacy = true
		s.Command, s.Args = record.text(), record.argTexts()
		if !record.isObject() {
			s.Reason = "holds no record of its server, so that it can't start or be restored"
		}
		return
	}
	s.back = fromArgs
	s.Flags = s.Args[1:line.dash]
	s.Command, s.Args = s.Args[s.tail()], s.Args[s.tail()+1:]
	s.Disagree = !s.NoSentinel && (record.text() != s.Command || !slices.Equal(record.argTexts(), s.Args))
	s.Reordered = s.Disagree && record.text() == s.Command
	s.Reason = r.lists.oddity(s.Name, s.upstream(), s.argv)
	if why := cmp.Or(r.misfit(s), r.fault(s)); why != "" {
		s.State, s.Reason, s.Restorable = Invalid, why, true
	}
}

// unwrapped classifies an entry that does not start bouncer.
func (r *reader) unwrapped(s *server) (State, string) {
	switch why := r.misfit(s); {
	case s.URL != "": // even where this client wants a type: others read the same file
		return Remote, ""
	case why != "":
		return Invalid, why
	case !present(s.value(s.command)):
		return Invalid, "has neither command nor url"
	}
	if why := r.fault(s); why != "" {
		return Invalid, why
	}
	if startsBouncer(s.argv, r.known) {
		return Own, "starts bouncer through another program"
	}
	switch standing := r.lists.judge(s.Name, s.argv); standing {
	case free:
		return Plain, ""
	case exact:
		return Listed, standing.String()
	default:
		return Denied, standing.String()
	}
}

// misfit says why an entry's type keeps its client from starting a command, or nothing.
func (r *reader) misfit(s *server) string {
	kind, isText := r.doc.Text(s.value(s.kind))
	switch {
	case present(s.value(s.kind)) && !isText:
		return "type is no string"
	case kind != "" && !r.isStdio(s):
		return fmt.Sprintf("type %q needs a url or is unknown", kind)
	}
	return ""
}

// fault says why a client can't start a stdio entry, or nothing.
func (r *reader) fault(s *server) string {
	command, isText := r.doc.Text(s.value(s.command))
	args, env := s.value(s.args), s.value(s.env)
	switch {
	case !isText:
		return "command is no string"
	case command == "":
		return "command is empty"
	case isCommandLine(command):
		return "command is a whole command line, not a program"
	case present(args) && args.Kind != '[':
		return "args is no array"
	case present(env) && env.Kind != '{':
		return "env is no object"
	}
	if _, bad := texts(r.doc, args); bad >= 0 {
		return fmt.Sprintf("args[%d] is no string", bad)
	}
	for _, m := range env.Members {
		if m.Value.Kind != '"' {
			return fmt.Sprintf("env %q is no string", m.Key)
		}
	}
	return ""
}

// present reports whether a value is there and not null.
func present(v jsonc.Value) bool { return v.Kind != 0 && v.Kind != 'n' }

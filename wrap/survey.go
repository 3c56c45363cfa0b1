package wrap

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Effect says whether a client starts a server in the working directory, as far as its own settings tell.
type Effect string

// The effects. The zero Effect is a server that its client starts.
const (
	Off      Effect = "off"      // switched off, or refused
	Pending  Effect = "pending"  // a project's, and nobody has said yes to its name yet
	Approved Effect = "approved" // a project's, and somebody has said yes to its name
	Unsure   Effect = "unsure"   // a project's, and the client keeps the yes where it can't be read
	Shadowed Effect = "shadowed" // the client starts the server of this name in another scope
	Hidden   Effect = "hidden"   // an organisation's file replaces the one it stands in
)

// Server is an entry with all that its surroundings say about it.
type Server struct {
	Entry
	File    File
	Managed bool   // in an organisation's file, never edited
	Project string // the folder it belongs to; empty for one that holds everywhere
	Effect  Effect
	By      string        // the file that shadows or hides it
	Winner  clients.Scope // of what shadows it
	Path    string        // PATH in the entry's own env
	HasPath bool
	Secrets []string // the places of what looks like a secret written out: "env TOKEN", "an argument"
	Env     map[string]string
}

// Survey lists the servers of every file that was found, in order. A file that can't be read is a *FileError among the
// faults and keeps no other from being listed. known are launchers that count as bouncer, as in Entries.
func (f Found) Survey(known ...string) (servers []Server, faults []error) {
	s := survey{found: f, projects: map[string]project{}, heres: map[string]string{}}
	for _, file := range slices.Concat(f.Files, f.Managed) {
		if err := s.file(file, known); err != nil {
			faults = append(faults, err)
		}
	}
	for _, c := range clients.All() {
		s.settleAll(c)
	}
	s.hide()
	return s.servers, faults
}

type survey struct {
	found    Found
	servers  []Server
	projects map[string]project // what clients note about folders, by client and folder
	heres    map[string]string  // the key of the working directory among them, by client
}

// settleAll finds out how the servers of one client stand.
func (s *survey) settleAll(c clients.Client) {
	byName := map[string][]*Server{}
	here := s.here(c)
	there := s.projects[projectKey(c.ID, here)]
	there.trusted = s.trusted(c.ID, here)
	for i := range s.servers {
		server := &s.servers[i]
		if server.File.Client != c.ID {
			continue
		}
		notes := there
		if server.Scope == clients.Local {
			notes = s.projects[projectKey(c.ID, server.Project)]
		}
		s.settle(c, server, notes)
		if len(c.Order) > 0 && !server.Managed {
			byName[server.Name] = append(byName[server.Name], server)
		}
	}
	for _, same := range byName {
		s.shadow(c, same)
	}
}

func (s *survey) file(file File, known []string) error {
	doc, servers, err := read(file, known)
	if err != nil {
		return err
	}
	managed := s.managed(file)
	for i := range servers {
		server := Server{Entry: servers[i].Entry, File: file, Managed: managed}
		server.Project = projectFolder(file, server.Entry)
		server.look(doc, &servers[i])
		s.servers = append(s.servers, server)
	}
	for _, m := range file.Maps {
		if m.Here != nil {
			s.note(file.Client, doc, m.Pointer)
		}
	}
	return nil
}

func (s *survey) managed(file File) bool {
	return slices.ContainsFunc(s.found.Managed, func(m File) bool { return m.Path == file.Path })
}

// note remembers what a client says about each folder of a map of folders.
func (s *survey) note(client string, doc *jsonc.Doc, pointer []string) {
	folders, _, err := doc.Lookup(pointer[:slices.Index(pointer, "*")]...)
	if err != nil {
		return
	}
	for _, m := range folders.Members {
		s.projects[projectKey(client, m.Key)] = projectOf(doc, m.Value)
	}
}

func projectKey(client, folder string) string { return client + "\x00" + folder }

// projectFolder is the folder that an entry belongs to, or empty for one that holds everywhere.
func projectFolder(f File, e Entry) string {
	switch e.Scope {
	case clients.Local:
		for _, m := range f.Maps {
			if i := slices.Index(m.Pointer, "*"); m.Scope == e.Scope && i >= 0 && i < len(e.Pointer) {
				return e.Pointer[i]
			}
		}
	case clients.Project:
		folder := filepath.Dir(f.Path)
		if strings.HasPrefix(filepath.Base(folder), ".") {
			return filepath.Dir(folder) // .cursor and its like lie in the project's folder
		}
		return folder
	}
	return ""
}

// here is the key of the working directory among a client's projects.
func (s *survey) here(c clients.Client) string {
	key, known := s.heres[c.ID]
	if known {
		return key
	}
	env := s.found.env
	if real, err := filepath.EvalSymlinks(env.Project); err == nil {
		env.Project = real
	}
	for _, config := range c.Configs {
		for _, m := range config.Maps {
			if m.Here != nil {
				key = m.Here(env)
			}
		}
	}
	s.heres[c.ID] = key
	return key
}

// settle finds out how a server stands by itself, given what its client notes about the folder where it would start.
func (s *survey) settle(c clients.Client, server *Server, notes project) {
	approval := clients.None
	for _, config := range c.Configs {
		if config.Shared && server.File.Shared {
			approval = config.Approval
		}
	}
	switch {
	case server.Managed:
	case slices.Contains(notes.off, server.Name):
		server.Effect = Off
	case approval == clients.ByName:
		server.Effect = s.found.approvals[server.File.Path].of(server.Name, notes.trusted)
	case approval == clients.ByDefinition:
		server.Effect = Unsure
	}
}

// trusted reports whether a person has told a client to trust a folder, or one above it.
func (s *survey) trusted(client, folder string) bool {
	for {
		if s.projects[projectKey(client, folder)].trusted {
			return true
		}
		i := strings.LastIndexByte(strings.TrimSuffix(folder, "/"), '/')
		if i < 0 {
			return false
		}
		folder = folder[:max(i, 1)]
		if folder == "/" {
			return s.projects[projectKey(client, folder)].trusted
		}
	}
}

// shadow finds among servers of one client and name those in whose place the client starts another: that of the stronger
// scope, or of the nearer file. One that waits for a yes stands in nobody's place.
func (s *survey) shadow(c clients.Client, same []*Server) {
	for i, loser := range same {
		for j, winner := range same {
			if i == j || winner.Effect == Pending || loser.Effect == Pending || !s.beats(c, winner, loser, j < i) {
				continue
			}
			loser.Effect, loser.By, loser.Winner = Shadowed, winner.File.Path, winner.Scope
			break
		}
	}
}

// beats reports whether a client starts winner in loser's place. Of one scope the file that was found first is nearer.
func (s *survey) beats(c clients.Client, winner, loser *Server, nearer bool) bool {
	if winner.Scope == clients.Local && winner.Project != s.here(c) || loser.Scope == clients.Local {
		return false // a folder's own servers hold in that folder alone, and there before all others
	}
	a, b := slices.Index(c.Order, winner.Scope), slices.Index(c.Order, loser.Scope)
	return a < b || a == b && nearer
}

// hide marks what a client doesn't read because an organisation's file stands in its place.
func (s *survey) hide() {
	for i := range s.servers {
		for _, m := range s.found.Managed {
			if m.Client == s.servers[i].File.Client && !s.servers[i].Managed {
				s.servers[i].Effect, s.servers[i].By = Hidden, m.Path
			}
		}
	}
}

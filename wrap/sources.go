package wrap

import (
	"bytes"
	"errors"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/clients"
	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Uncovered is a file of a client's plugin, agent or extension. Its servers start without bouncer, which does not edit it.
type Uncovered struct {
	Client  string
	Kind    clients.Kind
	Owner   string // the plugin, agent or extension
	Path    string
	Entries []Entry
	Err     error // why its servers are unknown
}

// Sources lists the places besides configs where clients (ids; none for all) find servers, those that hold any.
func Sources(env clients.Env, ids ...string) []Uncovered {
	env = equip(env)
	var list []Uncovered
	for _, c := range clients.All() {
		if len(ids) > 0 && !slices.Contains(ids, c.ID) {
			continue
		}
		for _, source := range c.Sources {
			for _, place := range source.Places(env) {
				u := Uncovered{Client: c.ID, Kind: source.Kind, Owner: place.Owner, Path: place.Path}
				data, _, err := readRegular(place.Path)
				switch {
				case missing(err):
					continue
				case err != nil:
					u.Err = err
				default:
					u.Entries, u.Err = sourceEntries(source.Form, place, data)
				}
				if len(u.Entries) > 0 || u.Err != nil {
					list = append(list, u)
				}
			}
		}
	}
	return list
}

// sourceEntries reads the servers of one file.
func sourceEntries(form clients.Form, place clients.Place, data []byte) ([]Entry, error) {
	if form == clients.FrontMatter {
		return frontMatter(data)
	}
	doc, err := jsonc.Parse(data, jsonc.Comments)
	if err != nil {
		return nil, err
	}
	s := sourceReader{doc: doc}
	switch form {
	case clients.ServerFile:
		err = s.serverFile()
	case clients.PluginManifest:
		err = s.manifest(place.Path)
	case clients.ManagedSettings:
		err = s.servers("managedMcpServers")
	case clients.ExtensionManifest:
		err = s.extension(place.Owner)
	}
	return s.entries, err
}

// sourceReader gathers the servers of one file.
type sourceReader struct {
	doc     *jsonc.Doc
	entries []Entry
}

// servers reads the server map that keys lead to.
func (s *sourceReader) servers(keys ...string) error {
	r := reader{doc: s.doc}
	if err := r.walk(s.doc.Root, clients.User, nil, keys); err != nil {
		return err
	}
	for i := range r.servers {
		s.entries = append(s.entries, r.servers[i].Entry)
	}
	return nil
}

// serverFile reads a file whose servers stand under mcpServers or, as plugins may have it, at its root.
func (s *sourceReader) serverFile() error {
	_, named, err := s.doc.Lookup("mcpServers")
	if err != nil || named {
		return errors.Join(err, s.servers("mcpServers"))
	}
	return s.servers()
}

// manifest reads a plugin's manifest: its servers, or the files that hold them, inside the plugin's folder.
func (s *sourceReader) manifest(file string) error {
	v, _, err := s.doc.Lookup("mcpServers")
	if err != nil {
		return err
	}
	switch v.Kind {
	case '{':
		return s.servers("mcpServers")
	case '"', '[':
	default:
		return nil
	}
	root := filepath.Dir(filepath.Dir(file))
	for _, elem := range append(slices.Clip(v.Elems), v) {
		name, ok := s.doc.Text(elem)
		if rel := path.Clean(name); !ok || path.IsAbs(rel) || strings.HasPrefix(rel, "../") || rel == ".mcp.json" {
			continue // the last one is read by itself
		}
		data, _, err := readRegular(filepath.Join(root, filepath.FromSlash(name)))
		if missing(err) {
			continue
		}
		if err != nil {
			return err
		}
		entries, err := sourceEntries(clients.ServerFile, clients.Place{}, data)
		if err != nil {
			return err
		}
		s.entries = append(s.entries, entries...)
	}
	return nil
}

// extension reads the one server of a Claude Desktop extension.
func (s *sourceReader) extension(name string) error {
	v, ok, err := s.doc.Lookup("server", "mcp_config")
	if err != nil || !ok {
		return err
	}
	for _, key := range []string{"display_name", "name"} {
		if title, found, err := s.doc.Lookup(key); err == nil && found {
			if text, isText := s.doc.Text(title); isText {
				name = text
				break
			}
		}
	}
	r := reader{doc: s.doc}
	one := server{Entry: Entry{Name: name, Scope: clients.User}, member: jsonc.Member{Value: v}}
	if err := r.classify(&one); err != nil {
		return err
	}
	s.entries = append(s.entries, one.Entry)
	return nil
}

// errFlow says that a list is written in YAML's other style, which is not worth a YAML reader here.
var errFlow = errors.New("mcpServers is not written as a list of lines")

// frontMatter reads the servers that an agent brings along: those elements of the list mcpServers that are more than
// the name of a server configured elsewhere.
func frontMatter(data []byte) ([]Entry, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	head, ok := strings.CutPrefix(text, "---\n")
	head, _, closed := strings.Cut(head, "\n---")
	if !ok || !closed {
		return nil, nil
	}
	var entries []Entry
	inside := false
	for line := range strings.SplitSeq(head, "\n") {
		word := strings.TrimSpace(line)
		switch indent := len(line) - len(strings.TrimLeft(line, " \t")); {
		case word == "" || word[0] == '#':
		case indent == 0 && word[0] != '-':
			rest, found := strings.CutPrefix(line, "mcpServers:")
			inside = found
			if rest = strings.TrimSpace(rest); found && strings.HasPrefix(rest, "[") && strings.Contains(rest, "{") {
				return nil, errFlow
			}
		case !inside:
		case strings.HasPrefix(word, "- "):
			word = strings.TrimSpace(word[2:])
			if name, inline, isMap := strings.Cut(word, ":"); isMap && (inline == "" || inline[0] == ' ') {
				entries = append(entries, Entry{Name: unquoteYAML(name), Scope: clients.User, State: Plain})
			}
		case len(entries) > 0:
			entries[len(entries)-1].field(word)
		}
	}
	return entries, nil
}

// field takes one line of an agent's server.
func (e *Entry) field(line string) {
	key, value, _ := strings.Cut(line, ":")
	value = unquoteYAML(strings.TrimSpace(value))
	switch key {
	case "command":
		e.Command = value
	case "url":
		e.URL, e.State = value, Remote
	}
}

func unquoteYAML(s string) string { return strings.Trim(strings.TrimSpace(s), `"'`) }

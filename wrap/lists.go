package wrap

import (
	"slices"
	"strings"

	"github.com/bouncer-mcp/bouncer/internal/jsonc"
)

// Lists are a client's own allow and deny lists, which match servers by name, exact argv or URL. Claude Code has them;
// its rules for stdio servers are those of denial.
type Lists struct {
	DenyNames    []string
	DenyCommands [][]string

	AllowSet      bool // there is an allow list, if only an empty one
	AllowNames    []string
	AllowCommands [][]string
}

// ParseLists reads the lists of one settings file. A file without lists yields the zero Lists.
func ParseLists(data []byte) (Lists, error) {
	doc, err := jsonc.Parse(data, jsonc.Comments)
	if err != nil {
		return Lists{}, err
	}
	var l Lists
	deny, _, err := doc.Lookup("deniedMcpServers")
	if err != nil {
		return Lists{}, err
	}
	if l.DenyNames, l.DenyCommands, err = parseItems(doc, deny); err != nil {
		return Lists{}, err
	}
	allow, _, err := doc.Lookup("allowedMcpServers")
	if err != nil {
		return Lists{}, err
	}
	l.AllowSet = allow.Kind == '['
	l.AllowNames, l.AllowCommands, err = parseItems(doc, allow)
	return l, err
}

// parseItems reads the items of one list. Those that match by URL never concern a stdio server.
func parseItems(doc *jsonc.Doc, list jsonc.Value) (names []string, commands [][]string, err error) {
	if list.Kind != '[' && list.Kind != 'n' && list.Kind != 0 {
		return nil, nil, doc.Errorf(list.Start, "an array was expected")
	}
	for _, item := range list.Elems {
		for _, key := range []string{"serverName", "serverCommand"} {
			i, err := doc.Member(item, key)
			if err != nil {
				return nil, nil, err
			}
			if i < 0 {
				continue
			}
			value := item.Members[i].Value
			if name, ok := doc.Text(value); ok && key == "serverName" {
				names = append(names, name)
			}
			if argv, bad := texts(doc, value); value.Kind == '[' && bad < 0 && key == "serverCommand" {
				commands = append(commands, argv)
			}
		}
	}
	return names, commands, nil
}

// Merge returns the lists of two files together, as the client joins them.
func (l Lists) Merge(o Lists) Lists {
	return Lists{
		DenyNames:     slices.Concat(l.DenyNames, o.DenyNames),
		DenyCommands:  slices.Concat(l.DenyCommands, o.DenyCommands),
		AllowSet:      l.AllowSet || o.AllowSet,
		AllowNames:    slices.Concat(l.AllowNames, o.AllowNames),
		AllowCommands: slices.Concat(l.AllowCommands, o.AllowCommands),
	}
}

// standing is what the lists say about a stdio server.
type standing uint8

const (
	free     standing = iota // starts, whatever its command
	exact                    // starts, because an allow list names its exact command
	unlisted                 // does not start, because no allow list names it
	banned                   // does not start, because a deny list names it
)

func (s standing) starts() bool { return s == free || s == exact }

func (s standing) String() string {
	switch s {
	case exact:
		return "allowed by its exact command, which wrapping changes"
	case unlisted:
		return "not on the client's allow list"
	case banned:
		return "on the client's deny list"
	}
	return ""
}

// judge says how a stdio server with that name and command line stands.
func (l Lists) judge(name string, argv []string) standing {
	matches := func(listed []string) bool { return matchesArgv(listed, argv) }
	switch {
	case slices.Contains(l.DenyNames, name) || slices.ContainsFunc(l.DenyCommands, matches):
		return banned
	case !l.AllowSet:
		return free
	case len(l.AllowCommands) > 0: // then a name alone allows no stdio server
		if slices.ContainsFunc(l.AllowCommands, matches) {
			return exact
		}
	case slices.Contains(l.AllowNames, name):
		return free
	}
	return unlisted
}

// denial says why a server with the command line argv must not be given the command line wrapped, or nothing. Wrapping must
// neither revive a server that a list bans, nor hide one that starts. A list that names the wrapped command line itself
// allows it.
func (l Lists) denial(name string, argv, wrapped []string) string {
	now, then := l.judge(name, argv), l.judge(name, wrapped)
	switch {
	case now == banned:
		return now.String()
	case then.starts():
		return ""
	case now.starts() && then == banned:
		return "on the client's deny list once it is wrapped"
	}
	return now.String()
}

// oddity says what is odd about a wrapped server, or nothing: upstream is what it would start without bouncer, argv what it starts now.
func (l Lists) oddity(name string, upstream, argv []string) string {
	before, now := l.judge(name, upstream), l.judge(name, argv)
	switch {
	case before == banned:
		return before.String()
	case now.starts():
		return ""
	case before == exact:
		return before.String()
	}
	return now.String()
}

// matchesArgv reports whether a listed command can be this argv. The client compares it both as it is written and with
// variables expanded; their values are not known here, so a variable stands for any text.
func matchesArgv(listed, argv []string) bool {
	return slices.Equal(listed, argv) || slices.EqualFunc(listed, argv, matchesExpanded)
}

// matchesExpanded reports whether s can be what the client makes of pattern.
func matchesExpanded(s, pattern string) bool {
	for first := true; ; first = false {
		literal, rest, found := strings.Cut(pattern, "${")
		_, after, closed := strings.Cut(rest, "}")
		switch {
		case !found || !closed: // the last literal is everything that is left
			return first && s == pattern || !first && strings.HasSuffix(s, pattern)
		case first && !strings.HasPrefix(s, literal):
			return false
		}
		i := strings.Index(s, literal)
		if i < 0 {
			return false
		}
		s, pattern = s[i+len(literal):], after
	}
}
